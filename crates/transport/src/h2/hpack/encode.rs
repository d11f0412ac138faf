//! Writing header blocks: what a peer's decoder must read, as small as is cheap. Strings are not
//! Huffman-coded: over a local socket bytes cost less than coding them.

/// The dynamic table starts here.
const DYNAMIC_FIRST: usize = 62;
/// The table of a peer that asks for no other.
const TABLE_BYTES_DEFAULT: u32 = 4096;
/// What a field costs beside its strings (RFC 7541 4.1).
const FIELD_OVERHEAD_BYTES: usize = 32;

/// One direction's encoder. What is said again and again goes into the peer's table once, and is a
/// byte or two from then on. Nothing is ever evicted: what has no room is spelled every time.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    /// What is in the peer's table, oldest first.
    entries: Vec<Entry>,
    table_bytes: usize,
    /// The peer wants a smaller table: ours is given up.
    without_table: bool,
}

#[derive(Debug)]
struct Entry {
    name: Name,
    value: Vec<u8>,
}

/// What a run of fields was written as; see [`Encoder::run`].
#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// How many fields the table had; none is ever replaced.
    entries: Option<usize>,
    key: [String; 2],
    block: Vec<u8>,
}

/// A field's name: an index of the static table, or spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Index(usize),
    Spelled(&'static str),
}

impl Encoder {
    const ENTRIES_MAX: usize = 16;

    /// To be called at the start of every block, with the smallest table the peer asked for so far.
    #[inline]
    pub fn begin(&mut self, out: &mut Vec<u8>, table_bytes_min: u32) {
        if table_bytes_min < TABLE_BYTES_DEFAULT && !self.without_table {
            table_size_update(out, 0);
            *self = Self {
                without_table: true,
                ..Self::default()
            };
        }
    }

    /// Fields that are the same whenever `key` is: written once, then copied, as long as what they
    /// refer to stands where it stood.
    #[inline]
    pub fn run(
        &mut self,
        out: &mut Vec<u8>,
        memo: &mut Memo,
        key: [&str; 2],
        write: impl FnOnce(&mut Self, &mut Vec<u8>),
    ) {
        if memo.entries == Some(self.entries.len()) && memo.key == key {
            return out.extend_from_slice(&memo.block);
        }
        let (start, entries) = (out.len(), self.entries.len());
        write(self, out);
        memo.entries = None;
        if self.entries.len() == entries {
            memo.entries = Some(entries);
            memo.key = key.map(str::to_owned);
            memo.block.clear();
            memo.block
                .extend_from_slice(out.get(start..).unwrap_or_default());
        }
    }

    /// A field that will be said again; the value is the two parts one behind the other.
    #[inline]
    pub fn field(&mut self, out: &mut Vec<u8>, name: Name, value: [&[u8]; 2]) {
        let [start, end] = value;
        let same = |entry: &Entry| {
            entry.name == name
                && entry
                    .value
                    .strip_prefix(start)
                    .is_some_and(|rest| rest == end)
        };
        match self.entries.iter().position(same) {
            Some(place) => indexed(out, DYNAMIC_FIRST + self.entries.len() - 1 - place),
            None => self.new_field(out, name, [start, end].concat()),
        }
    }

    #[cold]
    fn new_field(&mut self, out: &mut Vec<u8>, name: Name, value: Vec<u8>) {
        let (name_index, spelled) = match name {
            Name::Index(index) => (index, ""),
            Name::Spelled(name) => (0, name),
        };
        // The static table's longest name is shorter than that.
        const NAME_BYTES_MAX: usize = 32;
        let bytes = spelled.len().max(NAME_BYTES_MAX) + value.len() + FIELD_OVERHEAD_BYTES;
        let room = self.table_bytes + bytes <= TABLE_BYTES_DEFAULT as usize;
        if self.without_table || !room || self.entries.len() >= Self::ENTRIES_MAX {
            return match name {
                Name::Index(index) => literal_named(out, index, &value),
                Name::Spelled(name) => literal(out, name.as_bytes(), &value),
            };
        }
        literal_indexing(out, name_index, spelled.as_bytes(), &value);
        self.table_bytes += bytes;
        self.entries.push(Entry { name, value });
    }
}

/// An integer behind the bits `pattern` in the first byte, of which `prefix_bits` (1 to 8) are its
/// own (RFC 7541 5.1).
#[inline]
pub fn integer(out: &mut Vec<u8>, pattern: u8, prefix_bits: u8, value: usize) {
    let mask = (1usize << prefix_bits.min(8)) - 1;
    if value < mask {
        return out.push(pattern | low_byte(value));
    }
    out.push(pattern | low_byte(mask));
    let mut rest = value - mask;
    while rest >= 0x80 {
        out.push(low_byte(rest) | 0x80);
        rest >>= 7;
    }
    out.push(low_byte(rest));
}

/// The low eight bits.
#[inline]
fn low_byte(value: usize) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
}

/// A field of either table (RFC 7541 6.1).
#[inline]
pub(crate) fn indexed(out: &mut Vec<u8>, index: usize) {
    integer(out, 0x80, 7, index);
}

/// A field that enters no table, its strings as they are (RFC 7541 6.2.2).
#[inline]
pub fn literal(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.push(0);
    string(out, name);
    string(out, value);
}

/// A field that enters no table, named by an index (RFC 7541 6.2.2).
#[inline]
pub(crate) fn literal_named(out: &mut Vec<u8>, name_index: usize, value: &[u8]) {
    integer(out, 0, 4, name_index);
    string(out, value);
}

/// A field that enters the peer's table; `name_index` 0 means that `name` is spelled (RFC 7541 6.2.1).
fn literal_indexing(out: &mut Vec<u8>, name_index: usize, name: &[u8], value: &[u8]) {
    integer(out, 0x40, 6, name_index);
    if name_index == 0 {
        string(out, name);
    }
    string(out, value);
}

/// What the peer's table may hold from now on; only at the start of a block (RFC 7541 6.3).
fn table_size_update(out: &mut Vec<u8>, bytes: usize) {
    integer(out, 0x20, 5, bytes);
}

#[inline]
fn string(out: &mut Vec<u8>, text: &[u8]) {
    integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}
