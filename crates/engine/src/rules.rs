//! The last stage: publisher rules and creative fit.
//!
//! A request's lists may be long, and many line items may get this far. So each list is read at
//! most once a request (or impression, or deal), when the first line item asks for it, into a set
//! of numbers that the catalog gave to what its line items name. From then on a check is a few
//! bits, and the request is not looked at again.

use crate::banner_sizes::BannerSizes;
use crate::change::Column;
use crate::intern::{Interner, NumberSet};
use crate::{Creative, LineItem, fold};
use core::ops::Range;
use openrtb::{
    DealTexts, DealView, ImpView, MediaInt, MediaInts, MediaType, MediaTypes, Read, RequestTexts,
    RequestView, Step, Text,
};

/// What of a line item the rules are about.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Ruled<'i> {
    seat: &'i str,
    bundle: Option<&'i str>,
    adomain: &'i [String],
    cat: &'i [String],
    cattax: i32,
    creatives: RuledCreatives<'i>,
}

impl<'i> From<&'i LineItem> for Ruled<'i> {
    fn from(item: &'i LineItem) -> Ruled<'i> {
        Ruled {
            seat: &item.seat,
            bundle: item.bundle.as_deref(),
            adomain: &item.adomain,
            cat: &item.cat,
            cattax: item.cattax,
            creatives: RuledCreatives(&item.creatives),
        }
    }
}

/// What of creatives the rules are about: two lists may differ in ids and markup, and be equal.
#[derive(Clone, Copy)]
struct RuledCreatives<'i>(&'i [Creative]);

impl<'i> RuledCreatives<'i> {
    fn iter(self) -> impl Iterator<Item = RuledCreative<'i>> {
        self.0.iter().map(|creative| RuledCreative {
            media: creative.media,
            secure: creative.secure,
            size: creative.w.zip(creative.h),
            mime: creative.mime.as_deref(),
            protocol: creative.protocol,
            duration: creative.duration,
            attr: &creative.attr,
            apis: &creative.apis,
        })
    }
}

impl PartialEq for RuledCreatives<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

#[derive(PartialEq)]
struct RuledCreative<'i> {
    media: MediaType,
    secure: bool,
    size: Option<(i32, i32)>,
    mime: Option<&'i str>,
    protocol: Option<i32>,
    duration: Option<i32>,
    attr: &'i [i32],
    apis: &'i [i32],
}

/// What the line items of a catalog name, numbered, and what each of them is in those numbers.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    items: Vec<ItemRules>,
    creatives: Vec<CreativeRules>,
    pub banner_sizes: BannerSizes,
    /// What the ranges of the others are of.
    numbers: Vec<u32>,
    seats: Interner<Box<str>>,
    domains: Interner<Box<str>>,
    categories: Interner<Box<str>>,
    bundles: Interner<Box<str>>,
    mimes: Interner<Box<str>>,
    sizes: Interner<(i32, i32)>,
    ints: Interner<i32>,
}

#[derive(Debug)]
struct ItemRules {
    seat: u32,
    bundle: Option<u32>,
    cattax: i32,
    /// Of each domain, itself and what it is a subdomain of: a range of ranges.
    domains: Chains,
    /// Of each category, itself and, in taxonomy 1, the broader ones.
    categories: Chains,
    creatives: Range<usize>,
}

/// Lists of numbers, one after another, each preceded by its length.
type Chains = Range<usize>;

#[derive(Debug)]
struct CreativeRules {
    media: MediaType,
    secure: bool,
    size: Option<u32>,
    mime: Option<u32>,
    protocol: Option<u32>,
    duration: Option<Duration>,
    attr: Range<usize>,
    apis: Range<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Duration {
    seconds: i32,
    number: u32,
}

impl Rules {
    /// Numbers what line items name.
    pub fn new<'i>(column: impl Column<Ruled<'i>>) -> Rules {
        let mut rules = Rules::default();
        for item in column {
            let item = rules.item(item);
            rules.items.push(item);
        }
        let (line_items, sizes) = (rules.items.len(), rules.sizes.len());
        rules.banner_sizes = BannerSizes::new(line_items, sizes, rules.banner_creatives());
        rules
    }

