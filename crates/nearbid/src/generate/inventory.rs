//! What the generated traffic asks to fill: sites, apps and channels, their publishers, pages,
//! programmes and deals.
//!
//! They are a fixed world, the same for every seed: a seed picks visits, not the web. An outlet is
//! computed from its rank, so nothing is stored, and what belongs to it (language, categories,
//! publisher, deals) comes out the same at each visit.

use super::rng::Rng;

/// Sites that are visited.
pub const SITES: u64 = 2000;
/// Mobile apps that are used.
pub const APPS: u64 = 1200;
/// Television apps.
pub const CHANNELS: u64 = 120;
/// Audio apps and stations.
pub const STATIONS: u64 = 150;
/// Deals that publishers offer.
pub const DEALS: u64 = 300;

/// Kinds of outlet, each with ranks of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// A web site.
    #[default]
    Site,
    /// An app on a phone or a tablet.
    App,
    /// An app on a television.
    Channel,
    /// An app or a site that plays audio.
    Station,
}

/// A site or an app.
#[derive(Clone, Debug)]
pub struct Outlet {
    /// What it is.
    pub kind: Kind,
    /// Its place among those of its kind, the most visited first.
    pub rank: u64,
    /// Name as people read it.
    pub name: String,
    /// Domain, under `.example`.
    pub domain: String,
    /// What it is about.
    pub topic: Topic,
    /// Account that sells it.
    pub publisher: Publisher,
    /// Where pages are kept small or full: how many optional fields are sent, 0..=100.
    pub detail: u32,
}

/// A publisher's account with the exchange.
#[derive(Clone, Debug)]
pub struct Publisher {
    /// Account.
    pub id: String,
    /// Company.
    pub name: String,
    /// Domain, under `.example`.
    pub domain: String,
}

/// A subject: its name, IAB content categories (taxonomies 1 and 7), and words.
#[derive(Clone, Copy, Debug, Default)]
pub struct Topic {
    /// Name of the section.
    pub name: &'static str,
    /// Categories of IAB Content Taxonomy 1.0.
    pub cats: &'static [&'static str],
    /// Categories of IAB Content Taxonomy 3.0.
    pub cats_v3: &'static [&'static str],
    /// Keywords.
    pub words: &'static [&'static str],
}

impl Topic {
    /// Some of its words, separated by commas.
    pub fn keywords(&self, rng: &mut Rng) -> String {
        let count = rng.between(2, 4) as usize;
        rng.some_of(self.words, count).join(",")
    }
}

/// The outlet of a rank.
pub fn outlet(kind: Kind, rank: u64) -> Outlet {
    let rng = &mut Rng::new(&[0x6f75_746c_6574, kind as u64, rank]);
    let name = name(kind, rank);
    let domain = format!("{}.example", slug(&name));
    let detail = rng.between(0, 100) as u32;
    let topic = topic(kind, rng);
    let publisher = publisher(&name, &domain, rng);
    Outlet {
        kind,
        rank,
        name,
        domain,
        topic,
        publisher,
        detail,
    }
}

