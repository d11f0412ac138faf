//! Who is there: device, place, client hints, user, and what the law lets be told of them.

use wire::message as m;

use super::devices::{self, Browser};
use super::places::Law;
use super::rng::Rng;
use super::visit::{Scene, Visit};
use super::{ids, some};

/// `device`.
pub fn device(visit: &Visit, rng: &mut Rng) -> m::Device {
    let model = &visit.model;
    let v6 = rng.percent(22);
    let (make, hwv) = (non_empty(model.make), non_empty(model.hwv));
    let wifi = visit.on_handheld() && rng.percent(62);
    let cellular = visit.on_handheld() && !wifi;
    let (w, h) = model.screen;
    let sized = w > 0 && visit.tells(75, rng);
    m::Device {
        ua: some(devices::user_agent(
            model,
            &visit.versions,
            !visit.on_site(),
        )),
        ip: (!v6).then(|| ids::ipv4(rng)),
        ipv6: v6.then(|| ids::ipv6(rng)),
        geo: some(geo(visit, rng)),
        devicetype: visit.maybe(97, rng, |_| model.devicetype),
        make: make.and_then(|make| visit.maybe(90, rng, |_| make)),
        model: non_empty(model.model).and_then(|name| visit.maybe(90, rng, |_| name)),
        hwv: hwv.and_then(|hwv| visit.maybe(35, rng, |_| hwv)),
        os: visit.maybe(94, rng, |_| model.os),
        osv: visit.maybe(85, rng, |_| visit.versions.osv),
        w: sized.then_some(w),
        h: sized.then_some(h),
        ppi: if model.ppi > 0 {
            visit.maybe(40, rng, |_| model.ppi)
        } else {
            None
        },
        pxratio: pxratio(visit, rng),
        js: visit.maybe(75, rng, |_| visit.scene != Scene::Television),
        language: visit.maybe(88, rng, |_| visit.place.language),
        dnt: visit.maybe(55, rng, |rng| rng.percent(4)),
        lmt: visit.maybe(80, rng, |_| !visit.addressable),
        connectiontype: visit.maybe(80, rng, |rng| connection(wifi, cellular, rng)),
        carrier: if cellular {
            visit.maybe(85, rng, |rng| carrier(visit, rng).0)
        } else {
            None
        },
        mccmnc: if cellular {
            visit.maybe(60, rng, |rng| carrier(visit, rng).1)
        } else {
            None
        },
        ifa: advertising_id(visit, rng),
        geofetch: visit.maybe(12, rng, |_| false),
        sua: client_hints(visit, rng).map(Into::into),
        ext: device_ext(visit, rng).map(Into::into),
        ..Default::default()
    }
}

