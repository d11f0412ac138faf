//! What the decision may ask of a request, whatever bytes it came in.
//!
//! A reader hands out one of these over the received bytes; the engine asks for
//! what its checks need and nothing else is looked at. Every answer is already
//! in the terms of the decision rules: a value that is absent, of the wrong type
//! or out of its range is `None` ("unknown"), never an error. The one error is
//! [`Refusal`]: the bytes that had to be read are not well-formed, or a limit
//! was passed.
//!
//! Lists are walked by callback, so that no reader has to build one. A callback
//! answers [`Step`]; entries that are unknown never reach it.

use crate::{Channel, Country, DeviceType, MediaType, MediaTypes, Text};

/// The result of looking at a request's bytes.
pub type Read<T> = Result<T, Refusal>;

/// Why a request could not be read at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The bytes that had to be read are not well-formed in their format.
    Malformed,
    /// A limit of the reader was passed; see [`Limit`].
    OverLimit(Limit),
}

/// The limits a reader keeps, each with a default in `wire::Limits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// Length of the message in bytes.
    MessageBytes,
    /// Impressions in a request.
    Imps,
    /// Deals of one impression.
    Deals,
    /// Depth of nesting.
    Depth,
    /// Length in bytes of a string that is used.
    StringBytes,
    /// Work done for one request, in elements looked at.
    Work,
}

impl Limit {
    /// Every limit, in the order of the enum.
    pub const ALL: [Limit; 6] = [
        Limit::MessageBytes,
        Limit::Imps,
        Limit::Deals,
        Limit::Depth,
        Limit::StringBytes,
        Limit::Work,
    ];

    /// The stable name, as it stands in metrics, logs and the configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::MessageBytes => "message_bytes_max",
            Limit::Imps => "imps_max",
            Limit::Deals => "deals_max",
            Limit::Depth => "depth_max",
            Limit::StringBytes => "string_bytes_max",
            Limit::Work => "work_max",
        }
    }
}

/// What a callback wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next entry, if there is one.
    On,
    /// No more entries. The rest of the list is not looked at.
    Enough,
}

/// The lists of strings of a bid request (OpenRTB 2.6, 3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields of BidRequest, by name")]
pub enum RequestTexts {
    Cur,
    Bcat,
    Acat,
    Badv,
    Bapp,
    Wseat,
    Bseat,
}

/// The lists of strings of a deal (OpenRTB 2.6, 3.2.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields of Deal, by name")]
pub enum DealTexts {
    Wseat,
    Wadomain,
}

/// The lists of integers of `imp.banner`, `imp.video`, `imp.audio` and
/// `imp.native` (OpenRTB 2.6, 3.2.6 to 3.2.9). A medium that has no such field
/// has an empty list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields, by name")]
pub enum MediaInts {
    Battr,
    Api,
    Protocols,
    Rqddurs,
}

/// Integers of a medium, 0..=2³¹−1: the bounds on a creative's length in seconds (video and audio),
/// the position on the screen (banner and video) and the kind of placement (video). A medium that
/// has no such field has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields, by name")]
pub enum MediaInt {
    Minduration,
    Maxduration,
    Pos,
    Plcmt,
}

/// Strings of `device` and of `device.geo` (OpenRTB 2.6, 3.2.18 and 3.2.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields, by name")]
pub enum DeviceText {
    Os,
    Osv,
    /// `geo.region`.
    Region,
    /// `geo.metro`.
    Metro,
    /// `geo.city`.
    City,
}

/// Integers of `device` and of `device.geo` (OpenRTB 2.6, 3.2.18 and 3.2.19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields, by name")]
pub enum DeviceInt {
    Connectiontype,
    /// `geo.utcoffset`, in minutes.
    Utcoffset,
}

/// Strings of `site`, `app` or `dooh` (OpenRTB 2.6, 3.2.13, 3.2.14 and 3.2.32) and of what is in
/// them. `bundle` is an app's alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields, by name")]
pub enum ChannelText {
    Domain,
    Bundle,
    /// `publisher.id`.
    Publisher,
    /// `content.language`.
    Language,
    /// `content.langb`.
    Langb,
}

/// Whose content categories: `cat` and `cattax` of `site` or `app`, or of the `content` in any
/// of the three. `dooh` has none of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the objects, by name")]
pub enum CategoriesOf {
    Channel,
    Content,
}

