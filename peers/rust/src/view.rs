//! What each library read, shown to the decision. The rules of reading (`docs/decisions.md`,
//! "Reading a request") are the same for all of them, so they stand here once, over five ways to
//! ask for a field.

use core::fmt::Display;
use openrtb::{
    CategoriesOf, Channel, ChannelText, Country, DealTexts, DealView, DeviceInt, DeviceText,
    DeviceType, ImpView, MediaInt, MediaInts, MediaType, MediaTypes, Read, Refusal, RequestTexts,
    RequestView, Step, Text,
};

/// Structs that own all they hold: prost's and serde's.
macro_rules! owned {
    (text $of:ident $field:ident) => {
        $of.$field.as_deref()
    };
    (one $of:ident $field:ident) => {
        $of.$field.as_ref()
    };
    (value $of:ident $field:ident) => {
        $of.$field
    };
    (len $of:ident $field:ident) => {
        $of.$field.len()
    };
    (at $of:ident $field:ident $at:ident) => {
        $of.$field.get($at)
    };
    (each $of:ident $field:ident) => {
        $of.$field.iter().map(Ok)
    };
    (texts $of:ident $field:ident) => {
        $of.$field.iter().map(|text| Ok(text.as_str()))
    };
    (ints $of:ident $field:ident) => {
        $of.$field.iter().copied()
    };
}

/// Structs of planus that own all they hold: lists and messages may be absent.
macro_rules! optional {
    (text $of:ident $field:ident) => {
        $of.$field.as_deref()
    };
    (one $of:ident $field:ident) => {
        $of.$field.as_deref()
    };
    (value $of:ident $field:ident) => {
        $of.$field
    };
    (len $of:ident $field:ident) => {
        $of.$field.as_ref().map_or(0, Vec::len)
    };
    (at $of:ident $field:ident $at:ident) => {
        $of.$field.as_ref().and_then(|list| list.get($at))
    };
    (each $of:ident $field:ident) => {
        $of.$field.iter().flatten().map(Ok)
    };
    (texts $of:ident $field:ident) => {
        $of.$field.iter().flatten().map(|text| Ok(text.as_str()))
    };
    (ints $of:ident $field:ident) => {
        $of.$field.iter().flatten().copied()
    };
}

/// Tables of the crate `flatbuffers`, verified before.
macro_rules! verified {
    (len $of:ident $field:ident) => {
        $of.$field().map_or(0, |list| list.len())
    };
    (at $of:ident $field:ident $at:ident) => {
        $of.$field()
            .filter(|list| $at < list.len())
            .map(|list| list.get($at))
    };
    (each $of:ident $field:ident) => {
        $of.$field().into_iter().flatten().map(Ok)
    };
    (texts $of:ident $field:ident) => {
        $of.$field().into_iter().flatten().map(Ok)
    };
    (ints $of:ident $field:ident) => {
        $of.$field().into_iter().flatten()
    };
    ($kind:ident $of:ident $field:ident) => {
        $of.$field()
    };
}

/// Tables of planus, checked whenever they are asked.
macro_rules! checked {
    (len $of:ident $field:ident) => { checked!(one $of $field).map_or(0, |list| list.len()) };
    (at $of:ident $field:ident $at:ident) => {
        match checked!(one $of $field).and_then(|list| list.get($at)) {
            Some(entry) => Some(entry.map_err(malformed)?),
            None => None,
        }
    };
    (each $of:ident $field:ident) => {
        checked!(one $of $field).into_iter().flatten().map(|entry| entry.map_err(malformed))
    };
    (texts $of:ident $field:ident) => { checked!(each $of $field) };
    (ints $of:ident $field:ident) => { checked!(one $of $field).into_iter().flatten() };
    ($kind:ident $of:ident $field:ident) => { $of.$field().map_err(malformed)? };
}

pub(crate) fn malformed(_: impl Display) -> Refusal {
    Refusal::Malformed
}