fn non_empty(text: &'static str) -> Option<&'static str> {
    (!text.is_empty()).then_some(text)
}

fn pxratio(visit: &Visit, rng: &mut Rng) -> Option<f64> {
    let percent = visit.model.pxratio_percent;
    if percent > 0 {
        visit.maybe(55, rng, |_| f64::from(percent) / 100.0)
    } else {
        None
    }
}

fn connection(wifi: bool, cellular: bool, rng: &mut Rng) -> i32 {
    match (wifi, cellular) {
        (true, _) => 2,
        (_, true) => rng.weighted(&[(55, 6), (30, 7), (10, 3), (5, 5)]),
        _ => rng.weighted(&[(45, 1), (55, 2)]),
    }
}

fn carrier(visit: &Visit, rng: &mut Rng) -> (&'static str, &'static str) {
    rng.one_of(visit.place.carriers)
}

/// Apps send the device's advertising id; where the user said no, zeros or nothing.
fn advertising_id(visit: &Visit, rng: &mut Rng) -> Option<String> {
    if visit.on_site() {
        return None;
    }
    if visit.addressable {
        return Some(ids::uuid(rng));
    }
    rng.percent(60)
        .then(|| "00000000-0000-0000-0000-000000000000".to_owned())
}

fn device_ext(visit: &Visit, rng: &mut Rng) -> Option<m::DeviceExt> {
    let ext = match visit.scene {
        Scene::Television => m::DeviceExt {
            ifa_type: some(rng.one_of(&["rida", "tifa", "afai", "lgudid"])),
            ..Default::default()
        },
        _ if visit.model.os == "iOS" && !visit.on_site() => m::DeviceExt {
            atts: some(if visit.addressable { 3 } else { 2 }),
            ifv: visit.maybe(70, rng, ids::uuid),
            ..Default::default()
        },
        _ if visit.model.browser == Browser::ChromeDesktop && rng.percent(8) => m::DeviceExt {
            cdep: some("treatment_1.1"),
            ..Default::default()
        },
        _ => return None,
    };
    Some(ext)
}

/// Where the device is. Most exchanges send alpha-3 countries, some alpha-2, a few none.
fn geo(visit: &Visit, rng: &mut Rng) -> m::Geo {
    let (place, city) = (&visit.place, &visit.city);
    let country = match rng.below(1000) {
        0..=14 => None,
        15..=34 => Some(place.alpha2.to_owned()),
        _ => Some(place.alpha3.to_owned()),
    };
    let precise = visit.tells(55, rng);
    let source = rng.weighted(&[(85, 2), (15, 1)]);
    m::Geo {
        country,
        lat: precise.then(|| near(city.lat, rng)),
        lon: precise.then(|| near(city.lon, rng)),
        r#type: visit.maybe(75, rng, |_| source),
        ipservice: if source == 2 {
            visit.maybe(30, rng, |_| 3)
        } else {
            None
        },
        accuracy: if precise {
            visit.maybe(25, rng, |rng| rng.between(5, 50_000))
        } else {
            None
        },
        lastfix: if source == 1 {
            visit.maybe(30, rng, |rng| rng.between(1, 900))
        } else {
            None
        },
        region: visit.maybe(75, rng, |_| city.region),
        metro: non_empty(city.metro).and_then(|metro| visit.maybe(65, rng, |_| metro)),
        city: visit.maybe(72, rng, |_| city.name),
        zip: visit.maybe(62, rng, |_| city.zip),
        utcoffset: visit.maybe(58, rng, |_| city.utcoffset),
        ..Default::default()
    }
}

/// Within about ten kilometres of a coordinate given in ten-thousandths of a degree.
fn near(coordinate: i32, rng: &mut Rng) -> f64 {
    f64::from(coordinate + rng.between(-900, 900)) / 10_000.0
}

/// `device.sua`: what browsers that have client hints tell.
fn client_hints(visit: &Visit, rng: &mut Rng) -> Option<m::UserAgent> {
    let model = &visit.model;
    let brand = match model.browser {
        Browser::ChromeDesktop => "Google Chrome",
        Browser::ChromeMobile if visit.on_site() => "Google Chrome",
        Browser::ChromeMobile => "Android WebView",
        Browser::Edge => "Microsoft Edge",
        _ => return None,
    };
    visit.tells(52, rng).then(|| {
        let detailed = rng.percent(45);
        m::UserAgent {
            browsers: brands(visit, brand, detailed),
            platform: some(brand_version(model.os, visit.versions.osv)),
            mobile: some(visit.on_handheld()),
            architecture: if detailed && !visit.on_handheld() {
                some("x86")
            } else {
                None
            },
            bitness: if detailed { some("64") } else { None },
            model: if detailed {
                non_empty(model.hwv).map(str::to_owned)
            } else {
                None
            },
            source: some(if detailed { 2 } else { 1 }),
            ..Default::default()
        }
    })
}

fn brands(visit: &Visit, brand: &str, detailed: bool) -> Vec<m::BrandVersion> {
    let major = visit.versions.major.to_string();
    let version = if detailed {
        &visit.versions.full
    } else {
        &major
    };
    [
        ("Not A(Brand", "99"),
        ("Chromium", version),
        (brand, version),
    ]
    .map(|(brand, version)| brand_version(brand, version))
    .to_vec()
}

/// A version is sent as a list of its parts (OpenRTB 2.6, 3.2.30).
fn brand_version(brand: &str, version: &str) -> m::BrandVersion {
    m::BrandVersion {
        brand: some(brand),
        version: version.split('.').map(str::to_owned).collect(),
        ..Default::default()
    }
}

/// `user`.
pub fn user(visit: &Visit, rng: &mut Rng) -> m::User {
    let known = visit.addressable && rng.percent(88);
    let consent = visit.place.law == Law::Gdpr && rng.percent(93);
    m::User {
        id: known.then(|| ids::uuid(rng)),
        buyeruid: if known {
            visit.maybe(80, rng, |rng| ids::base64url(36, rng))
        } else {
            None
        },
        yob: if known {
            visit.maybe(6, rng, |rng| rng.between(1950, 2006))
        } else {
            None
        },
        gender: if known {
            visit.maybe(6, rng, |rng| rng.one_of(&["F", "M", "O"]))
        } else {
            None
        },
        keywords: visit.maybe(14, rng, |rng| visit.outlet.topic.keywords(rng)),
        customdata: if known {
            visit.maybe(10, rng, |rng| ids::base64url(40, rng))
        } else {
            None
        },
        geo: visit.maybe(22, rng, |_| home(visit)),
        data: if known {
            segments(visit, rng)
        } else {
            Vec::new()
        },
        consent: consent.then(|| ids::tcf(rng)),
        eids: if known { eids(visit, rng) } else { Vec::new() },
        ext: visit.maybe(7, rng, session),
        ..Default::default()
    }
}

fn session(rng: &mut Rng) -> m::UserExt {
    let json = format!(
        r#"{{"sessionduration":{},"impdepth":{}}}"#,
        rng.between(5, 3000),
        rng.between(1, 40)
    );
    m::UserExt {
        json: some(json),
        ..Default::default()
    }
}

/// The user's home is known roughly.
fn home(visit: &Visit) -> m::Geo {
    m::Geo {
        country: some(visit.place.alpha3),
        region: some(visit.city.region),
        utcoffset: some(visit.city.utcoffset),
        ..Default::default()
    }
}

const PROVIDERS: [(&str, &str); 4] = [
    ("audiences.example", "600"),
    ("segments.example", "601"),
    ("topics.example", "4"),
    ("shopper-data.example", "502"),
];

fn segments(visit: &Visit, rng: &mut Rng) -> Vec<m::Data> {
    let count = if visit.tells(48, rng) {
        rng.weighted(&[(60, 1), (40, 2)])
    } else {
        0
    };
    rng.some_of(&PROVIDERS, count)
        .into_iter()
        .map(|(provider, taxonomy)| m::Data {
            id: visit.maybe(40, rng, |rng| rng.between(1, 999).to_string()),
            name: some(provider),
            segment: (0..rng.between(1, 6)).map(|_| segment(rng)).collect(),
            ext: some(m::DataExt {
                json: some(format!(r#"{{"segtax":{taxonomy}}}"#)),
                ..Default::default()
            }),
        })
        .collect()
}

fn segment(rng: &mut Rng) -> m::Segment {
    let valued = rng.percent(15);
    m::Segment {
        id: some(rng.between(100, 99_999).to_string()),
        value: valued.then(|| rng.between(1, 100).to_string()),
        ..Default::default()
    }
}

/// Sources of ids, with the type of agent they name (AdCOM list "Agent Types").
const ID_SOURCES: [(&str, i32); 9] = [
    ("shared-id.example", 1),
    ("unified-id.example", 3),
    ("cookieless.example", 1),
    ("publisher-common.example", 1),
    ("login-graph.example", 3),
    ("household.example", 3),
    ("panorama.example", 1),
    ("device-graph.example", 2),
    ("email-hash.example", 3),
];

fn eids(visit: &Visit, rng: &mut Rng) -> Vec<m::EID> {
    let most = 2 + visit.detail as i32 / 16;
    let count = rng.between(0, most) as usize;
    rng.some_of(&ID_SOURCES, count)
        .into_iter()
        .map(|(source, atype)| m::EID {
            source: some(source),
            uids: vec![uid(atype, rng)],
            inserter: visit.maybe(22, rng, |_| visit.outlet.publisher.domain.as_str()),
            matcher: visit.maybe(14, rng, |_| source),
            mm: visit.maybe(22, rng, |rng| rng.one_of(&[2, 3, 5])),
            ..Default::default()
        })
        .collect()
}

fn uid(atype: i32, rng: &mut Rng) -> m::UID {
    let id = if rng.percent(50) {
        ids::uuid(rng)
    } else {
        ids::base64url(44, rng)
    };
    m::UID {
        id: some(id),
        atype: some(atype),
        ..Default::default()
    }
}

/// `regs`.
pub fn regs(visit: &Visit, rng: &mut Rng) -> m::Regs {
    let law = visit.place.law;
    let gdpr = law == Law::Gdpr;
    let gpp = match law {
        Law::UsStates => visit.tells(70, rng),
        Law::Gdpr => visit.tells(25, rng),
        Law::None => false,
    };
    let section = if gdpr { 2 } else { rng.one_of(&[7, 8, 9]) };
    m::Regs {
        coppa: visit.maybe(80, rng, |rng| rng.permille(15)),
        gdpr: visit.maybe(90, rng, |_| gdpr),
        us_privacy: if law == Law::UsStates {
            visit.maybe(60, rng, us_privacy)
        } else {
            None
        },
        gpp: gpp.then(|| ids::gpp(gdpr, rng)),
        gpp_sid: if gpp { vec![section] } else { Vec::new() },
        ext: regs_ext(visit, rng).map(Into::into),
    }
}

fn us_privacy(rng: &mut Rng) -> &'static str {
    rng.weighted(&[(80, "1YNN"), (15, "1YYN"), (5, "1---")])
}

fn regs_ext(visit: &Visit, rng: &mut Rng) -> Option<m::RegsExt> {
    match visit.place.law {
        Law::Gdpr if visit.tells(30, rng) => Some(m::RegsExt {
            dsa: some(transparency(visit, rng)),
            ..Default::default()
        }),
        Law::UsStates if visit.tells(12, rng) => Some(m::RegsExt {
            gpc: some("1"),
            ..Default::default()
        }),
        _ => None,
    }
}

/// What the Digital Services Act asks for.
fn transparency(visit: &Visit, rng: &mut Rng) -> m::DsaRequest {
    let by = m::Transparency {
        domain: some(visit.outlet.publisher.domain.as_str()),
        dsaparams: vec![1, 2],
    };
    m::DsaRequest {
        dsarequired: some(rng.between(1, 3)),
        pubrender: some(rng.between(0, 2)),
        datatopub: some(rng.between(0, 2)),
        transparency: vec![by],
    }
}
