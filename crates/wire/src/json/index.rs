//! Finds the structure of a JSON text in one pass, 64 bytes at a time and without a branch that
//! depends on what the text says.
//!
//! A request is mostly what nobody asks for, and skipping it byte by byte is what costs. The index
//! holds four bits for each byte of the text: is it a quote, a mark outside of strings
//! (`{ } [ ] ,`), an opening one, a closing one. With it the end of a string, of a value and of a
//! whole object are a few instructions away, from anywhere in the text and without recursion.
//!
//! What the pass itself notices: the text is one object with nothing but white space around it,
//! every string is closed, brackets balance (by count: which kind closes which is noticed where
//! an object or array is walked), and nesting stays within its limit. What it does not notice is
//! anything inside strings, and what stands between two marks.

use openrtb::{Limit, Read, Refusal};
use wide::u8x32;

/// The structure of 64 bytes of text, one bit a byte, the first the lowest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Block {
    /// Quotes that open or close a string.
    pub(crate) quotes: u64,
    /// `{ } [ ] ,` outside of strings.
    pub(crate) marks: u64,
    /// `{ [` outside of strings.
    pub(crate) opens: u64,
    /// `} ]` outside of strings.
    pub(crate) closes: u64,
}

/// Room for the structure of a text, to be used again and again.
#[derive(Debug, Default)]
pub(crate) struct Index {
    blocks: Vec<Block>,
}

/// A text that was found to be one object, and its structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Indexed<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) blocks: &'a [Block],
    /// Where the object starts.
    pub(crate) root: usize,
    /// Whether there is a backslash anywhere.
    pub(crate) escapes: bool,
}

impl Index {
    /// Finds the structure of `text`, which must be one object of at most `depth_max` levels.
    pub(crate) fn build<'a>(&'a mut self, text: &'a [u8], depth_max: u32) -> Read<Indexed<'a>> {
        let root = white_space(text, 0);
        if text.get(root) != Some(&b'{') {
            return Err(Refusal::Malformed);
        }
        self.blocks.clear();
        self.blocks.reserve(text.len() / 64 + 1);
        let mut strings = Strings::default();
        let mut nesting = Nesting {
            depth: 0,
            depth_max,
        };
        let (whole, rest) = text.as_chunks::<64>();
        for bytes in whole {
            if let Some(end) = self.add(bytes, &mut strings, &mut nesting)? {
                return self.finish(text, root, end, strings);
            }
        }
        let mut last = [b' '; 64];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        match self.add(&last, &mut strings, &mut nesting)? {
            Some(end) => self.finish(text, root, end, strings),
            None => Err(Refusal::Malformed),
        }
    }

    /// Adds a block; `Some` is the bit of it where the object ends.
    #[inline(always)]
    fn add(
        &mut self,
        bytes: &[u8; 64],
        strings: &mut Strings,
        nesting: &mut Nesting,
    ) -> Read<Option<u32>> {
        let block = block(bytes, strings);
        self.blocks.push(block);
        nesting.add(block)
    }

    #[inline]
    fn finish<'a>(
        &'a self,
        text: &'a [u8],
        root: usize,
        bit: u32,
        strings: Strings,
    ) -> Read<Indexed<'a>> {
        let end = (self.blocks.len() - 1) * 64 + bit as usize;
        if white_space(text, end + 1) < text.len() {
            return Err(Refusal::Malformed);
        }
        Ok(Indexed {
            text,
            blocks: &self.blocks,
            root,
            escapes: strings.escapes,
        })
    }
}

/// Where the first byte that is no white space stands, at `at` or after it.
#[inline]
pub(crate) fn white_space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = text.get(at) {
        at += 1;
    }
    at
}

/// What one block tells the next about strings.
#[derive(Default)]
struct Strings {
    /// All ones inside a string.
    inside: u64,
    /// 1 where the next byte is escaped.
    escaped: u64,
    /// Whether a backslash was seen.
    escapes: bool,
}

#[inline(always)]
fn block(bytes: &[u8; 64], strings: &mut Strings) -> Block {
    let halves = halves(bytes);
    let quotes = equal(halves, b'"') & !escaped(equal(halves, b'\\'), strings);
    let inside = prefix_xor(quotes) ^ strings.inside;
    strings.inside = ((inside as i64) >> 63) as u64;
    // `{` and `[`, and `}` and `]`, differ in one bit.
    let folded = halves.map(|half| half | u8x32::splat(0x20));
    let opens = equal(folded, b'{') & !inside;
    let closes = equal(folded, b'}') & !inside;
    let commas = equal(halves, b',') & !inside;
    Block {
        quotes,
        marks: opens | closes | commas,
        opens,
        closes,
    }
}

#[inline(always)]
fn halves(bytes: &[u8; 64]) -> [u8x32; 2] {
    let (mut low, mut high) = ([0; 32], [0; 32]);
    low.copy_from_slice(bytes.split_at(32).0);
    high.copy_from_slice(bytes.split_at(32).1);
    [u8x32::from(low), u8x32::from(high)]
}

/// Which of 64 bytes are `byte`.
#[inline(always)]
fn equal([low, high]: [u8x32; 2], byte: u8) -> u64 {
    let mask = |half: u8x32| u64::from(half.simd_eq(u8x32::splat(byte)).to_bitmask());
    mask(low) | mask(high) << 32
}

/// Which bytes are escaped: those behind an odd run of backslashes.
#[inline(always)]
fn escaped(backslashes: u64, strings: &mut Strings) -> u64 {
    if backslashes | strings.escaped == 0 {
        return 0;
    }
    strings.escapes = true;
    // Runs of backslashes, started on odd and on even places, are told apart by adding: the carry
    // moves through a run and comes out behind it.
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let active = backslashes & !strings.escaped;
    let follows = active << 1 | strings.escaped;
    let odd_starts = active & !EVEN & !follows;
    let (even_runs, carry) = odd_starts.overflowing_add(active);
    strings.escaped = u64::from(carry);
    (EVEN ^ (even_runs << 1)) & follows
}

/// Each bit is the exclusive or of itself and all lower ones: with quotes, 1 inside strings.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// How deep the text is nested.
struct Nesting {
    depth: u32,
    depth_max: u32,
}

impl Nesting {
    /// Takes a block into account; `Some` is the bit where the outermost object ends.
    #[inline(always)]
    fn add(&mut self, block: Block) -> Read<Option<u32>> {
        let (opens, closes) = (block.opens.count_ones(), block.closes.count_ones());
        // Most blocks can neither end the object nor pass the limit, in whatever order.
        if self.depth > closes && self.depth + opens <= self.depth_max {
            self.depth = self.depth + opens - closes;
            return Ok(None);
        }
        self.walk(block)
    }

    #[inline(never)]
    fn walk(&mut self, block: Block) -> Read<Option<u32>> {
        let mut marks = block.opens | block.closes;
        while marks != 0 {
            let bit = marks & marks.wrapping_neg();
            marks ^= bit;
            if block.opens & bit != 0 {
                self.depth += 1;
                if self.depth > self.depth_max {
                    return Err(Refusal::OverLimit(Limit::Depth));
                }
                continue;
            }
            self.depth = self.depth.checked_sub(1).ok_or(Refusal::Malformed)?;
            if self.depth == 0 {
                return Ok(Some(bit.trailing_zeros()));
            }
        }
        Ok(None)
    }
}
