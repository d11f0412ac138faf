//! Impressions: slots, players and feeds, their floors and deals.

use wire::message as m;

use super::inventory::{ADVERTISERS, slug};
use super::rng::Rng;
use super::visit::{Ranks, Scene, Visit};
use super::{ids, some};

/// The impressions of a visit: mostly one, several slots on some pages, several spots in some
/// breaks.
pub fn imps(visit: &Visit, ranks: &Ranks, rng: &mut Rng) -> Vec<m::Imp> {
    let count = match visit.scene {
        Scene::WebBanner => rng.weighted(&[(87, 1), (9, 2), (4, 3)]),
        Scene::Television => rng.weighted(&[(88, 1), (8, 2), (4, 3)]),
        _ => 1,
    };
    let podid = format!("pod-{}", ids::hex(8, rng));
    (1..=count)
        .map(|number| {
            let mut imp = imp(visit, ranks, number, rng);
            if count > 1
                && let Some(video) = imp.video.as_mut()
            {
                place_in_pod(video, &podid, number, count);
            }
            imp
        })
        .collect()
}

/// A structured pod: every spot is an impression of its own.
fn place_in_pod(video: &mut m::Video, podid: &str, number: i32, count: i32) {
    video.podid = some(podid);
    video.podseq = some(0);
    video.slotinpod = some(if number == 1 {
        1
    } else if number == count {
        -1
    } else {
        0
    });
    (video.maxseq, video.poddur, video.rqddurs) = (None, None, Vec::new());
}

fn imp(visit: &Visit, ranks: &Ranks, number: i32, rng: &mut Rng) -> m::Imp {
    let cents = floor_cents(visit, rng);
    let currency = floor_currency(visit, rng);
    let has_floor = !rng.permille(12);
    let tagid = tagid(visit, number);
    let in_app = !visit.on_site();
    let full_screen = is_full_screen(visit, rng);
    m::Imp {
        id: some(number.to_string()),
        bidfloor: has_floor.then(|| in_currency(cents, currency)),
        bidfloorcur: floor_currency_named(currency, has_floor, rng),
        secure: visit.maybe(92, rng, |_| true),
        instl: visit.maybe(60, rng, |_| full_screen),
        displaymanager: if in_app {
            visit.maybe(75, rng, |_| "nx-sdk")
        } else {
            None
        },
        displaymanagerver: if in_app {
            visit.maybe(70, rng, sdk_version)
        } else {
            None
        },
        clickbrowser: if in_app {
            visit.maybe(30, rng, |_| true)
        } else {
            None
        },
        exp: visit.maybe(40, rng, |rng| rng.one_of(&[60, 300, 900, 3600])),
        rwdd: (visit.scene == Scene::AppVideo).then(|| rng.percent(55)),
        ssai: (visit.scene == Scene::Television).then(|| rng.one_of(&[0, 1, 2, 3])),
        metric: metrics(visit, rng),
        pmp: pmp(visit, ranks, (cents, currency), rng),
        ext: some(imp_ext(visit, &tagid, rng)),
        tagid: some(tagid),
        qty: if rng.permille(4) {
            some(audience(rng))
        } else {
            None
        },
        refresh: if visit.on_site() {
            visit.maybe(8, rng, refresh)
        } else {
            None
        },
        ..media(visit, full_screen, rng)
    }
}

/// Screens that several people watch are sold by the audience (OpenRTB 2.6, 3.2.31).
fn audience(rng: &mut Rng) -> m::Qty {
    m::Qty {
        multiplier: some(f64::from(rng.between(11, 60)) / 10.0),
        sourcetype: some(1),
        vendor: some("audience-counter.example"),
        ..m::Qty::default()
    }
}

fn refresh(rng: &mut Rng) -> m::Refresh {
    let setting = m::RefSettings {
        reftype: some(2),
        minint: some(30),
        ..Default::default()
    };
    m::Refresh {
        refsettings: vec![setting],
        count: some(rng.between(1, 9)),
        ..Default::default()
    }
}

fn is_full_screen(visit: &Visit, rng: &mut Rng) -> bool {
    match visit.scene {
        Scene::AppVideo => true,
        Scene::AppBanner => rng.percent(22),
        _ => false,
    }
}

fn sdk_version(rng: &mut Rng) -> String {
    format!(
        "{}.{}.{}",
        rng.between(2, 4),
        rng.between(0, 9),
        rng.between(0, 3)
    )
}

