//! What line items name of the dimensions of many values, and what a request has of them: both made
//! comparable in the same way (`docs/decisions.md`, "Targeting").

use crate::change::Column;
use crate::keyed::{Hit, Keyed, sides};
use crate::{Categories, Chosen, Inventory, Places, Targeting, fold};
use core::fmt::Write as _;
use openrtb::{CategoriesOf, Channel, ChannelText, DeviceText, Read, RequestView, Step, Text};

/// How a text is made comparable, in room that is used again.
type Fold = for<'r> fn(&str, &'r mut String) -> &'r str;

/// The kinds of places.
const PLACES: [(DeviceText, Fold); 3] = [
    (DeviceText::Region, fold::region),
    (DeviceText::City, fold::name),
    (DeviceText::Metro, fold::name),
];

const DOMAINS: usize = 0;
const BUNDLES: usize = 1;

/// The line items by the places they name.
pub(crate) fn places<'i>(column: impl Column<Option<&'i Chosen<Places>>>) -> Keyed {
    Keyed::new(column, PLACES.len(), |chosen, name| {
        let mut room = String::new();
        for (side, places) in sides(chosen) {
            let lists = [&places.regions, &places.cities, &places.metros];
            for (kind, (list, (_, fold))) in lists.into_iter().zip(PLACES).enumerate() {
                list.iter()
                    .for_each(|text| name(side, kind, fold(text, &mut room)));
            }
        }
    })
}

/// The line items by the domains and bundles they name.
pub(crate) fn inventory<'i>(column: impl Column<Option<&'i Chosen<Inventory>>>) -> Keyed {
    Keyed::new(column, 2, |chosen, name| {
        let mut room = String::new();
        for (side, inventory) in sides(chosen) {
            for domain in &inventory.domains {
                name(side, DOMAINS, fold::domain(domain, &mut room));
            }
            for bundle in &inventory.bundles {
                name(side, BUNDLES, bundle);
            }
        }
    })
}

/// The line items by the publishers they name.
pub(crate) fn publishers<'i>(column: impl Column<Option<&'i Chosen<Vec<String>>>>) -> Keyed {
    Keyed::new(column, 1, |chosen, name| {
        for (side, publishers) in sides(chosen) {
            publishers.iter().for_each(|id| name(side, 0, id));
        }
    })
}

/// The line items by the content categories they name, each with its taxonomy.
pub(crate) fn categories<'i>(column: impl Column<Option<&'i Categories>>) -> Keyed {
    Keyed::new(column, 1, |categories, name| {
        let mut room = String::new();
        let Some(categories) = categories else {
            return;
        };
        for (side, list) in sides(Some(&categories.chosen)) {
            for category in list {
                name(side, 0, in_taxonomy(categories.cattax, category, &mut room));
            }
        }
    })
}

/// The line items by the languages they name.
pub(crate) fn languages<'i>(column: impl Column<Option<&'i Chosen<Vec<String>>>>) -> Keyed {
    Keyed::new(column, 1, |chosen, name| {
        let mut room = String::new();
        for (side, languages) in sides(chosen) {
            for language in languages {
                name(side, 0, fold::name(language, &mut room));
            }
        }
    })
}

/// A category as a value of its own: its taxonomy stands before it.
fn in_taxonomy<'r>(cattax: i32, category: &str, room: &'r mut String) -> &'r str {
    room.clear();
    // Writing to a string does not fail.
    let _ = write!(room, "{cattax}:{category}");
    room
}

/// What else a value is, besides itself.
#[derive(Clone, Copy)]
enum Under {
    Nothing,
    /// The domains it is a subdomain of.
    Parents,
    /// What comes before each `-` of it.
    Broader,
}

/// What of a request is named by line items, a dimension at a time.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    hits: Vec<Hit>,
    /// Room to fold a text in.
    room: String,
}

impl Hits {
    /// What was found.
    pub fn found(&self) -> &[Hit] {
        &self.hits
    }

    /// Another dimension begins.
    pub fn clear(&mut self) {
        self.hits.clear();
    }

