//! Random messages: a source whose fields are drawn, not read.

use std::collections::BTreeSet;
use std::convert::Infallible;
use wire::message::{Entry, Extension, FieldSource, Message};

/// Draws messages that every format can carry: nothing empty in a list, no empty string, an extension
/// as a decoder would have it.
pub struct Random {
    state: u64,
    depth: u32,
    /// Messages and fields that were filled.
    reached: BTreeSet<(u16, u32)>,
}

type Drawn = Result<(), Infallible>;

const TEXTS: &[&str] = &[
    "a",
    "USA",
    "0",
    "1.50",
    "é",
    "日本語",
    "😀",
    "\"",
    "\\",
    "\n",
    "\u{1}",
    "a\"b\\c/d",
    "{}",
    "null",
    "a rather long text, longer than a vector of bytes at once, and then some more of the same, \
     so that its length takes more than one byte as a varint, which it does from here on",
];

const DOUBLES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    0.1,
    -2.5,
    1e-9,
    1e300,
    -1e-300,
    123_456.789_012,
    0.000_001,
    1e15,
    1e21,
    f64::MAX,
    f64::MIN_POSITIVE,
    2.280_000_000_000_000_2,
];

const INTS: &[i32] = &[
    0,
    1,
    -1,
    127,
    128,
    300,
    -300,
    16_383,
    16_384,
    i32::MAX,
    i32::MIN,
];

const JSON: &[&str] = &[
    "1",
    "\"x\"",
    "true",
    "{}",
    "[]",
    "{\"a\":[1,-2.5,null,{\"b\":\"c\"}]}",
];

impl Random {
    pub fn new(seed: u64) -> Random {
        Random {
            state: seed ^ 0x9E37_79B9_7F4A_7C15,
            depth: 0,
            reached: BTreeSet::new(),
        }
    }

    /// A message.
    pub fn message<M: Message>(&mut self) -> M {
        let mut message = M::default();
        self.fill(&mut message);
        message
    }

    /// A message, and which fields were filled for it.
    pub fn message_noting<M: Message>(mut self, reached: &mut BTreeSet<(u16, u32)>) {
        self.message::<M>();
        reached.append(&mut self.reached);
    }

    /// A number below `below` (SplitMix64).
    fn below(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % below as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn fill<M: Message>(&mut self, message: &mut M) {
        self.depth += 1;
        // A text and the object in its place exclude each other.
        let mut excluded = None;
        for (number, ..) in M::FIELDS {
            if self.below(2 + self.depth as usize) < 2 && excluded != Some(*number) {
                excluded = excluded.or(Some(M::object(*number)).filter(|object| object != number));
                self.reached.insert((M::INDEX, *number));
                let Ok(known) = message.read(*number, self);
                assert!(known);
            }
        }
        self.depth -= 1;
    }

    fn many<T>(&mut self, into: &mut Vec<T>, mut draw: impl FnMut(&mut Self) -> T) -> Drawn {
        for _ in 0..=self.below(3) {
            let value = draw(self);
            into.push(value);
        }
        Ok(())
    }
}

impl FieldSource for Random {
    type Error = Infallible;

    fn string(&mut self, into: &mut Option<String>) -> Drawn {
        *into = Some(self.pick(TEXTS).to_owned());
        Ok(())
    }

    fn int(&mut self, into: &mut Option<i32>) -> Drawn {
        *into = Some(self.pick(INTS));
        Ok(())
    }

    fn bool(&mut self, into: &mut Option<bool>) -> Drawn {
        *into = Some(self.below(2) == 1);
        Ok(())
    }

    fn double(&mut self, into: &mut Option<f64>) -> Drawn {
        *into = Some(self.pick(DOUBLES));
        Ok(())
    }

    fn floor(&mut self, into: &mut Option<f64>) -> Drawn {
        let infinite = [f64::INFINITY, f64::NEG_INFINITY];
        *into = Some(match self.below(4) {
            0 => self.pick(&infinite),
            _ => self.pick(DOUBLES),
        });
        Ok(())
    }

    fn message<M: Message>(&mut self, into: &mut Option<Box<M>>) -> Drawn {
        *into = Some(Box::new(Random::message(self)));
        Ok(())
    }

    fn ext<E: Extension>(&mut self, into: &mut Option<Box<E>>) -> Drawn {
        FieldSource::message(self, into)
    }

    fn rest(&mut self, into: &mut Option<String>) -> Drawn {
        let (value, text) = (self.pick(JSON), self.pick(&["a", "b\\u00e9", "json"]));
        *into = Some(format!("{{\"x\":{value},\"{text}\":1.50}}"));
        Ok(())
    }

    fn json(&mut self, into: &mut Option<String>) -> Drawn {
        *into = Some(self.pick(JSON).to_owned());
        Ok(())
    }

    fn strings(&mut self, into: &mut Vec<String>) -> Drawn {
        self.many(into, |random| random.pick(TEXTS).to_owned())
    }

    fn ints(&mut self, into: &mut Vec<i32>) -> Drawn {
        self.many(into, |random| random.pick(INTS))
    }

    fn messages<M: Message>(&mut self, into: &mut Vec<M>) -> Drawn {
        self.many(into, Random::message)
    }

    fn entries<E: Entry>(&mut self, into: &mut Vec<E>) -> Drawn {
        for key in ["a", "b", "\"c\""] {
            let value = self.pick(DOUBLES);
            into.push(E::new(key.to_owned(), value));
            self.reached
                .extend(E::FIELDS.iter().map(|(number, ..)| (E::INDEX, *number)));
        }
        Ok(())
    }
}