fn tagid(visit: &Visit, number: i32) -> String {
    let slot = match visit.scene {
        Scene::WebBanner if number == 1 => "top",
        Scene::WebBanner => "side",
        Scene::WebVideo => "player",
        Scene::WebNative | Scene::AppNative => "feed",
        Scene::AppBanner => "bottom",
        Scene::AppVideo => "level_end",
        Scene::Television => "midroll",
        Scene::Audio => "break",
    };
    let network = 21_000_000 + visit.outlet.rank * 17;
    format!(
        "/{network}/{}/{}/{slot}_{number}",
        slug(&visit.outlet.name),
        visit.outlet.topic.name
    )
}

/// What the publisher asks, in hundredths of a US dollar for a thousand impressions. Low prices
/// are the frequent ones.
fn floor_cents(visit: &Visit, rng: &mut Rng) -> i32 {
    let (low, high) = match visit.scene {
        Scene::WebBanner => (30, 360),
        Scene::WebVideo => (250, 1500),
        Scene::WebNative => (50, 400),
        Scene::AppBanner => (25, 260),
        Scene::AppVideo => (300, 1900),
        Scene::AppNative => (40, 340),
        Scene::Television => (900, 3600),
        Scene::Audio => (280, 1400),
    };
    let cents = [(); 2]
        .map(|()| rng.between(low, high))
        .into_iter()
        .fold(high, i32::min);
    (cents * visit.place.price_percent / 100).max(1)
}

fn floor_currency(visit: &Visit, rng: &mut Rng) -> &'static str {
    if rng.percent(30) {
        visit.place.currency
    } else {
        "USD"
    }
}

/// Floors in USD mostly leave the currency out, as its default.
fn floor_currency_named(currency: &'static str, has_floor: bool, rng: &mut Rng) -> Option<String> {
    let named = currency != "USD" || rng.percent(70);
    (has_floor && named).then(|| currency.to_owned())
}

/// `cents` of a dollar as units of `currency`, at about what they are worth.
fn in_currency(cents: i32, currency: &str) -> f64 {
    match currency {
        "JPY" => f64::from(cents * 3 / 2),
        "EUR" => f64::from(cents * 9 / 10) / 100.0,
        "GBP" => f64::from(cents * 3 / 4) / 100.0,
        _ => f64::from(cents) / 100.0,
    }
}

fn metrics(visit: &Visit, rng: &mut Rng) -> Vec<m::Metric> {
    let mut metrics = Vec::new();
    for (percent, kind) in [
        (30, "viewability"),
        (9, "click_through_rate"),
        (9, "session_depth"),
    ] {
        metrics.extend(visit.maybe::<_, m::Metric>(percent, rng, |rng| m::Metric {
            r#type: some(kind),
            value: some(f64::from(rng.between(1, 99)) / 100.0),
            vendor: some("EXCHANGE"),
            ..Default::default()
        }));
    }
    metrics
}