    /// Looks up where the user is.
    pub fn read_places<'a>(&mut self, of: &Keyed, request: &impl RequestView<'a>) -> Read<()> {
        for (kind, (field, fold)) in PLACES.into_iter().enumerate() {
            if of.names(kind) {
                let text = request.device_text(field)?;
                self.look_up(of, kind, text, fold, Under::Nothing);
            }
        }
        Ok(())
    }

    /// Looks up the site or app.
    pub fn read_inventory<'a>(
        &mut self,
        of: &Keyed,
        channel: Channel,
        request: &impl RequestView<'a>,
    ) -> Read<()> {
        let (kind, field, fold, under): (_, _, Fold, _) = match channel {
            Channel::Site => (DOMAINS, ChannelText::Domain, fold::domain, Under::Parents),
            Channel::App => (BUNDLES, ChannelText::Bundle, as_it_is, Under::Nothing),
            Channel::Dooh => return Ok(()),
        };
        if of.names(kind) {
            let text = request.channel_text(channel, field)?;
            self.look_up(of, kind, text, fold, under);
        }
        Ok(())
    }

    /// Looks up the publisher.
    pub fn read_publisher<'a>(
        &mut self,
        of: &Keyed,
        channel: Channel,
        request: &impl RequestView<'a>,
    ) -> Read<()> {
        let text = request.channel_text(channel, ChannelText::Publisher)?;
        self.look_up(of, 0, text, as_it_is, Under::Nothing);
        Ok(())
    }

    /// Looks up the language of the content.
    pub fn read_language<'a>(
        &mut self,
        of: &Keyed,
        channel: Channel,
        request: &impl RequestView<'a>,
    ) -> Read<()> {
        let mut text = request.channel_text(channel, ChannelText::Language)?;
        if !text.is_some_and(is_known) {
            text = request.channel_text(channel, ChannelText::Langb)?;
        }
        self.look_up(of, 0, text, fold::name, Under::Broader);
        Ok(())
    }

    /// Looks up the content categories: those of the content, or else the channel's own.
    pub fn read_categories<'a>(
        &mut self,
        of: &Keyed,
        channel: Channel,
        request: &impl RequestView<'a>,
    ) -> Read<()> {
        for whose in [CategoriesOf::Content, CategoriesOf::Channel] {
            let cattax = request.categories_tax(channel, whose)?;
            let mut left = Targeting::CATEGORIES_MAX;
            request.categories(channel, whose, |text| {
                if is_known(text) {
                    left -= 1;
                    self.look_up_category(of, cattax, text);
                }
                if left == 0 { Step::Enough } else { Step::On }
            })?;
            if left < Targeting::CATEGORIES_MAX {
                break;
            }
        }
        Ok(())
    }

    fn look_up_category(&mut self, of: &Keyed, cattax: i32, category: Text<'_>) {
        category.with(|category| {
            let value = in_taxonomy(cattax, category, &mut self.room);
            let under = match cattax {
                1 => Under::Broader,
                _ => Under::Nothing,
            };
            look_up(of, 0, value, under, &mut self.hits);
        });
    }

    /// Looks up a text, unless it is unknown.
    fn look_up(
        &mut self,
        of: &Keyed,
        kind: usize,
        text: Option<Text<'_>>,
        fold: Fold,
        under: Under,
    ) {
        let Some(text) = text.filter(|text| is_known(*text)) else {
            return;
        };
        text.with(|text| {
            let value = fold(text, &mut self.room);
            look_up(of, kind, value, under, &mut self.hits);
        });
    }
}

/// Whether a text is short enough to count.
pub(crate) fn is_known(text: Text<'_>) -> bool {
    text.with(|text| text.len() <= Targeting::TEXT_BYTES_MAX)
}

fn as_it_is<'r>(text: &str, room: &'r mut String) -> &'r str {
    room.clear();
    room.push_str(text);
    room
}

fn look_up(of: &Keyed, kind: usize, value: &str, under: Under, hits: &mut Vec<Hit>) {
    let hit = |value| of.hit(kind, value);
    hits.extend(hit(value));
    match under {
        Under::Nothing => {}
        Under::Parents => hits.extend(fold::parents(value).filter_map(hit)),
        Under::Broader => hits.extend(fold::broader(value).filter_map(hit)),
    }
}
