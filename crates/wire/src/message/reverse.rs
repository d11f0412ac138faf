//! A buffer that is filled from its end.
//!
//! Both binary formats put something in front of a part that depends on the part: its length, or how
//! far away it lies. Written backwards that is known when it is needed, and no pass to measure comes
//! first. The message is moved to its place once, when it is complete.
//!
//! Behind the message lies a stack for what a writer has to remember meanwhile, so that one vector
//! is all that is ever allocated.

/// A message that grows towards the front, at the end of a vector.
pub(crate) struct Reverse<'b> {
    /// What was there before, free room, the message, the stack.
    bytes: &'b mut Vec<u8>,
    /// Where the free room starts.
    floor: usize,
    /// Where the message starts.
    head: usize,
    /// Where the message ends and the stack starts.
    end: usize,
}

/// Room to start with, in bytes. More is made ready at once only where it is at hand.
const ROOM_BYTES_MIN: usize = 256;
const ROOM_BYTES_MAX: usize = 4096;

impl<'b> Reverse<'b> {
    /// An empty message behind what `bytes` holds.
    pub(crate) fn new(bytes: &'b mut Vec<u8>) -> Reverse<'b> {
        let floor = bytes.len();
        let spare = bytes.capacity() - floor;
        let end = floor + spare.clamp(ROOM_BYTES_MIN, ROOM_BYTES_MAX);
        bytes.resize(end, 0);
        Reverse {
            bytes,
            floor,
            head: end,
            end,
        }
    }

    /// Moves the message to its place and lets go of everything else.
    pub(crate) fn finish(self) {
        let len = self.len();
        self.bytes.copy_within(self.head..self.end, self.floor);
        self.bytes.truncate(self.floor + len);
    }

    /// How long the message is by now. What is written next ends this far from its end.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.end - self.head
    }

    /// Room for `len` bytes in front of the message, to be filled in full, and the stack.
    #[inline(always)]
    pub(crate) fn claim(&mut self, len: usize) -> (&mut [u8], &[u8]) {
        if self.head - self.floor < len {
            self.grow(len);
        }
        let start = self.head - len;
        let (front, stack) = self
            .bytes
            .split_at_mut_checked(self.end)
            .unwrap_or_default();
        let room = front.get_mut(start..self.head).unwrap_or_default();
        self.head = start;
        (room, stack)
    }

    /// Puts `bytes` in front.
    #[inline(always)]
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.claim(bytes.len()).0.copy_from_slice(bytes);
    }

    /// Puts zeros in front, until the length is a multiple of `to` when `more` bytes have followed.
    #[inline(always)]
    pub(crate) fn align(&mut self, to: usize, more: usize) {
        let zeros = (self.len() + more).wrapping_neg() % to;
        self.claim(zeros).0.fill(0);
    }

    /// The vector, to push something on the stack, and later to take it off again. Nothing else may
    /// be changed.
    pub(crate) fn stack(&mut self) -> &mut Vec<u8> {
        self.bytes
    }

    /// How much is on the stack.
    #[inline(always)]
    pub(crate) fn stack_len(&self) -> usize {
        self.bytes.len() - self.end
    }

    /// Takes off the stack what was pushed since it was `len` long.
    #[inline(always)]
    pub(crate) fn unwind(&mut self, len: usize) {
        self.bytes.truncate(self.end + len);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, needed: usize) {
        let more = needed.max(self.end - self.floor).max(ROOM_BYTES_MIN);
        let len = self.bytes.len();
        self.bytes.resize(len + more, 0);
        self.bytes.copy_within(self.head..len, self.head + more);
        self.head += more;
        self.end += more;
    }
}
