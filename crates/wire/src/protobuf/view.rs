//! A request in protobuf, read in place.
//!
//! Fields come in any order, scalars may repeat (the last one counts, even where it is unknown),
//! and a sub-message may come in several parts, which merge. So one walk over the request and
//! over each impression, to the end, notes where the fields of interest lie: the value that counts,
//! and the stretch from the first to the last time that the field was seen ([`Seen`]). What is asked
//! for later is looked up by walking that stretch alone, which nearly always holds that field and
//! nothing else.
//!
//! The walk does the same for every field, so that it has no branch for each: the tag is looked up
//! in a table, and a field that is not of interest is noted in place 0, which nobody reads.
//!
//! A field whose layout is not the one of the schema is another field, and passed over. An `int32`
//! whose varint is no 32-bit value is unknown.

use core::cell::OnceCell;
use core::hint::select_unpredictable;

use openrtb::{
    CategoriesOf, Channel, ChannelText, Country, DealTexts, DealView, DeviceInt, DeviceText,
    DeviceType, ImpView, MediaInt, MediaInts, MediaType, MediaTypes, Read, Refusal, RequestTexts,
    RequestView, Step, Text,
};

use super::cursor::{FIXED64, Fields, LEN, Span, VARINT, int32, tag};
use crate::fields::{self, banner, deal, device, geo, imp, pmp, qty, request, video};
use crate::limits::Meter;

/// The tag of a field of integers and flags, of doubles, and of strings, lists and messages.
const fn varint(number: u16) -> u32 {
    tag(number as u32, VARINT)
}

const fn double(number: u16) -> u32 {
    tag(number as u32, FIXED64)
}

const fn len(number: u16) -> u32 {
    tag(number as u32, LEN)
}

/// Where a field was seen. Nowhere: `end` is 0, which no value ends at.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Where its first tag starts.
    first: u32,
    /// Where its last value starts,
    value: u32,
    /// and ends.
    end: u32,
}

impl Seen {
    fn is_set(self) -> bool {
        self.end > 0
    }

    /// A value that was seen here.
    fn at(value: Span) -> Seen {
        Seen {
            first: value.start,
            value: value.start,
            end: value.end,
        }
    }

    /// The last value.
    fn value(self) -> Span {
        Span {
            start: self.value,
            end: self.end,
        }
    }

    /// From the first tag to the end of the last value. Other fields may lie in between.
    fn stretch(self) -> Span {
        Span {
            start: self.first,
            end: self.end,
        }
    }
}

/// The tags of the fields of interest of a message, each with a place.
type Places = [u8; 256];

/// The table of these tags, their places counted from 1.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, over constants"
)]
const fn places(tags: &[u32]) -> Places {
    let mut places = [0; 256];
    let mut at = 0;
    while at < tags.len() {
        places[tags[at] as usize] = at as u8 + 1;
        at += 1;
    }
    places
}

/// Where the fields of interest of a message were seen, by place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan<const N: usize>([Seen; N]);

impl<const N: usize> Default for Scan<N> {
    fn default() -> Scan<N> {
        Scan([Seen::default(); N])
    }
}

impl<const N: usize> Scan<N> {
    #[inline]
    fn at(&self, place: usize) -> Seen {
        self.0.get(place).copied().unwrap_or_default()
    }

    /// Walks a message, or another part of it. `enter` is called for every value with its place.
    #[inline(always)]
    fn walk(
        &mut self,
        mut fields: Fields<'_>,
        places: &Places,
        mut enter: impl FnMut(usize, Span) -> Read<()>,
    ) -> Read<()> {
        loop {
            let start = fields.at();
            let Some(tag) = fields.tag()? else {
                return Ok(());
            };
            let value = fields.value(tag)?;
            let place = places.get(tag as usize).copied().map_or(0, usize::from);
            if let Some(seen) = self.0.get_mut(place) {
                seen.first = select_unpredictable(seen.is_set(), seen.first, start);
                seen.value = value.start;
                seen.end = value.end;
            }
            enter(place, value)?;
        }
    }
}

/// What is of interest of a request, by place.
static REQUEST: Places = places(&[
    len(request::ID),
    len(request::IMP),
    len(request::DEVICE),
    varint(request::TMAX),
    varint(request::TEST),
    varint(request::CATTAX),
    len(request::CUR),
    len(request::BCAT),
    len(request::ACAT),
    len(request::BADV),
    len(request::BAPP),
    len(request::WSEAT),
    len(request::BSEAT),
]);
const ID: usize = 1;
const IMP: usize = 2;
const DEVICE: usize = 3;
const TMAX: usize = 4;
const TEST: usize = 5;
const CATTAX: usize = 6;
/// The first of `RequestTexts`.
const TEXTS: usize = 7;