    fn item(&mut self, item: Ruled<'_>) -> ItemRules {
        let mut room = String::new();
        let start = self.numbers.len();
        for domain in item.adomain {
            let domain = fold::domain(domain, &mut room);
            let domains = core::iter::once(domain).chain(fold::parents(domain));
            push_chain(&mut self.numbers, domains.map(|d| self.domains.number(d)));
        }
        let domains = start..self.numbers.len();
        for category in item.cat {
            let broader = fold::broader(category).filter(|_| item.cattax == 1);
            let categories = core::iter::once(category.as_str()).chain(broader);
            push_chain(
                &mut self.numbers,
                categories.map(|c| self.categories.number(c)),
            );
        }
        let categories = domains.end..self.numbers.len();
        let start = self.creatives.len();
        for creative in item.creatives.iter() {
            let creative = self.creative(creative);
            self.creatives.push(creative);
        }
        ItemRules {
            seat: self.seats.number(item.seat),
            bundle: item.bundle.map(|bundle| self.bundles.number(bundle)),
            cattax: item.cattax,
            domains,
            categories,
            creatives: start..self.creatives.len(),
        }
    }

    fn creative(&mut self, creative: RuledCreative<'_>) -> CreativeRules {
        let mut room = String::new();
        let start = self.numbers.len();
        self.numbers
            .extend(creative.attr.iter().map(|attr| self.ints.number(attr)));
        let attr = start..self.numbers.len();
        self.numbers
            .extend(creative.apis.iter().map(|api| self.ints.number(api)));
        let duration = |seconds| Duration {
            seconds,
            number: self.ints.number(&seconds),
        };
        CreativeRules {
            media: creative.media,
            secure: creative.secure,
            duration: creative.duration.map(duration),
            size: creative.size.map(|size| self.sizes.number(&size)),
            mime: creative
                .mime
                .map(|mime| self.mimes.number(fold::case(mime, &mut room))),
            protocol: creative
                .protocol
                .map(|protocol| self.ints.number(&protocol)),
            apis: attr.end..self.numbers.len(),
            attr,
        }
    }

    /// Each creative's line item, by position, and the number of its size, if it is a banner.
    fn banner_creatives(&self) -> impl Iterator<Item = (usize, Option<u32>)> + Clone {
        self.items.iter().enumerate().flat_map(|(at, item)| {
            let creatives = self.creatives.get(item.creatives.clone());
            creatives.unwrap_or_default().iter().map(move |creative| {
                let is_banner = creative.media == MediaType::Banner;
                (at, creative.size.filter(|_| is_banner))
            })
        })
    }

    fn numbers(&self, range: &Range<usize>) -> &[u32] {
        self.numbers.get(range.clone()).unwrap_or_default()
    }

    /// The chains of a range.
    fn chains(&self, range: &Chains) -> impl Iterator<Item = &[u32]> {
        let mut rest = self.numbers(range);
        core::iter::from_fn(move || {
            let (len, chains) = rest.split_first()?;
            let (chain, tail) = chains.split_at_checked(*len as usize)?;
            rest = tail;
            Some(chain)
        })
    }
}

fn push_chain(numbers: &mut Vec<u32>, chain: impl Iterator<Item = u32>) {
    let head = numbers.len();
    numbers.push(0);
    numbers.extend(chain);
    let len = numbers.len() - head - 1;
    if let Some(head) = numbers.get_mut(head) {
        *head = len as u32;
    }
}

/// A list of a request, in a catalog's numbers.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    is_read: bool,
    /// Whether it has any entry.
    is_set: bool,
    numbers: NumberSet,
}

impl Listed {
    fn resize(&mut self, len: usize) {
        *self = Listed::default();
        self.numbers.resize(len);
    }

    /// Forgets the list, which is another one from now on.
    #[inline]
    fn forget(&mut self) {
        if self.is_read {
            self.is_read = false;
            self.is_set = false;
            self.numbers.clear();
        }
    }

