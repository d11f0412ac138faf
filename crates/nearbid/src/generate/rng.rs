//! The one source of chance for generated traffic: xoshiro256++, seeded with splitmix64.
//!
//! It is our own, in forty lines, because the traffic of a seed is a contract: it has to be the
//! same on every machine and after every update of a dependency. For the same reason nothing here
//! uses floating point: shares are whole numbers and skew comes from integer weights.

/// A deterministic stream of numbers.
#[derive(Clone, Debug)]
pub struct Rng([u64; 4]);

impl Rng {
    /// The stream of `key`: the same parts in the same order give the same stream, and streams of
    /// different keys have nothing to do with each other.
    pub fn new(key: &[u64]) -> Rng {
        let mut state = 0x6e65_6172_6269_6421;
        for part in key {
            state ^= *part;
            state = splitmix(&mut state);
        }
        Rng([(); 4].map(|()| splitmix(&mut state)))
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let out = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        out
    }

    /// A number below `end`; 0 when `end` is 0. The bias is below `end / 2⁶⁴`.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A number in `low..=high`; `low` when the range is empty.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        let span = i64::from(high) - i64::from(low) + 1;
        let offset = self.below(u64::try_from(span).unwrap_or(0));
        (i64::from(low) + offset as i64) as i32
    }

    /// True in `share` of 1,000 cases.
    pub fn permille(&mut self, share: u32) -> bool {
        self.below(1000) < u64::from(share)
    }

    /// True in `share` of 100 cases.
    pub fn percent(&mut self, share: u32) -> bool {
        self.permille(share.saturating_mul(10))
    }

    /// One of `table`, each as likely as the others.
    pub fn one_of<T: Copy + Default>(&mut self, table: &[T]) -> T {
        let index = self.below(table.len() as u64) as usize;
        table.get(index).copied().unwrap_or_default()
    }

    /// One of `table`, as likely as its weight.
    pub fn weighted<T: Copy + Default>(&mut self, table: &[(u32, T)]) -> T {
        let total: u64 = table.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut left = self.below(total);
        for (weight, value) in table {
            let weight = u64::from(*weight);
            if left < weight {
                return *value;
            }
            left -= weight;
        }
        T::default()
    }

    /// `count` different entries of `table`, in the table's order; all of it when it is shorter.
    pub fn some_of<T: Copy>(&mut self, table: &[T], count: usize) -> Vec<T> {
        let mut wanted = count.min(table.len()) as u64;
        let mut left = table.len() as u64;
        let mut picked = Vec::with_capacity(wanted as usize);
        for entry in table {
            if self.below(left) < wanted {
                picked.push(*entry);
                wanted -= 1;
            }
            left -= 1;
        }
        picked
    }

    /// `count` characters of `alphabet` (ASCII).
    pub fn text(&mut self, alphabet: &[u8], count: usize) -> String {
        (0..count)
            .map(|_| char::from(self.one_of(alphabet)))
            .collect()
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Ranks from 0, rank k with weight 1/(k + 1): how visits spread over sites, apps and deals.
#[derive(Clone, Debug)]
pub struct Zipf {
    /// Sum of the weights of the ranks up to and with this one.
    up_to: Vec<u64>,
}

impl Zipf {
    /// A distribution over `0..ranks`.
    pub fn new(ranks: u64) -> Zipf {
        let mut sum = 0;
        let up_to = (1..=ranks)
            .map(|k| {
                sum += (1 << 32) / k;
                sum
            })
            .collect();
        Zipf { up_to }
    }

    /// A rank; 0 when there are none.
    pub fn rank(&self, rng: &mut Rng) -> u64 {
        let at = rng.below(self.up_to.last().copied().unwrap_or(0));
        self.up_to.partition_point(|up_to| *up_to <= at) as u64
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn it_is_xoshiro256_plus_plus() {
        let mut rng = Rng([1, 2, 3, 4]);
        let first = [(); 4].map(|()| rng.bits());
        assert_eq!(
            first,
            [41943041, 58720359, 3588806011781223, 3591011842654386]
        );
    }

    #[test]
    fn the_stream_of_a_key_never_changes() {
        let mut rng = Rng::new(&[1, 2, 3]);
        let first = [(); 3].map(|()| rng.bits());
        assert_eq!(
            first,
            [
                15600086878062375125,
                491742911001980194,
                16224842690850863930
            ]
        );
        assert_ne!(Rng::new(&[1, 2]).bits(), Rng::new(&[2, 1]).bits());
    }

    #[test]
    fn numbers_stay_in_their_range_and_reach_its_ends() {
        let mut rng = Rng::new(&[7]);
        let seen: std::collections::BTreeSet<i32> = (0..1000).map(|_| rng.between(-2, 2)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-2, -1, 0, 1, 2]);
        assert_eq!(rng.between(5, 4), 5);
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.between(i32::MIN, i32::MIN), i32::MIN);
    }

    #[test]
    fn weights_are_shares() {
        let mut rng = Rng::new(&[8]);
        let heavy = (0..10_000)
            .filter(|_| rng.weighted(&[(1, 'a'), (0, 'b'), (3, 'c')]) == 'c')
            .count();
        assert!((7300..7700).contains(&heavy), "{heavy}");
    }

    #[test]
    fn some_of_keeps_order_and_count() {
        let mut rng = Rng::new(&[9]);
        for count in 0..8 {
            let picked = rng.some_of(&[1, 2, 3, 4, 5], count);
            assert_eq!(picked.len(), count.min(5));
            assert!(picked.is_sorted_by(|a, b| a < b), "{picked:?}");
        }
    }

    #[test]
    fn the_first_rank_is_twice_as_frequent_as_the_second() {
        let (zipf, mut rng) = (Zipf::new(1000), Rng::new(&[10]));
        let mut count = [0_u32; 1000];
        for _ in 0..100_000 {
            count[zipf.rank(&mut rng) as usize] += 1;
        }
        assert!((12_500..14_500).contains(&count[0]), "{}", count[0]);
        assert!((6_000..7_500).contains(&count[1]), "{}", count[1]);
        assert!(count[999] < 50, "{}", count[999]);
        assert_eq!(Zipf::new(0).rank(&mut rng), 0);
    }
}