static DEVICE_PLACES: Places = places(&[varint(device::DEVICETYPE), len(device::GEO)]);
const DEVICETYPE: usize = 1;
const GEO: usize = 2;

static GEO_PLACES: Places = places(&[len(geo::COUNTRY)]);
const COUNTRY: usize = 1;

/// What is of interest of an impression, by place.
static IMP_PLACES: Places = places(&[
    len(imp::BANNER),
    len(imp::VIDEO),
    len(imp::AUDIO),
    len(imp::NATIVE),
    len(imp::ID),
    double(imp::BIDFLOOR),
    len(imp::BIDFLOORCUR),
    len(imp::PMP),
    varint(imp::SECURE),
    len(imp::QTY),
]);
// 1 to 4: the media, by `mtype`.
const IMP_ID: usize = 5;
const BIDFLOOR: usize = 6;
const BIDFLOORCUR: usize = 7;
const PMP: usize = 8;
const SECURE: usize = 9;
const QTY: usize = 10;

/// An impression: where it lies, and the walk over it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImpScan {
    at: Span,
    fields: Scan<11>,
}

/// The walk over a request, but for its impressions.
#[derive(Default)]
struct RequestScan {
    request: Scan<14>,
    device: Scan<3>,
    geo: Scan<2>,
}

impl RequestScan {
    fn read(bytes: &[u8], imps: &mut Vec<ImpScan>, meter: &Meter) -> Read<RequestScan> {
        imps.clear();
        let mut scan = RequestScan::default();
        let (device, geo) = (&mut scan.device, &mut scan.geo);
        let enter = |place, value| match place {
            IMP => {
                meter.check_imps(imps.len() + 1)?;
                let mut fields = Scan::default();
                fields.walk(Fields::within(bytes, value), &IMP_PLACES, |_, _| Ok(()))?;
                imps.push(ImpScan { at: value, fields });
                Ok(())
            }
            DEVICE => walk_device(bytes, value, device, geo),
            _ => Ok(()),
        };
        scan.request.walk(Fields::new(bytes), &REQUEST, enter)?;
        Ok(scan)
    }
}

/// Walks a part of `device`. Parts of it and of its `geo` merge by being walked one after the other.
#[inline]
fn walk_device(bytes: &[u8], part: Span, device: &mut Scan<3>, geo: &mut Scan<2>) -> Read<()> {
    let enter = |place, value| match place {
        GEO => geo.walk(Fields::within(bytes, value), &GEO_PLACES, |_, _| Ok(())),
        _ => Ok(()),
    };
    device.walk(Fields::within(bytes, part), &DEVICE_PLACES, enter)
}

/// The received message, where stretches of it are looked at again.
#[derive(Clone, Copy)]
struct Message<'a> {
    bytes: &'a [u8],
    meter: &'a Meter,
}

