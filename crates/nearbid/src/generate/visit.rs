//! One visit: who looks at what, where and on which device. All that is sent about it agrees.

use super::devices::{self, Model, Versions};
use super::inventory::{self, Kind, Outlet};
use super::places::{self, City, Place};
use super::rng::{Rng, Zipf};

/// What kind of impression a visit offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scene {
    /// Display slots on a page.
    #[default]
    WebBanner,
    /// A player on a page.
    WebVideo,
    /// A native slot in a page's feed.
    WebNative,
    /// A banner or an interstitial in an app.
    AppBanner,
    /// A full-screen or rewarded video in an app.
    AppVideo,
    /// A native slot in an app's feed.
    AppNative,
    /// A break in a stream on a television.
    Television,
    /// A break in a stream or a podcast.
    Audio,
}

/// Scenes with their shares in parts of 1,000.
const SCENES: [(u32, Scene); 8] = [
    (330, Scene::WebBanner),
    (110, Scene::WebVideo),
    (60, Scene::WebNative),
    (170, Scene::AppBanner),
    (110, Scene::AppVideo),
    (40, Scene::AppNative),
    (130, Scene::Television),
    (50, Scene::Audio),
];

/// How often outlets and deals are met: a few of them in most visits.
#[derive(Clone, Debug)]
pub struct Ranks {
    sites: Zipf,
    apps: Zipf,
    channels: Zipf,
    stations: Zipf,
    deals: Zipf,
}

impl Ranks {
    /// The world's.
    pub fn new() -> Ranks {
        Ranks {
            sites: Zipf::new(inventory::SITES),
            apps: Zipf::new(inventory::APPS),
            channels: Zipf::new(inventory::CHANNELS),
            stations: Zipf::new(inventory::STATIONS),
            deals: Zipf::new(inventory::DEALS),
        }
    }

    fn outlet(&self, scene: Scene, rng: &mut Rng) -> Outlet {
        let (kind, zipf) = match scene {
            Scene::WebBanner | Scene::WebVideo | Scene::WebNative => (Kind::Site, &self.sites),
            Scene::AppBanner | Scene::AppVideo | Scene::AppNative => (Kind::App, &self.apps),
            Scene::Television => (Kind::Channel, &self.channels),
            Scene::Audio => (Kind::Station, &self.stations),
        };
        inventory::outlet(kind, zipf.rank(rng))
    }

    /// A deal.
    pub fn deal(&self, rng: &mut Rng) -> inventory::Deal {
        inventory::deal(self.deals.rank(rng))
    }
}

/// The circumstances of one request.
#[derive(Clone, Debug)]
pub struct Visit {
    /// What is offered.
    pub scene: Scene,
    /// On what.
    pub outlet: Outlet,
    /// In which country.
    pub place: Place,
    /// In which city of it.
    pub city: City,
    /// On which device.
    pub model: Model,
    /// With which versions.
    pub versions: Versions,
    /// How much is told, in percent of what could be.
    pub detail: u32,
    /// Whether the user may be recognised: not limited by the device, the law or an age.
    pub addressable: bool,
}

impl Visit {
    /// A visit by its share of traffic.
    pub fn new(ranks: &Ranks, rng: &mut Rng) -> Visit {
        let scene = rng.weighted(&SCENES);
        let outlet = ranks.outlet(scene, rng);
        let place = places::place(rng);
        let city = places::city(&place, rng);
        let model = model(scene, rng);
        let versions = devices::versions(&model, rng);
        let detail = (outlet.detail + rng.between(0, 100) as u32) / 2;
        let limited = if model.os == "iOS" { 60 } else { 12 };
        let addressable = !rng.percent(limited);
        Visit {
            scene,
            outlet,
            place,
            city,
            model,
            versions,
            detail,
            addressable,
        }
    }

    /// Whether an optional field that `percent` of exchanges send is sent: oftener where much is
    /// told, more rarely where little is.
    pub fn tells(&self, percent: u32, rng: &mut Rng) -> bool {
        rng.permille(percent * (86 + self.detail / 2) / 10)
    }

    /// An optional field by that rule: made when it is sent, else unset.
    pub fn maybe<T, U: From<T>>(
        &self,
        percent: u32,
        rng: &mut Rng,
        make: impl FnOnce(&mut Rng) -> T,
    ) -> Option<U> {
        self.tells(percent, rng).then(|| make(rng).into())
    }

    /// Whether the outlet speaks of categories in IAB Content Taxonomy 3.0 rather than 1.0.
    pub fn newer_taxonomy(&self) -> bool {
        self.outlet.rank % 7 == 3
    }

    /// Whether it happens on a page rather than in an app.
    pub fn on_site(&self) -> bool {
        self.outlet.kind == Kind::Site
    }

    /// Whether the screen is one of a phone or a tablet.
    pub fn on_handheld(&self) -> bool {
        matches!(self.model.devicetype, 1 | 4 | 5)
    }
}

fn model(scene: Scene, rng: &mut Rng) -> Model {
    match scene {
        Scene::WebBanner | Scene::WebVideo | Scene::WebNative => devices::browsing(rng),
        Scene::AppBanner | Scene::AppVideo | Scene::AppNative => devices::handheld(rng),
        Scene::Television => devices::television(rng),
        Scene::Audio if rng.percent(25) => devices::speaker(rng),
        Scene::Audio => devices::handheld(rng),
    }
}
