//! A narrow reading of JSON by sonic-rs: nothing is copied and hardly anything decoded. What every
//! decision asks for is read at once; what few ask for stays raw text until they do.

use crate::view::{malformed, offered, size, walk_ints};
use openrtb::{
    CategoriesOf, Channel, ChannelText, Country, DealTexts, DealView, DeviceInt, DeviceText,
    DeviceType, ImpView, MediaInt, MediaInts, MediaType, MediaTypes, Read, Refusal, RequestTexts,
    RequestView, Step, Text,
};
use serde::Deserialize;
use sonic_rs::LazyValue;
use std::borrow::Cow;

type Raw<'a> = Option<LazyValue<'a>>;

/// What decisions ask of a request.
#[derive(Deserialize)]
pub struct BidRequest<'a> {
    /// The whole text, for what few ask for.
    #[serde(skip)]
    json: &'a [u8],
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow, default)]
    imp: Vec<Imp<'a>>,
    #[serde(borrow)]
    device: Option<Device<'a>>,
    #[serde(default, with = "crate::flag")]
    test: Option<bool>,
    tmax: Option<i32>,
    cattax: Option<i32>,
    #[serde(borrow)]
    cur: Raw<'a>,
    #[serde(borrow)]
    bcat: Raw<'a>,
    #[serde(borrow)]
    acat: Raw<'a>,
    #[serde(borrow)]
    badv: Raw<'a>,
    #[serde(borrow)]
    bapp: Raw<'a>,
    #[serde(borrow)]
    wseat: Raw<'a>,
    #[serde(borrow)]
    bseat: Raw<'a>,
}

#[derive(Deserialize)]
struct Device<'a> {
    devicetype: Option<i32>,
    #[serde(borrow)]
    geo: Option<Geo<'a>>,
}

#[derive(Deserialize)]
struct Geo<'a> {
    #[serde(borrow)]
    country: Raw<'a>,
}

/// What decisions ask of an impression.
#[derive(Deserialize)]
pub struct Imp<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    banner: Raw<'a>,
    #[serde(borrow)]
    video: Raw<'a>,
    #[serde(borrow)]
    audio: Raw<'a>,
    #[serde(borrow)]
    native: Raw<'a>,
    bidfloor: Option<f64>,
    #[serde(borrow)]
    bidfloorcur: Raw<'a>,
    #[serde(default, with = "crate::flag")]
    secure: Option<bool>,
    #[serde(default, with = "crate::flag")]
    instl: Option<bool>,
    #[serde(default, with = "crate::flag")]
    rwdd: Option<bool>,
    #[serde(borrow)]
    pmp: Option<Pmp<'a>>,
    #[serde(borrow)]
    qty: Raw<'a>,
}

#[derive(Deserialize)]
struct Pmp<'a> {
    #[serde(default, with = "crate::flag")]
    private_auction: Option<bool>,
    #[serde(borrow)]
    deals: Raw<'a>,
}

/// What decisions ask of a deal.
#[derive(Deserialize)]
pub struct Deal<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    bidfloor: Option<f64>,
    #[serde(borrow)]
    bidfloorcur: Raw<'a>,
    at: Option<i32>,
    #[serde(borrow)]
    wseat: Raw<'a>,
    #[serde(borrow)]
    wadomain: Raw<'a>,
}

/// Banner, video, audio or native: their fields have the same meaning where they share a name.
#[derive(Default, Deserialize)]
struct Medium<'a> {
    w: Option<i32>,
    h: Option<i32>,
    minduration: Option<i32>,
    maxduration: Option<i32>,
    pos: Option<i32>,
    plcmt: Option<i32>,
    mincpmpersec: Option<f64>,
    #[serde(default)]
    format: Vec<Size>,
    #[serde(borrow)]
    durfloors: Raw<'a>,
    #[serde(borrow)]
    mimes: Raw<'a>,
    #[serde(default)]
    battr: Vec<i32>,
    #[serde(default)]
    api: Vec<i32>,
    #[serde(default)]
    protocols: Vec<i32>,
    #[serde(default)]
    rqddurs: Vec<i32>,
}