    /// The list, read now if it has not been. `read` hands each entry's number, if it has one, to
    /// its argument.
    #[inline]
    fn read(
        &mut self,
        read: impl FnOnce(&mut dyn FnMut(Option<u32>) -> Step) -> Read<()>,
    ) -> Read<&Listed> {
        if !self.is_read {
            self.is_read = true;
            read(&mut |number| {
                self.is_set = true;
                number.map(|number| self.numbers.insert(number));
                Step::On
            })?;
        }
        Ok(self)
    }

    fn has(&self, number: u32) -> bool {
        self.numbers.contains(number)
    }

    /// Whether it has any of the numbers.
    fn has_any(&self, numbers: &[u32]) -> bool {
        numbers.iter().any(|number| self.has(*number))
    }

    /// Whether it is not set, or has what it is to have.
    fn is_unset_or_has(&self, number: Option<u32>) -> bool {
        !self.is_set || number.is_some_and(|number| self.has(number))
    }

    /// Whether it is set, but to nothing that any line item names.
    fn has_none_of_ours(&self) -> bool {
        self.is_set && self.numbers.is_empty()
    }
}

/// The lists of a request.
#[derive(Debug, Default)]
pub(crate) struct RequestRules {
    /// Whether anything was read of this request.
    is_read: bool,
    wseat: Listed,
    bseat: Listed,
    bapp: Listed,
    badv: Listed,
    bcat: Listed,
    acat: Listed,
    cattax: Option<i32>,
    /// Room to fold a string in.
    room: String,
}

impl RequestRules {
    pub fn resize(&mut self, rules: &Rules) {
        self.wseat.resize(rules.seats.len());
        self.bseat.resize(rules.seats.len());
        self.bapp.resize(rules.bundles.len());
        self.badv.resize(rules.domains.len());
        self.bcat.resize(rules.categories.len());
        self.acat.resize(rules.categories.len());
    }

    /// Another request begins.
    #[inline]
    pub fn forget(&mut self) {
        if core::mem::take(&mut self.is_read) {
            self.forget_lists();
        }
    }

    fn forget_lists(&mut self) {
        self.wseat.forget();
        self.bseat.forget();
        self.bapp.forget();
        self.badv.forget();
        self.bcat.forget();
        self.acat.forget();
        self.cattax = None;
    }

    /// Whether the publisher keeps out every line item there is.
    pub fn blocks_all<'a>(&mut self, rules: &Rules, request: &impl RequestView<'a>) -> Read<bool> {
        self.is_read = true;
        let wseat = read_texts(&mut self.wseat, request, RequestTexts::Wseat, &rules.seats)?;
        Ok(wseat.has_none_of_ours())
    }

    /// Whether the publisher keeps the line item at a position out.
    pub fn block<'a>(
        &mut self,
        rules: &Rules,
        at: usize,
        request: &impl RequestView<'a>,
    ) -> Read<bool> {
        self.is_read = true;
        let Some(item) = rules.items.get(at) else {
            return Ok(true);
        };
        Ok(self.blocks_seat(rules, item, request)?
            || self.blocks_bundle(rules, item, request)?
            || self.blocks_domain(rules, item, request)?
            || self.blocks_category(rules, item, request)?)
    }

    fn blocks_seat<'a>(
        &mut self,
        rules: &Rules,
        item: &ItemRules,
        request: &impl RequestView<'a>,
    ) -> Read<bool> {
        let wseat = read_texts(&mut self.wseat, request, RequestTexts::Wseat, &rules.seats)?;
        if !wseat.is_unset_or_has(Some(item.seat)) {
            return Ok(true);
        }
        let bseat = read_texts(&mut self.bseat, request, RequestTexts::Bseat, &rules.seats)?;
        Ok(bseat.has(item.seat))
    }

    fn blocks_bundle<'a>(
        &mut self,
        rules: &Rules,
        item: &ItemRules,
        request: &impl RequestView<'a>,
    ) -> Read<bool> {
        let Some(bundle) = item.bundle else {
            return Ok(false);
        };
        let bapp = read_texts(&mut self.bapp, request, RequestTexts::Bapp, &rules.bundles)?;
        Ok(bapp.has(bundle))
    }

    fn blocks_domain<'a>(
        &mut self,
        rules: &Rules,
        item: &ItemRules,
        request: &impl RequestView<'a>,
    ) -> Read<bool> {
        let room = &mut self.room;
        let badv = self.badv.read(|entry| {
            request.texts(RequestTexts::Badv, |text| {
                entry(domain_number(rules, text, room))
            })
        })?;
        Ok(rules
            .chains(&item.domains)
            .any(|domains| badv.has_any(domains)))
    }

    fn blocks_category<'a>(
        &mut self,
        rules: &Rules,
        item: &ItemRules,
        request: &impl RequestView<'a>,
    ) -> Read<bool> {
        let numbers = &rules.categories;
        let bcat = read_texts(&mut self.bcat, request, RequestTexts::Bcat, numbers)?;
        let acat = read_texts(&mut self.acat, request, RequestTexts::Acat, numbers)?;
        if !bcat.is_set && !acat.is_set {
            return Ok(false);
        }
        let cattax = match self.cattax {
            Some(cattax) => cattax,
            None => *self.cattax.insert(request.cattax()?),
        };
        let mut categories = rules.chains(&item.categories);
        Ok(cattax != item.cattax
            || acat.is_set && item.categories.is_empty()
            || categories.any(|c| bcat.has_any(c) || acat.is_set && !acat.has_any(c)))
    }
}