impl<'a> Message<'a> {
    /// The last value of a string; what was never seen is empty, and so unknown.
    #[inline]
    fn text(&self, seen: Seen) -> Read<Option<Text<'a>>> {
        let bytes = self.bytes.get(seen.value as usize..seen.end as usize);
        self.meter.text(bytes.ok_or(Refusal::Malformed)?)
    }

    /// The last value of an integer or flag.
    #[inline]
    fn varint(&self, seen: Seen) -> Read<Option<u64>> {
        match seen.is_set() {
            true => Fields::within(self.bytes, seen.value()).varint().map(Some),
            false => Ok(None),
        }
    }

    /// The last value of a double.
    #[inline]
    fn double(&self, seen: Seen) -> Read<Option<f64>> {
        match seen.is_set() {
            true => Fields::within(self.bytes, seen.value()).f64().map(Some),
            false => Ok(None),
        }
    }

    /// The last value of an integer, as far as it is one.
    #[inline]
    fn int(&self, seen: Seen) -> Read<Option<i32>> {
        Ok(self.varint(seen)?.and_then(int32))
    }

    /// Walks the fields of every part of the sub-message with this number. `take` takes the value
    /// of the fields that it knows by their tags, and skips the others.
    #[inline]
    fn walk(
        &self,
        seen: Seen,
        number: u16,
        mut take: impl FnMut(u32, &mut Fields<'a>) -> Read<Step>,
    ) -> Read<()> {
        let mut outer = Fields::within(self.bytes, seen.stretch());
        while let Some(tag) = outer.tag()? {
            self.meter.spend(0)?;
            if tag != len(number) {
                outer.skip(tag)?;
                continue;
            }
            let mut inner = outer.message()?;
            while let Some(tag) = inner.tag()? {
                self.meter.spend(0)?;
                if take(tag, &mut inner)? == Step::Enough {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Calls `each` with where every value with this tag lies among `fields`.
    fn values(
        &self,
        mut fields: Fields<'a>,
        wanted: u32,
        each: &mut impl FnMut(Span) -> Read<Step>,
    ) -> Read<Step> {
        while let Some(tag) = fields.tag()? {
            self.meter.spend(0)?;
            let value = fields.value(tag)?;
            if tag == wanted && each(value)? == Step::Enough {
                return Ok(Step::Enough);
            }
        }
        Ok(Step::On)
    }

    /// [`Message::values`], of all parts of the sub-message with this number, or of the one in it that
    /// the way leads through.
    fn follow(
        &self,
        seen: Seen,
        number: u16,
        (through, wanted): (Option<u16>, u32),
        mut each: impl FnMut(Span) -> Read<Step>,
    ) -> Read<()> {
        self.walk(seen, number, |tag, fields| match through {
            None if tag == wanted => each(fields.value(tag)?),
            Some(inner) if tag == len(inner) => self.values(fields.message()?, wanted, &mut each),
            _ => skip(tag, fields),
        })
    }

    /// The last value that a way leads to.
    fn last(&self, seen: Seen, number: u16, way: (Option<u16>, u32)) -> Read<Seen> {
        let mut last = Seen::default();
        self.follow(seen, number, way, |value| {
            last = Seen::at(value);
            Ok(Step::On)
        })?;
        Ok(last)
    }

    /// The strings of the list with this number among `fields`.
    #[inline]
    fn texts(
        &self,
        mut fields: Fields<'a>,
        number: u16,
        mut each: impl FnMut(Text<'a>) -> Step,
    ) -> Read<()> {
        while let Some(tag) = fields.tag()? {
            self.meter.spend(0)?;
            if tag != len(number) {
                fields.skip(tag)?;
                continue;
            }
            match self.meter.text(fields.bytes()?)? {
                Some(text) if each(text) == Step::Enough => break,
                _ => {}
            }
        }
        Ok(())
    }
}

/// The objects for the channel, by place. They are looked for when they are asked for: few decisions
/// ask.
static CHANNELS: Places = places(&[len(request::SITE), len(request::APP), len(request::DOOH)]);

/// A bid request.
pub(crate) struct Request<'a> {
    message: Message<'a>,
    scan: RequestScan,
    imps: &'a [ImpScan],
    channels: OnceCell<Scan<4>>,
}

impl<'a> Request<'a> {
    /// Walks a message that is not too long; `imps` is room that is used again and again.
    #[inline]
    pub(crate) fn read(
        bytes: &'a [u8],
        imps: &'a mut Vec<ImpScan>,
        meter: &'a Meter,
    ) -> Read<Request<'a>> {
        Ok(Request {
            message: Message { bytes, meter },
            scan: RequestScan::read(bytes, imps, meter)?,
            imps,
            channels: OnceCell::new(),
        })
    }

    /// Where the object for a channel was seen.
    fn channel_seen(&self, of: Channel) -> Read<Seen> {
        let channels = match self.channels.get() {
            Some(channels) => channels,
            None => {
                let Message { bytes, meter } = self.message;
                meter.spend(bytes.len())?;
                let mut scan = Scan::default();
                scan.walk(Fields::new(bytes), &CHANNELS, |_, _| Ok(()))?;
                self.channels.get_or_init(|| scan)
            }
        };
        Ok(channels.at(of as usize + 1))
    }

    /// The last value that a way leads to from a device.
    fn in_device(&self, way: (Option<u16>, u32)) -> Read<Seen> {
        let device = self.scan.request.at(DEVICE);
        self.message.last(device, request::DEVICE, way)
    }

    /// The last value that a way leads to from a channel.
    fn in_channel(&self, of: Channel, way: (Option<u16>, u32)) -> Read<Seen> {
        let channel = self.channel_seen(of)?;
        self.message.last(channel, fields::channel(of), way)
    }
}

impl<'a> RequestView<'a> for Request<'a> {
    type Imp = Imp<'a>;

    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        self.message.text(self.scan.request.at(ID))
    }

    #[inline]
    fn imps(&self) -> Read<usize> {
        Ok(self.imps.len())
    }

    #[inline]
    fn imp(&self, index: usize) -> Read<Imp<'a>> {
        Ok(Imp {
            message: self.message,
            scan: self.imps.get(index).ok_or(Refusal::Malformed)?,
        })
    }

    #[inline]
    fn device_type(&self) -> Read<Option<DeviceType>> {
        let number = self.message.int(self.scan.device.at(DEVICETYPE))?;
        Ok(number.and_then(|number| DeviceType::new(number.into())))
    }

    #[inline]
    fn country(&self) -> Read<Option<Country>> {
        let country = self.message.text(self.scan.geo.at(COUNTRY))?;
        Ok(country.and_then(Country::of))
    }

    #[inline]
    fn test(&self) -> Read<bool> {
        let test = self.message.varint(self.scan.request.at(TEST))?;
        Ok(test.is_some_and(|varint| varint != 0))
    }

    #[inline]
    fn tmax_ms(&self) -> Read<Option<i32>> {
        self.message.int(self.scan.request.at(TMAX))
    }

    #[inline]
    fn cattax(&self) -> Read<i32> {
        Ok(self.message.int(self.scan.request.at(CATTAX))?.unwrap_or(1))
    }

    #[inline]
    fn texts(&self, list: RequestTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        let stretch = self.scan.request.at(TEXTS + list as usize).stretch();
        let fields = Fields::within(self.message.bytes, stretch);
        self.message
            .texts(fields, fields::request_texts(list), each)
    }

    fn device_text(&self, field: DeviceText) -> Read<Option<Text<'a>>> {
        let (through, number) = fields::device_text(field);
        self.message.text(self.in_device((through, len(number)))?)
    }

    fn device_int(&self, field: DeviceInt) -> Read<Option<i32>> {
        let (through, number) = fields::device_int(field);
        self.message.int(self.in_device((through, varint(number)))?)
    }

    fn channel(&self) -> Read<Option<Channel>> {
        for of in Channel::ALL {
            if self.channel_seen(of)?.is_set() {
                return Ok(Some(of));
            }
        }
        Ok(None)
    }

    fn channel_text(&self, of: Channel, field: ChannelText) -> Read<Option<Text<'a>>> {
        let Some((through, number)) = fields::channel_text(of, field) else {
            return Ok(None);
        };
        let last = self.in_channel(of, (through, len(number)))?;
        self.message.text(last)
    }

    fn categories(
        &self,
        of: Channel,
        whose: CategoriesOf,
        mut each: impl FnMut(Text<'a>) -> Step,
    ) -> Read<()> {
        let Some(((through, number), _)) = fields::categories(of, whose) else {
            return Ok(());
        };
        let (message, seen) = (self.message, self.channel_seen(of)?);
        let way = (through, len(number));
        message.follow(seen, fields::channel(of), way, |value| {
            let text = message.text(Seen::at(value))?;
            Ok(text.map_or(Step::On, &mut each))
        })
    }

    fn categories_tax(&self, of: Channel, whose: CategoriesOf) -> Read<i32> {
        let Some((_, (through, number))) = fields::categories(of, whose) else {
            return Ok(1);
        };
        let last = self.in_channel(of, (through, varint(number)))?;
        Ok(self.message.int(last)?.unwrap_or(1))
    }
}

