//! A flag of OpenRTB: 0 or 1 in JSON, and here and there `true` or `false`.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

/// Writes 0 or 1.
///
/// # Errors
/// As the serializer.
pub fn serialize<S: Serializer>(flag: &Option<bool>, to: S) -> Result<S::Ok, S::Error> {
    match flag {
        Some(flag) => to.serialize_u8(u8::from(*flag)),
        None => to.serialize_none(),
    }
}

/// Reads 0, 1, a boolean or null.
///
/// # Errors
/// Anything else.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    from.deserialize_any(Flag)
}

struct Flag;

impl Visitor<'_> for Flag {
    type Value = Option<bool>;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("0, 1, a boolean or null")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Option<bool>, E> {
        Ok(Some(flag))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Option<bool>, E> {
        match number {
            0 => Ok(Some(false)),
            1 => Ok(Some(true)),
            _ => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_unit<E>(self) -> Result<Option<bool>, E> {
        Ok(None)
    }
}
