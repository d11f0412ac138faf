//! Targeting as boolean expressions in an A-tree (SIGMOD 2021), with the crate `a-tree`.
//!
//! It finds the line items that a request meets; which of them is the best is then a matter of
//! their positions. Why none is left it cannot say.

use a_tree::{ATree, AttributeDefinition};
use engine::{Catalog, LineItem, Timestamp};
use openrtb::{Country, DeviceType, MediaType, MediaTypes, Micros};
use std::fmt::Write as _;

/// What is asked of a request's open market.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// `device.geo.country`.
    pub country: Option<Country>,
    /// `device.devicetype`.
    pub device_type: Option<DeviceType>,
    /// What the impression offers.
    pub media: MediaTypes,
    /// `video.w` × `video.h`.
    pub video_size: Option<(i32, i32)>,
    /// The least price.
    pub floor: Micros,
}

/// The line items of a catalog that are live, as expressions.
pub struct Matcher {
    tree: ATree<usize>,
}

impl Matcher {
    /// Builds the tree.
    ///
    /// # Errors
    /// What the tree says of an expression it refuses.
    pub fn new(catalog: &Catalog, now: Timestamp) -> Result<Matcher, String> {
        let mut definitions = vec![
            AttributeDefinition::string("country"),
            AttributeDefinition::integer("device_type"),
            AttributeDefinition::integer("w"),
            AttributeDefinition::integer("h"),
            AttributeDefinition::integer("floor"),
            AttributeDefinition::string_list("deals"),
        ];
        definitions.extend(MediaType::ALL.map(|media| AttributeDefinition::boolean(media.name())));
        let mut tree = ATree::new(&definitions).map_err(|error| error.to_string())?;
        for (at, item) in catalog.items().filter(|(_, item)| item.is_live(now)) {
            let expression = expression(item);
            tree.insert(&at.index(), &expression)
                .map_err(|error| format!("{expression}: {error}"))?;
        }
        Ok(Matcher { tree })
    }

    /// The position of the best line item that the facts meet.
    ///
    /// # Errors
    /// What the tree says of facts it refuses.
    pub fn best(&self, facts: &Facts) -> Result<Option<usize>, String> {
        let mut event = self.tree.make_event();
        let refused = |error: a_tree::EventError| error.to_string();
        match facts.country {
            Some(country) => event.with_string("country", country.alpha3()),
            None => event.with_undefined("country"),
        }
        .map_err(refused)?;
        let device_type = facts.device_type.map(|of| of.number().into());
        let (w, h) = facts.video_size.unzip();
        let numbers = [
            ("device_type", device_type),
            ("w", w.map(i64::from)),
            ("h", h.map(i64::from)),
            ("floor", Some(facts.floor.0)),
        ];
        for (name, number) in numbers {
            match number {
                Some(number) => event.with_integer(name, number),
                None => event.with_undefined(name),
            }
            .map_err(refused)?;
        }
        event.with_string_list("deals", &[]).map_err(refused)?;
        for media in MediaType::ALL {
            event
                .with_boolean(media.name(), facts.media.contains(media))
                .map_err(refused)?;
        }
        let event = event.build().map_err(refused)?;
        let found = self
            .tree
            .search(&event)
            .map_err(|error| error.to_string())?;
        Ok(found.matches().iter().map(|at| **at).min())
    }
}

/// A line item's targeting in the crate's language.
fn expression(item: &LineItem) -> String {
    let targeting = &item.targeting;
    let mut text = format!("floor <= {}", item.cpm.0);
    if !targeting.deals.is_empty() {
        let deals: Vec<_> = targeting
            .deals
            .iter()
            .map(|deal| format!("{deal:?}"))
            .collect();
        let _ = write!(text, " and deals one of [{}]", deals.join(", "));
    }
    if !targeting.countries.is_empty() {
        let codes = targeting
            .countries
            .iter()
            .map(|country| format!("{:?}", country.alpha3()));
        let _ = write!(
            text,
            " and country in [{}]",
            codes.collect::<Vec<_>>().join(", ")
        );
    }
    if !targeting.device_types.is_empty() {
        let numbers: Vec<_> = device_types(&targeting.device_types)
            .map(|n| n.to_string())
            .collect();
        let _ = write!(text, " and device_type in [{}]", numbers.join(", "));
    }
    let of_item = |media: &MediaType| item.creatives.iter().any(|of| of.media == *media);
    let media: Vec<_> = MediaType::ALL
        .into_iter()
        .filter(of_item)
        .map(MediaType::name)
        .collect();
    let _ = write!(text, " and ({})", media.join(" or "));
    let size = &targeting.video_size;
    let bounds = [
        ("w", ">=", size.min_w),
        ("h", ">=", size.min_h),
        ("w", "<=", size.max_w),
        ("h", "<=", size.max_h),
    ];
    for (name, holds, bound) in bounds {
        if let Some(bound) = bound {
            let _ = write!(text, " and {name} {holds} {bound}");
        }
    }
    text
}

/// The device types that meet a target, as numbers.
fn device_types(targets: &[DeviceType]) -> impl Iterator<Item = u8> {
    (1..=8).filter(|number| {
        let is = |target: &DeviceType| target.number() == *number;
        let handheld =
            *number == DeviceType::PHONE.number() || *number == DeviceType::TABLET.number();
        targets
            .iter()
            .any(|target| is(target) || *target == DeviceType::MOBILE && handheld)
    })
}
