//! The traffic itself: requests as an exchange sends them, any number, the same for a seed.

use std::ops::RangeInclusive;

use wire::Format;
use wire::message as m;

use super::imp::{blocked_advertisers, imps};
use super::inventory::{BLOCKED_APPS, BLOCKED_CATS, SEATS};
use super::rng::Rng;
use super::visit::{Ranks, Scene, Visit};
use super::{ids, people, place_of_ad, size, some};

/// Endless requests. Request `n` of a seed is the same wherever one starts and however many are
/// taken; requests have different ids.
#[derive(Clone, Debug)]
pub struct Traffic {
    seed: u64,
    next: u64,
    ranks: Ranks,
}

impl Traffic {
    /// The traffic of `seed`, from its first request.
    pub fn new(seed: u64) -> Traffic {
        Traffic {
            seed,
            next: 0,
            ranks: Ranks::new(),
        }
    }

    /// Request number `index`, counted from 0, whatever was taken before.
    ///
    /// One that comes out leaner or fuller than an exchange's requests are is drawn again.
    pub fn request(&self, index: u64) -> m::BidRequest {
        let rng = &mut Rng::new(&[self.seed, index]);
        let id = ids::uuid(rng);
        for _ in 1..DRAWS_MAX {
            let request = self.draw(&id, rng);
            if is_of_usual_size(&request) {
                return request;
            }
        }
        self.draw(&id, rng)
    }

    fn draw(&self, id: &str, rng: &mut Rng) -> m::BidRequest {
        let visit = Visit::new(&self.ranks, rng);
        request(id, &visit, &self.ranks, rng)
    }
}

/// Filled fields of a request.
const FIELDS: RangeInclusive<usize> = 60..=200;
/// Its length as JSON.
const JSON_BYTES: RangeInclusive<usize> = 2048..=4000;
/// One draw in eight is of no usual size, so this many in a row never are.
const DRAWS_MAX: u32 = 32;

fn is_of_usual_size(request: &m::BidRequest) -> bool {
    let mut json = Vec::with_capacity(*JSON_BYTES.end());
    m::encode(Format::Json, request, &mut json);
    JSON_BYTES.contains(&json.len()) && FIELDS.contains(&size::fields(&json))
}

impl Iterator for Traffic {
    type Item = m::BidRequest;

    fn next(&mut self) -> Option<m::BidRequest> {
        let request = self.request(self.next);
        self.next = self.next.wrapping_add(1);
        Some(request)
    }
}

fn request(id: &str, visit: &Visit, ranks: &Ranks, rng: &mut Rng) -> m::BidRequest {
    let newer = visit.newer_taxonomy();
    m::BidRequest {
        id: some(id),
        imp: imps(visit, ranks, rng),
        site: place_of_ad::site(visit, rng).map(Into::into),
        app: place_of_ad::app(visit, rng).map(Into::into),
        device: some(people::device(visit, rng)),
        user: some(people::user(visit, rng)),
        regs: some(people::regs(visit, rng)),
        source: some(source(visit, rng)),
        at: some(rng.weighted(&[(90, 1), (10, 2)])),
        tmax: some(rng.weighted(&[
            (35, 150),
            (25, 200),
            (20, 250),
            (12, 300),
            (6, 500),
            (2, 1000),
        ])),
        cur: currencies(visit, rng),
        bcat: blocked_categories(visit, rng),
        cattax: newer.then_some(7),
        badv: visit
            .maybe(45, rng, blocked_advertisers)
            .unwrap_or_default(),
        bapp: if visit.on_site() {
            Vec::new()
        } else {
            blocked_apps(visit, rng)
        },
        wseat: if rng.permille(12) {
            owned(&rng.some_of(SEATS, 3))
        } else {
            Vec::new()
        },
        bseat: if rng.permille(15) {
            owned(&rng.some_of(SEATS, 1))
        } else {
            Vec::new()
        },
        wlang: visit
            .maybe(8, rng, |_| vec![visit.place.language.to_owned()])
            .unwrap_or_default(),
        allimps: visit.maybe(30, rng, |_| false),
        test: rng.permille(3).then_some(true),
        ext: visit.maybe(30, rng, request_ext),
        ..Default::default()
    }
}

