//! Asks a view over any bytes everything there is to ask: nothing may panic, and nothing may go on
//! past the limits.

use std::cell::RefCell;

use wire::{Format, Limits, Reader};

#[path = "../../crates/wire/tests/common/answers.rs"]
mod answers;

/// Low enough for an execution to stay short, high enough for every kind of walk.
const WORK_MAX: u32 = 2_000;

thread_local! {
    /// One reader for all executions, as a server has one for all requests: what one leaves behind
    /// must not change the next.
    static READER: RefCell<Reader> = RefCell::new(Reader::new(Limits {
        work_max: WORK_MAX,
        ..Limits::default()
    }));
}

/// Reads `bytes`.
pub fn ask(format: Format, bytes: &[u8]) {
    READER.with_borrow_mut(|reader| {
        let first = answers::answers(reader, format, bytes);
        if let Ok(answers) = &first {
            // Each element of work has at most a table's worth of lines that cost none.
            assert!(answers.lines().count() <= 20 * WORK_MAX as usize);
        }
        // The same bytes give the same answers.
        assert_eq!(first, answers::answers(reader, format, bytes));
    });
}