#[derive(Deserialize)]
struct Size {
    w: Option<i32>,
    h: Option<i32>,
}

#[derive(Deserialize)]
struct Qty {
    multiplier: Option<f64>,
}

/// Reads the narrow request.
///
/// # Errors
/// What is not well-formed.
pub fn read(bytes: &[u8]) -> Read<BidRequest<'_>> {
    let request: BidRequest<'_> = sonic_rs::from_slice(bytes).map_err(malformed)?;
    Ok(BidRequest {
        json: bytes,
        ..request
    })
}

/// The raw JSON of a value.
fn raw<'a>(value: &LazyValue<'a>) -> &'a str {
    match value.as_raw_cow() {
        Cow::Borrowed(raw) => raw,
        // Only values cut from shared strings are copied, and none here is.
        Cow::Owned(_) => "",
    }
}

fn text<'a>(value: &Raw<'a>) -> Option<Text<'a>> {
    text_of(value.as_ref()?)
}

fn text_of<'a>(value: &LazyValue<'a>) -> Option<Text<'a>> {
    let text = raw(value).strip_prefix('"')?.strip_suffix('"')?;
    match text.contains('\\') {
        true => Some(Text::Escaped(text)),
        false if text.is_empty() => None,
        false => Some(Text::Plain(text)),
    }
}

fn texts<'a>(list: &Raw<'a>, mut each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
    let Some(list) = list else { return Ok(()) };
    for entry in sonic_rs::to_array_iter(raw(list)) {
        if text_of(&entry.map_err(malformed)?).is_some_and(|text| each(text) == Step::Enough) {
            break;
        }
    }
    Ok(())
}

/// The list's first entry decides: a list of floors is never of anything but objects.
fn holds_any(list: &Raw<'_>) -> bool {
    let first = list
        .as_ref()
        .and_then(|list| sonic_rs::to_array_iter(raw(list)).next());
    first.is_some_and(|first| first.is_ok())
}

impl<'a> BidRequest<'a> {
    /// A value of the whole text, looked for now.
    fn find<const N: usize>(&self, path: [&str; N]) -> Raw<'a> {
        sonic_rs::get_from_slice(self.json, path).ok()
    }

    fn find_int<const N: usize>(&self, path: [&str; N]) -> Read<Option<i32>> {
        match self.find(path) {
            Some(value) => sonic_rs::from_str(raw(&value)).map_err(malformed),
            None => Ok(None),
        }
    }
}

