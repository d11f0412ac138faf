//! A request that owns its values, line items that are easy to write, and what decisions are
//! compared by.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "shared by tests, each of which uses a part"
)]

use engine::{
    BidId, BudgetCeilings, Creative, Decision, Invalid, LineItem, Outcome, Status, Targeting,
};
use openrtb::{
    CategoriesOf, Channel, ChannelText, Country, DealTexts, DealView, DeviceInt, DeviceText,
    DeviceType, ImpView, MediaInt, MediaInts, MediaType, MediaTypes, Micros, Read, Reason, Refusal,
    RequestTexts, RequestView, Step, Text,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// A string of a request, spelled plainly or with escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Str {
    spelled: String,
    escaped: bool,
}

impl Str {
    pub fn escaped(text: &str) -> Str {
        let spelled = text
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect();
        Str {
            spelled,
            escaped: true,
        }
    }

    pub fn text(&self) -> Text<'_> {
        if self.escaped {
            Text::Escaped(&self.spelled)
        } else {
            Text::Plain(&self.spelled)
        }
    }
}

impl From<&str> for Str {
    fn from(text: &str) -> Str {
        Str {
            spelled: text.into(),
            escaped: false,
        }
    }
}

pub fn strs(texts: &[&str]) -> Vec<Str> {
    texts.iter().map(|text| (*text).into()).collect()
}

#[derive(Clone, Debug, Default)]
pub struct Request {
    pub id: Option<Str>,
    pub imps: Vec<Imp>,
    pub device_type: Option<i64>,
    pub country: Option<Str>,
    /// By field.
    pub device_texts: [Option<Str>; 5],
    pub device_ints: [Option<i32>; 2],
    /// `site`, `app` and `dooh`.
    pub channels: [Option<ChannelObject>; 3],
    pub test: bool,
    pub cattax: Option<i32>,
    pub cur: Vec<Str>,
    pub bcat: Vec<Str>,
    pub acat: Vec<Str>,
    pub badv: Vec<Str>,
    pub bapp: Vec<Str>,
    pub wseat: Vec<Str>,
    pub bseat: Vec<Str>,
    pub reads: Reads,
}

/// What an ad is shown in.
#[derive(Clone, Debug, Default)]
pub struct ChannelObject {
    /// By field.
    pub texts: [Option<Str>; 5],
    /// Of the object itself, then of its content.
    pub categories: [Vec<Str>; 2],
    pub cattax: [Option<i32>; 2],
}

/// Counts what is read, and can fail the nth read.
#[derive(Clone, Debug, Default)]
pub struct Reads {
    pub count: Cell<usize>,
    pub fail_at: Option<usize>,
    /// How often each list was read, if that is wanted.
    pub log: Option<RefCell<BTreeMap<String, usize>>>,
}

impl Reads {
    fn read<T>(&self, value: T) -> Read<T> {
        let count = self.count.get();
        self.count.set(count + 1);
        if Some(count) == self.fail_at {
            Err(Refusal::Malformed)
        } else {
            Ok(value)
        }
    }

    fn list(&self, name: std::fmt::Arguments<'_>) -> Read<()> {
        if let Some(log) = &self.log {
            *log.borrow_mut().entry(name.to_string()).or_default() += 1;
        }
        self.read(())
    }
}

#[derive(Clone, Debug, Default)]
pub struct Imp {
    pub id: Option<Str>,
    pub banner: Option<Medium>,
    pub video: Option<Medium>,
    pub audio: Option<Medium>,
    pub native: Option<Medium>,
    pub video_size: Option<(i32, i32)>,
    pub banner_sizes: Vec<(i32, i32)>,
    pub bidfloor: Option<f64>,
    pub bidfloorcur: Option<Str>,
    pub private_auction: bool,
    pub deals: Vec<Deal>,
    pub secure: bool,
    pub qty_multiplier: Option<f64>,
    pub instl: bool,
    pub rwdd: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Medium {
    pub mimes: Vec<Str>,
    pub battr: Vec<i32>,
    pub api: Vec<i32>,
    pub protocols: Vec<i32>,
    pub rqddurs: Vec<i32>,
    pub minduration: Option<i32>,
    pub maxduration: Option<i32>,
    pub pos: Option<i32>,
    pub plcmt: Option<i32>,
    pub priced_by_second: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Deal {
    pub id: Option<Str>,
    pub bidfloor: Option<f64>,
    pub bidfloorcur: Option<Str>,
    pub at: Option<i32>,
    pub wseat: Vec<Str>,
    pub wadomain: Vec<Str>,
}

#[derive(Clone, Copy)]
pub struct ImpRef<'a> {
    imp: &'a Imp,
    reads: &'a Reads,
}

#[derive(Clone, Copy)]
pub struct DealRef<'a> {
    deal: &'a Deal,
    reads: &'a Reads,
}

