//! A request in JSON, read in place.
//!
//! One walk over the request, `device`, `device.geo` and each impression notes where the values of
//! interest start, passes over everything else, and so finds out whether the text is complete. A
//! value is looked at when it is asked for, and only then held to the grammar. The first of
//! repeated keys counts, also where its value is `null`.
//!
//! What passes unnoticed, because nobody looks: anything inside a value that is not asked for, as
//! long as its strings end and its brackets balance by count; and the rest of `device` and
//! `device.geo` once what is read of them was found. What never does: a text that ends early or goes
//! on after its end, a walked object or array without its colons and commas, a value that is asked
//! for and is none.

use core::cell::OnceCell;

use openrtb::{
    CategoriesOf, Channel, ChannelText, Country, DealTexts, DealView, DeviceInt, DeviceText,
    DeviceType, ImpView, MediaInt, MediaInts, MediaType, MediaTypes, Read, Refusal, RequestTexts,
    RequestView, Step, Text,
};

use super::cursor::{Cursor, Value};
use super::keys::{Found, Keys};
use super::{number, string};
use crate::fields;
use crate::limits::Meter;

/// The keys of a request, by place.
static REQUEST: Keys = Keys::new(&[
    "id", "imp", "device", "test", "tmax", "cattax", "cur", "bcat", "acat", "badv", "bapp",
    "wseat", "bseat",
]);
mod request {
    pub(super) const ID: usize = 1;
    pub(super) const IMP: usize = 2;
    pub(super) const DEVICE: usize = 3;
    pub(super) const TEST: usize = 4;
    pub(super) const TMAX: usize = 5;
    pub(super) const CATTAX: usize = 6;
    /// The first of `RequestTexts`.
    pub(super) const TEXTS: usize = 7;
}

static DEVICE: Keys = Keys::new(&["devicetype", "geo"]);
mod device {
    pub(super) const DEVICETYPE: usize = 1;
    pub(super) const GEO: usize = 2;
}

static GEO: Keys = Keys::new(&["country"]);
mod geo {
    pub(super) const COUNTRY: usize = 1;
}

/// The keys of what only some decisions ask for, by place; they are looked for when it is asked
/// for.
static CHANNELS: Keys = Keys::new(&["site", "app", "dooh"]);

static DEVICE_MORE: Keys = Keys::new(&["os", "osv", "connectiontype", "geo"]);
mod device_more {
    pub(super) const CONNECTIONTYPE: usize = 3;
    pub(super) const GEO: usize = 4;
}

static GEO_MORE: Keys = Keys::new(&["region", "metro", "city", "utcoffset"]);
mod geo_more {
    pub(super) const UTCOFFSET: usize = 4;
}

static CHANNEL: Keys = Keys::new(&["domain", "bundle", "publisher", "content", "cat", "cattax"]);
mod channel {
    // 1 and 2: the first of `ChannelText`.
    pub(super) const PUBLISHER: usize = 3;
    pub(super) const CONTENT: usize = 4;
    pub(super) const CAT: usize = 5;
    pub(super) const CATTAX: usize = 6;
}

static PUBLISHER: Keys = Keys::new(&["id"]);
mod publisher {
    pub(super) const ID: usize = 1;
}

static CONTENT: Keys = Keys::new(&["language", "langb", "cat", "cattax"]);
mod content {
    pub(super) const LANGUAGE: usize = 1;
    pub(super) const LANGB: usize = 2;
    pub(super) const CAT: usize = 3;
    pub(super) const CATTAX: usize = 4;
}

/// The keys of an impression, by place.
static IMP: Keys = Keys::new(&[
    "banner",
    "video",
    "audio",
    "native",
    "id",
    "bidfloor",
    "bidfloorcur",
    "pmp",
    "secure",
    "qty",
    "instl",
    "rwdd",
]);
mod imp {
    // 1 to 4: the media, by `mtype`.
    pub(super) const ID: usize = 5;
    pub(super) const BIDFLOOR: usize = 6;
    pub(super) const BIDFLOORCUR: usize = 7;
    pub(super) const PMP: usize = 8;
    pub(super) const SECURE: usize = 9;
    pub(super) const QTY: usize = 10;
    pub(super) const INSTL: usize = 11;
    pub(super) const RWDD: usize = 12;
}

static QTY: Keys = Keys::new(&["multiplier"]);
mod qty {
    pub(super) const MULTIPLIER: usize = 1;
}

