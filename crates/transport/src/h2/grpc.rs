//! gRPC's own rules on top of HTTP/2: message prefix, timeouts, content types, status texts.

/// Bytes before a message: a flag for compression, and the length in 4 bytes, big end first.
pub(crate) const PREFIX_BYTES: usize = 5;

/// The prefix of an uncompressed message. A reply longer than 4 GiB cannot be framed; the length
/// saturates, and the client refuses it by its limit.
#[inline]
pub(crate) fn prefix(length: usize) -> [u8; PREFIX_BYTES] {
    let [a, b, c, d] = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    [0, a, b, c, d]
}