fn owned(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

/// Most exchanges take dollars alone and say so or leave it out.
fn currencies(visit: &Visit, rng: &mut Rng) -> Vec<String> {
    match rng.below(100) {
        0..=1 => vec![visit.place.currency.to_owned()],
        2..=5 => owned(&["USD", "EUR"]),
        6..=69 => owned(&["USD"]),
        _ => Vec::new(),
    }
}

fn blocked_categories(visit: &Visit, rng: &mut Rng) -> Vec<String> {
    let count = rng.weighted(&[(40, 3), (35, 6), (20, 9), (5, 14)]);
    let listed = visit.tells(72, rng) && !visit.newer_taxonomy();
    if listed {
        owned(&rng.some_of(BLOCKED_CATS, count))
    } else {
        Vec::new()
    }
}

fn blocked_apps(visit: &Visit, rng: &mut Rng) -> Vec<String> {
    let count = rng.between(1, 3) as usize;
    visit
        .maybe(14, rng, |rng| owned(&rng.some_of(BLOCKED_APPS, count)))
        .unwrap_or_default()
}

fn request_ext(rng: &mut Rng) -> m::Ext {
    m::Ext {
        json: some(format!(
            r#"{{"nx":{{"region":"{}","deal_only":0}}}}"#,
            rng.one_of(&["use1", "usw2", "euw1", "apne1"])
        )),
    }
}

fn source(visit: &Visit, rng: &mut Rng) -> m::Source {
    let measured = matches!(
        visit.scene,
        Scene::AppBanner | Scene::AppVideo | Scene::AppNative
    );
    m::Source {
        fd: visit.maybe(55, rng, |rng| rng.percent(30)),
        tid: visit.maybe(85, rng, ids::uuid),
        pchain: None,
        schain: if rng.percent(96) {
            some(schain(visit, rng))
        } else {
            None
        },
        ext: if measured {
            visit.maybe(60, rng, open_measurement)
        } else {
            None
        },
    }
}

fn open_measurement(rng: &mut Rng) -> m::SourceExt {
    m::SourceExt {
        omidpn: some("Nx"),
        omidpv: some(rng.one_of(&["2.1.0", "2.4.1", "3.0.2"])),
        ..Default::default()
    }
}

const RESELLERS: [&str; 4] = [
    "reseller-one.example",
    "adnet.example",
    "mediahub.example",
    "sellside.example",
];

/// The publisher sells to the exchange, in some cases through others.
fn schain(visit: &Visit, rng: &mut Rng) -> m::SupplyChain {
    let others = rng.weighted(&[(40, 0), (42, 1), (18, 2)]);
    let publisher = &visit.outlet.publisher;
    let first = node("nx-exchange.example", publisher.id.clone(), visit, rng);
    let sellers = rng.some_of(&RESELLERS, others);
    let mut nodes = vec![m::SupplyChainNode {
        name: visit.maybe(22, rng, |_| publisher.name.as_str()),
        domain: visit.maybe(28, rng, |_| publisher.domain.as_str()),
        ..first
    }];
    for seller in sellers {
        nodes.push(node(
            seller,
            rng.between(1000, 99_999).to_string(),
            visit,
            rng,
        ));
    }
    m::SupplyChain {
        complete: some(true),
        nodes,
        ver: some("1.0"),
        ..Default::default()
    }
}

fn node(asi: &str, sid: String, visit: &Visit, rng: &mut Rng) -> m::SupplyChainNode {
    m::SupplyChainNode {
        asi: some(asi),
        sid: some(sid),
        rid: visit.maybe(40, rng, |rng| ids::hex(16, rng)),
        hp: some(true),
        ..Default::default()
    }
}