impl<'v, 'a> RequestView<'a> for &'v BidRequest<'a> {
    type Imp = &'v Imp<'a>;

    fn id(&self) -> Read<Option<Text<'a>>> {
        Ok(text(&self.id))
    }

    fn imps(&self) -> Read<usize> {
        Ok(self.imp.len())
    }

    fn imp(&self, index: usize) -> Read<&'v Imp<'a>> {
        self.imp.get(index).ok_or(Refusal::Malformed)
    }

    fn device_type(&self) -> Read<Option<DeviceType>> {
        let number = self.device.as_ref().and_then(|device| device.devicetype);
        Ok(number.and_then(|number| DeviceType::new(number.into())))
    }

    fn country(&self) -> Read<Option<Country>> {
        let geo = self.device.as_ref().and_then(|device| device.geo.as_ref());
        Ok(geo.and_then(|geo| text(&geo.country)).and_then(Country::of))
    }

    fn test(&self) -> Read<bool> {
        Ok(self.test.unwrap_or(false))
    }

    fn tmax_ms(&self) -> Read<Option<i32>> {
        Ok(self.tmax)
    }

    fn cattax(&self) -> Read<i32> {
        Ok(self.cattax.unwrap_or(1))
    }

    fn texts(&self, list: RequestTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        let list = match list {
            RequestTexts::Cur => &self.cur,
            RequestTexts::Bcat => &self.bcat,
            RequestTexts::Acat => &self.acat,
            RequestTexts::Badv => &self.badv,
            RequestTexts::Bapp => &self.bapp,
            RequestTexts::Wseat => &self.wseat,
            RequestTexts::Bseat => &self.bseat,
        };
        texts(list, each)
    }

    fn device_text(&self, field: DeviceText) -> Read<Option<Text<'a>>> {
        Ok(text(&match field {
            DeviceText::Os => self.find(["device", "os"]),
            DeviceText::Osv => self.find(["device", "osv"]),
            DeviceText::Region => self.find(["device", "geo", "region"]),
            DeviceText::Metro => self.find(["device", "geo", "metro"]),
            DeviceText::City => self.find(["device", "geo", "city"]),
        }))
    }

    fn device_int(&self, field: DeviceInt) -> Read<Option<i32>> {
        match field {
            DeviceInt::Connectiontype => self.find_int(["device", "connectiontype"]),
            DeviceInt::Utcoffset => self.find_int(["device", "geo", "utcoffset"]),
        }
    }

    fn channel(&self) -> Read<Option<Channel>> {
        let is_object = |of: &Channel| {
            let value = self.find([of.name()]);
            value.is_some_and(|value| raw(&value).starts_with('{'))
        };
        Ok(Channel::ALL.into_iter().find(is_object))
    }

    fn channel_text(&self, of: Channel, field: ChannelText) -> Read<Option<Text<'a>>> {
        Ok(text(&match field {
            ChannelText::Domain => self.find([of.name(), "domain"]),
            ChannelText::Bundle if of == Channel::App => self.find(["app", "bundle"]),
            ChannelText::Bundle => None,
            ChannelText::Publisher => self.find([of.name(), "publisher", "id"]),
            ChannelText::Language => self.find([of.name(), "content", "language"]),
            ChannelText::Langb => self.find([of.name(), "content", "langb"]),
        }))
    }

    fn categories(
        &self,
        of: Channel,
        whose: CategoriesOf,
        each: impl FnMut(Text<'a>) -> Step,
    ) -> Read<()> {
        let list = match whose {
            CategoriesOf::Channel if of == Channel::Dooh => None,
            CategoriesOf::Channel => self.find([of.name(), "cat"]),
            CategoriesOf::Content => self.find([of.name(), "content", "cat"]),
        };
        texts(&list, each)
    }

    fn categories_tax(&self, of: Channel, whose: CategoriesOf) -> Read<i32> {
        let cattax = match whose {
            CategoriesOf::Channel if of == Channel::Dooh => None,
            CategoriesOf::Channel => self.find_int([of.name(), "cattax"])?,
            CategoriesOf::Content => self.find_int([of.name(), "content", "cattax"])?,
        };
        Ok(cattax.unwrap_or(1))
    }
}

impl<'a> Imp<'a> {
    fn medium(&self, of: MediaType) -> Read<Medium<'a>> {
        let medium = match of {
            MediaType::Banner => &self.banner,
            MediaType::Video => &self.video,
            MediaType::Audio => &self.audio,
            MediaType::Native => &self.native,
        };
        match medium {
            Some(medium) => sonic_rs::from_str(raw(medium)).map_err(malformed),
            None => Ok(Medium::default()),
        }
    }
}