fn pmp(
    visit: &Visit,
    ranks: &Ranks,
    floor: (i32, &'static str),
    rng: &mut Rng,
) -> Option<Box<m::Pmp>> {
    let share = if visit.scene == Scene::Television {
        45
    } else {
        17
    };
    if !rng.percent(share) {
        return None;
    }
    let count = rng.weighted(&[(62, 1), (25, 2), (9, 3), (4, 5)]);
    let deals = (0..count).map(|_| deal(ranks, floor, rng)).collect();
    some(m::Pmp {
        private_auction: some(rng.percent(18)),
        deals,
        ..Default::default()
    })
}

fn deal(ranks: &Ranks, (cents, currency): (i32, &'static str), rng: &mut Rng) -> m::Deal {
    let deal = ranks.deal(rng);
    let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
    m::Deal {
        bidfloor: (!rng.percent(12))
            .then(|| in_currency(cents * deal.floor_percent / 100, currency)),
        bidfloorcur: floor_currency_named(currency, true, rng),
        at: some(deal.at),
        wseat: owned(deal.wseat),
        wadomain: owned(deal.wadomain),
        guar: deal.guaranteed.then_some(1),
        id: some(deal.id),
        ..Default::default()
    }
}

fn imp_ext(visit: &Visit, tagid: &str, rng: &mut Rng) -> m::ImpExt {
    m::ImpExt {
        gpid: visit.maybe(80, rng, |_| tagid),
        tid: visit.maybe(35, rng, ids::uuid),
        skadn: (visit.model.os == "iOS" && !visit.on_site()).then(|| skadn(rng).into()),
        igs: if visit.on_site() {
            visit.maybe(10, rng, |_| auction_support())
        } else {
            None
        },
        json: visit.maybe(88, rng, signals),
        ..Default::default()
    }
}

/// What the exchange's own code on the page or in the app says of the slot, signed.
fn signals(rng: &mut Rng) -> String {
    let signature = ids::base64url(rng.between(140, 340) as usize, rng);
    format!(
        r#"{{"nx":{{"slot":{},"sig":"{signature}"}}}}"#,
        rng.between(1, 9999)
    )
}

fn auction_support() -> m::InterestGroupAuctionSupport {
    m::InterestGroupAuctionSupport {
        ae: some(1),
        biddable: some(false),
    }
}

fn skadn(rng: &mut Rng) -> m::SKAdNetworkRequest {
    let count = rng.between(1, 6);
    m::SKAdNetworkRequest {
        versions: ["2.2", "3.0", "4.0"].map(str::to_owned).to_vec(),
        sourceapp: some(rng.between(300_000_000, 1_700_000_000).to_string()),
        skadnetids: (0..count)
            .map(|_| format!("{}.skadnetwork", ids::hex(10, rng)))
            .collect(),
        ..Default::default()
    }
}

/// The media that the impression offers; everything else is left unset.
fn media(visit: &Visit, full_screen: bool, rng: &mut Rng) -> m::Imp {
    let mut imp = m::Imp::default();
    match visit.scene {
        Scene::WebBanner => {
            imp.banner = some(banner(visit, false, rng));
            if rng.percent(6) {
                imp.native = some(native(visit, rng));
            }
            if rng.percent(5) {
                imp.video = some(video(visit, false, rng));
            }
        }
        Scene::AppBanner => imp.banner = some(banner(visit, full_screen, rng)),
        Scene::WebNative | Scene::AppNative => imp.native = some(native(visit, rng)),
        Scene::WebVideo | Scene::Television => imp.video = some(video(visit, false, rng)),
        Scene::AppVideo => {
            imp.video = some(video(visit, true, rng));
            if rng.percent(30) {
                imp.banner = some(banner(visit, true, rng));
            }
        }
        Scene::Audio => imp.audio = some(audio(visit, rng)),
    }
    imp
}

type Size = (i32, i32);

const DESKTOP_SLOTS: [(u32, &[Size]); 5] = [
    (34, &[(300, 250), (336, 280)]),
    (28, &[(728, 90), (970, 90)]),
    (16, &[(300, 600), (160, 600), (300, 250)]),
    (14, &[(970, 250), (728, 90), (970, 90)]),
    (8, &[(160, 600), (120, 600)]),
];
const HANDHELD_SLOTS: [(u32, &[Size]); 4] = [
    (45, &[(320, 50), (300, 50)]),
    (34, &[(300, 250), (336, 280), (320, 100)]),
    (16, &[(320, 100), (320, 50)]),
    (5, &[(728, 90)]),
];
const FULL_SCREEN_SLOTS: [(u32, &[Size]); 2] = [
    (80, &[(320, 480), (300, 250)]),
    (20, &[(768, 1024), (320, 480)]),
];

fn banner(visit: &Visit, full_screen: bool, rng: &mut Rng) -> m::Banner {
    let sizes = if full_screen {
        rng.weighted(&FULL_SCREEN_SLOTS)
    } else if visit.on_handheld() {
        rng.weighted(&HANDHELD_SLOTS)
    } else {
        rng.weighted(&DESKTOP_SLOTS)
    };
    let (w, h) = sizes.first().copied().unwrap_or_default();
    let listed = if rng.percent(80) { sizes } else { &[] };
    let named = listed.is_empty() || rng.percent(75);
    let format = |&(w, h): &Size| m::Format {
        w: some(w),
        h: some(h),
        ..Default::default()
    };
    m::Banner {
        w: named.then_some(w),
        h: named.then_some(h),
        format: listed.iter().map(format).collect(),
        pos: visit.maybe(75, rng, |rng| {
            if full_screen {
                7
            } else {
                rng.one_of(&[0, 1, 3, 4])
            }
        }),
        battr: visit.maybe(60, rng, blocked_attributes).unwrap_or_default(),
        btype: visit.maybe(18, rng, |_| vec![4]).unwrap_or_default(),
        mimes: visit
            .maybe(35, rng, |_| {
                texts(&["image/jpeg", "image/png", "text/html"])
            })
            .unwrap_or_default(),
        api: visit
            .maybe(55, rng, |rng| display_apis(visit, rng))
            .unwrap_or_default(),
        topframe: visit.maybe(55, rng, |rng| rng.percent(80)),
        expdir: visit.maybe(10, rng, |_| vec![2, 4]).unwrap_or_default(),
        ..Default::default()
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

fn blocked_attributes(rng: &mut Rng) -> Vec<i32> {
    let count = rng.between(1, 4) as usize;
    rng.some_of(&[1, 3, 6, 8, 9, 10, 13, 14, 17], count)
}

fn display_apis(visit: &Visit, rng: &mut Rng) -> Vec<i32> {
    if visit.on_site() {
        vec![7]
    } else {
        rng.one_of::<&[i32]>(&[&[5, 6, 7], &[3, 5, 7], &[5]])
            .to_vec()
    }
}

fn video(visit: &Visit, full_screen: bool, rng: &mut Rng) -> m::Video {
    let (w, h) = player_size(visit, full_screen, rng);
    let television = visit.scene == Scene::Television;
    let (plcmt, placement) = video_placement(visit, full_screen, rng);
    let skip = !television && rng.percent(60);
    let pod = television && rng.percent(18);
    m::Video {
        mimes: video_mimes(rng),
        linearity: visit.maybe(75, rng, |_| 1),
        minduration: visit.maybe(88, rng, |rng| rng.one_of(&[0, 3, 5, 6])),
        maxduration: visit.maybe(94, rng, |rng| {
            rng.weighted(&[(50, 30), (20, 15), (20, 60), (10, 120)])
        }),
        protocols: rng
            .one_of::<&[i32]>(&[&[2, 3, 5, 6], &[2, 3, 5, 6, 7, 8], &[3, 6, 7]])
            .to_vec(),
        w: some(w),
        h: some(h),
        startdelay: visit.maybe(85, rng, |rng| {
            rng.weighted(&[(60, 0), (30, -1), (5, -2), (5, 15)])
        }),
        skip: visit.maybe(75, rng, |_| skip),
        skipmin: if skip {
            visit.maybe(50, rng, |_| 5)
        } else {
            None
        },
        skipafter: if skip {
            visit.maybe(60, rng, |_| 5)
        } else {
            None
        },
        plcmt: visit.maybe(85, rng, |_| plcmt),
        placement: visit.maybe(45, rng, |_| placement),
        playbackmethod: visit
            .maybe(75, rng, |rng| vec![rng.one_of(&[1, 2, 3, 6])])
            .unwrap_or_default(),
        playbackend: visit.maybe(35, rng, |_| 1),
        delivery: visit.maybe(50, rng, |_| vec![2]).unwrap_or_default(),
        pos: visit.maybe(55, rng, |_| if full_screen { 7 } else { 1 }),
        battr: visit.maybe(40, rng, blocked_attributes).unwrap_or_default(),
        api: visit
            .maybe(55, rng, |rng| video_apis(visit, rng))
            .unwrap_or_default(),
        minbitrate: visit.maybe(25, rng, |_| 300),
        maxbitrate: visit.maybe(30, rng, |rng| rng.one_of(&[1500, 5000, 12_000])),
        boxingallowed: visit.maybe(30, rng, |_| true),
        maxextended: visit.maybe(10, rng, |_| -1),
        companiontype: visit.maybe(10, rng, |_| vec![1, 2]).unwrap_or_default(),
        podid: pod.then(|| format!("pod-{}", ids::hex(8, rng))),
        poddur: pod.then(|| rng.one_of(&[60, 90, 120])),
        maxseq: pod.then(|| rng.between(2, 6)),
        rqddurs: if pod && rng.percent(25) {
            vec![15, 30]
        } else {
            Vec::new()
        },
        ..Default::default()
    }
}

fn player_size(visit: &Visit, full_screen: bool, rng: &mut Rng) -> Size {
    match visit.scene {
        Scene::Television => {
            rng.weighted(&[(70, (1920, 1080)), (25, (1280, 720)), (5, (3840, 2160))])
        }
        _ if full_screen => {
            rng.weighted(&[(50, (1080, 1920)), (25, (320, 480)), (25, (1920, 1080))])
        }
        _ if visit.on_handheld() => {
            rng.weighted(&[(50, (400, 225)), (30, (640, 360)), (20, (320, 180))])
        }
        _ => rng.weighted(&[
            (50, (640, 360)),
            (25, (854, 480)),
            (15, (640, 480)),
            (10, (1280, 720)),
        ]),
    }
}

/// `plcmt` and the older `placement` that says about the same.
fn video_placement(visit: &Visit, full_screen: bool, rng: &mut Rng) -> (i32, i32) {
    match visit.scene {
        Scene::Television => (1, 1),
        _ if full_screen => (3, 5),
        _ => rng.weighted(&[(35, (1, 1)), (45, (2, 1)), (20, (4, 3))]),
    }
}

fn video_mimes(rng: &mut Rng) -> Vec<String> {
    texts(rng.one_of::<&[&str]>(&[
        &["video/mp4"],
        &["video/mp4", "video/webm"],
        &["video/mp4", "application/javascript"],
        &["video/mp4", "video/webm", "application/x-mpegURL"],
    ]))
}

fn video_apis(visit: &Visit, rng: &mut Rng) -> Vec<i32> {
    match visit.scene {
        Scene::Television => vec![7],
        _ => rng.one_of::<&[i32]>(&[&[2, 7], &[7], &[7, 8]]).to_vec(),
    }
}

fn audio(visit: &Visit, rng: &mut Rng) -> m::Audio {
    let pod = rng.percent(25);
    m::Audio {
        mimes: texts(rng.one_of::<&[&str]>(&[&["audio/mpeg"], &["audio/mp4", "audio/mpeg"]])),
        minduration: some(rng.one_of(&[5, 10, 15])),
        maxduration: some(rng.one_of(&[30, 30, 60])),
        protocols: rng
            .one_of::<&[i32]>(&[&[2, 3, 5, 6], &[3, 6, 7, 8, 9]])
            .to_vec(),
        startdelay: some(rng.one_of(&[0, -1, -2])),
        feed: some(rng.weighted(&[(45, 1), (20, 2), (35, 3)])),
        stitched: some(rng.percent(60)),
        nvol: visit.maybe(60, rng, |rng| rng.between(0, 4)),
        delivery: visit.maybe(60, rng, |_| vec![1]).unwrap_or_default(),
        battr: visit.maybe(35, rng, |_| vec![1]).unwrap_or_default(),
        api: visit.maybe(50, rng, |_| vec![7]).unwrap_or_default(),
        minbitrate: visit.maybe(55, rng, |_| 32),
        maxbitrate: visit.maybe(65, rng, |_| 320),
        maxextended: visit.maybe(20, rng, |_| 0),
        companionad: visit
            .maybe(25, rng, |_| vec![companion()])
            .unwrap_or_default(),
        companiontype: visit.maybe(20, rng, |_| vec![1]).unwrap_or_default(),
        podid: pod.then(|| format!("pod-{}", ids::hex(8, rng))),
        poddur: pod.then(|| rng.one_of(&[60, 120])),
        maxseq: pod.then(|| rng.between(2, 4)),
        ..Default::default()
    }
}

fn companion() -> m::Banner {
    m::Banner {
        w: some(300),
        h: some(250),
        id: some("companion-1"),
        ..Default::default()
    }
}

fn native(visit: &Visit, rng: &mut Rng) -> m::Native {
    m::Native {
        request: some(native_request(visit, rng)),
        ver: some("1.2"),
        api: visit.maybe(35, rng, |_| vec![7]).unwrap_or_default(),
        battr: visit.maybe(50, rng, blocked_attributes).unwrap_or_default(),
        ..Default::default()
    }
}

/// The native request (Native Ads 1.2) as the JSON text that `native.request` holds.
fn native_request(visit: &Visit, rng: &mut Rng) -> String {
    let context = if visit.on_site() { 1 } else { 2 };
    let (w, h) = rng.one_of(&[(1200, 627), (600, 500), (300, 250)]);
    let title = rng.one_of(&[50, 90, 140]);
    let sponsored = r#"{"id":3,"required":1,"data":{"type":1,"len":25}}"#;
    let more = match rng.between(0, 2) {
        0 => String::new(),
        1 => r#",{"id":4,"required":0,"data":{"type":2,"len":140}}"#.to_owned(),
        _ => {
            r#",{"id":4,"data":{"type":2,"len":140}},{"id":5,"img":{"type":1,"wmin":80,"hmin":80}}"#
                .to_owned()
        }
    };
    format!(
        r#"{{"ver":"1.2","context":{context},"plcmttype":1,"plcmtcnt":1,"assets":[{{"id":1,"required":1,"title":{{"len":{title}}}}},{{"id":2,"required":1,"img":{{"type":3,"w":{w},"h":{h}}}}},{sponsored}{more}],"eventtrackers":[{{"event":1,"methods":[1,2]}}],"privacy":1}}"#
    )
}

/// Advertisers that a publisher blocks.
pub fn blocked_advertisers(rng: &mut Rng) -> Vec<String> {
    let count = rng.weighted(&[(55, 2), (30, 4), (15, 8)]);
    texts(&rng.some_of(ADVERTISERS, count))
}
