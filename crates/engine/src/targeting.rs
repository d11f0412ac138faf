//! Where a line item may bid (`docs/decisions.md`, "Targeting"). What few line items use is kept
//! small, or behind a pointer: there may be a million of them.

use crate::{Timestamp, VideoSize};
use openrtb::{Channel, Country, DeviceType};

/// Where a line item may bid. What is empty is no restriction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targeting {
    /// It bids only through one of these deals; none of them: only in the open market.
    pub deals: Vec<String>,
    /// `device.geo.country` must be one.
    pub countries: Vec<Country>,
    /// `device.devicetype` must be one; a target of 1 is met by 1, 4 and 5.
    pub device_types: Vec<DeviceType>,
    /// `imp.video`'s size must be inside.
    pub video_size: VideoSize,
    /// `device.geo.region`, `metro` and `city`.
    pub places: Option<Box<Chosen<Places>>>,
    /// `device.os` and `device.osv` must meet one.
    pub os: Box<[OsTarget]>,
    /// The channel must be one.
    pub channels: Numbers,
    /// `site.domain` and `app.bundle`.
    pub inventory: Option<Box<Chosen<Inventory>>>,
    /// `publisher.id` of the channel.
    pub publishers: Option<Box<Chosen<Vec<String>>>>,
    /// The content categories.
    pub categories: Option<Box<Categories>>,
    /// `content.language` of the channel, or `content.langb`.
    pub languages: Option<Box<Chosen<Vec<String>>>>,
    /// `device.connectiontype` must be one.
    pub connection_types: Numbers,
    /// The hour of the user's week must be one.
    pub hours: Hours,
    /// `pos` of the banner or the video must be one.
    pub positions: Numbers,
    /// `imp.video.plcmt` must be one.
    pub plcmts: Numbers,
    /// What `imp.instl` must be.
    pub interstitial: Option<bool>,
    /// What `imp.rwdd` must be.
    pub rewarded: Option<bool>,
}

impl Targeting {
    /// The longest entry of a list of texts, and the longest text of a request that may meet one,
    /// in bytes.
    pub const TEXT_BYTES_MAX: usize = 255;
    /// The most entries of a list.
    pub const LIST_ENTRIES_MAX: usize = 100_000;
    /// The most content categories of a request that count.
    pub const CATEGORIES_MAX: usize = 32;
    /// What `device.connectiontype` may be: up to here, from 1.
    pub const CONNECTION_TYPE_MAX: u8 = 7;
    /// What `pos` may be: up to here, from 1.
    pub const POSITION_MAX: u8 = 7;
    /// What `plcmt` may be: up to here, from 1.
    pub const PLCMT_MAX: u8 = 4;
}

/// What a request must have one of, unless it is empty, and what it must have none of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the lists, by name")]
pub struct Chosen<T> {
    pub include: T,
    pub exclude: T,
}

/// Parts of countries, as a request names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the lists, by name")]
pub struct Places {
    pub regions: Vec<String>,
    pub cities: Vec<String>,
    pub metros: Vec<String>,
}

/// Sites and apps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Domains of sites; what is under them counts too.
    pub domains: Vec<String>,
    /// Bundles of apps.
    pub bundles: Vec<String>,
}

/// Content categories, in a taxonomy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Categories {
    /// AdCOM "Category Taxonomies".
    pub cattax: i32,
    /// The categories; in taxonomy 1 what is under them counts too.
    pub chosen: Chosen<Vec<String>>,
}

impl Default for Categories {
    fn default() -> Categories {
        Categories {
            cattax: 1,
            chosen: Chosen::default(),
        }
    }
}

/// An operating system, and bounds on its version, inclusive. `None` is no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the name and the bounds, by name")]
pub struct OsTarget {
    pub name: String,
    pub min_version: Option<Version>,
    pub max_version: Option<Version>,
}

/// A version: up to four numbers with dots between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    parts: [u16; 4],
    len: u8,
}

