//! The same decision, written the obvious way: read the request, hold every line item against
//! every rule, take the best.
//!
//! It is the twin that the index is tested against, and it can say of every line item where it
//! dropped out ([`explain`]), which the index does not know. It is slow on purpose: nothing of
//! the index, not even the order of the catalog, is used here.

use crate::decision::Draft;
use crate::item::impression_cost;
use crate::{
    Bid, BidId, Book, Chosen, Creative, Decision, Hours, Invalid, LineItem, Numbers, OsTarget,
    Position, Rates, Snapshot, Targeting, Timestamp, Version, fold,
};
use openrtb::{
    CategoriesOf, Channel, ChannelText, Country, Currency, DealTexts, DealView, DeviceInt,
    DeviceText, DeviceType, Floor, ImpView, MediaInt, MediaInts, MediaType, MediaTypes, Micros,
    Read, Reason, RequestTexts, RequestView, Step, Text,
};

/// Decides as [`crate::decide`] does.
pub fn decide<'a: 's, 's, V: RequestView<'a>, K: Book>(
    request: &V,
    snapshot: &'s Snapshot<K>,
    rates: &Rates,
    now: Timestamp,
    ids: &mut impl FnMut() -> BidId,
) -> Decision<'s> {
    snapshot.book().follow(now);
    let mut draft = Draft::new(snapshot.book());
    let decided = decide_markets(request, snapshot, rates, now, ids, &mut draft);
    draft.finish(request, decided)
}

fn decide_markets<'a: 's, 's, V: RequestView<'a>, K: Book>(
    request: &V,
    snapshot: &'s Snapshot<K>,
    rates: &Rates,
    now: Timestamp,
    ids: &mut impl FnMut() -> BidId,
    draft: &mut Draft<'s, '_, K>,
) -> Result<Reason, Invalid> {
    let facts = Facts::read(request, rates)?;
    draft.id = Some(facts.id);
    if facts.imps.is_empty() {
        return Err(Invalid::NoImp);
    }
    if !facts.cur.contains(&rates.base()) {
        return Ok(Reason::Currency);
    }
    let mut reason = None;
    for imp in facts.usable_imps() {
        for market in &imp.markets {
            let dropped = decide_market(imp, market, &facts, snapshot, now, ids, draft);
            reason = reason.max(dropped);
        }
    }
    let nowhere = if snapshot.catalog().is_empty() {
        Reason::Inactive
    } else {
        Reason::Deal
    };
    Ok(reason.unwrap_or(nowhere))
}

/// Bids in one market, or else says at which stage the last line item dropped out.
fn decide_market<'a, K: Book>(
    imp: &Imp<'a>,
    market: &Market<'a>,
    request: &Facts<'a>,
    snapshot: &'a Snapshot<K>,
    now: Timestamp,
    ids: &mut impl FnMut() -> BidId,
    draft: &mut Draft<'a, '_, K>,
) -> Option<Reason> {
    let (mut reason, mut left) = (None, Vec::new());
    for (at, item) in snapshot.catalog().items() {
        let available = || snapshot.book().available(at, now);
        match dropped_at(item, market, imp, request, now, available) {
            Err(stage) => reason = reason.max(Some(stage)),
            Ok((creative, price)) => left.push((at, item, creative, price)),
        }
    }
    left.sort_by(|(_, a, ..), (_, b, ..)| b.cpm.cmp(&a.cpm).then(a.id.cmp(&b.id)));
    for (position, item, creative, price) in left {
        let id = ids();
        if snapshot
            .book()
            .reserve(position, id, impression_cost(price), now)
        {
            draft.bids.push(Bid {
                id,
                imp: imp.usable_id(),
                deal: market.deal.as_ref().map(|deal| deal.id),
                position,
                item,
                creative,
                price,
                test: false,
            });
            return None;
        }
        reason = reason.max(Some(Reason::Budget));
    }
    reason
}