fn read_texts<'l, 'a>(
    listed: &'l mut Listed,
    request: &impl RequestView<'a>,
    list: RequestTexts,
    numbers: &Interner<Box<str>>,
) -> Read<&'l Listed> {
    listed.read(|entry| request.texts(list, |text| entry(text.with(|text| numbers.get(text)))))
}

fn domain_number(rules: &Rules, text: Text<'_>, room: &mut String) -> Option<u32> {
    text.with(|text| rules.domains.get(fold::domain(text, room)))
}

/// The lists of a deal, which decide who takes part in its market.
#[derive(Debug, Default)]
pub(crate) struct DealRules {
    wseat: Listed,
    wadomain: Listed,
    room: String,
}

impl DealRules {
    pub fn resize(&mut self, rules: &Rules) {
        self.wseat.resize(rules.seats.len());
        self.wadomain.resize(rules.domains.len());
    }

    /// Reads the lists of a deal.
    pub fn read<'a>(&mut self, rules: &Rules, deal: &impl DealView<'a>) -> Read<()> {
        self.wseat.forget();
        self.wadomain.forget();
        self.wseat.read(|entry| {
            let number = |text: Text<'_>| text.with(|text| rules.seats.get(text));
            deal.texts(DealTexts::Wseat, |text| entry(number(text)))
        })?;
        let room = &mut self.room;
        self.wadomain.read(|entry| {
            deal.texts(DealTexts::Wadomain, |text| {
                entry(domain_number(rules, text, room))
            })
        })?;
        Ok(())
    }

    /// Whether the deal lets in everybody who names it.
    pub fn are_unset(&self) -> bool {
        !self.wseat.is_set && !self.wadomain.is_set
    }

    /// Whether the deal lets in nobody.
    pub fn admit_none(&self) -> bool {
        self.wseat.has_none_of_ours()
    }

    /// Whether the deal lets in the line item at a position.
    pub fn admit(&self, rules: &Rules, at: usize) -> bool {
        let Some(item) = rules.items.get(at) else {
            return false;
        };
        let mut domains = rules.chains(&item.domains);
        self.wseat.is_unset_or_has(Some(item.seat))
            && (!self.wadomain.is_set || domains.all(|d| self.wadomain.has_any(d)))
    }
}

/// What an impression takes.
#[derive(Debug, Default)]
pub(crate) struct ImpRules {
    /// Whether anything was read of this impression.
    is_read: bool,
    banner_sizes: Listed,
    secure: Option<bool>,
    one_impression: Option<bool>,
    offers: [Offer; 4],
}