/// The views of a library: how its fields are asked for, and its types for request, impression and
/// deal.
macro_rules! views {
    ($ask:ident, $request:ty, $imp:ty, $deal:ty) => {
        impl<'a> RequestView<'a> for $request {
            type Imp = $imp;

            fn id(&self) -> Read<Option<Text<'a>>> {
                Ok(text($ask!(text self id)))
            }

            fn imps(&self) -> Read<usize> {
                Ok($ask!(len self imp))
            }

            fn imp(&self, index: usize) -> Read<$imp> {
                $ask!(at self imp index).ok_or(Refusal::Malformed)
            }

            fn device_type(&self) -> Read<Option<DeviceType>> {
                let Some(device) = $ask!(one self device) else { return Ok(None) };
                let number = $ask!(value device devicetype);
                Ok(number.and_then(|number| DeviceType::new(number.into())))
            }

            fn country(&self) -> Read<Option<Country>> {
                let Some(device) = $ask!(one self device) else { return Ok(None) };
                let Some(geo) = $ask!(one device geo) else { return Ok(None) };
                Ok(text($ask!(text geo country)).and_then(Country::of))
            }

            fn test(&self) -> Read<bool> {
                Ok($ask!(value self test).unwrap_or(false))
            }

            fn tmax_ms(&self) -> Read<Option<i32>> {
                Ok($ask!(value self tmax))
            }

            fn cattax(&self) -> Read<i32> {
                Ok($ask!(value self cattax).unwrap_or(1))
            }

            fn texts(&self, list: RequestTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
                match list {
                    RequestTexts::Cur => walk($ask!(texts self cur), each),
                    RequestTexts::Bcat => walk($ask!(texts self bcat), each),
                    RequestTexts::Acat => walk($ask!(texts self acat), each),
                    RequestTexts::Badv => walk($ask!(texts self badv), each),
                    RequestTexts::Bapp => walk($ask!(texts self bapp), each),
                    RequestTexts::Wseat => walk($ask!(texts self wseat), each),
                    RequestTexts::Bseat => walk($ask!(texts self bseat), each),
                }
            }

            fn device_text(&self, field: DeviceText) -> Read<Option<Text<'a>>> {
                let Some(device) = $ask!(one self device) else { return Ok(None) };
                let geo = $ask!(one device geo);
                Ok(match (field, geo) {
                    (DeviceText::Os, _) => text($ask!(text device os)),
                    (DeviceText::Osv, _) => text($ask!(text device osv)),
                    (_, None) => None,
                    (DeviceText::Region, Some(geo)) => text($ask!(text geo region)),
                    (DeviceText::Metro, Some(geo)) => text($ask!(text geo metro)),
                    (DeviceText::City, Some(geo)) => text($ask!(text geo city)),
                })
            }

            fn device_int(&self, field: DeviceInt) -> Read<Option<i32>> {
                let Some(device) = $ask!(one self device) else { return Ok(None) };
                let geo = $ask!(one device geo);
                Ok(match (field, geo) {
                    (DeviceInt::Connectiontype, _) => $ask!(value device connectiontype),
                    (DeviceInt::Utcoffset, Some(geo)) => $ask!(value geo utcoffset),
                    (DeviceInt::Utcoffset, None) => None,
                })
            }

            fn channel(&self) -> Read<Option<Channel>> {
                Ok(if $ask!(one self site).is_some() {
                    Some(Channel::Site)
                } else if $ask!(one self app).is_some() {
                    Some(Channel::App)
                } else {
                    $ask!(one self dooh).map(|_| Channel::Dooh)
                })
            }

            fn channel_text(&self, of: Channel, field: ChannelText) -> Read<Option<Text<'a>>> {
                if let (Channel::Site, Some(site)) = (of, $ask!(one self site)) {
                    return channel_text!($ask, site, field, None);
                }
                if let (Channel::App, Some(app)) = (of, $ask!(one self app)) {
                    return channel_text!($ask, app, field, $ask!(text app bundle));
                }
                if let (Channel::Dooh, Some(dooh)) = (of, $ask!(one self dooh)) {
                    return channel_text!($ask, dooh, field, None);
                }
                Ok(None)
            }

            fn categories(
                &self,
                of: Channel,
                whose: CategoriesOf,
                each: impl FnMut(Text<'a>) -> Step,
            ) -> Read<()> {
                let own = whose == CategoriesOf::Channel;
                if let (Channel::Site, Some(site)) = (of, $ask!(one self site)) {
                    return match own {
                        true => walk($ask!(texts site cat), each),
                        false => content_categories!($ask, site, each),
                    };
                }
                if let (Channel::App, Some(app)) = (of, $ask!(one self app)) {
                    return match own {
                        true => walk($ask!(texts app cat), each),
                        false => content_categories!($ask, app, each),
                    };
                }
                if let (Channel::Dooh, false, Some(dooh)) = (of, own, $ask!(one self dooh)) {
                    return content_categories!($ask, dooh, each);
                }
                Ok(())
            }

            fn categories_tax(&self, of: Channel, whose: CategoriesOf) -> Read<i32> {
                let own = whose == CategoriesOf::Channel;
                let mut cattax = None;
                if let (Channel::Site, Some(site)) = (of, $ask!(one self site)) {
                    cattax = match own {
                        true => $ask!(value site cattax),
                        false => content_cattax!($ask, site),
                    };
                }
                if let (Channel::App, Some(app)) = (of, $ask!(one self app)) {
                    cattax = match own {
                        true => $ask!(value app cattax),
                        false => content_cattax!($ask, app),
                    };
                }
                if let (Channel::Dooh, false, Some(dooh)) = (of, own, $ask!(one self dooh)) {
                    cattax = content_cattax!($ask, dooh);
                }
                Ok(cattax.unwrap_or(1))
            }
        }

        impl<'a> ImpView<'a> for $imp {
            type Deal = $deal;

            fn id(&self) -> Read<Option<Text<'a>>> {
                Ok(text($ask!(text self id)))
            }

            fn media_types(&self) -> Read<MediaTypes> {
                Ok(offered([
                    $ask!(one self banner).is_some(),
                    $ask!(one self video).is_some(),
                    $ask!(one self audio).is_some(),
                    $ask!(one self native).is_some(),
                ]))
            }

            fn video_size(&self) -> Read<Option<(i32, i32)>> {
                let Some(video) = $ask!(one self video) else { return Ok(None) };
                Ok(size($ask!(value video w), $ask!(value video h)))
            }

            fn banner_sizes(&self, mut each: impl FnMut(i32, i32) -> Step) -> Read<()> {
                let Some(banner) = $ask!(one self banner) else { return Ok(()) };
                if $ask!(len banner format) == 0 {
                    if let Some((w, h)) = size($ask!(value banner w), $ask!(value banner h)) {
                        each(w, h);
                    }
                    return Ok(());
                }
                for format in $ask!(each banner format) {
                    let format = format?;
                    let size = size($ask!(value format w), $ask!(value format h));
                    if size.is_some_and(|(w, h)| each(w, h) == Step::Enough) {
                        return Ok(());
                    }
                }
                Ok(())
            }

            fn bidfloor(&self) -> Read<Option<f64>> {
                Ok($ask!(value self bidfloor))
            }

            fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
                Ok(text($ask!(text self bidfloorcur)))
            }

            fn private_auction(&self) -> Read<bool> {
                let Some(pmp) = $ask!(one self pmp) else { return Ok(false) };
                Ok($ask!(value pmp private_auction).unwrap_or(false))
            }

            fn deals(&self, mut each: impl FnMut(Self::Deal) -> Read<Step>) -> Read<()> {
                let Some(pmp) = $ask!(one self pmp) else { return Ok(()) };
                for deal in $ask!(each pmp deals) {
                    if each(deal?)? == Step::Enough {
                        return Ok(());
                    }
                }
                Ok(())
            }

            fn secure(&self) -> Read<bool> {
                Ok($ask!(value self secure).unwrap_or(false))
            }

            fn qty_multiplier(&self) -> Read<Option<f64>> {
                let Some(qty) = $ask!(one self qty) else { return Ok(None) };
                Ok($ask!(value qty multiplier).filter(|multiplier| multiplier.is_finite()))
            }

            fn mimes(&self, of: MediaType, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
                if let (MediaType::Banner, Some(of)) = (of, $ask!(one self banner)) {
                    return walk($ask!(texts of mimes), each);
                }
                if let (MediaType::Video, Some(of)) = (of, $ask!(one self video)) {
                    return walk($ask!(texts of mimes), each);
                }
                if let (MediaType::Audio, Some(of)) = (of, $ask!(one self audio)) {
                    return walk($ask!(texts of mimes), each);
                }
                Ok(())
            }

            fn ints(
                &self,
                of: MediaType,
                list: MediaInts,
                mut each: impl FnMut(i32) -> Step,
            ) -> Read<()> {
                if let (MediaType::Banner, Some(of)) = (of, $ask!(one self banner)) {
                    return match list {
                        MediaInts::Battr => walk_ints($ask!(ints of battr), each),
                        MediaInts::Api => walk_ints($ask!(ints of api), each),
                        MediaInts::Protocols | MediaInts::Rqddurs => Ok(()),
                    };
                }
                if let (MediaType::Video, Some(of)) = (of, $ask!(one self video)) {
                    return media_ints!($ask, of, list, &mut each);
                }
                if let (MediaType::Audio, Some(of)) = (of, $ask!(one self audio)) {
                    return media_ints!($ask, of, list, &mut each);
                }
                if let (MediaType::Native, Some(of)) = (of, $ask!(one self native)) {
                    return match list {
                        MediaInts::Battr => walk_ints($ask!(ints of battr), each),
                        MediaInts::Api => walk_ints($ask!(ints of api), each),
                        MediaInts::Protocols | MediaInts::Rqddurs => Ok(()),
                    };
                }
                Ok(())
            }

            fn int(&self, of: MediaType, field: MediaInt) -> Read<Option<i32>> {
                let (mut min, mut max, mut pos, mut plcmt) = (None, None, None, None);
                if let (MediaType::Banner, Some(of)) = (of, $ask!(one self banner)) {
                    pos = $ask!(value of pos);
                }
                if let (MediaType::Video, Some(of)) = (of, $ask!(one self video)) {
                    (min, max) = ($ask!(value of minduration), $ask!(value of maxduration));
                    (pos, plcmt) = ($ask!(value of pos), $ask!(value of plcmt));
                }
                if let (MediaType::Audio, Some(of)) = (of, $ask!(one self audio)) {
                    (min, max) = ($ask!(value of minduration), $ask!(value of maxduration));
                }
                let value = match field {
                    MediaInt::Minduration => min,
                    MediaInt::Maxduration => max,
                    MediaInt::Pos => pos,
                    MediaInt::Plcmt => plcmt,
                };
                Ok(value.filter(|value| *value >= 0))
            }

            fn instl(&self) -> Read<bool> {
                Ok($ask!(value self instl).unwrap_or(false))
            }

            fn rwdd(&self) -> Read<bool> {
                Ok($ask!(value self rwdd).unwrap_or(false))
            }

            fn priced_by_second(&self, of: MediaType) -> Read<bool> {
                if let (MediaType::Video, Some(of)) = (of, $ask!(one self video)) {
                    return Ok($ask!(value of mincpmpersec).is_some()
                        || $ask!(len of durfloors) > 0);
                }
                if let (MediaType::Audio, Some(of)) = (of, $ask!(one self audio)) {
                    return Ok($ask!(value of mincpmpersec).is_some()
                        || $ask!(len of durfloors) > 0);
                }
                Ok(false)
            }
        }

        impl<'a> DealView<'a> for $deal {
            fn id(&self) -> Read<Option<Text<'a>>> {
                Ok(text($ask!(text self id)))
            }

            fn bidfloor(&self) -> Read<Option<f64>> {
                Ok($ask!(value self bidfloor))
            }

            fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
                Ok(text($ask!(text self bidfloorcur)))
            }

            fn at(&self) -> Read<Option<i32>> {
                Ok($ask!(value self at))
            }

            fn texts(&self, list: DealTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
                match list {
                    DealTexts::Wseat => walk($ask!(texts self wseat), each),
                    DealTexts::Wadomain => walk($ask!(texts self wadomain), each),
                }
            }
        }
    };
}