fn text(of: &Option<Str>) -> Option<Text<'_>> {
    of.as_ref().map(Str::text)
}

fn walk<'a>(list: &'a [Str], mut each: impl FnMut(Text<'a>) -> Step) {
    let _ = list.iter().all(|entry| each(entry.text()) == Step::On);
}

impl<'a> RequestView<'a> for &'a Request {
    type Imp = ImpRef<'a>;

    fn id(&self) -> Read<Option<Text<'a>>> {
        self.reads.read(text(&self.id))
    }
    fn imps(&self) -> Read<usize> {
        self.reads.read(self.imps.len())
    }
    fn imp(&self, index: usize) -> Read<ImpRef<'a>> {
        let imp = self.imps.get(index).ok_or(Refusal::Malformed)?;
        self.reads.read(ImpRef {
            imp,
            reads: &self.reads,
        })
    }
    fn device_type(&self) -> Read<Option<DeviceType>> {
        self.reads.list(format_args!("device_type"))?;
        Ok(self.device_type.and_then(DeviceType::new))
    }
    fn country(&self) -> Read<Option<Country>> {
        self.reads.list(format_args!("country"))?;
        Ok(text(&self.country).and_then(Country::of))
    }
    fn test(&self) -> Read<bool> {
        self.reads.read(self.test)
    }
    fn tmax_ms(&self) -> Read<Option<i32>> {
        self.reads.read(None)
    }
    fn cattax(&self) -> Read<i32> {
        self.reads.list(format_args!("cattax"))?;
        Ok(self.cattax.unwrap_or(1))
    }
    fn device_text(&self, field: DeviceText) -> Read<Option<Text<'a>>> {
        self.reads.list(format_args!("{field:?}"))?;
        Ok(text(&self.device_texts[field as usize]))
    }
    fn device_int(&self, field: DeviceInt) -> Read<Option<i32>> {
        self.reads.list(format_args!("{field:?}"))?;
        Ok(self.device_ints[field as usize])
    }
    fn channel(&self) -> Read<Option<Channel>> {
        self.reads.list(format_args!("channel"))?;
        let has = |of: &Channel| self.channels[*of as usize].is_some();
        Ok(Channel::ALL.into_iter().find(has))
    }
    fn channel_text(&self, of: Channel, field: ChannelText) -> Read<Option<Text<'a>>> {
        self.reads.list(format_args!("{field:?}"))?;
        let object = self.channels[of as usize].as_ref();
        Ok(object.and_then(|object| text(&object.texts[field as usize])))
    }
    fn categories(
        &self,
        of: Channel,
        whose: CategoriesOf,
        each: impl FnMut(Text<'a>) -> Step,
    ) -> Read<()> {
        self.reads.list(format_args!("categories of {whose:?}"))?;
        if let Some(object) = &self.channels[of as usize] {
            walk(&object.categories[whose as usize], each);
        }
        Ok(())
    }
    fn categories_tax(&self, of: Channel, whose: CategoriesOf) -> Read<i32> {
        self.reads.list(format_args!("cattax of {whose:?}"))?;
        let object = self.channels[of as usize].as_ref();
        Ok(object
            .and_then(|object| object.cattax[whose as usize])
            .unwrap_or(1))
    }
    fn texts(&self, list: RequestTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        self.reads.list(format_args!("{list:?}"))?;
        walk(
            match list {
                RequestTexts::Cur => &self.cur,
                RequestTexts::Bcat => &self.bcat,
                RequestTexts::Acat => &self.acat,
                RequestTexts::Badv => &self.badv,
                RequestTexts::Bapp => &self.bapp,
                RequestTexts::Wseat => &self.wseat,
                RequestTexts::Bseat => &self.bseat,
            },
            each,
        );
        Ok(())
    }
}

