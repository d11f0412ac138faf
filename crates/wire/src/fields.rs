//! The field numbers of what a view reads (OpenRTB 2.6 in the IAB's protobuf). FlatBuffers slots
//! are the same numbers. That they are those of `schema/` is tested against what is generated from it.

use openrtb::{
    CategoriesOf, Channel, ChannelText, DealTexts, DeviceInt, DeviceText, MediaInt, MediaInts,
    MediaType, RequestTexts,
};

/// `BidRequest`.
pub(crate) mod request {
    pub(crate) const ID: u16 = 1;
    pub(crate) const IMP: u16 = 2;
    pub(crate) const SITE: u16 = 3;
    pub(crate) const APP: u16 = 4;
    pub(crate) const DEVICE: u16 = 5;
    pub(crate) const TMAX: u16 = 8;
    pub(crate) const WSEAT: u16 = 9;
    pub(crate) const CUR: u16 = 11;
    pub(crate) const BCAT: u16 = 12;
    pub(crate) const BADV: u16 = 13;
    pub(crate) const TEST: u16 = 15;
    pub(crate) const BAPP: u16 = 16;
    pub(crate) const BSEAT: u16 = 17;
    pub(crate) const CATTAX: u16 = 21;
    pub(crate) const DOOH: u16 = 22;
    pub(crate) const ACAT: u16 = 23;
}

/// `Device`.
pub(crate) mod device {
    pub(crate) const GEO: u16 = 4;
    pub(crate) const DEVICETYPE: u16 = 18;
}

/// `Geo`.
pub(crate) mod geo {
    pub(crate) const COUNTRY: u16 = 3;
}

/// `Imp`.
pub(crate) mod imp {
    pub(crate) const ID: u16 = 1;
    pub(crate) const BANNER: u16 = 2;
    pub(crate) const VIDEO: u16 = 3;
    pub(crate) const INSTL: u16 = 6;
    pub(crate) const BIDFLOOR: u16 = 8;
    pub(crate) const BIDFLOORCUR: u16 = 9;
    pub(crate) const PMP: u16 = 11;
    pub(crate) const SECURE: u16 = 12;
    pub(crate) const NATIVE: u16 = 13;
    pub(crate) const AUDIO: u16 = 15;
    pub(crate) const RWDD: u16 = 18;
    pub(crate) const QTY: u16 = 20;
}

/// `Qty`.
pub(crate) mod qty {
    pub(crate) const MULTIPLIER: u16 = 1;
}

/// `Pmp`.
pub(crate) mod pmp {
    pub(crate) const PRIVATE_AUCTION: u16 = 1;
    pub(crate) const DEALS: u16 = 2;
}

/// `Deal`.
pub(crate) mod deal {
    pub(crate) const ID: u16 = 1;
    pub(crate) const BIDFLOOR: u16 = 2;
    pub(crate) const BIDFLOORCUR: u16 = 3;
    pub(crate) const WSEAT: u16 = 4;
    pub(crate) const WADOMAIN: u16 = 5;
    pub(crate) const AT: u16 = 6;
}

/// `Banner`, and `Format` in the first two.
pub(crate) mod banner {
    pub(crate) const W: u16 = 1;
    pub(crate) const H: u16 = 2;
    pub(crate) const FORMAT: u16 = 15;
}

/// `Video`.
pub(crate) mod video {
    pub(crate) const W: u16 = 6;
    pub(crate) const H: u16 = 7;
}

/// `BidResponse`.
pub(crate) mod response {
    pub(crate) const ID: u16 = 1;
    pub(crate) const NBR: u16 = 6;
}

/// The field of a bid request.
#[inline]
pub(crate) const fn request_texts(list: RequestTexts) -> u16 {
    match list {
        RequestTexts::Cur => request::CUR,
        RequestTexts::Bcat => request::BCAT,
        RequestTexts::Acat => request::ACAT,
        RequestTexts::Badv => request::BADV,
        RequestTexts::Bapp => request::BAPP,
        RequestTexts::Wseat => request::WSEAT,
        RequestTexts::Bseat => request::BSEAT,
    }
}

/// The field of a deal.
#[inline]
pub(crate) const fn deal_texts(list: DealTexts) -> u16 {
    match list {
        DealTexts::Wseat => deal::WSEAT,
        DealTexts::Wadomain => deal::WADOMAIN,
    }
}