impl ImpRules {
    pub fn resize(&mut self, rules: &Rules) {
        self.banner_sizes.resize(rules.sizes.len());
        self.offers.iter_mut().for_each(|offer| offer.resize(rules));
    }

    /// Another impression begins.
    #[inline]
    pub fn forget(&mut self) {
        if core::mem::take(&mut self.is_read) {
            self.forget_offers();
        }
    }

    fn forget_offers(&mut self) {
        self.banner_sizes.forget();
        self.secure = None;
        self.one_impression = None;
        self.offers.iter_mut().for_each(Offer::forget);
    }

    /// Whether nothing may bid, because what is billed is not one impression.
    pub fn blocks_all<'a>(&mut self, imp: &impl ImpView<'a>) -> Read<bool> {
        self.is_read = true;
        let one = match self.one_impression {
            Some(one) => one,
            None => {
                let one = imp.qty_multiplier()?.is_none_or(|quantity| quantity == 1.0);
                *self.one_impression.insert(one)
            }
        };
        Ok(!one)
    }

    /// The first creative that fits, of the line item at a position.
    pub fn fitting<'a>(
        &mut self,
        rules: &Rules,
        at: usize,
        offered: MediaTypes,
        imp: &impl ImpView<'a>,
    ) -> Read<Option<usize>> {
        self.is_read = true;
        let creatives = rules.items.get(at).map(|item| item.creatives.clone());
        let creatives = rules.creatives.get(creatives.unwrap_or_default());
        for (number, creative) in creatives.unwrap_or_default().iter().enumerate() {
            if offered.contains(creative.media) && self.fits(rules, creative, imp)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    fn fits<'a>(
        &mut self,
        rules: &Rules,
        creative: &CreativeRules,
        imp: &impl ImpView<'a>,
    ) -> Read<bool> {
        if !creative.secure && self.is_secure(imp)? {
            return Ok(false);
        }
        if creative.media == MediaType::Banner && !self.takes_size(rules, creative, imp)? {
            return Ok(false);
        }
        let [banner, video, audio, native] = &mut self.offers;
        let (offer, is_played) = match creative.media {
            MediaType::Banner => (banner, false),
            MediaType::Video => (video, true),
            MediaType::Audio => (audio, true),
            MediaType::Native => (native, false),
        };
        Ok(
            (creative.media == MediaType::Native || offer.takes_mime(rules, creative, imp)?)
                && (!is_played || offer.takes_player(rules, creative, imp)?)
                && offer.takes_behaviour(rules, creative, imp)?,
        )
    }

    fn is_secure<'a>(&mut self, imp: &impl ImpView<'a>) -> Read<bool> {
        match self.secure {
            Some(secure) => Ok(secure),
            None => Ok(*self.secure.insert(imp.secure()?)),
        }
    }

    fn takes_size<'a>(
        &mut self,
        rules: &Rules,
        creative: &CreativeRules,
        imp: &impl ImpView<'a>,
    ) -> Read<bool> {
        let sizes = self.sizes(rules, imp)?;
        Ok(creative.size.is_some_and(|size| sizes.has(size)))
    }

    fn sizes<'a>(&mut self, rules: &Rules, imp: &impl ImpView<'a>) -> Read<&Listed> {
        self.banner_sizes
            .read(|entry| imp.banner_sizes(|w, h| entry(rules.sizes.get(&(w, h)))))
    }

    /// The numbers of the banner sizes that it takes.
    pub fn banner_sizes<'a>(&mut self, rules: &Rules, imp: &impl ImpView<'a>) -> Read<&[u32]> {
        self.is_read = true;
        Ok(self.sizes(rules, imp)?.numbers.members())
    }
}

/// What an impression takes of one medium.
#[derive(Debug, Default)]
struct Offer {
    room: String,
    mimes: Listed,
    battr: Listed,
    api: Listed,
    protocols: Listed,
    rqddurs: Listed,
    /// `minduration` and `maxduration`.
    durations: Option<(Option<i32>, Option<i32>)>,
    priced_by_second: Option<bool>,
}