/// What became of every line item in one market.
#[derive(Clone, Debug)]
pub struct Explained<'a> {
    /// `imp.id`.
    pub imp: Text<'a>,
    /// `deal.id`; `None` in the open market.
    pub deal: Option<Text<'a>>,
    /// The stage at which each line item drops out; `None` where it passes all of them. In the
    /// order of positions.
    pub dropped: Vec<(Position, Option<Reason>)>,
}

/// Says of every market of a request where each line item drops out. Reserves nothing, so every
/// market is seen as if it were the request's first. A request that is invalid or in another
/// currency has no markets.
pub fn explain<'a, V: RequestView<'a>, K: Book>(
    request: &V,
    snapshot: &Snapshot<K>,
    rates: &Rates,
    now: Timestamp,
) -> Result<Vec<Explained<'a>>, Invalid> {
    snapshot.book().follow(now);
    let facts = Facts::read(request, rates)?;
    let mut explained = Vec::new();
    for imp in facts.usable_imps() {
        for market in &imp.markets {
            let dropped = snapshot.catalog().items().map(|(at, item)| {
                let available = || snapshot.book().available(at, now);
                let dropped = dropped_at(item, market, imp, &facts, now, available).err();
                (at, dropped)
            });
            explained.push(Explained {
                imp: imp.usable_id(),
                deal: market.deal.as_ref().map(|deal| deal.id),
                dropped: dropped.collect(),
            });
        }
    }
    Ok(explained)
}

/// Holds one line item against the stages, in their order: the creative and the price it would be
/// bid at, or the stage at which it drops out.
fn dropped_at<'i>(
    item: &'i LineItem,
    market: &Market<'_>,
    imp: &Imp<'_>,
    request: &Facts<'_>,
    now: Timestamp,
    available: impl Fn() -> Micros,
) -> Result<(&'i Creative, Micros), Reason> {
    let target = &item.targeting;
    let pass = |passes: bool, stage: Reason| if passes { Ok(()) } else { Err(stage) };

    pass(item.is_live(now), Reason::Inactive)?;
    pass(market.admits(item), Reason::Deal)?;
    let country = |wanted| request.country == Some(wanted);
    pass(
        target.countries.is_empty() || target.countries.iter().any(|c| country(*c)),
        Reason::Country,
    )?;
    let device = |wanted: &DeviceType| request.device_type.is_some_and(|is| meets(*wanted, is));
    pass(
        target.device_types.is_empty() || target.device_types.iter().any(device),
        Reason::DeviceType,
    )?;
    request.audience.meets(target, now)?;
    let offered = |creative: &Creative| imp.media_types.contains(creative.media);
    pass(item.creatives.iter().any(offered), Reason::Format)?;
    let inside = |(w, h)| target.video_size.admits(w, h);
    pass(
        !target.video_size.is_bounded() || imp.video_size.is_some_and(inside),
        Reason::VideoSize,
    )?;
    imp.placement.meets(item)?;
    let Floor::At(floor) = market.floor else {
        return Err(Reason::Floor);
    };
    pass(item.cpm >= floor, Reason::Floor)?;
    let fixed = market.deal.as_ref().is_some_and(|deal| deal.fixed_price);
    let price = if fixed && floor > Micros::ZERO {
        floor
    } else {
        item.cpm
    };
    pass(available() >= impression_cost(price), Reason::Budget)?;
    pass(!request.blocks(item) && !imp.blocks_all, Reason::Blocked)?;
    let fits = |creative: &&Creative| offered(creative) && imp.fits(creative);
    let creative = item.creatives.iter().find(fits).ok_or(Reason::Blocked)?;
    Ok((creative, price))
}

/// Whether a device of type `is` meets a target.
fn meets(target: DeviceType, is: DeviceType) -> bool {
    target == is
        || target == DeviceType::MOBILE && [DeviceType::PHONE, DeviceType::TABLET].contains(&is)
}