/// The lists of integers that video and audio have alike.
macro_rules! media_ints {
    ($ask:ident, $of:ident, $list:ident, $each:expr) => {
        match $list {
            MediaInts::Battr => walk_ints($ask!(ints $of battr), $each),
            MediaInts::Api => walk_ints($ask!(ints $of api), $each),
            MediaInts::Protocols => walk_ints($ask!(ints $of protocols), $each),
            MediaInts::Rqddurs => walk_ints($ask!(ints $of rqddurs), $each),
        }
    };
}

/// A string of a site, an app or a screen; only an app has a bundle.
macro_rules! channel_text {
    ($ask:ident, $of:ident, $field:ident, $bundle:expr) => {{
        let publisher = $ask!(one $of publisher);
        let content = $ask!(one $of content);
        Ok(match ($field, publisher, content) {
            (ChannelText::Domain, ..) => text($ask!(text $of domain)),
            (ChannelText::Bundle, ..) => text($bundle),
            (ChannelText::Publisher, Some(publisher), _) => text($ask!(text publisher id)),
            (ChannelText::Language, _, Some(content)) => text($ask!(text content language)),
            (ChannelText::Langb, _, Some(content)) => text($ask!(text content langb)),
            _ => None,
        })
    }};
}

/// `content.cat` of a site, an app or a screen.
macro_rules! content_categories {
    ($ask:ident, $of:ident, $each:ident) => {
        match $ask!(one $of content) {
            Some(content) => walk($ask!(texts content cat), $each),
            None => Ok(()),
        }
    };
}