impl Offer {
    fn resize(&mut self, rules: &Rules) {
        self.mimes.resize(rules.mimes.len());
        let ints = [
            &mut self.battr,
            &mut self.api,
            &mut self.protocols,
            &mut self.rqddurs,
        ];
        ints.into_iter()
            .for_each(|list| list.resize(rules.ints.len()));
    }

    fn forget(&mut self) {
        self.mimes.forget();
        self.battr.forget();
        self.api.forget();
        self.protocols.forget();
        self.rqddurs.forget();
        self.durations = None;
        self.priced_by_second = None;
    }

    fn takes_mime<'a>(
        &mut self,
        rules: &Rules,
        creative: &CreativeRules,
        imp: &impl ImpView<'a>,
    ) -> Read<bool> {
        let room = &mut self.room;
        let mimes = self.mimes.read(|entry| {
            imp.mimes(creative.media, |mime| {
                entry(mime.with(|mime| rules.mimes.get(fold::case(mime, room))))
            })
        })?;
        Ok(mimes.is_unset_or_has(creative.mime))
    }

    /// Its length, its protocol, and how it is priced.
    fn takes_player<'a>(
        &mut self,
        rules: &Rules,
        creative: &CreativeRules,
        imp: &impl ImpView<'a>,
    ) -> Read<bool> {
        let Some(duration) = creative.duration else {
            return Ok(false);
        };
        if !self.takes_duration(rules, duration, creative.media, imp)? {
            return Ok(false);
        }
        let list = MediaInts::Protocols;
        let protocols = read_ints(&mut self.protocols, rules, imp, creative.media, list)?;
        if !protocols.is_unset_or_has(creative.protocol) {
            return Ok(false);
        }
        let priced_by_second = match self.priced_by_second {
            Some(priced) => priced,
            None => *self
                .priced_by_second
                .insert(imp.priced_by_second(creative.media)?),
        };
        Ok(!priced_by_second)
    }

    fn takes_duration<'a>(
        &mut self,
        rules: &Rules,
        duration: Duration,
        of: MediaType,
        imp: &impl ImpView<'a>,
    ) -> Read<bool> {
        let rqddurs = read_ints(&mut self.rqddurs, rules, imp, of, MediaInts::Rqddurs)?;
        if rqddurs.is_set {
            return Ok(rqddurs.has(duration.number));
        }
        let (min, max) = match self.durations {
            Some(bounds) => bounds,
            None => {
                let min = imp.int(of, MediaInt::Minduration)?;
                let max = imp.int(of, MediaInt::Maxduration)?;
                *self.durations.insert((min, max))
            }
        };
        Ok(min.is_none_or(|min| min <= duration.seconds)
            && max.is_none_or(|max| duration.seconds <= max))
    }

    /// What it does, and what it needs of the player or container.
    fn takes_behaviour<'a>(
        &mut self,
        rules: &Rules,
        creative: &CreativeRules,
        imp: &impl ImpView<'a>,
    ) -> Read<bool> {
        let (of, attr, apis) = (creative.media, &creative.attr, &creative.apis);
        if !attr.is_empty() {
            let battr = read_ints(&mut self.battr, rules, imp, of, MediaInts::Battr)?;
            if battr.has_any(rules.numbers(attr)) {
                return Ok(false);
            }
        }
        if apis.is_empty() {
            return Ok(true);
        }
        let api = read_ints(&mut self.api, rules, imp, of, MediaInts::Api)?;
        Ok(rules.numbers(apis).iter().all(|needed| api.has(*needed)))
    }
}

fn read_ints<'l, 'a>(
    listed: &'l mut Listed,
    rules: &Rules,
    imp: &impl ImpView<'a>,
    of: MediaType,
    list: MediaInts,
) -> Read<&'l Listed> {
    listed.read(|entry| imp.ints(of, list, |int| entry(rules.ints.get(&int))))
}
