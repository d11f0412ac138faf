//! The devices that generated traffic comes from, with the user agents and client hints that real
//! ones of their kind send.

use super::rng::Rng;

/// A model of device. Numbers that a kind of device does not have are 0, texts empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Model {
    /// `device.devicetype`.
    pub devicetype: i32,
    /// `device.make`.
    pub make: &'static str,
    /// `device.model`.
    pub model: &'static str,
    /// `device.hwv`.
    pub hwv: &'static str,
    /// `device.os`.
    pub os: &'static str,
    /// Versions of the operating system, the newest first.
    pub osv: &'static [&'static str],
    /// `device.w`, `device.h` in pixels.
    pub screen: (i32, i32),
    /// `device.ppi`.
    pub ppi: i32,
    /// `device.pxratio` in hundredths.
    pub pxratio_percent: i32,
    /// What browsers run on it.
    pub browser: Browser,
}

/// How a user agent is spelt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Browser {
    /// Chrome on a computer: `os` picks the platform part.
    #[default]
    ChromeDesktop,
    /// Edge on Windows.
    Edge,
    /// Firefox on a computer.
    Firefox,
    /// Safari on macOS.
    SafariDesktop,
    /// Chrome or a web view on Android.
    ChromeMobile,
    /// Safari or a web view on iOS.
    SafariMobile,
    /// The television's own player; the user agent names the platform.
    Television,
}

/// A device for a page in a browser.
pub fn browsing(rng: &mut Rng) -> Model {
    if rng.percent(46) {
        rng.weighted(&COMPUTERS)
    } else {
        handheld(rng)
    }
}

/// A phone or a tablet.
pub fn handheld(rng: &mut Rng) -> Model {
    rng.weighted(&HANDHELDS)
}

/// A television, a streaming stick or a set-top box.
pub fn television(rng: &mut Rng) -> Model {
    rng.weighted(&TELEVISIONS)
}

/// A speaker or another device that plays audio.
pub fn speaker(rng: &mut Rng) -> Model {
    rng.weighted(&SPEAKERS)
}

/// Versions as a user agent and client hints name them.
#[derive(Clone, Debug)]
pub struct Versions {
    /// Version of the operating system.
    pub osv: &'static str,
    /// Major version of the browser's engine.
    pub major: i32,
    /// Full version of the browser.
    pub full: String,
}

/// Versions of what runs on `model`; the newest are the likeliest.
pub fn versions(model: &Model, rng: &mut Rng) -> Versions {
    let newest = rng.below(model.osv.len() as u64) + 1;
    let osv = model
        .osv
        .get(rng.below(newest) as usize)
        .copied()
        .unwrap_or_default();
    let major = 142 - rng.between(0, 3) * rng.between(0, 4);
    let full = format!(
        "{major}.0.{}.{}",
        rng.between(7100, 7499),
        rng.between(40, 199)
    );
    Versions { osv, major, full }
}

/// The user agent of a browser (or, with `app`, of an application's web view) on `model`.
pub fn user_agent(model: &Model, versions: &Versions, app: bool) -> String {
    let Versions { osv, major, full } = versions;
    match model.browser {
        Browser::ChromeDesktop => desktop(model, &format!("Chrome/{major}.0.0.0 Safari/537.36")),
        Browser::Edge => desktop(
            model,
            &format!("Chrome/{major}.0.0.0 Safari/537.36 Edg/{major}.0.0.0"),
        ),
        Browser::Firefox => format!(
            "Mozilla/5.0 ({}; rv:{major}.0) Gecko/20100101 Firefox/{major}.0",
            platform(model)
        ),
        Browser::SafariDesktop => format!(
            "Mozilla/5.0 ({}) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15",
            platform(model)
        ),
        Browser::ChromeMobile => android(model, osv, full, app),
        Browser::SafariMobile => apple(model, osv, app),
        Browser::Television => television_agent(model, osv),
    }
}

fn desktop(model: &Model, product: &str) -> String {
    format!(
        "Mozilla/5.0 ({}) AppleWebKit/537.36 (KHTML, like Gecko) {product}",
        platform(model)
    )
}

fn platform(model: &Model) -> &'static str {
    match model.os {
        "Windows" => "Windows NT 10.0; Win64; x64",
        "macOS" => "Macintosh; Intel Mac OS X 10_15_7",
        "Chrome OS" => "X11; CrOS x86_64 14541.0.0",
        _ => "X11; Linux x86_64",
    }
}

fn android(model: &Model, osv: &str, full: &str, app: bool) -> String {
    let view = if app { "; wv" } else { "" };
    let version = if app { "Version/4.0 " } else { "" };
    format!(
        "Mozilla/5.0 (Linux; Android {osv}; {}{view}) AppleWebKit/537.36 (KHTML, like Gecko) \
         {version}Chrome/{full} Mobile Safari/537.36",
        model.hwv
    )
}