/// The field of an impression that holds the medium.
#[inline]
pub(crate) const fn medium(media: MediaType) -> u16 {
    match media {
        MediaType::Banner => imp::BANNER,
        MediaType::Video => imp::VIDEO,
        MediaType::Audio => imp::AUDIO,
        MediaType::Native => imp::NATIVE,
    }
}

/// `mimes` of a medium, if it has them.
#[inline]
pub(crate) const fn mimes(of: MediaType) -> Option<u16> {
    match of {
        MediaType::Banner => Some(7),
        MediaType::Video | MediaType::Audio => Some(1),
        MediaType::Native => None,
    }
}

/// A list of integers of a medium, if it has it.
#[inline]
pub(crate) const fn media_ints(of: MediaType, list: MediaInts) -> Option<u16> {
    match (of, list) {
        (MediaType::Banner, MediaInts::Battr) => Some(6),
        (MediaType::Banner, MediaInts::Api) => Some(10),
        (MediaType::Video, MediaInts::Battr) => Some(10),
        (MediaType::Video, MediaInts::Api) => Some(19),
        (MediaType::Video, MediaInts::Protocols) => Some(21),
        (MediaType::Video, MediaInts::Rqddurs) => Some(32),
        (MediaType::Audio, MediaInts::Protocols) => Some(4),
        (MediaType::Audio, MediaInts::Battr) => Some(7),
        (MediaType::Audio, MediaInts::Api) => Some(13),
        (MediaType::Audio, MediaInts::Rqddurs) => Some(26),
        (MediaType::Native, MediaInts::Api) => Some(3),
        (MediaType::Native, MediaInts::Battr) => Some(4),
        (MediaType::Banner | MediaType::Native, MediaInts::Protocols | MediaInts::Rqddurs) => None,
    }
}

/// An integer of a medium, if it has it.
#[inline]
pub(crate) const fn media_int(of: MediaType, field: MediaInt) -> Option<u16> {
    match (of, field) {
        (MediaType::Video, MediaInt::Minduration) => Some(3),
        (MediaType::Video, MediaInt::Maxduration) => Some(4),
        (MediaType::Audio, MediaInt::Minduration) => Some(2),
        (MediaType::Audio, MediaInt::Maxduration) => Some(3),
        (MediaType::Banner, MediaInt::Pos) => Some(4),
        (MediaType::Video, MediaInt::Pos) => Some(17),
        (MediaType::Video, MediaInt::Plcmt) => Some(35),
        (MediaType::Banner | MediaType::Native, MediaInt::Minduration | MediaInt::Maxduration)
        | (MediaType::Audio | MediaType::Native, MediaInt::Pos)
        | (MediaType::Banner | MediaType::Audio | MediaType::Native, MediaInt::Plcmt) => None,
    }
}

/// A field that is reached from a message: in the sub-message that a field holds, or in itself.
pub(crate) type Way = (Option<u16>, u16);

/// The way from a device to a string.
#[inline]
pub(crate) const fn device_text(field: DeviceText) -> Way {
    match field {
        DeviceText::Os => (None, 14),
        DeviceText::Osv => (None, 15),
        DeviceText::Region => (Some(device::GEO), 4),
        DeviceText::Metro => (Some(device::GEO), 6),
        DeviceText::City => (Some(device::GEO), 7),
    }
}

/// The way from a device to an integer.
#[inline]
pub(crate) const fn device_int(field: DeviceInt) -> Way {
    match field {
        DeviceInt::Connectiontype => (None, 17),
        DeviceInt::Utcoffset => (Some(device::GEO), 10),
    }
}

/// The field of a request that holds the channel.
#[inline]
pub(crate) const fn channel(channel: Channel) -> u16 {
    match channel {
        Channel::Site => request::SITE,
        Channel::App => request::APP,
        Channel::Dooh => request::DOOH,
    }
}

/// `publisher` of a channel.
const fn publisher(of: Channel) -> Option<u16> {
    match of {
        Channel::Site | Channel::App => Some(11),
        Channel::Dooh => Some(5),
    }
}

/// `content` of a channel.
const fn content(of: Channel) -> Option<u16> {
    match of {
        Channel::Site | Channel::App => Some(12),
        Channel::Dooh => Some(8),
    }
}