impl<'a> ImpRef<'a> {
    fn medium(&self, of: MediaType) -> Option<&'a Medium> {
        match of {
            MediaType::Banner => self.imp.banner.as_ref(),
            MediaType::Video => self.imp.video.as_ref(),
            MediaType::Audio => self.imp.audio.as_ref(),
            MediaType::Native => self.imp.native.as_ref(),
        }
    }

    fn read_list(&self, name: std::fmt::Arguments<'_>) -> Read<()> {
        self.reads
            .list(format_args!("imp {:?} {name}", self.imp.id))
    }
}

impl<'a> ImpView<'a> for ImpRef<'a> {
    type Deal = DealRef<'a>;

    fn id(&self) -> Read<Option<Text<'a>>> {
        self.reads.read(text(&self.imp.id))
    }
    fn media_types(&self) -> Read<MediaTypes> {
        let has = |of: &MediaType| self.medium(*of).is_some();
        let media = MediaType::ALL.into_iter().filter(has);
        self.read_list(format_args!("media_types"))?;
        Ok(media.fold(MediaTypes::NONE, MediaTypes::with))
    }
    fn video_size(&self) -> Read<Option<(i32, i32)>> {
        self.read_list(format_args!("video_size"))?;
        Ok(self.imp.video.as_ref().and(self.imp.video_size))
    }
    fn banner_sizes(&self, mut each: impl FnMut(i32, i32) -> Step) -> Read<()> {
        self.read_list(format_args!("banner_sizes"))?;
        let _ = self
            .imp
            .banner_sizes
            .iter()
            .all(|(w, h)| each(*w, *h) == Step::On);
        Ok(())
    }
    fn bidfloor(&self) -> Read<Option<f64>> {
        self.read_list(format_args!("bidfloor"))?;
        Ok(self.imp.bidfloor)
    }
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        self.reads.read(text(&self.imp.bidfloorcur))
    }
    fn private_auction(&self) -> Read<bool> {
        self.reads.read(self.imp.private_auction)
    }
    fn deals(&self, mut each: impl FnMut(DealRef<'a>) -> Read<Step>) -> Read<()> {
        self.read_list(format_args!("deals"))?;
        for deal in &self.imp.deals {
            if each(DealRef {
                deal,
                reads: self.reads,
            })? == Step::Enough
            {
                break;
            }
        }
        Ok(())
    }
    fn secure(&self) -> Read<bool> {
        self.read_list(format_args!("secure"))?;
        Ok(self.imp.secure)
    }
    fn instl(&self) -> Read<bool> {
        self.read_list(format_args!("instl"))?;
        Ok(self.imp.instl)
    }
    fn rwdd(&self) -> Read<bool> {
        self.read_list(format_args!("rwdd"))?;
        Ok(self.imp.rwdd)
    }
    fn qty_multiplier(&self) -> Read<Option<f64>> {
        self.read_list(format_args!("qty"))?;
        Ok(self.imp.qty_multiplier)
    }
    fn mimes(&self, of: MediaType, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        self.read_list(format_args!("{of:?} mimes"))?;
        walk(self.medium(of).map_or(&[], |medium| &medium.mimes), each);
        Ok(())
    }
    fn ints(&self, of: MediaType, list: MediaInts, mut each: impl FnMut(i32) -> Step) -> Read<()> {
        self.read_list(format_args!("{of:?} {list:?}"))?;
        let ints = self.medium(of).map_or(&[][..], |medium| match list {
            MediaInts::Battr => &medium.battr,
            MediaInts::Api => &medium.api,
            MediaInts::Protocols => &medium.protocols,
            MediaInts::Rqddurs => &medium.rqddurs,
        });
        let _ = ints.iter().all(|int| each(*int) == Step::On);
        Ok(())
    }
    fn int(&self, of: MediaType, field: MediaInt) -> Read<Option<i32>> {
        self.read_list(format_args!("{of:?} {field:?}"))?;
        Ok(self.medium(of).and_then(|medium| match field {
            MediaInt::Minduration => medium.minduration,
            MediaInt::Maxduration => medium.maxduration,
            MediaInt::Pos => medium.pos,
            MediaInt::Plcmt => medium.plcmt,
        }))
    }
    fn priced_by_second(&self, of: MediaType) -> Read<bool> {
        self.read_list(format_args!("{of:?} priced_by_second"))?;
        Ok(self
            .medium(of)
            .is_some_and(|medium| medium.priced_by_second))
    }
}