/// Names are made of two words; with more outlets than pairs a number is added.
fn name(kind: Kind, rank: u64) -> String {
    let (first, second) = match kind {
        Kind::Site => (FIRST_WORDS, SITE_WORDS),
        Kind::App => (FIRST_WORDS, APP_WORDS),
        Kind::Channel => (FIRST_WORDS, CHANNEL_WORDS),
        Kind::Station => (FIRST_WORDS, STATION_WORDS),
    };
    let (firsts, seconds) = (first.len() as u64, second.len() as u64);
    // Neighbours in rank should not share a word.
    let pair = rank.wrapping_mul(31) % (firsts * seconds);
    let word =
        |table: &[&'static str], at: u64| table.get(at as usize).copied().unwrap_or_default();
    let name = format!(
        "{} {}",
        word(first, pair % firsts),
        word(second, pair / firsts)
    );
    match rank / (firsts * seconds) {
        0 => name,
        lap => format!("{name} {}", lap + 1),
    }
}

/// `name` as a part of a domain or a bundle: lower case, without spaces.
pub fn slug(name: &str) -> String {
    name.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect()
}

/// Half of the outlets belong to one of forty companies, the others to themselves.
fn publisher(name: &str, domain: &str, rng: &mut Rng) -> Publisher {
    if rng.percent(50) {
        let company = rng.below(40);
        let first = FIRST_WORDS
            .get(company as usize)
            .copied()
            .unwrap_or_default();
        return Publisher {
            id: format!("{}", 10_000 + company * 37),
            name: format!("{first} Media Group"),
            domain: format!("{}media.example", slug(first)),
        };
    }
    Publisher {
        id: format!("{}", 100_000 + rng.below(900_000)),
        name: name.to_owned(),
        domain: domain.to_owned(),
    }
}

fn topic(kind: Kind, rng: &mut Rng) -> Topic {
    match kind {
        Kind::Site => rng.weighted(SITE_TOPICS),
        Kind::App => rng.weighted(APP_TOPICS),
        Kind::Channel => rng.weighted(CHANNEL_TOPICS),
        Kind::Station => rng.weighted(STATION_TOPICS),
    }
}

/// What a publisher offers to some buyers only.
#[derive(Clone, Debug)]
pub struct Deal {
    /// `deal.id`.
    pub id: String,
    /// 1 first price, 2 second price, 3 the floor is the price.
    pub at: i32,
    /// Floor in percent of the open market's.
    pub floor_percent: i32,
    /// Seats that may bid; empty: any.
    pub wseat: Vec<&'static str>,
    /// Advertisers that may be shown; empty: any.
    pub wadomain: Vec<&'static str>,
    /// Whether the impressions are guaranteed.
    pub guaranteed: bool,
}

/// The deal of a rank.
pub fn deal(rank: u64) -> Deal {
    let rng = &mut Rng::new(&[0x6465_616c, rank]);
    let curated = rng.percent(40);
    let id = if rank == EXAMPLE_DEAL {
        "north-bank-2026".to_owned()
    } else if curated {
        format!(
            "CUR-{:05}-{}",
            10_000 + rank * 7,
            rng.text(b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789", 6)
        )
    } else {
        format!("nbx-{:06}", 240_000 + rank * 13)
    };
    let seats = rng.weighted(&[(60, 0), (25, 2), (15, 4)]);
    let advertisers = rng.weighted(&[(90, 0), (10, 3)]);
    Deal {
        id,
        at: rng.weighted(&[(60, 1), (5, 2), (35, 3)]),
        floor_percent: rng.between(110, 260),
        wseat: rng.some_of(SEATS, seats),
        wadomain: rng.some_of(ADVERTISERS, advertisers),
        guaranteed: rng.percent(6),
    }
}

/// The rank of the deal that an example line item buys through.
const EXAMPLE_DEAL: u64 = 1;

/// Buyers' seats, the example line items' among them.
pub const SEATS: &[&str] = &[
    "long-run",
    "north-bank",
    "roast-house",
    "seat-104",
    "seat-19",
    "seat-233",
    "seat-7",
    "tiny-planet",
];

/// Advertisers that publishers allow or block, the example line items' among them.
pub const ADVERTISERS: &[&str] = &[
    "acme-motors.example",
    "bluebird-air.example",
    "casino-royal.example",
    "cloudbank.example",
    "crunchy-snacks.example",
    "dietpills.example",
    "evergreen-energy.example",
    "fastloans.example",
    "fizzy-drinks.example",
    "freshmart.example",
    "home-and-hearth.example",
    "long-run.example",
    "luckyspin.example",
    "mobile-planet.example",
    "north-bank.example",
    "northwind-outdoor.example",
    "payday-now.example",
    "poker-palace.example",
    "quickslots.example",
    "rival-news.example",
    "roast-house.example",
    "sneaker-hub.example",
    "streamflix.example",
    "sunny-travel.example",
    "tiny-planet.example",
    "vapeworld.example",
    "wager-zone.example",
    "wellness-box.example",
];

/// Categories of advertisers that publishers often block (IAB Content Taxonomy 1.0).
pub const BLOCKED_CATS: &[&str] = &[
    "IAB7-39", "IAB8-5", "IAB8-18", "IAB9-9", "IAB11-4", "IAB14-1", "IAB17-18", "IAB19-3", "IAB23",
    "IAB24", "IAB25", "IAB25-2", "IAB25-3", "IAB25-7", "IAB26", "IAB26-1",
];

/// Apps that publishers do not want to see advertised.
pub const BLOCKED_APPS: &[&str] = &[
    "com.example.luckyspin",
    "com.example.pokerpalace",
    "com.example.rivalnews",
    "com.example.quickslots",
    "1234567890",
    "987654321",
];

#[rustfmt::skip]
const FIRST_WORDS: &[&str] = &[
    "Daily", "Morning", "Silver", "Urban", "Global", "Bright", "Northern", "Coastal", "Golden", "Rapid",
    "Modern", "Open", "Quiet", "Royal", "Simple", "True", "Velvet", "Western", "Young", "Zen",
    "Amber", "Bold", "Clear", "Deep", "Early", "First", "Grand", "Happy", "Inner", "Jolly",
    "Keen", "Lunar", "Maple", "Noble", "Ocean", "Prime", "Quick", "River", "Solar", "Tiny",
];
#[rustfmt::skip]
const SITE_WORDS: &[&str] = &[
    "Ledger", "Post", "Herald", "Recipes", "Scores", "Tech", "Garden", "Finance", "Travel", "Weather",
    "Health", "Autos", "Cinema", "Parenting", "Gazette", "Review", "Forum", "Kitchen", "Homes", "Style",
    "Games", "Science", "Pets", "Careers", "Deals", "Times", "Tribune", "Journal", "Insider", "Wiki",
    "Jobs", "Maps", "Lyrics", "Trails", "Fitness", "History", "Crafts", "Gadgets", "Markets", "Campus",
    "Football", "Cycling", "Cars", "Beauty", "Books", "Dating", "Comics", "Quotes", "Courses", "Law",
];
#[rustfmt::skip]
const APP_WORDS: &[&str] = &[
    "Blocks", "Puzzle", "Solitaire", "Runner", "Crush", "Farm", "Weather", "Scanner", "Keyboard", "Racing",
    "Chess", "Words", "Merge", "Sudoku", "Fitness", "Notes", "Chat", "Camera", "Player", "News",
    "Recipes", "Bubble", "Jewels", "Tycoon", "Defense", "Dash", "Calendar", "Compass", "Quiz", "Wallet",
];
const CHANNEL_WORDS: &[&str] = &[
    "TV", "Movies", "Stream", "Sports", "Kids", "News", "Cinema", "Network",
];
const STATION_WORDS: &[&str] = &["Radio", "Podcasts", "FM", "Tunes", "Beats", "Talk"];

#[rustfmt::skip]
const SITE_TOPICS: &[(u32, Topic)] = &[
    (22, Topic { name: "news", cats: &["IAB12", "IAB12-2"], cats_v3: &["379", "385"], words: &["news", "politics", "local", "elections", "economy"] }),
    (14, Topic { name: "sports", cats: &["IAB17", "IAB17-12"], cats_v3: &["483", "533"], words: &["football", "results", "league", "transfers"] }),
    (10, Topic { name: "technology", cats: &["IAB19", "IAB19-6"], cats_v3: &["596", "599"], words: &["phones", "laptops", "reviews", "ai"] }),
    (9, Topic { name: "food", cats: &["IAB8", "IAB8-1"], cats_v3: &["210", "216"], words: &["recipes", "dinner", "baking", "quick meals"] }),
    (8, Topic { name: "finance", cats: &["IAB13", "IAB13-7"], cats_v3: &["391", "411"], words: &["stocks", "savings", "mortgage", "pensions"] }),
    (8, Topic { name: "entertainment", cats: &["IAB1", "IAB1-5"], cats_v3: &["JLBCU7", "324"], words: &["film", "series", "celebrities", "trailers"] }),
    (7, Topic { name: "health", cats: &["IAB7", "IAB7-1"], cats_v3: &["223", "226"], words: &["exercise", "sleep", "nutrition"] }),
    (6, Topic { name: "travel", cats: &["IAB20", "IAB20-18"], cats_v3: &["653", "665"], words: &["flights", "hotels", "beaches", "city breaks"] }),
    (6, Topic { name: "automotive", cats: &["IAB2", "IAB2-10"], cats_v3: &["1", "22"], words: &["cars", "electric", "used cars", "test drive"] }),
    (5, Topic { name: "home", cats: &["IAB10", "IAB10-3"], cats_v3: &["274", "278"], words: &["diy", "garden", "interiors"] }),
    (3, Topic { name: "weather", cats: &["IAB15", "IAB15-10"], cats_v3: &["390"], words: &["forecast", "radar", "storm"] }),
    (2, Topic { name: "society", cats: &["IAB14", "IAB14-2"], cats_v3: &["186", "191"], words: &["parents", "dating", "family"] }),
];
#[rustfmt::skip]
const APP_TOPICS: &[(u32, Topic)] = &[
    (55, Topic { name: "games", cats: &["IAB9", "IAB9-30"], cats_v3: &["680", "685"], words: &["casual", "puzzle", "free games"] }),
    (12, Topic { name: "utilities", cats: &["IAB19", "IAB19-18"], cats_v3: &["596", "602"], words: &["tools", "productivity"] }),
    (10, Topic { name: "weather", cats: &["IAB15", "IAB15-10"], cats_v3: &["390"], words: &["forecast", "radar"] }),
    (9, Topic { name: "news", cats: &["IAB12"], cats_v3: &["379"], words: &["headlines", "alerts"] }),
    (8, Topic { name: "social", cats: &["IAB14", "IAB24"], cats_v3: &["186"], words: &["chat", "friends"] }),
    (6, Topic { name: "fitness", cats: &["IAB7", "IAB17-16"], cats_v3: &["223", "225"], words: &["workout", "steps", "running"] }),
];
#[rustfmt::skip]
const CHANNEL_TOPICS: &[(u32, Topic)] = &[
    (40, Topic { name: "movies", cats: &["IAB1-5"], cats_v3: &["324", "325"], words: &["drama", "comedy", "thriller"] }),
    (25, Topic { name: "sports", cats: &["IAB17"], cats_v3: &["483"], words: &["live", "league", "highlights"] }),
    (20, Topic { name: "news", cats: &["IAB12"], cats_v3: &["379"], words: &["live", "politics"] }),
    (15, Topic { name: "lifestyle", cats: &["IAB8", "IAB10"], cats_v3: &["210", "274"], words: &["cooking", "homes", "travel"] }),
];
#[rustfmt::skip]
const STATION_TOPICS: &[(u32, Topic)] = &[
    (55, Topic { name: "music", cats: &["IAB1-6"], cats_v3: &["338", "339"], words: &["hits", "rock", "hip hop"] }),
    (45, Topic { name: "talk", cats: &["IAB12", "IAB1"], cats_v3: &["379", "JLBCU7"], words: &["podcast", "interviews", "true crime"] }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlets_of_a_kind_have_different_domains() {
        for (kind, count) in [
            (Kind::Site, SITES),
            (Kind::App, APPS),
            (Kind::Channel, CHANNELS),
            (Kind::Station, STATIONS),
        ] {
            let domains: std::collections::BTreeSet<String> =
                (0..count).map(|rank| outlet(kind, rank).domain).collect();
            assert_eq!(domains.len() as u64, count, "{kind:?}");
        }
    }

    #[test]
    fn deals_have_different_ids() {
        let ids: std::collections::BTreeSet<String> =
            (0..DEALS).map(|rank| deal(rank).id).collect();
        assert_eq!(ids.len() as u64, DEALS);
    }
}