static PRIVATE_AUCTION: Keys = Keys::new(&["private_auction"]);
static DEALS: Keys = Keys::new(&["deals"]);

static DEAL: Keys = Keys::new(&["id", "bidfloor", "bidfloorcur", "at", "wseat", "wadomain"]);
mod deal {
    pub(super) const ID: usize = 1;
    pub(super) const BIDFLOOR: usize = 2;
    pub(super) const BIDFLOORCUR: usize = 3;
    pub(super) const AT: usize = 4;
    /// The first of `DealTexts`.
    pub(super) const TEXTS: usize = 5;
}

static SIZE: Keys = Keys::new(&["w", "h"]);
mod size {
    pub(super) const W: usize = 1;
    pub(super) const H: usize = 2;
}

/// The keys of a medium besides its size, by place.
static MEDIUM: Keys = Keys::new(&[
    "mimes",
    "format",
    "battr",
    "api",
    "protocols",
    "rqddurs",
    "minduration",
    "maxduration",
    "pos",
    "plcmt",
    "mincpmpersec",
    "durfloors",
]);
mod medium {
    pub(super) const MIMES: usize = 1;
    pub(super) const FORMAT: usize = 2;
    /// The first of `MediaInts`.
    pub(super) const INTS: usize = 3;
    /// The first of `MediaInt`.
    pub(super) const INT: usize = 7;
    pub(super) const MINCPMPERSEC: usize = 11;
    pub(super) const DURFLOORS: usize = 12;
}

/// The text, where values are looked at.
#[derive(Clone, Copy)]
struct Document<'a> {
    cursor: Cursor<'a>,
    meter: &'a Meter,
}

impl<'a> Document<'a> {
    #[inline]
    fn value(&self, at: Option<usize>) -> Read<Value<'a>> {
        match at {
            Some(at) => self.cursor.value(at),
            None => Ok(Value::Null),
        }
    }

    /// A string, or the text of a number.
    #[inline]
    fn text(&self, at: Option<usize>) -> Read<Option<Text<'a>>> {
        match self.value(at)? {
            Value::String(spelled, true) => self.meter.text(spelled),
            Value::String(spelled, false) => string::text(spelled, self.meter),
            Value::Number(number) => self.meter.text(number.as_bytes()),
            _ => Ok(None),
        }
    }

    /// What `read` makes of a number, or of a number given as a string.
    #[inline]
    fn number<T>(&self, value: Value<'a>, read: impl FnOnce(&str) -> Option<T>) -> Read<Option<T>> {
        match value {
            Value::Number(number) => {
                self.meter.spend(number.len())?;
                Ok(read(number))
            }
            Value::String(spelled, _) => {
                let text = string::text(spelled, self.meter)?;
                Ok(text.and_then(|text| text.with(|text| read(number::whole(text)?))))
            }
            _ => Ok(None),
        }
    }

    #[inline]
    fn int(&self, at: Option<usize>) -> Read<Option<i32>> {
        self.number(self.value(at)?, number::int)
    }

    #[inline]
    fn double(&self, at: Option<usize>) -> Read<Option<f64>> {
        self.number(self.value(at)?, |number| Some(number::double(number)))
    }

    /// A field of 0 or 1; unknown is false.
    #[inline]
    fn flag(&self, at: Option<usize>) -> Read<bool> {
        match self.value(at)? {
            Value::Bool(flag) => Ok(flag),
            value => Ok(self.number(value, number::int)? == Some(1)),
        }
    }

    /// Where an object starts, if it is one.
    #[inline]
    fn object(&self, at: Option<usize>) -> Read<Option<usize>> {
        match self.value(at)? {
            Value::Object(at) => Ok(Some(at)),
            _ => Ok(None),
        }
    }

    /// Where the values of `keys` start in what may be an object; nowhere if it is none.
    #[inline]
    fn find(&self, keys: &Keys, at: Option<usize>) -> Read<Found> {
        match self.object(at)? {
            Some(at) => keys.find(&self.cursor, at, |bytes| self.meter.spend(bytes)),
            None => Ok(Found::default()),
        }
    }

    /// Calls `each` with where each element starts in what may be an array.
    #[inline]
    fn elements(&self, at: Option<usize>, mut each: impl FnMut(usize) -> Read<Step>) -> Read<()> {
        let Value::Array(start) = self.value(at)? else {
            return Ok(());
        };
        let mut elements = self.cursor.elements(start);
        let mut last = start;
        while let Some(at) = elements.next()? {
            self.meter.spend(at - last)?;
            last = at;
            if each(at)? == Step::Enough {
                break;
            }
        }
        Ok(())
    }

    /// Calls `each` with the entries of a list of strings that are known.
    #[inline]
    fn texts(&self, at: Option<usize>, mut each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        self.elements(at, |at| {
            Ok(self.text(Some(at))?.map_or(Step::On, &mut each))
        })
    }

    /// A width and height.
    #[inline]
    fn size(&self, at: Option<usize>) -> Read<Option<(i32, i32)>> {
        let found = self.find(&SIZE, at)?;
        let w = self.int(found.at(size::W))?;
        Ok(fields::size(w, self.int(found.at(size::H))?))
    }
}

