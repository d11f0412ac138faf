//! A buffer that is filled from its end.
//!
//! Both binary formats put something in front of a part that depends on the part: its length, or how
//! far away it lies. Written backwards that is known when it is needed, and no pass to measure comes
//! first. The room is fixed while a message is written; where it does not suffice, the message is
//! written again into more, which a buffer that is used again and again soon has no need of.

use super::copy::copy;
use super::until_it_fits;

/// A message that grows towards the front, at the end of a buffer.
pub(crate) struct Reverse<'b> {
    /// What is still free, in front of the message.
    free: &'b mut [u8],
    /// How long the message and the free room are together.
    total: usize,
    /// Whether something did not fit. What was written is then of no use.
    overflow: bool,
}

/// Writes a message into `buffer`, all of which is room, with more of it where it must be; gives what
/// was written, which lies at its end.
pub(crate) fn fill(
    buffer: &mut Vec<u8>,
    mut write: impl for<'b> FnMut(Reverse<'b>) -> Reverse<'b>,
) -> &[u8] {
    let start = until_it_fits(buffer, |free| {
        let total = free.len();
        let written = write(Reverse {
            free,
            total,
            overflow: false,
        });
        (!written.overflow).then_some(written.free.len())
    });
    buffer.get(start..).unwrap_or_default()
}

impl<'b> Reverse<'b> {
    /// How long the message is by now. What is written next ends this far from its end.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.total - self.free.len()
    }

    /// Room for `len` bytes in front of the message, to be filled in full; `None` where there is not
    /// enough.
    #[inline(always)]
    pub(crate) fn claim(&mut self, len: usize) -> Option<&'b mut [u8]> {
        let Some(start) = self.free.len().checked_sub(len) else {
            self.overflow = true;
            return None;
        };
        let (free, room) = core::mem::take(&mut self.free).split_at_mut(start);
        self.free = free;
        Some(room)
    }

    /// Puts a few bytes in front.
    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(room) = self.claim(N) {
            room.copy_from_slice(&bytes);
        }
    }

    /// Puts bytes in front, and a few in front of those.
    #[inline(always)]
    pub(crate) fn put_headed<const N: usize>(&mut self, head: [u8; N], bytes: &[u8]) {
        if let Some(room) = self.claim(N + bytes.len())
            && let Some((to_head, room)) = room.split_first_chunk_mut()
        {
            *to_head = head;
            copy(room, bytes);
        }
    }
}
