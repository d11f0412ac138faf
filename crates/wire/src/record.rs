//! Which bytes of a message are looked at: so that a test can say that no other byte matters. Costs
//! nothing where the feature `record` is off, which it is in all but tests.

#[cfg(feature = "record")]
mod recording {
    use core::cell::RefCell;
    use std::thread_local;

    struct Recording {
        /// The address of the message.
        start: usize,
        looked_at: Vec<bool>,
    }

    thread_local! {
        static NOW: RefCell<Option<Recording>> = const { RefCell::new(None) };
    }

    /// Calls `read` and says which bytes of `message` were looked at meanwhile, on this thread.
    pub fn looked_at<R>(message: &[u8], read: impl FnOnce() -> R) -> (R, Vec<bool>) {
        let recording = Recording {
            start: message.as_ptr() as usize,
            looked_at: vec![false; message.len()],
        };
        NOW.with(|now| now.replace(Some(recording)));
        let result = read();
        let recording = NOW.with(RefCell::take);
        (result, recording.map_or_else(Vec::new, |r| r.looked_at))
    }

    #[inline]
    pub(crate) fn look(bytes: &[u8]) {
        NOW.with(|now| {
            if let Some(recording) = &mut *now.borrow_mut() {
                let at = (bytes.as_ptr() as usize).wrapping_sub(recording.start);
                let end = at.wrapping_add(bytes.len());
                if let Some(part) = recording.looked_at.get_mut(at..end) {
                    part.fill(true);
                }
            }
        });
    }
}

#[cfg(feature = "record")]
pub use recording::*;

/// Notes that these bytes are looked at, if they are of the message that is read.
#[cfg(not(feature = "record"))]
#[inline(always)]
pub(crate) fn look(_: &[u8]) {}