/// A bid request.
pub(crate) struct Request<'a> {
    document: Document<'a>,
    found: Found,
    device: Device,
    imps: &'a [Found],
    /// Where the request starts.
    root: usize,
    /// What only some decisions ask for, from when it is asked for.
    channels: OnceCell<Found>,
    channel: OfChannel,
    content: OfChannel,
    device_more: OnceCell<Found>,
    geo_more: OnceCell<Found>,
}

/// What was found in each channel.
#[derive(Default)]
struct OfChannel {
    site: OnceCell<Found>,
    app: OnceCell<Found>,
    dooh: OnceCell<Found>,
}

impl OfChannel {
    fn of(&self, channel: Channel) -> &OnceCell<Found> {
        match channel {
            Channel::Site => &self.site,
            Channel::App => &self.app,
            Channel::Dooh => &self.dooh,
        }
    }
}

/// What was found before, or what is found now.
#[inline]
fn once(cell: &OnceCell<Found>, find: impl FnOnce() -> Read<Found>) -> Read<&Found> {
    match cell.get() {
        Some(found) => Ok(found),
        None => {
            let found = find()?;
            Ok(cell.get_or_init(|| found))
        }
    }
}

/// Where the values of `device` and `device.geo` start.
#[derive(Clone, Copy, Default)]
struct Device {
    devicetype: Option<usize>,
    country: Option<usize>,
}

impl<'a> Request<'a> {
    /// Walks a text that is not too long; `imps` is room that is used again and again.
    #[inline]
    pub(crate) fn read(
        text: &'a [u8],
        imps: &'a mut Vec<Found>,
        meter: &'a Meter,
    ) -> Read<Request<'a>> {
        let cursor = Cursor::new(text, meter.limits().depth_max);
        let document = Document { cursor, meter };
        let (b'{', root) = cursor.solid(0) else {
            return Err(Refusal::Malformed);
        };
        let inside = document.inside(1)?;
        let mut device = Device::default();
        imps.clear();
        let found = document.walk(&REQUEST, root, |place, at| match place {
            request::IMP => inside.walk_imps(at, imps),
            request::DEVICE => inside.walk_device(at, &mut device),
            _ => Ok(None),
        })?;
        cursor.finish(found.end().ok_or(Refusal::Malformed)?)?;
        Ok(Request {
            document,
            found,
            device,
            imps,
            root,
            channels: OnceCell::new(),
            channel: OfChannel::default(),
            content: OfChannel::default(),
            device_more: OnceCell::new(),
            geo_more: OnceCell::new(),
        })
    }

    /// Where the objects for a channel start, or what stands in their place.
    fn channels(&self) -> Read<&Found> {
        once(&self.channels, || {
            self.document.find(&CHANNELS, Some(self.root))
        })
    }

    /// Where the values of a channel start.
    fn channel_found(&self, of: Channel) -> Read<&Found> {
        once(self.channel.of(of), || {
            let at = self.channels()?.at(of as usize + 1);
            self.document.find(&CHANNEL, at)
        })
    }

    /// Where the values of a channel's content start.
    fn content_found(&self, of: Channel) -> Read<&Found> {
        once(self.content.of(of), || {
            let at = self.channel_found(of)?.at(channel::CONTENT);
            self.document.find(&CONTENT, at)
        })
    }

    /// Where the values of what a device is start.
    fn device_found(&self) -> Read<&Found> {
        once(&self.device_more, || {
            let device = self.found.at(request::DEVICE);
            self.document.find(&DEVICE_MORE, device)
        })
    }

    /// Where the values of where a device is start.
    fn geo_found(&self) -> Read<&Found> {
        once(&self.geo_more, || {
            let geo = self.device_found()?.at(device_more::GEO);
            self.document.find(&GEO_MORE, geo)
        })
    }

    /// Where `cat` and `cattax` start.
    fn categories_found(
        &self,
        of: Channel,
        whose: CategoriesOf,
    ) -> Read<(Option<usize>, Option<usize>)> {
        if fields::categories(of, whose).is_none() {
            return Ok((None, None));
        }
        if whose == CategoriesOf::Channel {
            let found = self.channel_found(of)?;
            return Ok((found.at(channel::CAT), found.at(channel::CATTAX)));
        }
        let found = self.content_found(of)?;
        Ok((found.at(content::CAT), found.at(content::CATTAX)))
    }
}