/// Everything the rules ask of a request.
struct Facts<'a> {
    id: Text<'a>,
    cur: Vec<Currency>,
    country: Option<Country>,
    device_type: Option<DeviceType>,
    audience: Audience,
    cattax: i32,
    bcat: Vec<String>,
    acat: Vec<String>,
    badv: Vec<String>,
    bapp: Vec<String>,
    wseat: Vec<String>,
    bseat: Vec<String>,
    imps: Vec<Imp<'a>>,
}

impl<'a> Facts<'a> {
    fn read<V: RequestView<'a>>(request: &V, rates: &Rates) -> Result<Facts<'a>, Invalid> {
        let id = request.id()?.ok_or(Invalid::NoId)?;
        let list = |list| {
            let mut texts = Vec::new();
            request.texts(list, |text| push(&mut texts, text.into_string()))?;
            Ok::<_, Invalid>(texts)
        };
        let mut cur: Vec<_> = list(RequestTexts::Cur)?
            .iter()
            .filter_map(|cur| Currency::of(Text::Plain(cur)))
            .collect();
        if cur.is_empty() {
            cur.push(Currency::USD);
        }
        let mut imps = Vec::new();
        for index in 0..request.imps()? {
            imps.push(Imp::read(&request.imp(index)?, rates)?);
        }
        Ok(Facts {
            id,
            cur,
            country: request.country()?,
            device_type: request.device_type()?,
            audience: Audience::read(request)?,
            cattax: request.cattax()?,
            bcat: list(RequestTexts::Bcat)?,
            acat: list(RequestTexts::Acat)?,
            badv: list(RequestTexts::Badv)?
                .iter()
                .map(|d| domain(d))
                .collect(),
            bapp: list(RequestTexts::Bapp)?,
            wseat: list(RequestTexts::Wseat)?,
            bseat: list(RequestTexts::Bseat)?,
            imps,
        })
    }

    /// The impressions with an id that no other one has.
    fn usable_imps(&self) -> impl Iterator<Item = &Imp<'a>> {
        let shared = |id: Text<'a>| {
            let same = |imp: &&Imp<'a>| imp.id.is_some_and(|other| other.same(id));
            self.imps.iter().filter(same).count() > 1
        };
        let usable = move |imp: &&Imp<'a>| imp.id.is_some_and(|id| !shared(id));
        self.imps.iter().filter(usable)
    }

    /// Whether the publisher's rules keep a line item out.
    fn blocks(&self, item: &LineItem) -> bool {
        let taxonomy_differs = item.cattax != self.cattax;
        let lists = !self.bcat.is_empty() || !self.acat.is_empty();
        let under = |cat: &String, list: &[String]| {
            list.iter()
                .any(|entry| is_category_under(cat, entry, self.cattax))
        };
        let mut domains = item.adomain.iter().map(|d| domain(d));
        let bundle = item.bundle.as_ref();
        domains.any(|domain| is_under_any(&domain, &self.badv))
            || bundle.is_some_and(|bundle| self.bapp.contains(bundle))
            || lists && taxonomy_differs
            || item.cat.iter().any(|cat| under(cat, &self.bcat))
            || !self.acat.is_empty()
                && (item.cat.is_empty() || !item.cat.iter().all(|cat| under(cat, &self.acat)))
            || !self.wseat.is_empty() && !self.wseat.contains(&item.seat)
            || self.bseat.contains(&item.seat)
    }
}

/// What the targeting stages before `format` ask of a request.
struct Audience {
    region: Option<String>,
    city: Option<String>,
    metro: Option<String>,
    os: Option<String>,
    version: Option<Version>,
    channel: Option<Channel>,
    domain: Option<String>,
    bundle: Option<String>,
    publisher: Option<String>,
    categories: Vec<String>,
    cattax: i32,
    language: Option<String>,
    connection_type: Option<i32>,
    utcoffset: Option<i32>,
}

