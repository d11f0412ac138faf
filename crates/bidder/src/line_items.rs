//! The line items file: a JSON array, or one object a line (`docs/decisions.md`, "Line items").
//!
//! Every fault is reported at once and nothing is loaded when there is any. What the file format
//! allows is also in `schema/line-item.schema.json`, for editors and other programs.

use std::collections::HashMap;
use std::path::Path;

use engine::{
    BudgetCeilings, Catalog, Categories, Chosen, Creative, Hours, Inventory, LineItem, Numbers,
    OsTarget, Places, Status, Targeting, Timestamp, Version, VideoSize,
};
use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use openrtb::{Channel, Country, DeviceType, MediaType, Micros};

use crate::domain;
use crate::fault::{self, Faults, Sink};
use crate::json::{Entries, Entry, Fields, Found, Piece};

/// The longest line items file, in bytes.
pub const LINE_ITEMS_FILE_BYTES_MAX: u64 = 4 << 30;

/// The longest `id`, in bytes.
pub const ID_BYTES_MAX: usize = 64;

/// The keys of a line item, then of its parts. The schema has the same ones.
pub(crate) const LINE_ITEM_KEYS: &[&str] = &[
    "id",
    "seat",
    "status",
    "start",
    "end",
    "adomain",
    "cat",
    "cattax",
    "bundle",
    "cpm",
    "budget",
    "targeting",
    "creatives",
];
pub(crate) const BUDGET_KEYS: &[&str] = &["total", "daily"];
pub(crate) const TARGETING_KEYS: &[&str] = &[
    "deals",
    "countries",
    "device_types",
    "video_size",
    "places",
    "os",
    "channels",
    "inventory",
    "publishers",
    "categories",
    "languages",
    "connection_types",
    "hours",
    "positions",
    "plcmts",
    "interstitial",
    "rewarded",
];
pub(crate) const CHOSEN_KEYS: &[&str] = &["include", "exclude"];
pub(crate) const CATEGORIES_KEYS: &[&str] = &["cattax", "include", "exclude"];
pub(crate) const PLACES_KEYS: &[&str] = &["regions", "cities", "metros"];
pub(crate) const INVENTORY_KEYS: &[&str] = &["domains", "bundles"];
pub(crate) const OS_KEYS: &[&str] = &["name", "min_version", "max_version"];
pub(crate) const HOURS_KEYS: &[&str] = &["days", "from", "to"];
/// The days of a week, as `hours` names them.
pub(crate) const DAYS: &[&str] = &["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
pub(crate) const VIDEO_SIZE_KEYS: &[&str] = &["min_w", "min_h", "max_w", "max_h"];
pub(crate) const CREATIVE_KEYS: &[&str] = &[
    "id", "type", "w", "h", "duration", "mime", "protocol", "apis", "attr", "secure", "adm",
];

/// Reads the line items of a file.
///
/// # Errors
/// Every fault of the file, with its place.
pub fn read(file: &Path) -> Result<Vec<LineItem>, Faults> {
    parse(file, &fault::read(file, LINE_ITEMS_FILE_BYTES_MAX)?)
}

/// Reads line items from text; `file` is for the faults.
///
/// # Errors
/// As [`read`].
pub fn parse(file: &Path, text: &str) -> Result<Vec<LineItem>, Faults> {
    let sink = Sink::default();
    let mut items = Vec::new();
    let mut lines_by_id = HashMap::new();
    for found in Entries::new(Piece::whole(text)) {
        match found {
            Found::Entry(piece) => {
                items.extend(read_entry(Entry::new(piece, &sink), &mut lines_by_id));
            }
            Found::Misplaced(piece, due) => {
                let problem = format!("is {:?}", fault::shown(piece.text));
                Entry::new(piece, &sink).fault(0, "what follows", problem, due);
            }
        }
        if items.len() > Catalog::LINE_ITEMS_MAX {
            let problem = "there are too many line items".to_owned();
            let allowed = format!("at most {}", Catalog::LINE_ITEMS_MAX);
            Entry::new(Piece::whole(""), &sink).fault(0, "", problem, &allowed);
            break;
        }
    }
    sink.finish(file, items)
}

/// Reads one line item; `lines_by_id` knows the lines of the ids before it.
fn read_entry(mut entry: Entry<'_>, lines_by_id: &mut HashMap<String, usize>) -> Option<LineItem> {
    let value = entry.parse()?;
    let Some(object) = value.as_object() else {
        let problem = format!("{} is no line item", entry.written(&value));
        entry.fault(value.start(), "", problem, "an object");
        return None;
    };
    entry.line_item = object.get_string("id").map(|id| fault::shown(&id.value));
    let fields = Fields::new(&entry, object, String::new(), "a line item", LINE_ITEM_KEYS);
    let item = read_line_item(&fields)?;
    if let Some(line) = lines_by_id.insert(item.id.clone(), entry.piece.line) {
        let problem = format!("is also the id of the line item in line {line}");
        entry.fault(value.start(), "id", problem, "each id once");
    }
    Some(item)
}

/// `None` where a required key is missing or refused; the faults are already taken in.
fn read_line_item(fields: &Fields<'_, '_>) -> Option<LineItem> {
    let id = fields.required("id", "a string of 1 to 64 bytes", id);
    let seat = fields.optional("seat", NON_EMPTY, text);
    let status = fields.optional("status", "\"active\" or \"paused\"", status);
    let start = fields.optional("start", RFC_3339, moment);
    let end = fields.optional("end", RFC_3339, moment);
    let adomain = read_adomain(fields);
    let cat = fields.list("cat", NON_EMPTY, text);
    let cattax = fields.optional("cattax", INTEGER, integer);
    let bundle = fields.optional("bundle", NON_EMPTY, text);
    let cpm = fields.required("cpm", "a decimal above 0 with at most 6 decimals", price);
    let budget = fields.object("budget", BUDGET_KEYS).map(read_budget);
    let targeting = fields.object("targeting", TARGETING_KEYS);
    let targeting = targeting.map(read_targeting);
    let creatives = read_creatives(fields);
    Some(LineItem {
        id: id?,
        seat: seat.unwrap_or_else(|| "default".to_owned()),
        status: status.unwrap_or_default(),
        start,
        end,
        adomain,
        cat,
        cattax: cattax.unwrap_or(1),
        bundle,
        cpm: cpm?,
        budget: budget.unwrap_or_default(),
        targeting: targeting.unwrap_or_default(),
        creatives,
    })
}

fn read_adomain(fields: &Fields<'_, '_>) -> Vec<String> {
    const LIST: &str = "an array of at least one domain";
    match fields.value("adomain") {
        None => fields.missing("adomain", LIST),
        Some(value) if is_empty_array(value) => fields.fault("adomain", value, LIST),
        Some(_) => {}
    }
    fields.list("adomain", "a domain such as brand.example", |value| {
        text(value).filter(|text| domain::is_valid(text))
    })
}

fn read_budget(fields: Fields<'_, '_>) -> BudgetCeilings {
    const CEILING: &str = "a decimal of 0 or above with at most 6 decimals";
    BudgetCeilings {
        total: fields.optional("total", CEILING, ceiling),
        daily: fields.optional("daily", CEILING, ceiling),
    }
}

fn read_targeting(fields: Fields<'_, '_>) -> Targeting {
    let fields = &fields;
    let video_size = fields.object("video_size", VIDEO_SIZE_KEYS);
    Targeting {
        deals: fields.list("deals", NON_EMPTY, text),
        countries: fields.list("countries", "an alpha-3 code of ISO 3166-1", country),
        device_types: fields.list("device_types", "an integer from 1 to 8", |value| {
            DeviceType::new(i64::from(integer(value)?))
        }),
        video_size: video_size.map(read_video_size).unwrap_or_default(),
        places: read_chosen(fields, "places", read_places),
        os: read_os(fields),
        channels: read_channels(fields),
        inventory: read_chosen(fields, "inventory", read_inventory),
        publishers: read_chosen(fields, "publishers", read_texts),
        categories: read_categories(fields),
        languages: read_chosen(fields, "languages", read_texts),
        connection_types: numbers(fields, "connection_types", Targeting::CONNECTION_TYPE_MAX),
        hours: read_hours(fields),
        positions: numbers(fields, "positions", Targeting::POSITION_MAX),
        plcmts: numbers(fields, "plcmts", Targeting::PLCMT_MAX),
        interstitial: fields.optional("interstitial", "true or false", boolean),
        rewarded: fields.optional("rewarded", "true or false", boolean),
    }
}

/// What is included and excluded at a key; `read` reads one of the two, at a key of the fields it
/// is given.
fn read_chosen<T: Default + PartialEq>(
    fields: &Fields<'_, '_>,
    key: &str,
    read: impl Fn(&Fields<'_, '_>, &str) -> T,
) -> Option<Box<Chosen<T>>> {
    let fields = fields.object(key, CHOSEN_KEYS)?;
    chosen(&fields, read).map(Box::new)
}

/// `include` and `exclude` of an object. Nothing chosen takes no room.
fn chosen<T: Default + PartialEq>(
    fields: &Fields<'_, '_>,
    read: impl Fn(&Fields<'_, '_>, &str) -> T,
) -> Option<Chosen<T>> {
    let chosen = Chosen {
        include: read(fields, "include"),
        exclude: read(fields, "exclude"),
    };
    (chosen != Chosen::default()).then_some(chosen)
}

fn read_texts(fields: &Fields<'_, '_>, key: &str) -> Vec<String> {
    fields.short_list(key, SHORT, short)
}

fn read_places(fields: &Fields<'_, '_>, key: &str) -> Places {
    let Some(fields) = fields.object(key, PLACES_KEYS) else {
        return Places::default();
    };
    Places {
        regions: read_texts(&fields, "regions"),
        cities: read_texts(&fields, "cities"),
        metros: read_texts(&fields, "metros"),
    }
}

fn read_inventory(fields: &Fields<'_, '_>, key: &str) -> Inventory {
    let Some(fields) = fields.object(key, INVENTORY_KEYS) else {
        return Inventory::default();
    };
    Inventory {
        domains: fields.short_list("domains", "a domain such as news.example", |value| {
            short(value).filter(|text| domain::is_valid(text))
        }),
        bundles: read_texts(&fields, "bundles"),
    }
}

fn read_categories(fields: &Fields<'_, '_>) -> Option<Box<Categories>> {
    let fields = &fields.object("categories", CATEGORIES_KEYS)?;
    let cattax = fields.optional("cattax", INTEGER, integer).unwrap_or(1);
    let chosen = chosen(fields, read_texts)?;
    Some(Box::new(Categories { cattax, chosen }))
}

fn read_os(fields: &Fields<'_, '_>) -> Box<[OsTarget]> {
    const VERSION: &str = "a version such as \"14.2\": up to four numbers of at most 65535";
    let entries = fields.objects("os", "os", OS_KEYS);
    let read = |fields: &Fields<'_, '_>| {
        let name = fields.required("name", SHORT, short);
        let min_version = fields.optional("min_version", VERSION, version);
        let max_version = fields.optional("max_version", VERSION, version);
        Some(OsTarget {
            name: name?,
            min_version,
            max_version,
        })
    };
    entries.iter().filter_map(read).collect()
}

fn read_channels(fields: &Fields<'_, '_>) -> Numbers {
    let channels = fields.list("channels", "\"site\", \"app\" or \"dooh\"", |value| {
        let name = &value.as_string_lit()?.value;
        Channel::ALL.into_iter().find(|of| of.name() == name)
    });
    channels
        .into_iter()
        .fold(Numbers::default(), Numbers::with_channel)
}

/// A list of numbers from 1 to `max`.
fn numbers(fields: &Fields<'_, '_>, key: &str, max: u8) -> Numbers {
    let numbers = fields.list(key, &format!("an integer from 1 to {max}"), |value| {
        let number = u8::try_from(integer(value)?).ok()?;
        (1..=max).contains(&number).then_some(number)
    });
    numbers.into_iter().fold(Numbers::default(), Numbers::with)
}

fn read_hours(fields: &Fields<'_, '_>) -> Hours {
    let entries = fields.objects("hours", "hours", HOURS_KEYS);
    entries.iter().fold(Hours::default(), |hours, fields| {
        let mut days = fields.list("days", "mon, tue, wed, thu, fri, sat or sun", day);
        if days.is_empty() {
            days.extend(0..DAYS.len());
        }
        let hour = |value| u8::try_from(integer(value)?).ok();
        let from = fields.optional("from", "an integer from 0 to 23", |value| {
            hour(value).filter(|from| *from < 24)
        });
        let from = from.unwrap_or(0);
        let allowed = "an integer from 1 to 24, above `from`";
        let to = fields.optional("to", allowed, |value| {
            hour(value).filter(|to| (from + 1..=24).contains(to))
        });
        let to = to.unwrap_or(24);
        days.into_iter()
            .fold(hours, |hours, day| hours.with(day, from, to))
    })
}

fn read_video_size(fields: Fields<'_, '_>) -> VideoSize {
    let bound = |key| fields.optional(key, "an integer from 0 to 2147483647", non_negative);
    VideoSize {
        min_w: bound("min_w"),
        min_h: bound("min_h"),
        max_w: bound("max_w"),
        max_h: bound("max_h"),
    }
}

fn read_creatives(fields: &Fields<'_, '_>) -> Vec<Creative> {
    const LIST: &str = "an array of at least one creative";
    match fields.value("creatives") {
        None => fields.missing("creatives", LIST),
        Some(value) if is_empty_array(value) => fields.fault("creatives", value, LIST),
        Some(_) => {}
    }
    fields
        .objects("creatives", "a creative", CREATIVE_KEYS)
        .iter()
        .filter_map(read_creative)
        .collect()
}

fn read_creative(fields: &Fields<'_, '_>) -> Option<Creative> {
    let id = fields.required("id", NON_EMPTY, text);
    let media = fields.required(
        "type",
        "\"banner\", \"video\", \"audio\" or \"native\"",
        media,
    );
    let creative = Creative {
        id: id.unwrap_or_default(),
        media: media.unwrap_or(MediaType::Native),
        w: fields.optional("w", SIZE, size),
        h: fields.optional("h", SIZE, size),
        duration: fields.optional("duration", SECONDS, non_negative),
        mime: fields.optional("mime", MIME, text),
        protocol: fields.optional("protocol", "an integer from 1 to 16", |value| {
            integer(value).filter(|protocol| (1..=16).contains(protocol))
        }),
        apis: fields.list("apis", INTEGER, integer),
        attr: fields.list("attr", INTEGER, integer),
        secure: fields
            .optional("secure", "true or false", boolean)
            .unwrap_or(true),
        adm: fields.required("adm", NON_EMPTY, text).unwrap_or_default(),
    };
    require_for_media(fields, media?);
    Some(creative)
}

/// Takes in which of the keys that this medium requires are missing.
fn require_for_media(fields: &Fields<'_, '_>, media: MediaType) {
    let required: &[(&str, &str)] = match media {
        MediaType::Banner => &[("w", SIZE), ("h", SIZE), ("mime", MIME)],
        MediaType::Video | MediaType::Audio => &[("duration", SECONDS), ("mime", MIME)],
        MediaType::Native => &[],
    };
    for (key, allowed) in required {
        if fields.value(key).is_none() {
            fields.missing(key, &format!("{allowed}; {} needs it", media.name()));
        }
    }
}

const NON_EMPTY: &str = "a string that is not empty";
const RFC_3339: &str = "a time of RFC 3339 such as 2026-12-01T00:00:00Z";
const INTEGER: &str = "an integer of 32 bits";
const SIZE: &str = "an integer from 1 to 2147483647";
const SECONDS: &str = "an integer from 0 to 2147483647, in seconds";
const SHORT: &str = "a string of 1 to 255 bytes that is not blank";
const MIME: &str = "a string that is not empty, such as video/mp4";

fn text(value: &Value<'_>) -> Option<String> {
    let text = &value.as_string_lit()?.value;
    (!text.is_empty()).then(|| text.to_string())
}

/// A text that a request's may be compared with.
fn short(value: &Value<'_>) -> Option<String> {
    let fits = |text: &String| text.len() <= Targeting::TEXT_BYTES_MAX && !text.trim().is_empty();
    text(value).filter(fits)
}

fn version(value: &Value<'_>) -> Option<Version> {
    Version::exactly(&value.as_string_lit()?.value)
}

fn day(value: &Value<'_>) -> Option<usize> {
    let name = &*value.as_string_lit()?.value;
    DAYS.iter().position(|day| *day == name)
}

fn id(value: &Value<'_>) -> Option<String> {
    text(value).filter(|id| id.len() <= ID_BYTES_MAX)
}

fn status(value: &Value<'_>) -> Option<Status> {
    match &*value.as_string_lit()?.value {
        "active" => Some(Status::Active),
        "paused" => Some(Status::Paused),
        _ => None,
    }
}

fn media(value: &Value<'_>) -> Option<MediaType> {
    let name = &value.as_string_lit()?.value;
    MediaType::ALL
        .into_iter()
        .find(|media| media.name() == name)
}

fn boolean(value: &Value<'_>) -> Option<bool> {
    Some(value.as_boolean_lit()?.value)
}

fn country(value: &Value<'_>) -> Option<Country> {
    Country::from_alpha3(&value.as_string_lit()?.value.to_ascii_uppercase())
}

fn decimal(value: &Value<'_>) -> Option<Micros> {
    Micros::parse(value.as_number_lit()?.value).ok()
}

fn price(value: &Value<'_>) -> Option<Micros> {
    decimal(value).filter(|price| *price > Micros::ZERO)
}

fn ceiling(value: &Value<'_>) -> Option<Micros> {
    decimal(value).filter(|ceiling| *ceiling >= Micros::ZERO)
}

/// An integer however it is spelled: `3`, `3.0`, `3e0`.
fn integer(value: &Value<'_>) -> Option<i32> {
    let Micros(micros) = decimal(value)?;
    let whole = micros % Micros::UNIT == 0;
    i32::try_from(micros / Micros::UNIT).ok().filter(|_| whole)
}

fn size(value: &Value<'_>) -> Option<i32> {
    integer(value).filter(|size| *size >= 1)
}

fn non_negative(value: &Value<'_>) -> Option<i32> {
    integer(value).filter(|number| *number >= 0)
}

fn moment(value: &Value<'_>) -> Option<Timestamp> {
    crate::time::parse(&value.as_string_lit()?.value)
}

fn is_empty_array(value: &Value<'_>) -> bool {
    value
        .as_array()
        .is_some_and(|list| list.elements.is_empty())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
    use super::*;

    const GOOD: &str = r#"{"id": "a", "adomain": ["brand.example"], "cpm": 2.5, "creatives": [
        {"id": "c", "type": "video", "mime": "video/mp4", "duration": 15, "adm": "<VAST/>"}]}"#;

    /// A line item with every required key; each of `keys` replaces one or is added.
    fn item(keys: &[(&str, &str)]) -> String {
        let mut item: Vec<(&str, &str)> = vec![
            ("id", r#""a""#),
            ("adomain", r#"["brand.example"]"#),
            ("cpm", "2"),
            ("creatives", r#"[{"id":"c","type":"native","adm":"{}"}]"#),
        ];
        item.retain(|(key, _)| keys.iter().all(|(other, _)| other != key));
        item.extend(keys.iter().filter(|(_, value)| !value.is_empty()));
        let item: Vec<_> = item.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
        format!("{{{}}}", item.join(","))
    }

    fn faults(text: &str) -> String {
        match parse(Path::new("f"), text) {
            Ok(items) => format!("{} line items", items.len()),
            Err(faults) => faults.to_string(),
        }
    }

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(faults(text), expect.join("\n"), "{text}");
    }

    /// The fault of one key of an otherwise good line item, without its place.
    #[track_caller]
    fn check_key(key: &str, value: &str, expect: &str) {
        let got = faults(&item(&[(key, value)]));
        let got = got
            .split_once("line item \"a\": ")
            .map_or(&*got, |(_, rest)| rest);
        assert_eq!(got, expect, "{key}: {value}");
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"{"id": "é", "seat": "s", "status": "paused",
            "start": "2026-12-01T13:00:01+01:00", "end": "2026-12-02T00:00:00Z",
            "adomain": ["WWW.brand.example", "b.example"], "cat": ["IAB1"], "cattax": 2,
            "bundle": "com.app", "cpm": 2.000001, "budget": {"total": 0, "daily": 1e2},
            "targeting": {"deals": ["d"], "countries": ["usa", "FRA"], "device_types": [1, 8.0],
                "video_size": {"min_w": 0, "max_h": 480},
                "places": {"include": {"regions": ["CA"], "cities": ["Köln"]}, "exclude": {"metros": ["803"]}},
                "os": [{"name": "iOS", "min_version": "14.2"}, {"name": "tvOS", "max_version": "17"}],
                "channels": ["app", "dooh"],
                "inventory": {"include": {"domains": ["news.example"], "bundles": ["com.app"]}},
                "publishers": {"exclude": ["p"]}, "languages": {"include": ["en"]},
                "categories": {"cattax": 7, "exclude": ["473"]}, "connection_types": [2, 6],
                "hours": [{"days": ["mon", "sun"], "from": 8, "to": 9}, {"days": ["tue"], "from": 23}],
                "positions": [1, 7], "plcmts": [4], "interstitial": false, "rewarded": true},
            "creatives": [
                {"id": "1", "type": "banner", "w": 300, "h": 250, "mime": "image/png",
                 "apis": [3], "attr": [1, 2], "secure": false, "adm": "<a>"},
                {"id": "2", "type": "audio", "duration": 30, "mime": "audio/mp4",
                 "protocol": 9, "adm": "\u003cVAST\/>"}]}"#;
        let items = parse(Path::new("f"), &text.replace('\n', " ")).unwrap();
        let item = &items[0];
        assert_eq!((item.id.as_str(), item.seat.as_str()), ("é", "s"));
        assert_eq!(item.status, Status::Paused);
        assert_eq!(item.start, crate::time::parse("2026-12-01T12:00:01Z"));
        assert_eq!(item.end, crate::time::parse("2026-12-02T00:00:00Z"));
        assert_eq!(item.adomain, ["WWW.brand.example", "b.example"]);
        assert_eq!(
            (item.cat.as_slice(), item.cattax),
            (&["IAB1".to_owned()][..], 2)
        );
        assert_eq!(item.bundle.as_deref(), Some("com.app"));
        assert_eq!(item.cpm, Micros(2_000_001));
        assert_eq!(item.budget.total, Some(Micros::ZERO));
        assert_eq!(item.budget.daily, Some(Micros(100_000_000)));
        assert_eq!(item.targeting.deals, ["d"]);
        let countries = &item.targeting.countries;
        assert!(countries.iter().map(|c| c.alpha3()).eq(["USA", "FRA"]));
        assert!(
            item.targeting
                .device_types
                .iter()
                .map(|d| d.number())
                .eq([1, 8])
        );
        assert_eq!(item.targeting.video_size.min_w, Some(0));
        assert_eq!(item.targeting.video_size.max_h, Some(480));
        check_targeting(&item.targeting);
        let [banner, audio] = &item.creatives[..] else {
            panic!("{:?}", item.creatives)
        };
        assert_eq!(
            (banner.media, banner.w, banner.h),
            (MediaType::Banner, Some(300), Some(250))
        );
        assert_eq!(
            (&banner.apis[..], &banner.attr[..]),
            (&[3][..], &[1, 2][..])
        );
        assert!(!banner.secure && audio.secure);
        assert_eq!((audio.duration, audio.protocol), (Some(30), Some(9)));
        assert_eq!(audio.adm, "<VAST/>");
    }

    fn check_targeting(targeting: &Targeting) {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let places = targeting.places.as_deref().unwrap();
        assert_eq!(places.include.regions, ["CA"]);
        assert_eq!(places.include.cities, ["Köln"]);
        assert_eq!(places.exclude.metros, ["803"]);
        let [ios, tv] = &*targeting.os else {
            panic!("{:?}", targeting.os)
        };
        assert_eq!((&*ios.name, &*tv.name), ("iOS", "tvOS"));
        assert_eq!(ios.min_version, Version::parse("14.2"));
        assert_eq!(
            (ios.max_version, tv.max_version),
            (None, Version::parse("17"))
        );
        let channels = Numbers::default().with_channel(Channel::App);
        assert_eq!(targeting.channels, channels.with_channel(Channel::Dooh));
        let inventory = &targeting.inventory.as_deref().unwrap().include;
        assert_eq!(inventory.domains, ["news.example"]);
        assert_eq!(inventory.bundles, ["com.app"]);
        let excluding = |exclude: &[&str]| Chosen {
            include: Vec::new(),
            exclude: texts(exclude),
        };
        assert_eq!(targeting.publishers.as_deref(), Some(&excluding(&["p"])));
        let categories = targeting.categories.as_deref().unwrap();
        assert_eq!(categories.cattax, 7);
        assert_eq!(categories.chosen, excluding(&["473"]));
        assert_eq!(targeting.languages.as_deref().unwrap().include, ["en"]);
        let numbers = |all: &[u8]| all.iter().fold(Numbers::default(), |set, n| set.with(*n));
        assert_eq!(targeting.connection_types, numbers(&[2, 6]));
        assert_eq!(targeting.positions, numbers(&[1, 7]));
        assert_eq!(targeting.plcmts, numbers(&[4]));
        let hours = Hours::default().with(0, 8, 9).with(6, 8, 9).with(1, 23, 24);
        assert_eq!(targeting.hours, hours);
        assert_eq!(targeting.interstitial, Some(false));
        assert_eq!(targeting.rewarded, Some(true));
    }

    #[test]
    fn targeting_of_nothing_is_none() {
        let empty = r#"{"places": {"include": {"regions": []}, "exclude": {}}, "os": [],
            "inventory": {}, "publishers": {"include": []}, "categories": {"cattax": 7},
            "hours": [], "channels": []}"#;
        let text = item(&[("targeting", empty)]);
        let items = parse(Path::new("f"), &text.replace('\n', " ")).unwrap();
        assert_eq!(items[0].targeting, Targeting::default());
        // No days are all days.
        let text = item(&[("targeting", r#"{"hours": [{}]}"#)]);
        let hours = parse(Path::new("f"), &text).unwrap()[0].targeting.hours;
        assert!((0..Hours::COUNT).all(|hour| hours.contains(hour)));
    }

    // Long: a table of cases.
    #[test]
    fn each_target_has_its_range() {
        for (value, expect) in [
            (
                r#"{"places": {"regions": ["CA"]}}"#,
                "targeting.places.regions is no key of places; allowed: include, exclude",
            ),
            (
                r#"{"places": {"exclude": {"cities": [" "]}}}"#,
                "targeting.places.exclude.cities[0] is \" \"; allowed: a string of 1 to 255 bytes that is not blank",
            ),
            (
                r#"{"os": [{"min_version": "1"}]}"#,
                "targeting.os[0].name is missing; allowed: a string of 1 to 255 bytes that is not blank",
            ),
            (
                r#"{"os": [{"name": "a", "max_version": 17}]}"#,
                "targeting.os[0].max_version is 17; allowed: a version such as \"14.2\": up to four numbers of at most 65535",
            ),
            (
                r#"{"os": [{"name": "a", "min_version": "1.65536"}]}"#,
                "targeting.os[0].min_version is \"1.65536\"; allowed: a version such as \"14.2\": up to four numbers of at most 65535",
            ),
            (
                r#"{"channels": ["web"]}"#,
                "targeting.channels[0] is \"web\"; allowed: \"site\", \"app\" or \"dooh\"",
            ),
            (
                r#"{"inventory": {"include": {"domains": ["https://a.example"]}}}"#,
                "targeting.inventory.include.domains[0] is \"https://a.example\"; allowed: a domain such as news.example",
            ),
            (
                r#"{"inventory": {"include": ["a.example"]}}"#,
                "targeting.inventory.include is [\"a.example\"]; allowed: an object",
            ),
            (
                r#"{"publishers": {"include": [7]}}"#,
                "targeting.publishers.include[0] is 7; allowed: a string of 1 to 255 bytes that is not blank",
            ),
            (
                r#"{"categories": {"cattax": "1", "include": ["IAB1"]}}"#,
                "targeting.categories.cattax is \"1\"; allowed: an integer of 32 bits",
            ),
            (
                r#"{"connection_types": [0]}"#,
                "targeting.connection_types[0] is 0; allowed: an integer from 1 to 7",
            ),
            (
                r#"{"plcmts": [5]}"#,
                "targeting.plcmts[0] is 5; allowed: an integer from 1 to 4",
            ),
            (
                r#"{"positions": [256]}"#,
                "targeting.positions[0] is 256; allowed: an integer from 1 to 7",
            ),
            (
                r#"{"hours": [{"days": ["monday"]}]}"#,
                "targeting.hours[0].days[0] is \"monday\"; allowed: mon, tue, wed, thu, fri, sat or sun",
            ),
            (
                r#"{"hours": [{"from": 24}]}"#,
                "targeting.hours[0].from is 24; allowed: an integer from 0 to 23",
            ),
            (
                r#"{"hours": [{"from": 8, "to": 8}]}"#,
                "targeting.hours[0].to is 8; allowed: an integer from 1 to 24, above `from`",
            ),
            (
                r#"{"rewarded": 1}"#,
                "targeting.rewarded is 1; allowed: true or false",
            ),
        ] {
            check_key("targeting", value, expect);
        }
        let list = |len: usize| {
            let list = vec!["\"a\""; len].join(",");
            format!("{{\"publishers\": {{\"include\": [{list}]}}}}")
        };
        check_key("targeting", &list(100_000), "1 line items");
        check_key(
            "targeting",
            &list(100_001),
            "targeting.publishers.include has 100001 entries; allowed: at most 100000 entries",
        );
        let long = format!(
            "{{\"languages\": {{\"include\": [\"{}\"]}}}}",
            "a".repeat(256)
        );
        let got = faults(&item(&[("targeting", &long)]));
        assert!(got.contains("languages.include[0] is \"aaa"), "{got}");
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let items = parse(Path::new("f"), &format!("[{GOOD}]")).unwrap();
        let item = &items[0];
        assert_eq!(
            (item.seat.as_str(), item.status),
            ("default", Status::Active)
        );
        assert_eq!((item.start, item.end, item.cattax), (None, None, 1));
        assert_eq!(item.budget, BudgetCeilings::default());
        assert_eq!(item.targeting, Targeting::default());
    }

    #[test]
    fn a_file_is_an_array_or_one_object_a_line() {
        let (a, b) = (item(&[]), item(&[("id", r#""b""#)]));
        check(&format!("[{a},\n {b}]\n"), &["2 line items"]);
        check(&format!("{a}\r\n\n {b} \n"), &["2 line items"]);
        check(&format!("\u{feff}[{a}]"), &["1 line items"]);
        check("[]", &["0 line items"]);
        check(" [ ] ", &["0 line items"]);
        check("", &["0 line items"]);
    }

    #[test]
    fn what_is_no_json_is_told_with_its_place() {
        let a = item(&[]);
        for (text, expect) in [
            ("{", "f:1:1: not JSON: Unterminated object"),
            (
                "[",
                "f:1:2: what follows is \"\"; allowed: a ] that closes the array",
            ),
            (
                "[1",
                "f:1:2: 1 is no line item; allowed: an object\n\
                 f:1:3: what follows is \"\"; allowed: a ] that closes the array",
            ),
            (
                "[,]",
                "f:1:2: a value is missing; allowed: a JSON value\nf:1:3: a value is missing; allowed: a JSON value",
            ),
            (
                "[] x",
                "f:1:4: what follows is \"x\"; allowed: nothing behind the array",
            ),
            (
                "\n{\"id\": \"a\",}",
                "f:2:11: not JSON: Trailing commas are not allowed",
            ),
            ("// no\n", "f:1:1: not JSON: Comments are not allowed"),
            (
                "{\"id\": \"\\ud800\"}",
                "f:1:9: not JSON: Invalid unicode escape sequence. 'd800 (unpaired high surrogate)' is not a valid UTF8 character",
            ),
        ] {
            check(text, &[expect]);
        }
        check(
            &format!("[{a},]"),
            &[&format!(
                "f:1:{}: a value is missing; allowed: a JSON value",
                a.len() + 3
            )],
        );
        check(
            &format!("[{a}"),
            &[&format!(
                "f:1:{}: what follows is \"\"; allowed: a ] that closes the array",
                a.len() + 2
            )],
        );
    }

    #[test]
    fn all_faults_are_told_at_once() {
        check(
            "[{\"id\": \"a\", \"adomain\": [], \"cpm\": 0,\n  \"cmp\": 1, \"creatives\": [{\"type\": \"banner\", \"w\": 0, \"adm\": \"\"}]},\n {\"id\": \"\"}]",
            &[
                "f:2:3: line item \"a\": cmp is no key of a line item; allowed: id, seat, status, start, end, adomain, cat, cattax, bundle, cpm, budget, targeting, creatives",
                "f:1:25: line item \"a\": adomain is []; allowed: an array of at least one domain",
                "f:1:36: line item \"a\": cpm is 0; allowed: a decimal above 0 with at most 6 decimals",
                "f:2:27: line item \"a\": creatives[0].id is missing; allowed: a string that is not empty",
                "f:2:51: line item \"a\": creatives[0].w is 0; allowed: an integer from 1 to 2147483647",
                "f:2:61: line item \"a\": creatives[0].adm is \"\"; allowed: a string that is not empty",
                "f:2:27: line item \"a\": creatives[0].h is missing; allowed: an integer from 1 to 2147483647; banner needs it",
                "f:2:27: line item \"a\": creatives[0].mime is missing; allowed: a string that is not empty, such as video/mp4; banner needs it",
                "f:3:9: line item \"\": id is \"\"; allowed: a string of 1 to 64 bytes",
                "f:3:2: line item \"\": adomain is missing; allowed: an array of at least one domain",
                "f:3:2: line item \"\": cpm is missing; allowed: a decimal above 0 with at most 6 decimals",
                "f:3:2: line item \"\": creatives is missing; allowed: an array of at least one creative",
            ],
        );
    }

    // Long: a table of cases.
    #[test]
    fn each_key_has_its_range() {
        let price = "allowed: a decimal above 0 with at most 6 decimals";
        check_key("cpm", "0.0000001", &format!("cpm is 0.0000001; {price}"));
        check_key("cpm", "\"2\"", &format!("cpm is \"2\"; {price}"));
        check_key("cpm", "-1", &format!("cpm is -1; {price}"));
        check_key("cpm", "1e13", &format!("cpm is 1e13; {price}"));
        check_key("cpm", "01", "f:1:98: not JSON: Expected comma");
        check_key("cpm", "null", &format!("cpm is null; {price}"));
        let moment = "allowed: a time of RFC 3339 such as 2026-12-01T00:00:00Z";
        check_key(
            "start",
            "\"2026-12-01\"",
            &format!("start is \"2026-12-01\"; {moment}"),
        );
        check_key("end", "1", &format!("end is 1; {moment}"));
        check_key(
            "status",
            "\"on\"",
            "status is \"on\"; allowed: \"active\" or \"paused\"",
        );
        check_key(
            "seat",
            "\"\"",
            "seat is \"\"; allowed: a string that is not empty",
        );
        check_key(
            "adomain",
            "\"a\"",
            "adomain is \"a\"; allowed: an array; each entry a domain such as brand.example",
        );
        check_key(
            "adomain",
            "[\"http://a\"]",
            "adomain[0] is \"http://a\"; allowed: a domain such as brand.example",
        );
        check_key(
            "cat",
            "[1]",
            "cat[0] is 1; allowed: a string that is not empty",
        );
        check_key(
            "cattax",
            "1.5",
            "cattax is 1.5; allowed: an integer of 32 bits",
        );
        check_key("budget", "1", "budget is 1; allowed: an object");
        check_key(
            "budget",
            "{\"daily\": -1}",
            "budget.daily is -1; allowed: a decimal of 0 or above with at most 6 decimals",
        );
        check_key(
            "budget",
            "{\"hourly\": 1}",
            "budget.hourly is no key of budget; allowed: total, daily",
        );
        check_key(
            "targeting",
            "{\"countries\": [\"US\"]}",
            "targeting.countries[0] is \"US\"; allowed: an alpha-3 code of ISO 3166-1",
        );
        check_key(
            "targeting",
            "{\"device_types\": [1, 9]}",
            "targeting.device_types[1] is 9; allowed: an integer from 1 to 8",
        );
        check_key(
            "targeting",
            "{\"video_size\": {\"min_w\": -1}}",
            "targeting.video_size.min_w is -1; allowed: an integer from 0 to 2147483647",
        );
        check_key(
            "creatives",
            "[]",
            "creatives is []; allowed: an array of at least one creative",
        );
        check_key("creatives", "[7]", "creatives[0] is 7; allowed: an object");
        check_key(
            "id",
            "",
            "f:1:1: id is missing; allowed: a string of 1 to 64 bytes",
        );
    }

    #[test]
    fn each_medium_has_its_keys() {
        let creative = |keys: &str| format!("[{{\"id\": \"c\", \"adm\": \"x\", {keys}}}]");
        for (keys, expect) in [
            ("\"type\": \"native\"", "1 line items"),
            (
                "\"type\": \"popup\"",
                "creatives[0].type is \"popup\"; allowed: \"banner\", \"video\", \"audio\" or \"native\"",
            ),
            (
                "\"type\": \"video\", \"mime\": \"video/mp4\"",
                "creatives[0].duration is missing; allowed: an integer from 0 to 2147483647, in seconds; video needs it",
            ),
            (
                "\"type\": \"audio\", \"duration\": 1",
                "creatives[0].mime is missing; allowed: a string that is not empty, such as video/mp4; audio needs it",
            ),
            (
                "\"type\": \"video\", \"duration\": 1, \"mime\": \"v/m\", \"protocol\": 17",
                "creatives[0].protocol is 17; allowed: an integer from 1 to 16",
            ),
            (
                "\"type\": \"native\", \"apis\": 3",
                "creatives[0].apis is 3; allowed: an array; each entry an integer of 32 bits",
            ),
            (
                "\"type\": \"native\", \"secure\": 1",
                "creatives[0].secure is 1; allowed: true or false",
            ),
            (
                "\"type\": \"native\", \"id\": \"d\"",
                "creatives[0].id is given twice; allowed: each key once",
            ),
        ] {
            check_key("creatives", &creative(keys), expect);
        }
    }

    #[test]
    fn ids_are_unique_and_short() {
        let a = item(&[]);
        check(
            &format!("{a}\n\n{a}"),
            &[
                "f:3:1: line item \"a\": id is also the id of the line item in line 1; allowed: each id once",
            ],
        );
        let id = |len: usize| item(&[("id", &format!("\"{}\"", "é".repeat(len)))]);
        check(&id(32), &["1 line items"]);
        assert!(faults(&id(33)).contains("id is \"éé"));
    }

    #[test]
    fn faults_are_counted_past_the_first_hundred() {
        let text = "[{}]\n".replace("{}", &vec!["1"; 150].join(","));
        let Err(faults) = parse(Path::new("f"), &text) else {
            panic!("accepted")
        };
        assert_eq!((faults.faults.len(), faults.count), (100, 150));
        assert!(faults.to_string().ends_with("\nf: 50 more faults"));
    }

    #[test]
    fn a_file_that_is_not_there_or_not_text_is_one_fault() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("items.json");
        let told = read(&file).unwrap_err().to_string();
        assert!(told.contains("items.json: cannot be read: "), "{told}");
        std::fs::write(&file, b"[\n\xff]").unwrap();
        let told = read(&file).unwrap_err().to_string();
        assert!(
            told.ends_with("items.json:2:1: a byte is not UTF-8; allowed: UTF-8 text"),
            "{told}"
        );
    }

    #[test]
    fn the_schema_has_the_same_keys_and_takes_what_is_good() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../schema/line-item.schema.json"
        );
        let schema = std::fs::read_to_string(path).unwrap();
        let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
        let keys = |object: &serde_json::Value| -> Vec<String> {
            assert_eq!(object["additionalProperties"], false, "{object}");
            let mut keys: Vec<_> = object["properties"].as_object().unwrap().keys().collect();
            keys.sort();
            keys.into_iter().cloned().collect()
        };
        let (item, creative) = (&schema["$defs"]["line_item"], &schema["$defs"]["creative"]);
        let targeting = &item["properties"]["targeting"];
        for (object, expect) in [
            (item, LINE_ITEM_KEYS),
            (creative, CREATIVE_KEYS),
            (targeting, TARGETING_KEYS),
            (&item["properties"]["budget"], BUDGET_KEYS),
            (&schema["$defs"]["chosen_texts"], CHOSEN_KEYS),
            (&schema["$defs"]["places"], PLACES_KEYS),
            (&schema["$defs"]["inventory"], INVENTORY_KEYS),
            (&targeting["properties"]["places"], CHOSEN_KEYS),
            (&targeting["properties"]["inventory"], CHOSEN_KEYS),
            (&targeting["properties"]["categories"], CATEGORIES_KEYS),
            (&targeting["properties"]["os"]["items"], OS_KEYS),
            (&targeting["properties"]["hours"]["items"], HOURS_KEYS),
            (&targeting["properties"]["video_size"], VIDEO_SIZE_KEYS),
        ] {
            let mut expect = expect.to_vec();
            expect.sort_unstable();
            assert_eq!(keys(object), expect);
        }
    }
}
