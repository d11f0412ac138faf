//! JSON: OpenRTB 2.6 as it is written down.

pub(crate) mod cursor;
mod index;
pub(crate) mod number;