impl<'a> DealView<'a> for DealRef<'a> {
    fn id(&self) -> Read<Option<Text<'a>>> {
        self.reads.read(text(&self.deal.id))
    }
    fn bidfloor(&self) -> Read<Option<f64>> {
        self.reads.read(self.deal.bidfloor)
    }
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        self.reads.read(text(&self.deal.bidfloorcur))
    }
    fn at(&self) -> Read<Option<i32>> {
        self.reads.read(self.deal.at)
    }
    fn texts(&self, list: DealTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        self.reads.read(())?;
        let list = match list {
            DealTexts::Wseat => &self.deal.wseat,
            DealTexts::Wadomain => &self.deal.wadomain,
        };
        walk(list, each);
        Ok(())
    }
}

/// A request for one video impression that [`line_item`] bids on.
pub fn request() -> Request {
    Request {
        id: Some("r1".into()),
        imps: vec![video_imp("1")],
        device_type: Some(3),
        country: Some("USA".into()),
        ..Request::default()
    }
}

pub fn video_imp(id: &str) -> Imp {
    Imp {
        id: Some(id.into()),
        video: Some(Medium {
            mimes: strs(&["video/mp4"]),
            protocols: vec![2, 3],
            minduration: Some(5),
            maxduration: Some(30),
            ..Medium::default()
        }),
        video_size: Some((640, 480)),
        ..Imp::default()
    }
}

/// A line item without restrictions, at 2 units a thousand.
pub fn line_item(id: &str) -> LineItem {
    LineItem {
        id: id.into(),
        seat: "default".into(),
        status: Status::Active,
        start: None,
        end: None,
        adomain: vec!["brand.example".into()],
        cat: Vec::new(),
        cattax: 1,
        bundle: None,
        cpm: Micros(2_000_000),
        budget: BudgetCeilings::default(),
        targeting: Targeting::default(),
        creatives: vec![video_creative("v1")],
    }
}

pub fn video_creative(id: &str) -> Creative {
    Creative {
        id: id.into(),
        media: MediaType::Video,
        w: None,
        h: None,
        duration: Some(15),
        mime: Some("video/mp4".into()),
        protocol: Some(3),
        apis: Vec::new(),
        attr: Vec::new(),
        secure: true,
        adm: "<VAST/>".into(),
    }
}

/// A decision without its borrows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    pub id: Option<String>,
    pub bids: Vec<DecidedBid>,
    pub no_bid: Option<Reason>,
    pub invalid: Option<Invalid>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedBid {
    pub id: BidId,
    pub imp: String,
    pub deal: Option<String>,
    pub item: String,
    pub creative: String,
    pub price: i64,
    pub test: bool,
}

impl From<&Decision<'_>> for Decided {
    fn from(decision: &Decision<'_>) -> Decided {
        let bids = decision.bids().iter().map(|bid| DecidedBid {
            id: bid.id,
            imp: bid.imp.into_string(),
            deal: bid.deal.map(Text::into_string),
            item: bid.item.id.clone(),
            creative: bid.creative.id.clone(),
            price: bid.price.0,
            test: bid.test,
        });
        Decided {
            id: decision.id.map(Text::into_string),
            bids: bids.collect(),
            no_bid: decision.no_bid(),
            invalid: match decision.outcome {
                Outcome::Invalid(invalid) => Some(invalid),
                _ => None,
            },
        }
    }
}

/// Bid ids that count up, so that two runs draw the same ones.
pub fn ids() -> impl FnMut() -> BidId {
    let mut last = 0;
    move || {
        last += 1;
        BidId(last)
    }
}
