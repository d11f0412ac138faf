//! A request in protobuf, read in place.
//!
//! Fields come in any order, scalars may repeat (the last one counts, even where it is unknown),
//! and a sub-message may come in several parts, which merge. So one walk over the request and
//! over each impression, to the end, keeps what every decision asks for and notes where the rest
//! lies: a [`Range`] from the first to the last time that a field was seen. What is asked for
//! later is looked up by walking its range alone, which nearly always holds that field and
//! nothing else.
//!
//! A field whose layout is not the one of the schema is another field, and passed over. An `int32`
//! whose varint is no 32-bit value is unknown.

use openrtb::{
    Country, DealTexts, DealView, DeviceType, ImpView, MediaInt, MediaInts, MediaType, MediaTypes,
    Read, Refusal, RequestTexts, RequestView, Step, Text,
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

/// Where a field was seen: from the start of its first tag to the end of its last value. Other
/// fields may lie in between.
#[derive(Clone, Copy, Debug, Default)]
struct Range(Span);

impl Range {
    /// Notes that the field was seen at `start..end`.
    #[inline]
    fn add(&mut self, start: u32, end: u32) {
        if self.0.end == 0 {
            self.0.start = start;
        }
        self.0.end = end;
    }

    fn is_empty(self) -> bool {
        self.0.end == 0
    }
}

/// What the walk over an impression keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ImpScan {
    id: Span,
    bidfloor: Option<f64>,
    bidfloorcur: Span,
    secure: bool,
    /// By [`MediaType`], banner first.
    media: [Range; 4],
    pmp: Range,
    qty: Range,
}

impl ImpScan {
    fn read(mut fields: Fields<'_>) -> Read<ImpScan> {
        const ID: u32 = len(imp::ID);
        const BANNER: u32 = len(imp::BANNER);
        const VIDEO: u32 = len(imp::VIDEO);
        const BIDFLOOR: u32 = double(imp::BIDFLOOR);
        const BIDFLOORCUR: u32 = len(imp::BIDFLOORCUR);
        const PMP: u32 = len(imp::PMP);
        const SECURE: u32 = varint(imp::SECURE);
        const NATIVE: u32 = len(imp::NATIVE);
        const AUDIO: u32 = len(imp::AUDIO);
        const QTY: u32 = len(imp::QTY);

        let mut scan = ImpScan::default();
        loop {
            let start = fields.at();
            let Some(tag) = fields.tag()? else {
                return Ok(scan);
            };
            match tag {
                ID => scan.id = fields.span()?,
                BIDFLOOR => scan.bidfloor = Some(fields.f64()?),
                BIDFLOORCUR => scan.bidfloorcur = fields.span()?,
                SECURE => scan.secure = fields.varint()? != 0,
                BANNER => scan
                    .medium(MediaType::Banner)
                    .add(start, fields.span()?.end),
                VIDEO => scan.medium(MediaType::Video).add(start, fields.span()?.end),
                AUDIO => scan.medium(MediaType::Audio).add(start, fields.span()?.end),
                NATIVE => scan
                    .medium(MediaType::Native)
                    .add(start, fields.span()?.end),
                PMP => scan.pmp.add(start, fields.span()?.end),
                QTY => scan.qty.add(start, fields.span()?.end),
                _ => fields.skip(tag)?,
            }
        }
    }

    #[inline]
    fn medium(&mut self, of: MediaType) -> &mut Range {
        let [banner, video, audio, native] = &mut self.media;
        match of {
            MediaType::Banner => banner,
            MediaType::Video => video,
            MediaType::Audio => audio,
            MediaType::Native => native,
        }
    }
}

/// What the walk over a request keeps, besides impressions.
#[derive(Clone, Copy, Debug)]
struct RequestScan {
    id: Span,
    device_type: Option<i32>,
    country: Span,
    tmax: Option<i32>,
    test: bool,
    cattax: Option<i32>,
    /// By [`RequestTexts`].
    texts: [Range; 7],
}