impl Audience {
    fn read<'a>(request: &impl RequestView<'a>) -> Read<Audience> {
        let device = |field| Ok(request.device_text(field)?.and_then(short));
        let channel = request.channel()?;
        let text = |field| match channel {
            Some(channel) => Ok(request.channel_text(channel, field)?.and_then(short)),
            None => Ok(None),
        };
        let osv = request.device_text(DeviceText::Osv)?;
        let site = channel == Some(Channel::Site);
        let app = channel == Some(Channel::App);
        let (categories, cattax) = read_categories(request, channel)?;
        let language = text(ChannelText::Language)?;
        let langb = text(ChannelText::Langb)?;
        Ok(Audience {
            region: device(DeviceText::Region)?.map(|text| region(&text)),
            city: device(DeviceText::City)?.map(|text| name(&text)),
            metro: device(DeviceText::Metro)?.map(|text| name(&text)),
            os: device(DeviceText::Os)?
                .map(|text| name(&text))
                .filter(|name| !name.is_empty()),
            version: osv.and_then(|text| Version::parse(&text.into_string())),
            channel,
            domain: text(ChannelText::Domain)?
                .map(|text| domain(&text))
                .filter(|_| site),
            bundle: text(ChannelText::Bundle)?.filter(|_| app),
            publisher: text(ChannelText::Publisher)?,
            categories,
            cattax,
            language: language.or(langb).map(|text| name(&text)),
            connection_type: request.device_int(DeviceInt::Connectiontype)?,
            utcoffset: request.device_int(DeviceInt::Utcoffset)?,
        })
    }

    /// Takes a line item past these stages, or says at which it drops out.
    fn meets(&self, target: &Targeting, now: Timestamp) -> Result<(), Reason> {
        let pass = |passes: bool, stage: Reason| if passes { Ok(()) } else { Err(stage) };
        pass(self.meets_places(target), Reason::Place)?;
        let os = |target: &OsTarget| self.meets_os(target);
        pass(target.os.is_empty() || target.os.iter().any(os), Reason::Os)?;
        let channel = self.channel.map(|channel| channel as i32);
        pass(is_one(target.channels, channel), Reason::Channel)?;
        pass(self.meets_inventory(target), Reason::Inventory)?;
        let publisher = |entry: &String| self.publisher.as_ref() == Some(entry);
        pass(
            meets_texts(target.publishers.as_deref(), publisher),
            Reason::Publisher,
        )?;
        pass(self.meets_categories(target), Reason::Category)?;
        let language = |entry: &String| {
            let language = self.language.as_ref();
            language.is_some_and(|of| is_category_under(of, &name(entry), 1))
        };
        pass(
            meets_texts(target.languages.as_deref(), language),
            Reason::Language,
        )?;
        pass(
            is_one(target.connection_types, self.connection_type),
            Reason::ConnectionType,
        )?;
        let hour = self.utcoffset.and_then(|minutes| Hours::at(now, minutes));
        let in_hours = hour.is_some_and(|hour| target.hours.contains(hour));
        pass(target.hours.is_empty() || in_hours, Reason::Hour)
    }

    fn meets_places(&self, target: &Targeting) -> bool {
        meets_chosen(target.places.as_deref(), |places| {
            let regions = places
                .regions
                .iter()
                .map(|text| (region(text), &self.region));
            let cities = places.cities.iter().map(|text| (name(text), &self.city));
            let metros = places.metros.iter().map(|text| (name(text), &self.metro));
            let mut all = regions.chain(cities).chain(metros).peekable();
            let is_set = all.peek().is_some();
            (is_set, all.any(|(wanted, is)| is.as_ref() == Some(&wanted)))
        })
    }

    fn meets_os(&self, target: &OsTarget) -> bool {
        let bounded = target.min_version.is_some() || target.max_version.is_some();
        let least = |bound: Version| self.version.is_some_and(|v| v.least() >= bound.least());
        let most = |bound: Version| self.version.is_some_and(|v| v.least() <= bound.greatest());
        self.os.as_ref() == Some(&name(&target.name))
            && (!bounded || self.version.is_some())
            && target.min_version.is_none_or(least)
            && target.max_version.is_none_or(most)
    }

    fn meets_inventory(&self, target: &Targeting) -> bool {
        meets_chosen(target.inventory.as_deref(), |inventory| {
            let under = |entry: &String| {
                let of_site = self.domain.as_ref();
                of_site.is_some_and(|is| is_under_any(is, &[domain(entry)]))
            };
            let is_set = !inventory.domains.is_empty() || !inventory.bundles.is_empty();
            let bundle = |entry: &String| self.bundle.as_ref() == Some(entry);
            let has = inventory.domains.iter().any(under) || inventory.bundles.iter().any(bundle);
            (is_set, has)
        })
    }

    fn meets_categories(&self, target: &Targeting) -> bool {
        let Some(categories) = &target.categories else {
            return true;
        };
        meets_texts(Some(&categories.chosen), |entry| {
            let under = |is: &String| is_category_under(is, entry, self.cattax);
            categories.cattax == self.cattax && self.categories.iter().any(under)
        })
    }
}

