//! Copying short strings.
//!
//! Nearly all strings of a request are shorter than 32 bytes, of any length. The general copy branches
//! by length until it knows how to go about it, and which length comes next cannot be predicted. Here
//! most lengths take the same way: four words, which overlap where they must.

/// Copies `from` to `to`, which is as long.
#[inline(always)]
pub(crate) fn copy(to: &mut [u8], from: &[u8]) {
    match from.len() {
        8..=32 => words::<8>(to, from),
        2..8 => words::<2>(to, from),
        _ => to.copy_from_slice(from),
    }
}

/// Copies from `N` to `4 * N` bytes: a word at each end, and one next to each.
#[inline(always)]
fn words<const N: usize>(to: &mut [u8], from: &[u8]) {
    let step = from.len() / (2 * N) * N;
    let last = from.len().saturating_sub(N);
    for at in [0, step, last.saturating_sub(step), last] {
        let to = to.get_mut(at..).unwrap_or_default().first_chunk_mut::<N>();
        let from = from.get(at..).unwrap_or_default().first_chunk();
        if let (Some(to), Some(from)) = (to, from) {
            *to = *from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_copied() {
        let from: Vec<u8> = (1..=100).collect();
        for len in 0..=from.len() {
            let from = from.get(..len).unwrap_or_default();
            let mut to = vec![0; len];
            copy(&mut to, from);
            assert_eq!(to, from);
        }
    }
}