/// An impression.
pub(crate) struct Imp<'a> {
    message: Message<'a>,
    scan: &'a ImpScan,
}

impl<'a> Imp<'a> {
    /// Walks the fields of a medium.
    #[inline]
    fn medium(
        &self,
        of: MediaType,
        take: impl FnMut(u32, &mut Fields<'a>) -> Read<Step>,
    ) -> Read<()> {
        self.message
            .walk(self.scan.fields.at(of as usize), fields::medium(of), take)
    }

    /// A flag that the walk over the impression does not note, because few decisions ask for it.
    fn flag(&self, number: u16) -> Read<bool> {
        let (message, mut flag) = (self.message, false);
        let fields = Fields::within(message.bytes, self.scan.at);
        message.values(fields, varint(number), &mut |value| {
            flag = Fields::within(message.bytes, value).varint()? != 0;
            Ok(Step::On)
        })?;
        Ok(flag)
    }
}

/// Skips the field with this tag and goes on.
#[inline]
fn skip(tag: u32, fields: &mut Fields<'_>) -> Read<Step> {
    fields.skip(tag)?;
    Ok(Step::On)
}

/// `w` and `h` of a `Format`.
#[inline]
fn format_size(mut fields: Fields<'_>, meter: &Meter) -> Read<Option<(i32, i32)>> {
    let (mut w, mut h) = (None, None);
    while let Some(tag) = fields.tag()? {
        meter.spend(0)?;
        match tag {
            BANNER_W => w = int32(fields.varint()?),
            BANNER_H => h = int32(fields.varint()?),
            _ => fields.skip(tag)?,
        }
    }
    Ok(fields::size(w, h))
}

const BANNER_W: u32 = varint(banner::W);
const BANNER_H: u32 = varint(banner::H);

impl<'a> ImpView<'a> for Imp<'a> {
    type Deal = Deal<'a>;

    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        self.message.text(self.scan.fields.at(IMP_ID))
    }

    #[inline]
    fn media_types(&self) -> Read<MediaTypes> {
        let mut media = MediaTypes::NONE;
        for of in MediaType::ALL {
            if self.scan.fields.at(of as usize).is_set() {
                media = media.with(of);
            }
        }
        Ok(media)
    }

    #[inline]
    fn video_size(&self) -> Read<Option<(i32, i32)>> {
        const W: u32 = varint(video::W);
        const H: u32 = varint(video::H);
        let (mut w, mut h) = (None, None);
        self.medium(MediaType::Video, |tag, fields| {
            match tag {
                W => w = int32(fields.varint()?),
                H => h = int32(fields.varint()?),
                _ => fields.skip(tag)?,
            }
            Ok(Step::On)
        })?;
        Ok(fields::size(w, h))
    }

    #[inline]
    fn banner_sizes(&self, mut each: impl FnMut(i32, i32) -> Step) -> Read<()> {
        const FORMAT: u32 = len(banner::FORMAT);
        let (mut w, mut h, mut formats) = (None, None, false);
        let meter = self.message.meter;
        self.medium(MediaType::Banner, |tag, fields| {
            match tag {
                BANNER_W => w = int32(fields.varint()?),
                BANNER_H => h = int32(fields.varint()?),
                FORMAT => {
                    formats = true;
                    if let Some((w, h)) = format_size(fields.message()?, meter)? {
                        return Ok(each(w, h));
                    }
                }
                _ => fields.skip(tag)?,
            }
            Ok(Step::On)
        })?;
        if let (false, Some((w, h))) = (formats, fields::size(w, h)) {
            each(w, h);
        }
        Ok(())
    }

    #[inline]
    fn bidfloor(&self) -> Read<Option<f64>> {
        self.message.double(self.scan.fields.at(BIDFLOOR))
    }

    #[inline]
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        self.message.text(self.scan.fields.at(BIDFLOORCUR))
    }

    #[inline]
    fn private_auction(&self) -> Read<bool> {
        const PRIVATE_AUCTION: u32 = varint(pmp::PRIVATE_AUCTION);
        let mut private = false;
        self.message.walk(
            self.scan.fields.at(PMP),
            imp::PMP,
            |tag, fields| match tag {
                PRIVATE_AUCTION => {
                    private = fields.varint()? != 0;
                    Ok(Step::On)
                }
                _ => skip(tag, fields),
            },
        )?;
        Ok(private)
    }

    #[inline]
    fn deals(&self, mut each: impl FnMut(Deal<'a>) -> Read<Step>) -> Read<()> {
        const DEALS: u32 = len(pmp::DEALS);
        let mut count = 0;
        self.message.walk(
            self.scan.fields.at(PMP),
            imp::PMP,
            |tag, fields| match tag {
                DEALS => {
                    count += 1;
                    self.message.meter.check_deals(count)?;
                    each(Deal::read(self.message, fields.message()?)?)
                }
                _ => skip(tag, fields),
            },
        )
    }

    #[inline]
    fn secure(&self) -> Read<bool> {
        let secure = self.message.varint(self.scan.fields.at(SECURE))?;
        Ok(secure.is_some_and(|varint| varint != 0))
    }

    #[inline]
    fn qty_multiplier(&self) -> Read<Option<f64>> {
        const MULTIPLIER: u32 = double(qty::MULTIPLIER);
        let mut multiplier = None;
        self.message.walk(
            self.scan.fields.at(QTY),
            imp::QTY,
            |tag, fields| match tag {
                MULTIPLIER => {
                    multiplier = Some(fields.f64()?);
                    Ok(Step::On)
                }
                _ => skip(tag, fields),
            },
        )?;
        Ok(multiplier.filter(|value| value.is_finite()))
    }

    #[inline]
    fn mimes(&self, of: MediaType, mut each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        let Some(number) = fields::mimes(of) else {
            return Ok(());
        };
        let meter = self.message.meter;
        self.medium(of, |tag, fields| {
            if tag != len(number) {
                return skip(tag, fields);
            }
            Ok(meter.text(fields.bytes()?)?.map_or(Step::On, &mut each))
        })
    }

    #[inline]
    fn ints(&self, of: MediaType, list: MediaInts, mut each: impl FnMut(i32) -> Step) -> Read<()> {
        let Some(number) = fields::media_ints(of, list) else {
            return Ok(());
        };
        let meter = self.message.meter;
        let mut entry = |varint: u64| match int32(varint) {
            Some(value) if fields::in_range(list, value) => each(value),
            _ => Step::On,
        };
        self.medium(of, |tag, fields| {
            if tag == varint(number) {
                return Ok(entry(fields.varint()?));
            }
            if tag != len(number) {
                return skip(tag, fields);
            }
            let mut packed = fields.message()?;
            while !packed.is_done() {
                meter.spend(0)?;
                if entry(packed.varint()?) == Step::Enough {
                    return Ok(Step::Enough);
                }
            }
            Ok(Step::On)
        })
    }

    #[inline]
    fn int(&self, of: MediaType, field: MediaInt) -> Read<Option<i32>> {
        let Some(number) = fields::media_int(of, field) else {
            return Ok(None);
        };
        let mut value = None;
        self.medium(of, |tag, fields| {
            if tag != varint(number) {
                return skip(tag, fields);
            }
            value = int32(fields.varint()?);
            Ok(Step::On)
        })?;
        Ok(value.filter(|&seconds| seconds >= 0))
    }

    #[inline]
    fn priced_by_second(&self, of: MediaType) -> Read<bool> {
        let Some((mincpmpersec, durfloors)) = fields::second_prices(of) else {
            return Ok(false);
        };
        let (mut price, mut floors) = (None, false);
        self.medium(of, |tag, fields| {
            if tag == double(mincpmpersec) {
                price = Some(fields.f64()?);
                return Ok(Step::On);
            }
            floors |= tag == len(durfloors);
            skip(tag, fields)
        })?;
        Ok(floors || price.is_some_and(f64::is_finite))
    }

    fn instl(&self) -> Read<bool> {
        self.flag(imp::INSTL)
    }

    fn rwdd(&self) -> Read<bool> {
        self.flag(imp::RWDD)
    }
}