/// `content.cattax` of a site, an app or a screen.
macro_rules! content_cattax {
    ($ask:ident, $of:ident) => {
        match $ask!(one $of content) {
            Some(content) => $ask!(value content cattax),
            None => None,
        }
    };
}

/// The empty string is unknown.
pub(crate) fn text(text: Option<&str>) -> Option<Text<'_>> {
    text.filter(|text| !text.is_empty()).map(Text::Plain)
}

/// Known only where both sides are, each at least 1.
pub(crate) fn size(w: Option<i32>, h: Option<i32>) -> Option<(i32, i32)> {
    w.zip(h).filter(|(w, h)| *w >= 1 && *h >= 1)
}

pub(crate) fn offered(media: [bool; 4]) -> MediaTypes {
    let offered = MediaType::ALL
        .into_iter()
        .zip(media)
        .filter(|(_, offered)| *offered);
    offered.fold(MediaTypes::NONE, |set, (media, _)| set.with(media))
}

fn walk<'a>(
    texts: impl Iterator<Item = Read<&'a str>>,
    mut each: impl FnMut(Text<'a>) -> Step,
) -> Read<()> {
    for entry in texts {
        if text(Some(entry?)).is_some_and(|text| each(text) == Step::Enough) {
            break;
        }
    }
    Ok(())
}

pub(crate) fn walk_ints(
    mut ints: impl Iterator<Item = i32>,
    mut each: impl FnMut(i32) -> Step,
) -> Read<()> {
    ints.find(|int| each(*int) == Step::Enough);
    Ok(())
}

mod prost_view {
    use super::*;
    use crate::prost::{BidRequest, Deal, Imp};
    views!(owned, &'a BidRequest, &'a Imp, &'a Deal);
}

mod serde_view {
    use super::*;
    use crate::json::{BidRequest, Deal, Imp};
    views!(owned, &'a BidRequest, &'a Imp, &'a Deal);
}

mod planus_owned_view {
    use super::*;
    use crate::planus::nearbid::openrtb::{BidRequest, Deal, Imp};
    views!(optional, &'a BidRequest, &'a Imp, &'a Deal);
}

mod planus_view {
    use super::*;
    use crate::planus::nearbid::openrtb::{BidRequestRef, DealRef, ImpRef};
    views!(checked, BidRequestRef<'a>, ImpRef<'a>, DealRef<'a>);
}

mod flatbuffers_view {
    use super::*;
    use crate::flatbuffers::{BidRequest, Deal, Imp};
    views!(verified, BidRequest<'a>, Imp<'a>, Deal<'a>);
}