impl RequestScan {
    fn read(mut fields: Fields<'_>, imps: &mut Vec<ImpScan>, meter: &Meter) -> Read<RequestScan> {
        const ID: u32 = len(request::ID);
        const IMP: u32 = len(request::IMP);
        const DEVICE: u32 = len(request::DEVICE);
        const TMAX: u32 = varint(request::TMAX);
        const TEST: u32 = varint(request::TEST);
        const CATTAX: u32 = varint(request::CATTAX);
        const CUR: u32 = len(request::CUR);
        const BCAT: u32 = len(request::BCAT);
        const ACAT: u32 = len(request::ACAT);
        const BADV: u32 = len(request::BADV);
        const BAPP: u32 = len(request::BAPP);
        const WSEAT: u32 = len(request::WSEAT);
        const BSEAT: u32 = len(request::BSEAT);

        imps.clear();
        let mut scan = RequestScan {
            id: Span::default(),
            device_type: None,
            country: Span::default(),
            tmax: None,
            test: false,
            cattax: None,
            texts: [Range::default(); 7],
        };
        loop {
            let start = fields.at();
            let Some(tag) = fields.tag()? else {
                return Ok(scan);
            };
            let list = match tag {
                ID => {
                    scan.id = fields.span()?;
                    continue;
                }
                IMP => {
                    meter.check_imps(imps.len() + 1)?;
                    imps.push(ImpScan::read(fields.message()?)?);
                    continue;
                }
                DEVICE => {
                    scan.read_device(fields.message()?)?;
                    continue;
                }
                TMAX => {
                    scan.tmax = int32(fields.varint()?);
                    continue;
                }
                TEST => {
                    scan.test = fields.varint()? != 0;
                    continue;
                }
                CATTAX => {
                    scan.cattax = int32(fields.varint()?);
                    continue;
                }
                CUR => RequestTexts::Cur,
                BCAT => RequestTexts::Bcat,
                ACAT => RequestTexts::Acat,
                BADV => RequestTexts::Badv,
                BAPP => RequestTexts::Bapp,
                WSEAT => RequestTexts::Wseat,
                BSEAT => RequestTexts::Bseat,
                _ => {
                    fields.skip(tag)?;
                    continue;
                }
            };
            let end = fields.span()?.end;
            if let Some(range) = scan.texts.get_mut(list as usize) {
                range.add(start, end);
            }
        }
    }

    /// Reads a part of `device`; parts of it merge by being read one after the other.
    fn read_device(&mut self, mut fields: Fields<'_>) -> Read<()> {
        const GEO: u32 = len(device::GEO);
        const DEVICETYPE: u32 = varint(device::DEVICETYPE);
        const COUNTRY: u32 = len(geo::COUNTRY);

        while let Some(tag) = fields.tag()? {
            match tag {
                DEVICETYPE => self.device_type = int32(fields.varint()?),
                GEO => {
                    let mut geo = fields.message()?;
                    while let Some(tag) = geo.tag()? {
                        match tag {
                            COUNTRY => self.country = geo.span()?,
                            _ => geo.skip(tag)?,
                        }
                    }
                }
                _ => fields.skip(tag)?,
            }
        }
        Ok(())
    }
}

/// The received message, where ranges of it are walked again.
#[derive(Clone, Copy)]
struct Message<'a> {
    bytes: &'a [u8],
    meter: &'a Meter,
}

impl<'a> Message<'a> {
    /// The string at `span`; a span that was never set is empty, and so is its string.
    #[inline]
    fn text(&self, span: Span) -> Read<Option<Text<'a>>> {
        let bytes = self.bytes.get(span.start as usize..span.end as usize);
        self.meter.text(bytes.ok_or(Refusal::Malformed)?)
    }

    /// Walks the fields of every part of the sub-message with this number. `take` takes the value
    /// of the fields that it knows by their tags, and skips the others.
    #[inline]
    fn walk(
        &self,
        range: Range,
        number: u16,
        mut take: impl FnMut(u32, &mut Fields<'a>) -> Read<Step>,
    ) -> Read<()> {
        let mut outer = Fields::within(self.bytes, range.0);
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

/// A bid request.
pub(crate) struct Request<'a> {
    message: Message<'a>,
    scan: RequestScan,
    imps: &'a [ImpScan],
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
            scan: RequestScan::read(Fields::new(bytes), imps, meter)?,
            imps,
        })
    }
}

impl<'a> RequestView<'a> for Request<'a> {
    type Imp = Imp<'a>;

    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        self.message.text(self.scan.id)
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
        let number = self.scan.device_type;
        Ok(number.and_then(|number| DeviceType::new(number.into())))
    }

    #[inline]
    fn country(&self) -> Read<Option<Country>> {
        Ok(self.message.text(self.scan.country)?.and_then(Country::of))
    }

    #[inline]
    fn test(&self) -> Read<bool> {
        Ok(self.scan.test)
    }

    #[inline]
    fn tmax_ms(&self) -> Read<Option<i32>> {
        Ok(self.scan.tmax)
    }

    #[inline]
    fn cattax(&self) -> Read<i32> {
        Ok(self.scan.cattax.unwrap_or(1))
    }

    #[inline]
    fn texts(&self, list: RequestTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        let range = self.scan.texts.get(list as usize);
        let range = range.copied().unwrap_or_default();
        let fields = Fields::within(self.message.bytes, range.0);
        self.message
            .texts(fields, fields::request_texts(list), each)
    }
}