fn apple(model: &Model, osv: &str, app: bool) -> String {
    let device = if model.model == "iPad" {
        "iPad; CPU"
    } else {
        "iPhone; CPU iPhone"
    };
    let under = osv.replace('.', "_");
    let product = if app {
        "Mobile/15E148".to_owned()
    } else {
        format!("Version/{osv} Mobile/15E148 Safari/604.1")
    };
    format!(
        "Mozilla/5.0 ({device} OS {under} like Mac OS X) AppleWebKit/605.1.15 \
         (KHTML, like Gecko) {product}"
    )
}

fn television_agent(model: &Model, osv: &str) -> String {
    match model.os {
        "Roku OS" => format!("Roku/DVP-{osv} ({osv}.0.4195-29)"),
        "Tizen" => format!(
            "Mozilla/5.0 (SMART-TV; LINUX; Tizen {osv}) AppleWebKit/537.36 (KHTML, like Gecko) \
             {osv}/7.0 TV Safari/537.36"
        ),
        "webOS" => format!(
            "Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) \
             Chrome/108.0.5359.211 Safari/537.36 WebAppManager webOS/{osv}"
        ),
        "Orbis" => format!(
            "Mozilla/5.0 (PlayStation; PlayStation 5/{osv}) AppleWebKit/605.1.15 \
             (KHTML, like Gecko) Version/17.4 Safari/605.1.15"
        ),
        "Sonos" => format!("Linux UPnP/1.0 Sonos/{osv}"),
        "tvOS" => format!("AppleCoreMedia/1.0.0.22K154 (Apple TV; U; CPU OS {osv} like Mac OS X)"),
        _ => format!(
            "Mozilla/5.0 (Linux; Android {osv}; {} Build/RP1A.200720.012; wv) AppleWebKit/537.36 \
             (KHTML, like Gecko) Version/4.0 Chrome/120.0.6099.230 Mobile Safari/537.36",
            model.hwv
        ),
    }
}

const fn computer(
    make: &'static str,
    os: &'static str,
    osv: &'static [&'static str],
    screen: (i32, i32),
    browser: Browser,
) -> Model {
    let (model, pxratio_percent) = ("", if screen.0 > 2000 { 200 } else { 100 });
    Model {
        devicetype: 2,
        make,
        model,
        hwv: "",
        os,
        osv,
        screen,
        ppi: 0,
        pxratio_percent,
        browser,
    }
}

const WINDOWS: &[&str] = &["11", "10"];
const MAC: &[&str] = &["15.6", "15.5", "14.7", "13.6"];

#[rustfmt::skip]
const COMPUTERS: [(u32, Model); 9] = [
    (38, computer("", "Windows", WINDOWS, (1920, 1080), Browser::ChromeDesktop)),
    (14, computer("", "Windows", WINDOWS, (1536, 864), Browser::Edge)),
    (10, computer("", "Windows", WINDOWS, (1366, 768), Browser::ChromeDesktop)),
    (6, computer("", "Windows", WINDOWS, (1920, 1080), Browser::Firefox)),
    (12, computer("Apple", "macOS", MAC, (2560, 1440), Browser::ChromeDesktop)),
    (12, computer("Apple", "macOS", MAC, (2880, 1800), Browser::SafariDesktop)),
    (3, computer("Google", "Chrome OS", &["16181.61.0", "15964.59.0"], (1366, 768), Browser::ChromeDesktop)),
    (3, computer("", "Linux", &["6.8", "6.1"], (1920, 1080), Browser::Firefox)),
    (2, computer("", "Linux", &["6.8", "6.1"], (2560, 1440), Browser::ChromeDesktop)),
];

const fn android_phone(
    make: &'static str,
    model: &'static str,
    hwv: &'static str,
    screen: (i32, i32),
    ppi: i32,
) -> Model {
    let pxratio_percent = if ppi > 500 { 350 } else { 263 };
    let browser = Browser::ChromeMobile;
    Model {
        devicetype: 4,
        make,
        model,
        hwv,
        os: "Android",
        osv: ANDROID,
        screen,
        ppi,
        pxratio_percent,
        browser,
    }
}

const fn apple_handheld(
    devicetype: i32,
    model: &'static str,
    hwv: &'static str,
    screen: (i32, i32),
    ppi: i32,
) -> Model {
    let (os, browser) = ("iOS", Browser::SafariMobile);
    let pxratio_percent = if devicetype == 5 { 200 } else { 300 };
    Model {
        devicetype,
        make: "Apple",
        model,
        hwv,
        os,
        osv: IOS,
        screen,
        ppi,
        pxratio_percent,
        browser,
    }
}

const ANDROID: &[&str] = &["15", "14", "13", "12", "11", "10"];
const IOS: &[&str] = &["18.6", "18.5", "18.3.2", "17.7", "17.6.1", "16.7"];

