//! The numbers and names of OpenRTB 2.6 and AdCOM 1.0 that the decision uses.

/// What a device is (AdCOM list "Device Types", 1..=8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceType(u8);

impl DeviceType {
    /// Mobile or tablet, not said which. As a target it is met by phones and tablets too.
    pub const MOBILE: DeviceType = DeviceType(1);
    /// Phone.
    pub const PHONE: DeviceType = DeviceType(4);
    /// Tablet.
    pub const TABLET: DeviceType = DeviceType(5);

    /// The device type with this number; `None` outside 1..=8.
    pub const fn new(number: i64) -> Option<DeviceType> {
        match number {
            1..=8 => Some(DeviceType(number as u8)),
            _ => None,
        }
    }

    /// The number, 1..=8.
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// The four kinds of media an impression may offer and a creative may be
/// (OpenRTB 2.6, `bid.mtype`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the media, by name")]
pub enum MediaType {
    Banner = 1,
    Video = 2,
    Audio = 3,
    Native = 4,
}

impl MediaType {
    /// All four, by `mtype`.
    pub const ALL: [MediaType; 4] = [
        MediaType::Banner,
        MediaType::Video,
        MediaType::Audio,
        MediaType::Native,
    ];

    /// The name of the object of an impression that offers it.
    pub const fn name(self) -> &'static str {
        match self {
            MediaType::Banner => "banner",
            MediaType::Video => "video",
            MediaType::Audio => "audio",
            MediaType::Native => "native",
        }
    }

    /// `bid.mtype`, 1..=4.
    pub const fn mtype(self) -> i32 {
        self as i32
    }
}

/// A set of [`MediaType`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MediaTypes(u8);

impl MediaTypes {
    /// No media.
    pub const NONE: MediaTypes = MediaTypes(0);

    /// The set with `media` in it too.
    #[must_use]
    pub const fn with(self, media: MediaType) -> MediaTypes {
        MediaTypes(self.0 | 1 << (media as u8 - 1))
    }

    /// Whether `media` is in the set.
    pub const fn contains(self, media: MediaType) -> bool {
        self.0 & 1 << (media as u8 - 1) != 0
    }

    /// Whether the sets have a medium in common.
    pub const fn meets(self, other: MediaTypes) -> bool {
        self.0 & other.0 != 0
    }

    /// The set as four bits, banner the lowest.
    pub const fn bits(self) -> u8 {
        self.0
    }
}

/// What an ad is shown in (OpenRTB 2.6, 3.2.13, 3.2.14 and 3.2.32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the objects of BidRequest, by name")]
pub enum Channel {
    Site,
    App,
    Dooh,
}

impl Channel {
    /// All three, in the order in which they count where a request has several.
    pub const ALL: [Channel; 3] = [Channel::Site, Channel::App, Channel::Dooh];

    /// The name of the object of a request.
    pub const fn name(self) -> &'static str {
        match self {
            Channel::Site => "site",
            Channel::App => "app",
            Channel::Dooh => "dooh",
        }
    }
}

/// Why there is no bid: the stage at which the last line item dropped out, or what kept the
/// stages from being walked at all. The order is the order of the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "documented in docs/decisions.md, by name")]
pub enum Reason {
    InvalidRequest,
    Currency,
    Deadline,
    Overload,
    ShuttingDown,
    Inactive,
    Deal,
    Country,
    DeviceType,
    Place,
    Os,
    Channel,
    Inventory,
    Publisher,
    Category,
    Language,
    ConnectionType,
    Hour,
    Format,
    VideoSize,
    Position,
    Plcmt,
    Interstitial,
    Rewarded,
    Floor,
    Budget,
    Blocked,
}

impl Reason {
    /// Every reason, in the order of the enum.
    pub const ALL: [Reason; 27] = [
        Reason::InvalidRequest,
        Reason::Currency,
        Reason::Deadline,
        Reason::Overload,
        Reason::ShuttingDown,
        Reason::Inactive,
        Reason::Deal,
        Reason::Country,
        Reason::DeviceType,
        Reason::Place,
        Reason::Os,
        Reason::Channel,
        Reason::Inventory,
        Reason::Publisher,
        Reason::Category,
        Reason::Language,
        Reason::ConnectionType,
        Reason::Hour,
        Reason::Format,
        Reason::VideoSize,
        Reason::Position,
        Reason::Plcmt,
        Reason::Interstitial,
        Reason::Rewarded,
        Reason::Floor,
        Reason::Budget,
        Reason::Blocked,
    ];