/// The categories of a request that count, and their taxonomy.
fn read_categories<'a>(
    request: &impl RequestView<'a>,
    channel: Option<Channel>,
) -> Read<(Vec<String>, i32)> {
    let (mut known, mut cattax) = (Vec::new(), 1);
    for whose in [CategoriesOf::Content, CategoriesOf::Channel] {
        if let (Some(channel), true) = (channel, known.is_empty()) {
            cattax = request.categories_tax(channel, whose)?;
            request.categories(channel, whose, |text| {
                known.extend(short(text));
                Step::On
            })?;
        }
    }
    known.truncate(Targeting::CATEGORIES_MAX);
    Ok((known, cattax))
}

/// Whether a request meets what was chosen. `has` says whether a list has entries, and whether the
/// request is one of them.
fn meets_chosen<T>(chosen: Option<&Chosen<T>>, has: impl Fn(&T) -> (bool, bool)) -> bool {
    let Some(chosen) = chosen else {
        return true;
    };
    let (is_set, included) = has(&chosen.include);
    let (_, excluded) = has(&chosen.exclude);
    (!is_set || included) && !excluded
}

fn meets_texts(chosen: Option<&Chosen<Vec<String>>>, is: impl Fn(&String) -> bool) -> bool {
    meets_chosen(chosen, |list| (!list.is_empty(), list.iter().any(&is)))
}

/// Whether a number is one of a set, if there is any.
fn is_one(numbers: Numbers, number: Option<i32>) -> bool {
    let contains = |number| u8::try_from(number).is_ok_and(|number| numbers.contains(number));
    numbers.is_empty() || number.is_some_and(contains)
}

/// A text, unless it is too long to count.
fn short(text: Text<'_>) -> Option<String> {
    Some(text.into_string()).filter(|text| text.len() <= Targeting::TEXT_BYTES_MAX)
}

fn is_category_under(category: &str, entry: &str, cattax: i32) -> bool {
    let rest = category.strip_prefix(entry);
    rest.is_some_and(|rest| rest.is_empty() || cattax == 1 && rest.starts_with('-'))
}

/// What the targeting stages behind `format` ask of an impression.
struct Placement {
    banner_pos: Option<i32>,
    video_pos: Option<i32>,
    plcmt: Option<i32>,
    instl: bool,
    rwdd: bool,
}

impl Placement {
    fn read<'a>(imp: &impl ImpView<'a>) -> Read<Placement> {
        Ok(Placement {
            banner_pos: imp.int(MediaType::Banner, MediaInt::Pos)?,
            video_pos: imp.int(MediaType::Video, MediaInt::Pos)?,
            plcmt: imp.int(MediaType::Video, MediaInt::Plcmt)?,
            instl: imp.instl()?,
            rwdd: imp.rwdd()?,
        })
    }

    /// Takes a line item past these stages, or says at which it drops out.
    fn meets(&self, item: &LineItem) -> Result<(), Reason> {
        let pass = |passes: bool, stage: Reason| if passes { Ok(()) } else { Err(stage) };
        let target = &item.targeting;
        let has = |media| {
            item.creatives
                .iter()
                .any(|creative| creative.media == media)
        };
        let at = |pos| is_one(target.positions, pos);
        pass(
            target.positions.is_empty()
                || has(MediaType::Banner) && at(self.banner_pos)
                || has(MediaType::Video) && at(self.video_pos),
            Reason::Position,
        )?;
        pass(is_one(target.plcmts, self.plcmt), Reason::Plcmt)?;
        let interstitial = |wanted| wanted == self.instl;
        pass(
            target.interstitial.is_none_or(interstitial),
            Reason::Interstitial,
        )?;
        let rewarded = |wanted| wanted == self.rwdd;
        pass(target.rewarded.is_none_or(rewarded), Reason::Rewarded)
    }
}