impl<'a> ImpView<'a> for &Imp<'a> {
    type Deal = Deal<'a>;

    fn id(&self) -> Read<Option<Text<'a>>> {
        Ok(text(&self.id))
    }

    fn media_types(&self) -> Read<MediaTypes> {
        let media = [&self.banner, &self.video, &self.audio, &self.native];
        let is_object = |medium: &LazyValue<'_>| raw(medium).starts_with('{');
        Ok(offered(
            media.map(|medium| medium.as_ref().is_some_and(is_object)),
        ))
    }

    fn video_size(&self) -> Read<Option<(i32, i32)>> {
        let video = self.medium(MediaType::Video)?;
        Ok(size(video.w, video.h))
    }

    fn banner_sizes(&self, mut each: impl FnMut(i32, i32) -> Step) -> Read<()> {
        let banner = self.medium(MediaType::Banner)?;
        let named = [Size {
            w: banner.w,
            h: banner.h,
        }];
        let sizes = if banner.format.is_empty() {
            &named[..]
        } else {
            &banner.format
        };
        for known in sizes.iter().filter_map(|of| size(of.w, of.h)) {
            if each(known.0, known.1) == Step::Enough {
                break;
            }
        }
        Ok(())
    }

    fn bidfloor(&self) -> Read<Option<f64>> {
        Ok(self.bidfloor)
    }

    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        Ok(text(&self.bidfloorcur))
    }

    fn private_auction(&self) -> Read<bool> {
        Ok(self
            .pmp
            .as_ref()
            .and_then(|pmp| pmp.private_auction)
            .unwrap_or(false))
    }

    fn deals(&self, mut each: impl FnMut(Deal<'a>) -> Read<Step>) -> Read<()> {
        let deals = self.pmp.as_ref().and_then(|pmp| pmp.deals.as_ref());
        let Some(deals) = deals else { return Ok(()) };
        for deal in sonic_rs::to_array_iter(raw(deals)) {
            let deal = deal.map_err(malformed)?;
            if each(sonic_rs::from_str(raw(&deal)).map_err(malformed)?)? == Step::Enough {
                break;
            }
        }
        Ok(())
    }

    fn secure(&self) -> Read<bool> {
        Ok(self.secure.unwrap_or(false))
    }

    fn qty_multiplier(&self) -> Read<Option<f64>> {
        let Some(qty) = &self.qty else {
            return Ok(None);
        };
        let qty: Qty = sonic_rs::from_str(raw(qty)).map_err(malformed)?;
        Ok(qty.multiplier)
    }

    fn mimes(&self, of: MediaType, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        texts(&self.medium(of)?.mimes, each)
    }

    fn ints(&self, of: MediaType, list: MediaInts, each: impl FnMut(i32) -> Step) -> Read<()> {
        let medium = self.medium(of)?;
        let list = match list {
            MediaInts::Battr => medium.battr,
            MediaInts::Api => medium.api,
            MediaInts::Protocols => medium.protocols,
            MediaInts::Rqddurs => medium.rqddurs,
        };
        walk_ints(list.into_iter(), each)
    }

    fn int(&self, of: MediaType, field: MediaInt) -> Read<Option<i32>> {
        let medium = self.medium(of)?;
        let value = match field {
            MediaInt::Minduration => medium.minduration,
            MediaInt::Maxduration => medium.maxduration,
            MediaInt::Pos => medium.pos,
            MediaInt::Plcmt => medium.plcmt,
        };
        Ok(value.filter(|value| *value >= 0))
    }

    fn instl(&self) -> Read<bool> {
        Ok(self.instl.unwrap_or(false))
    }

    fn rwdd(&self) -> Read<bool> {
        Ok(self.rwdd.unwrap_or(false))
    }

    fn priced_by_second(&self, of: MediaType) -> Read<bool> {
        let medium = self.medium(of)?;
        Ok(medium.mincpmpersec.is_some() || holds_any(&medium.durfloors))
    }
}

impl<'a> DealView<'a> for Deal<'a> {
    fn id(&self) -> Read<Option<Text<'a>>> {
        Ok(text(&self.id))
    }

    fn bidfloor(&self) -> Read<Option<f64>> {
        Ok(self.bidfloor)
    }

    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        Ok(text(&self.bidfloorcur))
    }

    fn at(&self) -> Read<Option<i32>> {
        Ok(self.at)
    }

    fn texts(&self, list: DealTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        match list {
            DealTexts::Wseat => texts(&self.wseat, each),
            DealTexts::Wadomain => texts(&self.wadomain, each),
        }
    }
}