/// An impression.
pub(crate) struct Imp<'a> {
    message: Message<'a>,
    scan: &'a ImpScan,
}

impl<'a> Imp<'a> {
    #[inline]
    fn range(&self, of: MediaType) -> Range {
        let [banner, video, audio, native] = self.scan.media;
        match of {
            MediaType::Banner => banner,
            MediaType::Video => video,
            MediaType::Audio => audio,
            MediaType::Native => native,
        }
    }

    /// Walks the fields of a medium.
    #[inline]
    fn medium(
        &self,
        of: MediaType,
        take: impl FnMut(u32, &mut Fields<'a>) -> Read<Step>,
    ) -> Read<()> {
        self.message.walk(self.range(of), fields::medium(of), take)
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
        self.message.text(self.scan.id)
    }

    #[inline]
    fn media_types(&self) -> Read<MediaTypes> {
        let mut media = MediaTypes::NONE;
        for of in MediaType::ALL {
            if !self.range(of).is_empty() {
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
        Ok(self.scan.bidfloor)
    }

    #[inline]
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        self.message.text(self.scan.bidfloorcur)
    }

    #[inline]
    fn private_auction(&self) -> Read<bool> {
        const PRIVATE_AUCTION: u32 = varint(pmp::PRIVATE_AUCTION);
        let mut private = false;
        self.message
            .walk(self.scan.pmp, imp::PMP, |tag, fields| match tag {
                PRIVATE_AUCTION => {
                    private = fields.varint()? != 0;
                    Ok(Step::On)
                }
                _ => skip(tag, fields),
            })?;
        Ok(private)
    }

    #[inline]
    fn deals(&self, mut each: impl FnMut(Deal<'a>) -> Read<Step>) -> Read<()> {
        const DEALS: u32 = len(pmp::DEALS);
        let mut count = 0;
        self.message
            .walk(self.scan.pmp, imp::PMP, |tag, fields| match tag {
                DEALS => {
                    count += 1;
                    self.message.meter.check_deals(count)?;
                    each(Deal::read(self.message, fields.message()?)?)
                }
                _ => skip(tag, fields),
            })
    }

    #[inline]
    fn secure(&self) -> Read<bool> {
        Ok(self.scan.secure)
    }

    #[inline]
    fn qty_multiplier(&self) -> Read<Option<f64>> {
        const MULTIPLIER: u32 = double(qty::MULTIPLIER);
        let mut multiplier = None;
        self.message
            .walk(self.scan.qty, imp::QTY, |tag, fields| match tag {
                MULTIPLIER => {
                    multiplier = Some(fields.f64()?);
                    Ok(Step::On)
                }
                _ => skip(tag, fields),
            })?;
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
}

/// A deal of an impression: its scalars, read in one walk, and where its lists are.
pub(crate) struct Deal<'a> {
    message: Message<'a>,
    fields: Fields<'a>,
    id: Span,
    bidfloor: Option<f64>,
    bidfloorcur: Span,
    at: Option<i32>,
}

impl<'a> Deal<'a> {
    #[inline]
    fn read(message: Message<'a>, fields: Fields<'a>) -> Read<Deal<'a>> {
        const ID: u32 = len(deal::ID);
        const BIDFLOOR: u32 = double(deal::BIDFLOOR);
        const BIDFLOORCUR: u32 = len(deal::BIDFLOORCUR);
        const AT: u32 = varint(deal::AT);

        let mut deal = Deal {
            message,
            fields,
            id: Span::default(),
            bidfloor: None,
            bidfloorcur: Span::default(),
            at: None,
        };
        let mut fields = fields;
        while let Some(tag) = fields.tag()? {
            message.meter.spend(0)?;
            match tag {
                ID => deal.id = fields.span()?,
                BIDFLOOR => deal.bidfloor = Some(fields.f64()?),
                BIDFLOORCUR => deal.bidfloorcur = fields.span()?,
                AT => deal.at = int32(fields.varint()?),
                _ => fields.skip(tag)?,
            }
        }
        Ok(deal)
    }
}

impl<'a> DealView<'a> for Deal<'a> {
    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        self.message.text(self.id)
    }

    #[inline]
    fn bidfloor(&self) -> Read<Option<f64>> {
        Ok(self.bidfloor)
    }

    #[inline]
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        self.message.text(self.bidfloorcur)
    }

    #[inline]
    fn at(&self) -> Read<Option<i32>> {
        Ok(self.at)
    }

    #[inline]
    fn texts(&self, list: DealTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        self.message
            .texts(self.fields, fields::deal_texts(list), each)
    }
}
