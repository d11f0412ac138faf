//! JSON: OpenRTB 2.6 as it is written down.

pub(crate) mod cursor;
pub(crate) mod ext;
pub(crate) mod keys;
pub(crate) mod message;
pub(crate) mod number;
mod scan;
pub(crate) mod strict;
pub(crate) mod string;
pub(crate) mod template;
pub(crate) mod view;