/// The walk over what every decision asks for. What a value is over at is told where it was walked.
impl<'a> Document<'a> {
    fn inside(&self, levels: u32) -> Read<Document<'a>> {
        Ok(Document {
            cursor: self.cursor.inside(levels)?,
            ..*self
        })
    }

    /// Walks the object at `at` to its end.
    #[inline(always)]
    fn walk(
        &self,
        keys: &Keys,
        at: usize,
        enter: impl FnMut(usize, usize) -> Read<Option<usize>>,
    ) -> Read<Found> {
        let cursor = self.cursor.inside(1)?;
        keys.walk(&cursor, at, true, |_| Ok(()), enter)
    }

    /// Walks the impressions: the entries of `imp` that are objects.
    #[inline]
    fn walk_imps(&self, at: usize, imps: &mut Vec<Found>) -> Read<Option<usize>> {
        let Value::Array(start) = self.cursor.value(at)? else {
            return Ok(None);
        };
        let inside = self.inside(1)?;
        let mut elements = inside.cursor.elements(start);
        while let Some(at) = elements.next()? {
            self.meter.spend(0)?;
            if let Value::Object(at) = self.cursor.value(at)? {
                self.meter.check_imps(imps.len() + 1)?;
                let found = inside.walk(&IMP, at, |_, _| Ok(None))?;
                elements.pass(found.end().ok_or(Refusal::Malformed)?);
                imps.push(found);
            }
        }
        Ok(elements.end())
    }

    /// Walks `device`.
    #[inline]
    fn walk_device(&self, at: usize, device: &mut Device) -> Read<Option<usize>> {
        let Value::Object(at) = self.cursor.value(at)? else {
            return Ok(None);
        };
        let inside = self.inside(1)?;
        let found = self.walk(&DEVICE, at, |place, at| match place {
            device::GEO => inside.walk_geo(at, device),
            _ => Ok(None),
        })?;
        device.devicetype = found.at(device::DEVICETYPE);
        Ok(found.end())
    }

    /// Walks `device.geo`.
    #[inline]
    fn walk_geo(&self, at: usize, device: &mut Device) -> Read<Option<usize>> {
        let Value::Object(at) = self.cursor.value(at)? else {
            return Ok(None);
        };
        let found = self.walk(&GEO, at, |_, _| Ok(None))?;
        device.country = found.at(geo::COUNTRY);
        Ok(found.end())
    }
}

