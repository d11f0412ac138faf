//! A buffer that is filled from its start.
//!
//! In FlatBuffers an offset points forward, so what holds it is laid out first and what it points to
//! follows. The room is fixed while a message is written; where it does not suffice, the message is
//! written again into more, which a buffer that is used again and again soon has no need of.

use super::until_it_fits;

/// A message that grows towards the end of a buffer.
pub(crate) struct Forward<'b> {
    /// What is still free, behind the message.
    free: &'b mut [u8],
    /// How long the message and the free room are together.
    total: usize,
    /// Whether something did not fit. What was written is then of no use.
    overflow: bool,
}

/// Writes a message into `buffer`, all of which is room, with more of it where it must be; gives what
/// was written, which lies at its start.
pub(crate) fn fill(buffer: &mut Vec<u8>, mut write: impl FnMut(&mut Forward<'_>)) -> &[u8] {
    let len = until_it_fits(buffer, |free| {
        let total = free.len();
        let mut out = Forward {
            free,
            total,
            overflow: false,
        };
        write(&mut out);
        (!out.overflow).then_some(out.len())
    });
    buffer.get(..len).unwrap_or_default()
}

impl<'b> Forward<'b> {
    /// How long the message is by now: what is written next starts here.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.total - self.free.len()
    }

    /// Room for `len` bytes behind the message, to be filled in full; `None` where there is not enough.
    #[inline(always)]
    pub(crate) fn claim(&mut self, len: usize) -> Option<&'b mut [u8]> {
        if len > self.free.len() {
            self.overflow = true;
            return None;
        }
        let (room, free) = core::mem::take(&mut self.free).split_at_mut(len);
        self.free = free;
        Some(room)
    }
}