#[rustfmt::skip]
const HANDHELDS: [(u32, Model); 14] = [
    (14, apple_handheld(4, "iPhone", "iPhone15,2", (1179, 2556), 460)),
    (12, apple_handheld(4, "iPhone", "iPhone14,7", (1170, 2532), 460)),
    (9, apple_handheld(4, "iPhone", "iPhone16,1", (1179, 2556), 460)),
    (6, apple_handheld(4, "iPhone", "iPhone12,8", (750, 1334), 326)),
    (5, apple_handheld(5, "iPad", "iPad13,18", (1640, 2360), 264)),
    (12, android_phone("Samsung", "Galaxy A54", "SM-A546B", (1080, 2340), 403)),
    (10, android_phone("Samsung", "Galaxy S23", "SM-S911U", (1080, 2340), 425)),
    (8, android_phone("Xiaomi", "Redmi Note 12", "23021RAAEG", (1080, 2400), 395)),
    (6, android_phone("Google", "Pixel 8", "Pixel 8", (1080, 2400), 428)),
    (6, android_phone("OPPO", "A78", "CPH2565", (1080, 2400), 409)),
    (4, android_phone("vivo", "Y36", "V2247", (1080, 2388), 394)),
    (4, android_phone("Motorola", "moto g power", "XT2311-3", (1080, 2400), 405)),
    (2, android_phone("Samsung", "Galaxy S24 Ultra", "SM-S928U", (1440, 3120), 505)),
    (2, Model { devicetype: 5, pxratio_percent: 150, ..android_phone("Samsung", "Galaxy Tab A8", "SM-X200", (1200, 1920), 216) }),
];

const fn tv(
    devicetype: i32,
    make: &'static str,
    model: &'static str,
    hwv: &'static str,
    os: &'static str,
    osv: &'static [&'static str],
) -> Model {
    let (screen, browser) = ((1920, 1080), Browser::Television);
    Model {
        devicetype,
        make,
        model,
        hwv,
        os,
        osv,
        screen,
        ppi: 0,
        pxratio_percent: 0,
        browser,
    }
}

#[rustfmt::skip]
const TELEVISIONS: [(u32, Model); 9] = [
    (28, tv(3, "Roku", "Roku Express", "3960X", "Roku OS", &["14.6", "14.5", "13.0"])),
    (14, tv(7, "Roku", "Roku Ultra", "4802X", "Roku OS", &["14.6", "14.5"])),
    (18, tv(3, "Samsung", "QN65Q60CAFXZA", "QN65Q60CAFXZA", "Tizen", &["7.0", "6.5", "5.5"])),
    (10, tv(3, "LG", "OLED55C3PUA", "OLED55C3PUA", "webOS", &["8.3", "6.4", "5.5"])),
    (14, tv(7, "Amazon", "AFTKA", "AFTKA", "Fire OS", &["11", "9", "7.1.2"])),
    (6, tv(3, "Vizio", "V505-J09", "V505-J09", "SmartCast", &["11", "9"])),
    (5, tv(7, "Apple", "AppleTV", "AppleTV14,1", "tvOS", &["18.5", "17.6"])),
    (3, tv(3, "Sony", "BRAVIA 4K VH2", "BRAVIA 4K VH2", "Android TV", &["12", "10"])),
    (2, tv(6, "Sony", "PlayStation 5", "CFI-1215A", "Orbis", &["9.60", "9.20"])),
];

#[rustfmt::skip]
const SPEAKERS: [(u32, Model); 2] = [
    (3, Model { screen: (0, 0), ..tv(6, "Amazon", "Echo Dot", "B7W64E", "Fire OS", &["8", "7.1.2"]) }),
    (1, Model { screen: (0, 0), ..tv(6, "Sonos", "Era 100", "S39", "Sonos", &["16.1", "15.9"]) }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_agents_are_spelt_as_their_browsers_spell_them() {
        let versions = Versions {
            osv: "18.6",
            major: 142,
            full: "142.0.7444.60".to_owned(),
        };
        let phone = apple_handheld(4, "iPhone", "iPhone15,2", (1179, 2556), 460);
        assert_eq!(
            user_agent(&phone, &versions, false),
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 \
             (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1"
        );
        let android = android_phone("Google", "Pixel 8", "Pixel 8", (1080, 2400), 428);
        assert_eq!(
            user_agent(
                &android,
                &Versions {
                    osv: "15",
                    ..versions
                },
                true
            ),
            "Mozilla/5.0 (Linux; Android 15; Pixel 8; wv) AppleWebKit/537.36 (KHTML, like Gecko) \
             Version/4.0 Chrome/142.0.7444.60 Mobile Safari/537.36"
        );
    }

    #[test]
    fn every_model_has_a_user_agent_with_its_version() {
        let mut rng = Rng::new(&[1]);
        for (_, model) in COMPUTERS
            .iter()
            .chain(&HANDHELDS)
            .chain(&TELEVISIONS)
            .chain(&SPEAKERS)
        {
            let versions = versions(model, &mut rng);
            assert!(!versions.osv.is_empty(), "{model:?}");
            assert!(user_agent(model, &versions, false).len() > 15, "{model:?}");
        }
    }
}
