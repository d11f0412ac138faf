//! Writing header blocks: what a peer's decoder must read, as small as is cheap. Strings are not
//! Huffman-coded: over a local socket bytes cost less than coding them.

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
pub(crate) fn literal_indexing(out: &mut Vec<u8>, name_index: usize, name: &[u8], value: &[u8]) {
    integer(out, 0x40, 6, name_index);
    if name_index == 0 {
        string(out, name);
    }
    string(out, value);
}

/// What the peer's table may hold from now on; only at the start of a block (RFC 7541 6.3).
pub(crate) fn table_size_update(out: &mut Vec<u8>, bytes: usize) {
    integer(out, 0x20, 5, bytes);
}

#[inline]
fn string(out: &mut Vec<u8>, text: &[u8]) {
    integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}
