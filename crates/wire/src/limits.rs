//! What a reader accepts of a peer, each limit with a name, a unit and a default.

use core::cell::Cell;

use openrtb::{Limit, Read, Refusal, TEXT_BYTES_MAX, Text};

use crate::record::look;

/// The limits of reading one request. Passing one is [`Refusal::OverLimit`].
///
/// They are the one thing in which the formats may differ: the same request has other lengths in
/// other formats, and only JSON nests without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Length of the message in bytes. Checked before anything is looked at.
    pub message_bytes_max: u32,
    /// Impressions in a request.
    pub imps_max: u32,
    /// Deals of one impression.
    pub deals_max: u32,
    /// Levels of nesting of a JSON text, and of groups in protobuf (there never more than 64).
    pub depth_max: u32,
    /// Length in bytes of a string that is used, decoded.
    pub string_bytes_max: u32,
    /// Work done for one request, in elements looked at: an entry of a list, a member of an
    /// object, or 64 bytes of a string. Keeps lists that are walked again and again, or that all
    /// point at the same table, from costing more than the message is long.
    pub work_max: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            message_bytes_max: 262_144,
            imps_max: 256,
            deals_max: 256,
            depth_max: 64,
            string_bytes_max: 4096,
            work_max: 200_000,
        }
    }
}

/// A value that a limit cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitRange {
    /// The limit that was to be set.
    pub limit: Limit,
    /// The greatest value that it can have; the least is 1.
    pub max: u32,
}

impl core::fmt::Display for LimitRange {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} must be 1 to {}", self.limit.name(), self.max)
    }
}

impl std::error::Error for LimitRange {}

impl Limits {
    /// The limit with this name ([`Limit::name`]), as a configuration file spells it.
    pub fn named(name: &str) -> Option<Limit> {
        Limit::ALL.into_iter().find(|limit| limit.name() == name)
    }

    /// The value of a limit.
    pub fn get(&self, limit: Limit) -> u32 {
        match limit {
            Limit::MessageBytes => self.message_bytes_max,
            Limit::Imps => self.imps_max,
            Limit::Deals => self.deals_max,
            Limit::Depth => self.depth_max,
            Limit::StringBytes => self.string_bytes_max,
            Limit::Work => self.work_max,
        }
    }

    /// Sets a limit, if it can have this value.
    pub fn set(&mut self, limit: Limit, value: u32) -> Result<(), LimitRange> {
        let max = Limits::greatest(limit);
        if !(1..=max).contains(&value) {
            return Err(LimitRange { limit, max });
        }
        *match limit {
            Limit::MessageBytes => &mut self.message_bytes_max,
            Limit::Imps => &mut self.imps_max,
            Limit::Deals => &mut self.deals_max,
            Limit::Depth => &mut self.depth_max,
            Limit::StringBytes => &mut self.string_bytes_max,
            Limit::Work => &mut self.work_max,
        } = value;
        Ok(())
    }

    /// What a limit may be at most.
    pub const fn greatest(limit: Limit) -> u32 {
        match limit {
            Limit::MessageBytes => 1 << 26,
            Limit::Imps | Limit::Deals => 1 << 16,
            Limit::Depth => 1 << 10,
            Limit::StringBytes => TEXT_BYTES_MAX as u32,
            Limit::Work => 1 << 30,
        }
    }

    /// Refuses a message that is too long.
    #[inline]
    pub(crate) fn check_length(&self, bytes: &[u8]) -> Read<()> {
        if bytes.len() > self.message_bytes_max as usize {
            return Err(Refusal::OverLimit(Limit::MessageBytes));
        }
        Ok(())
    }
}

/// The limits, and what is left of the work for the request at hand.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: Limits,
    work_left: Cell<u32>,
}

impl Meter {
    pub(crate) fn new(limits: Limits) -> Meter {
        Meter {
            limits,
            work_left: Cell::new(0),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Begins another request.
    pub(crate) fn restart(&self) {
        self.work_left.set(self.limits.work_max);
    }

    /// Takes note of looking at one element that is `bytes` long.
    #[inline(always)]
    pub(crate) fn spend(&self, bytes: usize) -> Read<()> {
        // Messages are shorter than 2³² bytes.
        match self.work_left.get().checked_sub(1 + (bytes / 64) as u32) {
            Some(left) => {
                self.work_left.set(left);
                Ok(())
            }
            None => Err(Refusal::OverLimit(Limit::Work)),
        }
    }

    /// Refuses a string that is used and too long.
    #[inline(always)]
    pub(crate) fn check_string(&self, bytes: usize) -> Read<()> {
        if bytes > self.limits.string_bytes_max as usize {
            return Err(Refusal::OverLimit(Limit::StringBytes));
        }
        Ok(())
    }

    /// A string that stands for itself; `None` where it is empty or no UTF-8.
    #[inline]
    pub(crate) fn text<'a>(&self, bytes: &'a [u8]) -> Read<Option<Text<'a>>> {
        if bytes.is_empty() {
            return Ok(None);
        }
        look(bytes);
        self.check_string(bytes.len())?;
        self.spend(bytes.len())?;
        Ok(Text::new(bytes))
    }

    /// Refuses more deals of an impression than are allowed.
    #[inline]
    pub(crate) fn check_deals(&self, deals: usize) -> Read<()> {
        if deals > self.limits.deals_max as usize {
            return Err(Refusal::OverLimit(Limit::Deals));
        }
        Ok(())
    }

    /// Refuses more impressions than are allowed.
    #[inline]
    pub(crate) fn check_imps(&self, imps: usize) -> Read<()> {
        if imps > self.limits.imps_max as usize {
            return Err(Refusal::OverLimit(Limit::Imps));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_set_by_its_name() {
        for limit in Limit::ALL {
            let mut limits = Limits::default();
            assert_eq!(Limits::named(limit.name()), Some(limit));
            assert_eq!(limits.set(limit, 7), Ok(()));
            assert_eq!(limits.get(limit), 7);
        }
        assert_eq!(Limits::named("imps"), None);
    }

    #[test]
    fn a_limit_stays_in_its_range() {
        let mut limits = Limits::default();
        for limit in Limit::ALL {
            let max = Limits::greatest(limit);
            assert_eq!(limits.set(limit, 0), Err(LimitRange { limit, max }));
            assert_eq!(limits.set(limit, max + 1), Err(LimitRange { limit, max }));
            assert_eq!(limits.set(limit, max), Ok(()));
        }
    }
}