/// The way from a channel to a string, if it has it.
#[inline]
pub(crate) const fn channel_text(of: Channel, field: ChannelText) -> Option<Way> {
    match (of, field) {
        (Channel::Site | Channel::App, ChannelText::Domain) => Some((None, 3)),
        (Channel::Dooh, ChannelText::Domain) => Some((None, 6)),
        (Channel::App, ChannelText::Bundle) => Some((None, 8)),
        (Channel::Site | Channel::Dooh, ChannelText::Bundle) => None,
        (of, ChannelText::Publisher) => Some((publisher(of), 1)),
        (of, ChannelText::Language) => Some((content(of), 19)),
        (of, ChannelText::Langb) => Some((content(of), 29)),
    }
}

/// The ways from a channel to `cat` and to `cattax`, if it has them.
#[inline]
pub(crate) const fn categories(of: Channel, whose: CategoriesOf) -> Option<(Way, Way)> {
    match (of, whose) {
        (Channel::Site, CategoriesOf::Channel) => Some(((None, 4), (None, 16))),
        (Channel::App, CategoriesOf::Channel) => Some(((None, 4), (None, 17))),
        (Channel::Dooh, CategoriesOf::Channel) => None,
        (of, CategoriesOf::Content) => Some(((content(of), 7), (content(of), 27))),
    }
}

/// `mincpmpersec` and `durfloors` of a medium, if it has them.
#[inline]
pub(crate) const fn second_prices(of: MediaType) -> Option<(u16, u16)> {
    match of {
        MediaType::Video => Some((34, 36)),
        MediaType::Audio => Some((30, 31)),
        MediaType::Banner | MediaType::Native => None,
    }
}

/// Whether the entries of a list of integers are durations, which are not negative.
#[inline]
pub(crate) const fn in_range(list: MediaInts, value: i32) -> bool {
    !matches!(list, MediaInts::Rqddurs) || value >= 0
}