/// A bid request (OpenRTB 2.6, 3.2.1).
pub trait RequestView<'a> {
    /// How an impression is seen.
    type Imp: ImpView<'a>;

    /// `id`; `None` makes the request invalid.
    fn id(&self) -> Read<Option<Text<'a>>>;
    /// How many impressions there are: entries of `imp` that are objects.
    fn imps(&self) -> Read<usize>;
    /// The impression at `index`, counted from 0 over the same entries; past the end is
    /// [`Refusal::Malformed`], never a panic.
    fn imp(&self, index: usize) -> Read<Self::Imp>;
    /// `device.devicetype`, 1..=8.
    fn device_type(&self) -> Read<Option<DeviceType>>;
    /// `device.geo.country`, alpha-2 or alpha-3 in any case, trimmed.
    fn country(&self) -> Read<Option<Country>>;
    /// `test`; unknown is false.
    fn test(&self) -> Read<bool>;
    /// `tmax` in milliseconds.
    fn tmax_ms(&self) -> Read<Option<i32>>;
    /// `cattax`; unknown is 1.
    fn cattax(&self) -> Read<i32>;
    /// The entries of a list of strings.
    fn texts(&self, list: RequestTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()>;

    // What only some line items ask for.

    /// A string of the device, as written.
    fn device_text(&self, field: DeviceText) -> Read<Option<Text<'a>>>;
    /// An integer of the device, a signed 32-bit value.
    fn device_int(&self, field: DeviceInt) -> Read<Option<i32>>;
    /// The first of `site`, `app` and `dooh` that is present as an object.
    fn channel(&self) -> Read<Option<Channel>>;
    /// A string of `site`, `app` or `dooh`, as written.
    fn channel_text(&self, of: Channel, field: ChannelText) -> Read<Option<Text<'a>>>;
    /// The entries of `cat`.
    fn categories(
        &self,
        of: Channel,
        whose: CategoriesOf,
        each: impl FnMut(Text<'a>) -> Step,
    ) -> Read<()>;
    /// The taxonomy of [`RequestView::categories`]; unknown is 1.
    fn categories_tax(&self, of: Channel, whose: CategoriesOf) -> Read<i32>;
}

/// An impression (OpenRTB 2.6, 3.2.4).
pub trait ImpView<'a> {
    /// How a deal is seen.
    type Deal: DealView<'a>;

    /// `id`; `None` keeps the impression from any bid.
    fn id(&self) -> Read<Option<Text<'a>>>;
    /// Which of `banner`, `video`, `audio`, `native` are present as objects.
    fn media_types(&self) -> Read<MediaTypes>;
    /// `video.w` × `video.h`, each 1..=2³¹−1; known only where both are.
    fn video_size(&self) -> Read<Option<(i32, i32)>>;
    /// The banner sizes: `banner.format[]` where it holds at least one object (sizes
    /// that are not fully known are passed over), else `banner.w` × `banner.h`.
    fn banner_sizes(&self, each: impl FnMut(i32, i32) -> Step) -> Read<()>;
    /// `bidfloor`, in currency units a thousand impressions. May be infinite or not a number.
    fn bidfloor(&self) -> Read<Option<f64>>;
    /// `bidfloorcur` as written.
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>>;
    /// `pmp.private_auction`; unknown is false.
    fn private_auction(&self) -> Read<bool>;
    /// The entries of `pmp.deals` that are objects, in order, with or without an id.
    fn deals(&self, each: impl FnMut(Self::Deal) -> Read<Step>) -> Read<()>;
    /// `secure`; unknown is false.
    fn secure(&self) -> Read<bool>;
    /// `qty.multiplier`; never infinite nor not a number.
    fn qty_multiplier(&self) -> Read<Option<f64>>;
    /// `mimes` of the medium, as written.
    fn mimes(&self, of: MediaType, each: impl FnMut(Text<'a>) -> Step) -> Read<()>;
    /// The entries of a list of integers of the medium, each a signed 32-bit value.
    fn ints(&self, of: MediaType, list: MediaInts, each: impl FnMut(i32) -> Step) -> Read<()>;
    /// An integer of the medium.
    fn int(&self, of: MediaType, field: MediaInt) -> Read<Option<i32>>;
    /// Whether the medium is priced by the second: `mincpmpersec` is known, or `durfloors`
    /// holds at least one object (video and audio).
    fn priced_by_second(&self, of: MediaType) -> Read<bool>;
    /// `instl`; unknown is false. As what follows, only some line items ask for it.
    fn instl(&self) -> Read<bool>;
    /// `rwdd`; unknown is false.
    fn rwdd(&self) -> Read<bool>;
}

/// A deal of an impression (OpenRTB 2.6, 3.2.12).
pub trait DealView<'a> {
    /// `id`; `None` offers no market.
    fn id(&self) -> Read<Option<Text<'a>>>;
    /// `bidfloor`, as [`ImpView::bidfloor`].
    fn bidfloor(&self) -> Read<Option<f64>>;
    /// `bidfloorcur` as written; it does not inherit the impression's.
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>>;
    /// `at`.
    fn at(&self) -> Read<Option<i32>>;
    /// The entries of a list of strings.
    fn texts(&self, list: DealTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()>;
}