    /// The stable name, as it stands in decisions, metrics and logs.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::InvalidRequest => "invalid_request",
            Reason::Currency => "currency",
            Reason::Deadline => "deadline",
            Reason::Overload => "overload",
            Reason::ShuttingDown => "shutting_down",
            Reason::Inactive => "inactive",
            Reason::Deal => "deal",
            Reason::Country => "country",
            Reason::DeviceType => "device_type",
            Reason::Place => "place",
            Reason::Os => "os",
            Reason::Channel => "channel",
            Reason::Inventory => "inventory",
            Reason::Publisher => "publisher",
            Reason::Category => "category",
            Reason::Language => "language",
            Reason::ConnectionType => "connection_type",
            Reason::Hour => "hour",
            Reason::Format => "format",
            Reason::VideoSize => "video_size",
            Reason::Position => "position",
            Reason::Plcmt => "plcmt",
            Reason::Interstitial => "interstitial",
            Reason::Rewarded => "rewarded",
            Reason::Floor => "floor",
            Reason::Budget => "budget",
            Reason::Blocked => "blocked",
        }
    }

    /// `BidResponse.nbr` (AdCOM list "No-Bid Reason Codes"; 500 and above are ours).
    #[inline]
    pub fn nbr(self) -> i32 {
        NBRS.get(self as usize).copied().unwrap_or(0)
    }

    const fn listed_nbr(self) -> i32 {
        match self {
            Reason::InvalidRequest => 2,
            Reason::DeviceType => 6,
            Reason::Deadline => 15,
            Reason::Inactive => 501,
            Reason::Deal => 502,
            Reason::Country => 503,
            Reason::Format => 505,
            Reason::VideoSize => 506,
            Reason::Floor => 507,
            Reason::Budget => 508,
            Reason::Blocked => 509,
            Reason::Overload => 510,
            Reason::Currency => 511,
            Reason::ShuttingDown => 512,
            Reason::Place => 513,
            Reason::Os => 514,
            Reason::Channel => 515,
            Reason::Inventory => 516,
            Reason::Publisher => 517,
            Reason::Category => 518,
            Reason::Language => 519,
            Reason::ConnectionType => 520,
            Reason::Hour => 521,
            Reason::Position => 522,
            Reason::Plcmt => 523,
            Reason::Interstitial => 524,
            Reason::Rewarded => 525,
        }
    }

    /// The reason with this `nbr`.
    pub fn from_nbr(nbr: i32) -> Option<Reason> {
        Reason::ALL.into_iter().find(|r| r.nbr() == nbr)
    }
}

/// [`Reason::nbr`], as data: to jump to the right number is more than a processor can learn.
static NBRS: [i32; Reason::ALL.len()] = {
    let mut nbrs = [0; Reason::ALL.len()];
    let mut at = 0;
    while at < nbrs.len() {
        #[allow(
            clippy::indexing_slicing,
            reason = "evaluated by the compiler, over constants"
        )]
        {
            nbrs[Reason::ALL[at] as usize] = Reason::ALL[at].listed_nbr();
        }
        at += 1;
    }
    nbrs
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_reasons_are_unique() {
        for (at, a) in Reason::ALL.into_iter().enumerate() {
            assert_eq!(a.nbr(), a.listed_nbr(), "{}", a.name());
            assert_eq!(Reason::from_nbr(a.nbr()), Some(a), "{}", a.name());
            assert_eq!(a as usize, at, "in the order of the enum");
        }
    }

    #[test]
    fn device_types_outside_the_list_are_unknown() {
        for n in [-1, 0, 9, 4_294_967_299] {
            assert_eq!(DeviceType::new(n), None, "{n}");
        }
        assert_eq!(DeviceType::new(8).map(DeviceType::number), Some(8));
    }
}