impl Version {
    /// The longest text of a version, in bytes.
    pub const TEXT_BYTES_MAX: usize = 64;

    /// The version that a text spells, trimmed. A number above 65,535 counts as that, and what
    /// comes behind the fourth does not count.
    pub fn parse(text: &str) -> Option<Version> {
        let text = text.trim();
        if text.len() > Self::TEXT_BYTES_MAX {
            return None;
        }
        let (mut parts, mut len) = ([0; 4], 0);
        for part in text.split('.') {
            let number = number(part)?;
            if let Some(to) = parts.get_mut(usize::from(len)) {
                *to = number;
                len += 1;
            }
        }
        Some(Version { parts, len })
    }

    /// [`Version::parse`], unless the version counts as another one than is spelled.
    pub fn exactly(text: &str) -> Option<Version> {
        let is_exact = |part: &str| part.parse::<u16>().is_ok();
        let parts = || text.trim().split('.');
        let exact = parts().count() <= 4 && parts().all(is_exact);
        Version::parse(text).filter(|_| exact)
    }

    /// The version as one number, in the order of versions; what it lacks is 0.
    pub(crate) fn least(self) -> u64 {
        self.parts
            .iter()
            .fold(0, |all, part| all << 16 | u64::from(*part))
    }

    /// The greatest version that equals this one in all the numbers that it has.
    pub(crate) fn greatest(self) -> u64 {
        self.least() | u64::MAX.checked_shr(16 * u32::from(self.len)).unwrap_or(0)
    }
}

fn number(part: &str) -> Option<u16> {
    let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    // All digits: what does not parse is too large.
    digits.then(|| part.parse().unwrap_or(u16::MAX))
}

/// A set of numbers from 0 to 7.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Numbers(u8);

impl Numbers {
    /// How many numbers there are.
    pub(crate) const COUNT: usize = 8;

    /// The set with `number` in it too, if it is below 8.
    #[must_use]
    pub const fn with(self, number: u8) -> Numbers {
        if number < 8 {
            Numbers(self.0 | 1 << number)
        } else {
            self
        }
    }

    /// The set with the channel's number in it too.
    #[must_use]
    pub const fn with_channel(self, channel: Channel) -> Numbers {
        self.with(channel as u8)
    }

    /// Whether `number` is in the set.
    pub fn contains(self, number: u8) -> bool {
        number < 8 && self.0 & 1 << number != 0
    }

    /// Whether nothing is in the set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// A set of hours of the week. 0 is the first of Monday.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hours([u32; 7]);

impl Hours {
    /// How many hours a week has.
    pub const COUNT: usize = 168;
    /// What `device.geo.utcoffset` may be, in minutes.
    pub const UTCOFFSET_MINUTES: core::ops::RangeInclusive<i32> = -720..=840;

    /// The set with the hours from `from` up to, not including, `to` of a day in it too. Monday
    /// is 0.
    #[must_use]
    pub fn with(mut self, day: usize, from: u8, to: u8) -> Hours {
        if let Some(day) = self.0.get_mut(day) {
            *day |= (from..to.min(24)).fold(0, |hours, hour| hours | 1 << hour);
        }
        self
    }

    /// Whether an hour is in the set.
    pub fn contains(&self, hour: usize) -> bool {
        let day = self.0.get(hour / 24);
        day.is_some_and(|day| day & 1 << (hour % 24) != 0)
    }

    /// Whether no hour is in the set.
    pub fn is_empty(&self) -> bool {
        *self == Hours::default()
    }