/// A size, where both sides are known and 1 or more.
#[inline]
pub(crate) fn size(w: Option<i32>, h: Option<i32>) -> Option<(i32, i32)> {
    match (w, h) {
        (Some(w @ 1..), Some(h @ 1..)) => Some((w, h)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{self as m, Message};

    #[track_caller]
    fn check<M: Message>(fields: &[(u16, &str)]) {
        for (number, name) in fields {
            assert_eq!(M::name(u32::from(*number)), *name, "{number}");
        }
    }

    #[test]
    fn messages_have_the_fields_of_the_schema() {
        check::<m::BidRequest>(&[
            (request::ID, "id"),
            (request::IMP, "imp"),
            (request::SITE, "site"),
            (request::APP, "app"),
            (request::DEVICE, "device"),
            (request::TMAX, "tmax"),
            (request::WSEAT, "wseat"),
            (request::CUR, "cur"),
            (request::BCAT, "bcat"),
            (request::BADV, "badv"),
            (request::TEST, "test"),
            (request::BAPP, "bapp"),
            (request::BSEAT, "bseat"),
            (request::CATTAX, "cattax"),
            (request::DOOH, "dooh"),
            (request::ACAT, "acat"),
        ]);
        check::<m::Imp>(&[
            (imp::ID, "id"),
            (imp::BANNER, "banner"),
            (imp::VIDEO, "video"),
            (imp::INSTL, "instl"),
            (imp::BIDFLOOR, "bidfloor"),
            (imp::BIDFLOORCUR, "bidfloorcur"),
            (imp::PMP, "pmp"),
            (imp::SECURE, "secure"),
            (imp::NATIVE, "native"),
            (imp::AUDIO, "audio"),
            (imp::RWDD, "rwdd"),
            (imp::QTY, "qty"),
        ]);
        check::<m::Qty>(&[(qty::MULTIPLIER, "multiplier")]);
        check::<m::Pmp>(&[
            (pmp::PRIVATE_AUCTION, "private_auction"),
            (pmp::DEALS, "deals"),
        ]);
        check::<m::Deal>(&[
            (deal::ID, "id"),
            (deal::BIDFLOOR, "bidfloor"),
            (deal::BIDFLOORCUR, "bidfloorcur"),
            (deal::WSEAT, "wseat"),
            (deal::WADOMAIN, "wadomain"),
            (deal::AT, "at"),
        ]);
        check::<m::Banner>(&[
            (banner::W, "w"),
            (banner::H, "h"),
            (banner::FORMAT, "format"),
        ]);
        check::<m::Format>(&[(banner::W, "w"), (banner::H, "h")]);
        check::<m::Video>(&[(video::W, "w"), (video::H, "h")]);
        check::<m::BidResponse>(&[(response::ID, "id"), (response::NBR, "nbr")]);
        check::<m::Device>(&[(device::GEO, "geo"), (device::DEVICETYPE, "devicetype")]);
        check::<m::Geo>(&[(geo::COUNTRY, "country")]);
    }

    #[test]
    fn ways_lead_to_the_fields_of_the_schema() {
        let device = |(through, number): Way| match through {
            None => m::Device::name(number.into()).to_owned(),
            Some(geo) => format!(
                "{}.{}",
                m::Device::name(geo.into()),
                m::Geo::name(number.into())
            ),
        };
        for (field, name) in [
            (DeviceText::Os, "os"),
            (DeviceText::Osv, "osv"),
            (DeviceText::Region, "geo.region"),
            (DeviceText::Metro, "geo.metro"),
            (DeviceText::City, "geo.city"),
        ] {
            assert_eq!(device(device_text(field)), name);
        }
        assert_eq!(
            device(device_int(DeviceInt::Connectiontype)),
            "connectiontype"
        );
        assert_eq!(device(device_int(DeviceInt::Utcoffset)), "geo.utcoffset");

        let in_channel = |of: Channel, number: u16| match of {
            Channel::Site => m::Site::name(number.into()),
            Channel::App => m::App::name(number.into()),
            Channel::Dooh => m::Dooh::name(number.into()),
        };
        let name = |of: Channel, (through, number): Way| match through.map(|at| in_channel(of, at))
        {
            None => in_channel(of, number).to_owned(),
            Some("publisher") => format!("publisher.{}", m::Publisher::name(number.into())),
            Some("content") => format!("content.{}", m::Content::name(number.into())),
            Some(other) => other.to_owned(),
        };
        for of in Channel::ALL {
            assert_eq!(m::BidRequest::name(channel(of).into()), of.name());
            for (field, expect) in [
                (ChannelText::Domain, "domain"),
                (ChannelText::Bundle, "bundle"),
                (ChannelText::Publisher, "publisher.id"),
                (ChannelText::Language, "content.language"),
                (ChannelText::Langb, "content.langb"),
            ] {
                let way = channel_text(of, field);
                assert!(
                    way.is_none_or(|way| name(of, way) == expect),
                    "{of:?} {expect}"
                );
            }
            for (whose, expect) in [
                (CategoriesOf::Channel, ["cat", "cattax"]),
                (CategoriesOf::Content, ["content.cat", "content.cattax"]),
            ] {
                if let Some((cat, cattax)) = categories(of, whose) {
                    assert_eq!([name(of, cat), name(of, cattax)], expect);
                }
            }
        }
    }

    #[test]
    fn media_have_the_fields_of_the_schema() {
        for of in MediaType::ALL {
            let name = |number: u16| match of {
                MediaType::Banner => m::Banner::name(number.into()),
                MediaType::Video => m::Video::name(number.into()),
                MediaType::Audio => m::Audio::name(number.into()),
                MediaType::Native => m::Native::name(number.into()),
            };
            let is = |number: Option<u16>, expect: &str| {
                assert!(
                    number.is_none_or(|number| name(number) == expect),
                    "{of:?} {expect}"
                );
            };
            is(mimes(of), "mimes");
            is(media_ints(of, MediaInts::Battr), "battr");
            is(media_ints(of, MediaInts::Api), "api");
            is(media_ints(of, MediaInts::Protocols), "protocols");
            is(media_ints(of, MediaInts::Rqddurs), "rqddurs");
            is(media_int(of, MediaInt::Minduration), "minduration");
            is(media_int(of, MediaInt::Maxduration), "maxduration");
            is(media_int(of, MediaInt::Pos), "pos");
            is(media_int(of, MediaInt::Plcmt), "plcmt");
            let (price, floors) = second_prices(of).unzip();
            is(price, "mincpmpersec");
            is(floors, "durfloors");
        }
    }
}
