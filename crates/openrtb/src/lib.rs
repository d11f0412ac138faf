//! The words that every part of nearbid shares: what a request looks like to
//! the decision ([`RequestView`]), what money is ([`Micros`]), and the names and
//! numbers of OpenRTB 2.6.
//!
//! `wire` knows how bytes are laid out, `engine` knows how to decide, and the
//! two never see each other: they meet here. So this crate has no dependency,
//! no I/O, no clock, and nothing in it belongs to one wire format.

mod codes;
mod country;
mod currency;
mod money;
mod text;
mod view;

pub use codes::{Channel, DeviceType, MediaType, MediaTypes, Reason};
pub use country::Country;
pub use currency::Currency;
pub use money::{DecimalError, Floor, Micros};
pub use text::{TEXT_BYTES_MAX, Text, TextBuffer, decode_escape, decode_escapes};
pub use view::{
    CategoriesOf, ChannelText, DealTexts, DealView, DeviceInt, DeviceText, ImpView, Limit,
    MediaInt, MediaInts, Read, Refusal, RequestTexts, RequestView, Step,
};