impl<'a> RequestView<'a> for Request<'a> {
    type Imp = Imp<'a>;

    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        self.document.text(self.found.at(request::ID))
    }

    #[inline]
    fn imps(&self) -> Read<usize> {
        Ok(self.imps.len())
    }

    #[inline]
    fn imp(&self, index: usize) -> Read<Imp<'a>> {
        Ok(Imp {
            document: self.document,
            found: self.imps.get(index).ok_or(Refusal::Malformed)?,
            media: Default::default(),
        })
    }

    #[inline]
    fn device_type(&self) -> Read<Option<DeviceType>> {
        let number = self.document.int(self.device.devicetype)?;
        Ok(number.and_then(|number| DeviceType::new(number.into())))
    }

    #[inline]
    fn country(&self) -> Read<Option<Country>> {
        Ok(self
            .document
            .text(self.device.country)?
            .and_then(Country::of))
    }

    #[inline]
    fn test(&self) -> Read<bool> {
        self.document.flag(self.found.at(request::TEST))
    }

    #[inline]
    fn tmax_ms(&self) -> Read<Option<i32>> {
        self.document.int(self.found.at(request::TMAX))
    }

    #[inline]
    fn cattax(&self) -> Read<i32> {
        let cattax = self.document.int(self.found.at(request::CATTAX))?;
        Ok(cattax.unwrap_or(1))
    }

    #[inline]
    fn texts(&self, list: RequestTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        let at = self.found.at(request::TEXTS + list as usize);
        self.document.texts(at, each)
    }

    fn device_text(&self, field: DeviceText) -> Read<Option<Text<'a>>> {
        let at = match field {
            DeviceText::Os | DeviceText::Osv => self.device_found()?.at(field as usize + 1),
            DeviceText::Region | DeviceText::Metro | DeviceText::City => {
                let before = DeviceText::Region as usize;
                self.geo_found()?.at(field as usize + 1 - before)
            }
        };
        self.document.text(at)
    }

    fn device_int(&self, field: DeviceInt) -> Read<Option<i32>> {
        let at = match field {
            DeviceInt::Connectiontype => self.device_found()?.at(device_more::CONNECTIONTYPE),
            DeviceInt::Utcoffset => self.geo_found()?.at(geo_more::UTCOFFSET),
        };
        self.document.int(at)
    }

    fn channel(&self) -> Read<Option<Channel>> {
        let channels = self.channels()?;
        for of in Channel::ALL {
            if self
                .document
                .object(channels.at(of as usize + 1))?
                .is_some()
            {
                return Ok(Some(of));
            }
        }
        Ok(None)
    }

    fn channel_text(&self, of: Channel, field: ChannelText) -> Read<Option<Text<'a>>> {
        if fields::channel_text(of, field).is_none() {
            return Ok(None);
        }
        let document = &self.document;
        let at = match field {
            ChannelText::Domain | ChannelText::Bundle => {
                self.channel_found(of)?.at(field as usize + 1)
            }
            ChannelText::Publisher => {
                let publisher = self.channel_found(of)?.at(channel::PUBLISHER);
                document.find(&PUBLISHER, publisher)?.at(publisher::ID)
            }
            ChannelText::Language => self.content_found(of)?.at(content::LANGUAGE),
            ChannelText::Langb => self.content_found(of)?.at(content::LANGB),
        };
        document.text(at)
    }

    fn categories(
        &self,
        of: Channel,
        whose: CategoriesOf,
        each: impl FnMut(Text<'a>) -> Step,
    ) -> Read<()> {
        let (cat, _) = self.categories_found(of, whose)?;
        self.document.texts(cat, each)
    }

    fn categories_tax(&self, of: Channel, whose: CategoriesOf) -> Read<i32> {
        let (_, cattax) = self.categories_found(of, whose)?;
        Ok(self.document.int(cattax)?.unwrap_or(1))
    }
}

/// An impression.
pub(crate) struct Imp<'a> {
    document: Document<'a>,
    found: &'a Found,
    /// Where the values of each medium start, from when one is asked for.
    media: [OnceCell<Found>; 4],
}

impl Imp<'_> {
    #[inline]
    fn at(&self, of: MediaType) -> Option<usize> {
        self.found.at(of as usize)
    }

    /// Where the values of a medium start.
    #[inline]
    fn medium(&self, of: MediaType) -> Read<&Found> {
        let [banner, video, audio, native] = &self.media;
        let cell = match of {
            MediaType::Banner => banner,
            MediaType::Video => video,
            MediaType::Audio => audio,
            MediaType::Native => native,
        };
        once(cell, || self.document.find(&MEDIUM, self.at(of)))
    }

    /// Where `pmp.deals` or `pmp.private_auction` starts.
    #[inline]
    fn pmp(&self, key: &Keys) -> Read<Option<usize>> {
        Ok(self.document.find(key, self.found.at(imp::PMP))?.at(1))
    }
}

