//! Writing header blocks: what a peer's decoder must read, as small as is cheap.

/// An integer behind the bits `pattern` in the first byte, of which `prefix_bits` are its own
/// (RFC 7541 5.1).
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
    value.to_le_bytes()[0]
}

/// A field that enters no table, its strings as they are (RFC 7541 6.2.2).
#[inline]
pub fn literal(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.push(0);
    string(out, name);
    string(out, value);
}

#[inline]
fn string(out: &mut Vec<u8>, text: &[u8]) {
    integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}
