//! Where the ad would appear: the site or the app, its publisher, and the content around the ad.

use wire::message as m;

use super::inventory::{Kind, slug};
use super::rng::Rng;
use super::visit::{Scene, Visit};
use super::{ids, some};

/// `site`, for visits of pages.
pub fn site(visit: &Visit, rng: &mut Rng) -> Option<m::Site> {
    let outlet = &visit.outlet;
    visit.on_site().then(|| m::Site {
        id: some((500_000 + outlet.rank * 11).to_string()),
        name: visit.maybe(62, rng, |_| outlet.name.as_str()),
        domain: some(outlet.domain.as_str()),
        cat: categories(visit),
        sectioncat: visit
            .maybe(22, rng, |_| categories(visit))
            .unwrap_or_default(),
        pagecat: visit
            .maybe(32, rng, |_| categories(visit))
            .unwrap_or_default(),
        cattax: visit.newer_taxonomy().then_some(7),
        page: some(page(visit, rng)),
        r#ref: visit.maybe(62, rng, |rng| referrer(visit, rng)),
        search: visit.maybe(5, rng, |rng| visit.outlet.topic.keywords(rng)),
        mobile: visit.maybe(55, rng, |_| visit.on_handheld()),
        privacypolicy: visit.maybe(60, rng, |_| true),
        keywords: visit.maybe(45, rng, |rng| visit.outlet.topic.keywords(rng)),
        publisher: some(publisher(visit, rng)),
        content: page_content(visit, rng).map(Into::into),
        ext: visit.maybe(22, rng, |_| m::Ext {
            json: some(r#"{"amp":0}"#),
        }),
        ..Default::default()
    })
}

/// `app`, for everything else.
pub fn app(visit: &Visit, rng: &mut Rng) -> Option<m::App> {
    let outlet = &visit.outlet;
    let bundle = bundle(visit);
    (!visit.on_site()).then(|| m::App {
        id: some((700_000 + outlet.rank * 7).to_string()),
        name: visit.maybe(88, rng, |_| outlet.name.as_str()),
        domain: visit.maybe(55, rng, |_| outlet.domain.as_str()),
        cat: categories(visit),
        cattax: visit.newer_taxonomy().then_some(7),
        ver: visit.maybe(70, rng, version),
        storeurl: visit.maybe(82, rng, |_| store_url(visit, &bundle)),
        bundle: some(bundle),
        privacypolicy: visit.maybe(60, rng, |_| true),
        paid: visit.maybe(50, rng, |_| false),
        keywords: visit.maybe(28, rng, |rng| visit.outlet.topic.keywords(rng)),
        inventorypartnerdomain: partner(visit, rng),
        publisher: some(publisher(visit, rng)),
        content: stream_content(visit, rng).map(Into::into),
        ..Default::default()
    })
}

fn partner(visit: &Visit, rng: &mut Rng) -> Option<String> {
    if visit.scene == Scene::Television {
        return visit.maybe(25, rng, |_| visit.outlet.publisher.domain.as_str());
    }
    None
}

fn categories(visit: &Visit) -> Vec<String> {
    let topic = visit.outlet.topic;
    let cats = if visit.newer_taxonomy() {
        topic.cats_v3
    } else {
        topic.cats
    };
    cats.iter().map(|cat| (*cat).to_owned()).collect()
}

fn publisher(visit: &Visit, rng: &mut Rng) -> m::Publisher {
    let publisher = &visit.outlet.publisher;
    m::Publisher {
        id: some(publisher.id.as_str()),
        name: visit.maybe(72, rng, |_| publisher.name.as_str()),
        domain: visit.maybe(66, rng, |_| publisher.domain.as_str()),
        ..Default::default()
    }
}

const HEADLINES: [&str; 10] = [
    "what-we-know-so-far",
    "ten-things-to-try-this-weekend",
    "full-list-of-winners",
    "how-to-choose-the-right-one",
    "live-updates",
    "the-best-under-fifty",
    "explained",
    "a-guide-for-beginners",
    "why-prices-are-rising",
    "results-and-analysis",
];

fn page(visit: &Visit, rng: &mut Rng) -> String {
    let domain = &visit.outlet.domain;
    let section = visit.outlet.topic.name;
    if rng.percent(12) {
        return format!("https://www.{domain}/");
    }
    let headline = rng.one_of(&HEADLINES);
    let number = rng.between(100_000, 9_999_999);
    let query = match rng.between(0, 5) {
        0 => "?utm_source=newsletter&utm_medium=email",
        1 => "?page=2",
        _ => "",
    };
    format!("https://www.{domain}/{section}/2026/11/{headline}-{number}.html{query}")
}

fn referrer(visit: &Visit, rng: &mut Rng) -> String {
    match rng.between(0, 3) {
        0 => "https://search.example/".to_owned(),
        1 => "https://social.example/feed".to_owned(),
        2 => "https://news-reader.example/".to_owned(),
        _ => format!(
            "https://www.{}/{}",
            visit.outlet.domain, visit.outlet.topic.name
        ),
    }
}

fn version(rng: &mut Rng) -> String {
    format!(
        "{}.{}.{}",
        rng.between(1, 12),
        rng.between(0, 30),
        rng.between(0, 9)
    )
}

/// Numbers in Apple's and Roku's stores, reversed domains in the others.
fn bundle(visit: &Visit) -> String {
    let outlet = &visit.outlet;
    match visit.model.os {
        "iOS" | "tvOS" => (1_000_000_000 + outlet.rank * 104_729).to_string(),
        "Roku OS" => (20_000 + outlet.rank * 37).to_string(),
        "Tizen" => format!("G{}", 15_000_000_000_u64 + outlet.rank * 977),
        _ => format!("com.example.{}", slug(&outlet.name)),
    }
}

fn store_url(visit: &Visit, bundle: &str) -> String {
    match visit.model.os {
        "iOS" | "tvOS" => format!("https://apps.example/us/app/id{bundle}"),
        "Roku OS" => format!("https://channelstore.example/details/{bundle}"),
        _ => format!("https://play.example/store/apps/details?id={bundle}"),
    }
}

/// The article or the clip on a page.
fn page_content(visit: &Visit, rng: &mut Rng) -> Option<m::Content> {
    let share = if visit.scene == Scene::WebVideo {
        60
    } else {
        14
    };
    visit.tells(share, rng).then(|| m::Content {
        id: visit.maybe(55, rng, |rng| ids::hex(16, rng)),
        title: visit.maybe(55, rng, title),
        language: visit.maybe(85, rng, |_| visit.place.language),
        context: some(if visit.scene == Scene::WebVideo { 1 } else { 5 }),
        len: if visit.scene == Scene::WebVideo {
            visit.maybe(70, rng, |rng| rng.between(15, 900))
        } else {
            None
        },
        keywords: visit.maybe(40, rng, |rng| visit.outlet.topic.keywords(rng)),
        embeddable: visit.maybe(20, rng, |_| true),
        ..with_categories(visit, rng)
    })
}

/// The programme, the song or the episode of a stream; nothing for other apps.
fn stream_content(visit: &Visit, rng: &mut Rng) -> Option<m::Content> {
    match visit.outlet.kind {
        Kind::Channel => Some(programme(visit, rng)),
        Kind::Station => Some(recording(visit, rng)),
        Kind::Site | Kind::App => None,
    }
}

/// Half of the content is told what it is about.
fn with_categories(visit: &Visit, rng: &mut Rng) -> m::Content {
    if !visit.tells(50, rng) {
        return m::Content::default();
    }
    let cattax = visit.newer_taxonomy().then_some(7);
    m::Content {
        cat: categories(visit),
        cattax,
        ..Default::default()
    }
}

fn programme(visit: &Visit, rng: &mut Rng) -> m::Content {
    let live = rng.percent(28);
    m::Content {
        id: visit.maybe(75, rng, |rng| ids::hex(12, rng)),
        title: visit.maybe(78, rng, title),
        series: visit.maybe(55, rng, series),
        season: visit.maybe(45, rng, |rng| format!("Season {}", rng.between(1, 12))),
        episode: visit.maybe(45, rng, |rng| rng.between(1, 24)),
        genre: visit.maybe(70, rng, |rng| rng.one_of(visit.outlet.topic.words)),
        genres: visit
            .maybe(20, rng, |_| vec!["641".to_owned(), "646".to_owned()])
            .unwrap_or_default(),
        contentrating: visit.maybe(65, rng, |rng| {
            rng.one_of(&["TV-PG", "TV-14", "TV-G", "TV-MA"])
        }),
        livestream: visit.maybe(80, rng, |_| live),
        len: if live {
            None
        } else {
            visit.maybe(75, rng, |rng| rng.between(600, 7200))
        },
        language: visit.maybe(80, rng, |_| visit.place.language),
        context: visit.maybe(60, rng, |_| 1),
        prodq: visit.maybe(50, rng, |_| 1),
        qagmediarating: visit.maybe(35, rng, |rng| rng.between(1, 3)),
        producer: visit.maybe(25, rng, |_| producer(visit)),
        network: visit.maybe(52, rng, |_| network(visit)),
        channel: visit.maybe(52, rng, |_| channel(visit)),
        ..with_categories(visit, rng)
    }
}

fn producer(visit: &Visit) -> m::Producer {
    let publisher = &visit.outlet.publisher;
    m::Producer {
        name: some(publisher.name.as_str()),
        domain: some(publisher.domain.as_str()),
        ..Default::default()
    }
}

fn network(visit: &Visit) -> m::Network {
    let publisher = &visit.outlet.publisher;
    m::Network {
        name: some(publisher.name.as_str()),
        domain: some(publisher.domain.as_str()),
        ..Default::default()
    }
}

fn channel(visit: &Visit) -> m::Channel {
    m::Channel {
        name: some(visit.outlet.name.as_str()),
        ..Default::default()
    }
}

fn recording(visit: &Visit, rng: &mut Rng) -> m::Content {
    let talk = visit.outlet.topic.name == "talk";
    m::Content {
        id: visit.maybe(70, rng, |rng| ids::hex(12, rng)),
        title: visit.maybe(80, rng, title),
        series: if talk {
            visit.maybe(80, rng, series)
        } else {
            None
        },
        episode: if talk {
            visit.maybe(60, rng, |rng| rng.between(1, 400))
        } else {
            None
        },
        artist: if talk {
            None
        } else {
            visit.maybe(70, rng, |rng| rng.one_of(&ARTISTS))
        },
        album: if talk {
            None
        } else {
            visit.maybe(50, rng, title)
        },
        isrc: if talk {
            None
        } else {
            visit.maybe(25, rng, |rng| format!("QZ-EX1-26-{:05}", rng.below(99_999)))
        },
        genre: visit.maybe(75, rng, |rng| rng.one_of(visit.outlet.topic.words)),
        len: visit.maybe(65, rng, |rng| {
            if talk {
                rng.between(600, 5400)
            } else {
                rng.between(140, 420)
            }
        }),
        language: visit.maybe(85, rng, |_| visit.place.language),
        context: some(if talk { 4 } else { 3 }),
        livestream: visit.maybe(60, rng, |rng| rng.percent(25)),
        contentrating: visit.maybe(30, rng, |rng| rng.one_of(&["clean", "explicit"])),
        url: visit.maybe(40, rng, |rng| {
            format!("https://{}/play/{}", visit.outlet.domain, rng.below(99_999))
        }),
        ..with_categories(visit, rng)
    }
}

const ARTISTS: [&str; 6] = [
    "The Examples",
    "Björn & the Tests",
    "MC Placeholder",
    "Sigur Rósa",
    "Lorem",
    "Ipsum Choir",
];

/// Titles as editors write them: accents, quotation marks and other alphabets included.
const TITLES: [&str; 14] = [
    "The Long Way Home",
    "A Night at the \"Grand\"",
    "Café of Broken Clocks",
    "Kitchen Wars: The Final",
    "Matchday Live",
    "Mañana será otro día",
    "Die Brücke über den Fluß",
    "夜明けの列車",
    "Evening News at Six",
    "Wild Coast: Whales & Waves",
    "Back\\Slash",
    "The Quiet Neighbour",
    "Summer, Again",
    "L’été à la campagne",
];

fn title(rng: &mut Rng) -> String {
    let title = rng.one_of(&TITLES);
    if rng.percent(30) {
        format!("{title}, Part {}", rng.between(2, 9))
    } else {
        title.to_owned()
    }
}

fn series(rng: &mut Rng) -> &'static str {
    rng.one_of(&[
        "Harbour Lights",
        "City Beat",
        "Home Cooks",
        "Tales of the North",
        "Inside Out",
    ])
}