impl<'a> ImpView<'a> for Imp<'a> {
    type Deal = Deal<'a>;

    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        self.document.text(self.found.at(imp::ID))
    }

    #[inline]
    fn media_types(&self) -> Read<MediaTypes> {
        let mut media = MediaTypes::NONE;
        for of in MediaType::ALL {
            if self.document.object(self.at(of))?.is_some() {
                media = media.with(of);
            }
        }
        Ok(media)
    }

    #[inline]
    fn video_size(&self) -> Read<Option<(i32, i32)>> {
        self.document.size(self.at(MediaType::Video))
    }

    #[inline]
    fn banner_sizes(&self, mut each: impl FnMut(i32, i32) -> Step) -> Read<()> {
        let mut formats = false;
        let at = self.medium(MediaType::Banner)?.at(medium::FORMAT);
        self.document.elements(at, |at| {
            if self.document.object(Some(at))?.is_none() {
                return Ok(Step::On);
            }
            formats = true;
            let size = self.document.size(Some(at))?;
            Ok(size.map_or(Step::On, |(w, h)| each(w, h)))
        })?;
        if !formats && let Some((w, h)) = self.document.size(self.at(MediaType::Banner))? {
            each(w, h);
        }
        Ok(())
    }

    #[inline]
    fn bidfloor(&self) -> Read<Option<f64>> {
        self.document.double(self.found.at(imp::BIDFLOOR))
    }

    #[inline]
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        self.document.text(self.found.at(imp::BIDFLOORCUR))
    }

    #[inline]
    fn private_auction(&self) -> Read<bool> {
        self.document.flag(self.pmp(&PRIVATE_AUCTION)?)
    }

    #[inline]
    fn deals(&self, mut each: impl FnMut(Deal<'a>) -> Read<Step>) -> Read<()> {
        let mut count = 0;
        let document = self.document;
        document.elements(self.pmp(&DEALS)?, |at| {
            if document.object(Some(at))?.is_none() {
                return Ok(Step::On);
            }
            count += 1;
            document.meter.check_deals(count)?;
            let found = document.find(&DEAL, Some(at))?;
            each(Deal { document, found })
        })
    }

    #[inline]
    fn secure(&self) -> Read<bool> {
        self.document.flag(self.found.at(imp::SECURE))
    }

    #[inline]
    fn qty_multiplier(&self) -> Read<Option<f64>> {
        let found = self.document.find(&QTY, self.found.at(imp::QTY))?;
        let multiplier = self.document.double(found.at(qty::MULTIPLIER))?;
        Ok(multiplier.filter(|value| value.is_finite()))
    }

    #[inline]
    fn mimes(&self, of: MediaType, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        if fields::mimes(of).is_none() {
            return Ok(());
        }
        self.document
            .texts(self.medium(of)?.at(medium::MIMES), each)
    }

    #[inline]
    fn ints(&self, of: MediaType, list: MediaInts, mut each: impl FnMut(i32) -> Step) -> Read<()> {
        if fields::media_ints(of, list).is_none() {
            return Ok(());
        }
        let at = self.medium(of)?.at(medium::INTS + list as usize);
        self.document.elements(at, |at| {
            Ok(match self.document.int(Some(at))? {
                Some(value) if fields::in_range(list, value) => each(value),
                _ => Step::On,
            })
        })
    }

    #[inline]
    fn int(&self, of: MediaType, field: MediaInt) -> Read<Option<i32>> {
        if fields::media_int(of, field).is_none() {
            return Ok(None);
        }
        let at = self.medium(of)?.at(medium::INT + field as usize);
        Ok(self.document.int(at)?.filter(|&seconds| seconds >= 0))
    }

    #[inline]
    fn priced_by_second(&self, of: MediaType) -> Read<bool> {
        if fields::second_prices(of).is_none() {
            return Ok(false);
        }
        let found = self.medium(of)?;
        let price = self.document.double(found.at(medium::MINCPMPERSEC))?;
        let mut priced = price.is_some_and(f64::is_finite);
        self.document.elements(found.at(medium::DURFLOORS), |at| {
            priced |= self.document.object(Some(at))?.is_some();
            Ok(if priced { Step::Enough } else { Step::On })
        })?;
        Ok(priced)
    }

    fn instl(&self) -> Read<bool> {
        self.document.flag(self.found.at(imp::INSTL))
    }

    fn rwdd(&self) -> Read<bool> {
        self.document.flag(self.found.at(imp::RWDD))
    }
}

/// A deal of an impression.
pub(crate) struct Deal<'a> {
    document: Document<'a>,
    found: Found,
}

impl<'a> DealView<'a> for Deal<'a> {
    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        self.document.text(self.found.at(deal::ID))
    }

    #[inline]
    fn bidfloor(&self) -> Read<Option<f64>> {
        self.document.double(self.found.at(deal::BIDFLOOR))
    }

    #[inline]
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        self.document.text(self.found.at(deal::BIDFLOORCUR))
    }

    #[inline]
    fn at(&self) -> Read<Option<i32>> {
        self.document.int(self.found.at(deal::AT))
    }

    #[inline]
    fn texts(&self, list: DealTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        let at = self.found.at(deal::TEXTS + list as usize);
        self.document.texts(at, each)
    }
}