struct Imp<'a> {
    id: Option<Text<'a>>,
    markets: Vec<Market<'a>>,
    placement: Placement,
    media_types: MediaTypes,
    video_size: Option<(i32, i32)>,
    banner_sizes: Vec<(i32, i32)>,
    secure: bool,
    /// `qty.multiplier` is not 1: what is billed is not one impression.
    blocks_all: bool,
    offers: [Offer; 4],
}

impl<'a> Imp<'a> {
    fn read<I: ImpView<'a>>(imp: &I, rates: &Rates) -> Read<Imp<'a>> {
        let mut banner_sizes = Vec::new();
        imp.banner_sizes(|w, h| push(&mut banner_sizes, (w, h)))?;
        let [banner, video, audio, native] = MediaType::ALL;
        Ok(Imp {
            id: imp.id()?,
            markets: Market::read_all(imp, rates)?,
            placement: Placement::read(imp)?,
            media_types: imp.media_types()?,
            video_size: imp.video_size()?,
            banner_sizes,
            secure: imp.secure()?,
            blocks_all: imp
                .qty_multiplier()?
                .is_some_and(|quantity| quantity != 1.0),
            offers: [
                Offer::read(imp, banner)?,
                Offer::read(imp, video)?,
                Offer::read(imp, audio)?,
                Offer::read(imp, native)?,
            ],
        })
    }

    /// The id of an impression that has one.
    fn usable_id(&self) -> Text<'a> {
        self.id.unwrap_or(Text::Plain(""))
    }

    fn fits(&self, creative: &Creative) -> bool {
        let [banner, video, audio, native] = &self.offers;
        let size = creative.w.zip(creative.h);
        let of_medium = match creative.media {
            MediaType::Banner => {
                size.is_some_and(|size| self.banner_sizes.contains(&size))
                    && banner.takes_mime(creative)
                    && banner.takes_behaviour(creative)
            }
            MediaType::Video => video.takes_player(creative),
            MediaType::Audio => audio.takes_player(creative),
            MediaType::Native => native.takes_behaviour(creative),
        };
        of_medium && (creative.secure || !self.secure)
    }
}

/// What an impression takes of one medium.
struct Offer {
    mimes: Vec<String>,
    battr: Vec<i32>,
    api: Vec<i32>,
    protocols: Vec<i32>,
    rqddurs: Vec<i32>,
    minduration: Option<i32>,
    maxduration: Option<i32>,
    priced_by_second: bool,
}