    /// The hour of the week at `now` where clocks are so many minutes ahead of UTC; `None` where
    /// none are.
    pub fn at(now: Timestamp, utcoffset_minutes: i32) -> Option<usize> {
        const MINUTE_US: i64 = 60_000_000;
        const HOUR_MINUTES: i64 = 60;
        // 1970 began on a Thursday.
        const THURSDAY: i64 = 3 * 24;
        if !Self::UTCOFFSET_MINUTES.contains(&utcoffset_minutes) {
            return None;
        }
        let minutes = now.0.div_euclid(MINUTE_US) + i64::from(utcoffset_minutes);
        let hour = minutes.div_euclid(HOUR_MINUTES) + THURSDAY;
        usize::try_from(hour.rem_euclid(Self::COUNT as i64)).ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers_with_dots() {
        for (text, expect) in [
            ("14.2", Some([14, 2, 0, 0])),
            (" 17 ", Some([17, 0, 0, 0])),
            ("10.0.19045.3803.9", Some([10, 0, 19045, 3803])),
            ("99999.1", Some([65535, 1, 0, 0])),
            ("007", Some([7, 0, 0, 0])),
            ("", None),
            (".", None),
            ("14.", None),
            ("14..2", None),
            ("14_2", None),
            ("1.2.3.4.x", None),
            ("-1", None),
            ("+1", None),
            ("NT 10.0", None),
        ] {
            let parts = Version::parse(text).map(|version| version.parts);
            assert_eq!(parts, expect, "{text:?}");
        }
        for (text, exact) in [
            ("14.2.0.65535", true),
            ("65536", false),
            ("1.2.3.4.5", false),
            ("x", false),
        ] {
            assert_eq!(Version::exactly(text).is_some(), exact, "{text:?}");
        }
        assert!(Version::parse(&"1".repeat(64)).is_some());
        assert!(Version::parse(&"1".repeat(65)).is_none());
    }

    #[test]
    fn a_bound_is_compared_in_as_many_numbers_as_it_has() {
        let version = |text| Version::parse(text).unwrap();
        for (text, bound, at_least, at_most) in [
            ("17.4.1", "17", true, true),
            ("18", "17", true, false),
            ("16.9", "17", false, true),
            ("14", "14.2", false, true),
            ("14.2.1", "14.2", true, true),
            ("14.2", "14.2.0.0", true, true),
            ("14.2.0.1", "14.2.0.0", true, false),
            ("1.10", "1.9", true, false),
        ] {
            let (is, bound) = (version(text).least(), version(bound));
            assert_eq!(is >= bound.least(), at_least, "{text} {bound:?}");
            assert_eq!(is <= bound.greatest(), at_most, "{text} {bound:?}");
        }
    }

    #[test]
    fn hours_are_of_the_users_week() {
        const HOUR_US: i64 = 3_600_000_000;
        for (us, minutes, expect) in [
            (0, 0, Some(72)),
            (HOUR_US - 1, 0, Some(72)),
            (-1, 0, Some(71)),
            (0, -720, Some(60)),
            (0, 840, Some(86)),
            (0, 330, Some(77)),
            (4 * 24 * HOUR_US, 0, Some(0)),
            (4 * 24 * HOUR_US, -1, Some(167)),
            (0, 841, None),
            (0, -721, None),
            (0, i32::MAX, None),
        ] {
            assert_eq!(Hours::at(Timestamp(us), minutes), expect, "{us} {minutes}");
        }
        for us in [i64::MIN, i64::MAX] {
            assert!(Hours::at(Timestamp(us), 840).is_some());
        }
        let hours = Hours::default()
            .with(0, 8, 10)
            .with(6, 23, 200)
            .with(7, 0, 24);
        let all: Vec<_> = (0..200).filter(|hour| hours.contains(*hour)).collect();
        assert_eq!(all, [8, 9, 167]);
        assert!(!hours.is_empty() && Hours::default().with(0, 5, 5).is_empty());
    }

    #[test]
    fn numbers_are_below_eight() {
        let numbers = Numbers::default().with(7).with(8).with(255);
        let all: Vec<_> = (0..=255).filter(|at| numbers.contains(*at)).collect();
        assert_eq!(all, [7]);
        assert!(Numbers::default().with(9).is_empty());
    }
}