/// What is of interest of a deal, by place.
static DEAL: Places = places(&[
    len(deal::ID),
    double(deal::BIDFLOOR),
    len(deal::BIDFLOORCUR),
    varint(deal::AT),
]);
const DEAL_ID: usize = 1;
const DEAL_BIDFLOOR: usize = 2;
const DEAL_BIDFLOORCUR: usize = 3;
const AT: usize = 4;

/// A deal of an impression.
pub(crate) struct Deal<'a> {
    message: Message<'a>,
    fields: Fields<'a>,
    scan: Scan<5>,
}

impl<'a> Deal<'a> {
    #[inline]
    fn read(message: Message<'a>, fields: Fields<'a>) -> Read<Deal<'a>> {
        message.meter.spend(fields.left())?;
        let mut scan = Scan::default();
        scan.walk(fields, &DEAL, |_, _| Ok(()))?;
        Ok(Deal {
            message,
            fields,
            scan,
        })
    }
}

impl<'a> DealView<'a> for Deal<'a> {
    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        self.message.text(self.scan.at(DEAL_ID))
    }

    #[inline]
    fn bidfloor(&self) -> Read<Option<f64>> {
        self.message.double(self.scan.at(DEAL_BIDFLOOR))
    }

    #[inline]
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        self.message.text(self.scan.at(DEAL_BIDFLOORCUR))
    }

    #[inline]
    fn at(&self) -> Read<Option<i32>> {
        self.message.int(self.scan.at(AT))
    }

    #[inline]
    fn texts(&self, list: DealTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        self.message
            .texts(self.fields, fields::deal_texts(list), each)
    }
}