impl Offer {
    fn read<'a>(imp: &impl ImpView<'a>, of: MediaType) -> Read<Offer> {
        let ints = |list| {
            let mut ints = Vec::new();
            imp.ints(of, list, |int| push(&mut ints, int))?;
            Ok(ints)
        };
        let mut mimes = Vec::new();
        imp.mimes(of, |mime| push(&mut mimes, mime.with(folded)))?;
        Ok(Offer {
            mimes,
            battr: ints(MediaInts::Battr)?,
            api: ints(MediaInts::Api)?,
            protocols: ints(MediaInts::Protocols)?,
            rqddurs: ints(MediaInts::Rqddurs)?,
            minduration: imp.int(of, MediaInt::Minduration)?,
            maxduration: imp.int(of, MediaInt::Maxduration)?,
            priced_by_second: imp.priced_by_second(of)?,
        })
    }

    fn takes_mime(&self, creative: &Creative) -> bool {
        let mime = creative.mime.as_deref().map(folded);
        self.mimes.is_empty() || mime.is_some_and(|mime| self.mimes.contains(&mime))
    }

    fn takes_behaviour(&self, creative: &Creative) -> bool {
        !creative.attr.iter().any(|attr| self.battr.contains(attr))
            && creative.apis.iter().all(|api| self.api.contains(api))
    }

    fn takes_duration(&self, duration: i32) -> bool {
        if !self.rqddurs.is_empty() {
            return self.rqddurs.contains(&duration);
        }
        self.minduration.is_none_or(|min| min <= duration)
            && self.maxduration.is_none_or(|max| duration <= max)
    }

    fn takes_player(&self, creative: &Creative) -> bool {
        let listed = |protocol| self.protocols.contains(&protocol);
        self.takes_mime(creative)
            && creative
                .duration
                .is_some_and(|duration| self.takes_duration(duration))
            && (self.protocols.is_empty() || creative.protocol.is_some_and(listed))
            && self.takes_behaviour(creative)
            && !self.priced_by_second
    }
}

struct Market<'a> {
    deal: Option<Deal<'a>>,
    floor: Floor,
}

struct Deal<'a> {
    id: Text<'a>,
    fixed_price: bool,
    wseat: Vec<String>,
    wadomain: Vec<String>,
}

impl<'a> Market<'a> {
    fn read_all<I: ImpView<'a>>(imp: &I, rates: &Rates) -> Read<Vec<Market<'a>>> {
        let open = rates.imp_floor(imp)?;
        let mut markets: Vec<Market<'a>> = Vec::new();
        imp.deals(|view| {
            let Some(id) = view.id()? else {
                return Ok(Step::On);
            };
            let deals = || markets.iter().filter_map(|market| market.deal.as_ref());
            if deals().all(|deal| !deal.id.same(id)) {
                let floor = rates.deal_floor(&view)?.unwrap_or(open);
                let deal = Some(Deal::read(id, &view)?);
                markets.push(Market { deal, floor });
            }
            Ok(Step::On)
        })?;
        if !imp.private_auction()? {
            markets.push(Market {
                deal: None,
                floor: open,
            });
        }
        Ok(markets)
    }

    fn admits(&self, item: &LineItem) -> bool {
        let deals = &item.targeting.deals;
        let Some(deal) = &self.deal else {
            return deals.is_empty();
        };
        let mut domains = item.adomain.iter().map(|d| domain(d));
        deals.iter().any(|id| deal.id.is(id))
            && (deal.wseat.is_empty() || deal.wseat.contains(&item.seat))
            && (deal.wadomain.is_empty() || domains.all(|d| is_under_any(&d, &deal.wadomain)))
    }
}

impl<'a> Deal<'a> {
    fn read(id: Text<'a>, view: &impl DealView<'a>) -> Read<Deal<'a>> {
        let list = |list| {
            let mut texts = Vec::new();
            view.texts(list, |text| push(&mut texts, text.into_string()))?;
            Ok(texts)
        };
        Ok(Deal {
            id,
            fixed_price: view.at()? == Some(3),
            wseat: list(DealTexts::Wseat)?,
            wadomain: list(DealTexts::Wadomain)?
                .iter()
                .map(|d| domain(d))
                .collect(),
        })
    }
}

fn push<T>(list: &mut Vec<T>, entry: T) -> Step {
    list.push(entry);
    Step::On
}

fn folded(text: &str) -> String {
    fold::case(text, &mut String::new()).to_owned()
}

fn domain(text: &str) -> String {
    fold::domain(text, &mut String::new()).to_owned()
}

fn name(text: &str) -> String {
    fold::name(text, &mut String::new()).to_owned()
}

fn region(text: &str) -> String {
    fold::region(text, &mut String::new()).to_owned()
}

fn is_under_any(domain: &str, entries: &[String]) -> bool {
    let under = |entry: &String| {
        let rest = domain.strip_suffix(entry.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    entries.iter().any(under)
}
