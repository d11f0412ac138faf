//! The configuration: keys as given (flag over environment over file), made into what the service
//! needs, once, with every fault at once.

mod file;
mod keys;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use openrtb::{Currency, Limit};
use transport::{Address, PeerPolicy, ServerLimits, ServerOptions, SocketOptions};
use wire::Limits;

pub use file::File;
pub use keys::{Keys, LogFormat, LogLevel, Shed};

use crate::fault::{Fault, Faults, Sink, shown};

/// Everything that the service is told, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The line items file.
    pub line_items: PathBuf,
    /// The rates file; without one, floors in other currencies cannot be met.
    pub rates: Option<PathBuf>,
    /// The currency of prices and budgets.
    pub base: Currency,
    /// Where bid requests are answered; at least one.
    pub listen: Vec<Address>,
    /// Where health and metrics are answered.
    pub admin: Option<SocketAddr>,
    /// Where notices are answered, and the URL that leads there.
    pub notices: Option<Notices>,
    /// How the server serves.
    pub server: ServerOptions,
    /// What a request may be.
    pub limits: Limits,
    /// Whether all of a request is checked, or only what the decision reads.
    pub validate: bool,
    /// When a call comes too late to be answered.
    pub deadline: Deadline,
    /// What is not decided on because the bidder is behind.
    pub overload: Overload,
    /// How long a bid stands, in seconds: `bid.exp`.
    pub exp_s: u32,
    /// How long a reservation outlives its bid, in seconds.
    pub grace_s: u32,
    /// How long calls in flight may take to end when the service is told to stop.
    pub drain_max: Duration,
    /// How logs are written.
    pub log_format: LogFormat,
    /// What is logged.
    pub log_level: LogLevel,
}

/// Notices over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notices {
    /// What `burl` and `lurl` begin with, without a slash at its end.
    pub url: String,
    /// Where they are answered.
    pub listen: SocketAddr,
}

/// The time that has to be left for a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// What the way back to the exchange takes.
    pub network_margin: Duration,
    /// The least time to decide in.
    pub decision_min: Duration,
}

/// What a bidder does with requests that it comes to too late: by then the next ones wait, and to
/// answer all of them late is to answer none in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overload {
    /// How long a request may have waited to be read; `None`: for ever.
    pub wait_max: Option<Duration>,
    /// How one that waited longer is answered.
    pub shed: Shed,
}

impl Config {
    /// Checks the keys: those given as flags or in the environment, over those of a file.
    ///
    /// # Errors
    /// Every fault. Those of keys that the file gives have their place in it.
    pub fn new(given: Keys, file: File) -> Result<Config, Faults> {
        let mut check = Check {
            sink: Sink::default(),
            places: file.places,
        };
        for key in given.given() {
            check.places.remove(&key);
        }
        let config = check.config(&given.or(file.keys));
        let path = match file.path {
            path if path.as_os_str().is_empty() => PathBuf::from("configuration"),
            path => path,
        };
        check.sink.finish(&path, config)
    }
}

/// Reads keys into values, and takes in the faults.
struct Check {
    sink: Sink,
    places: std::collections::HashMap<String, (usize, usize)>,
}

impl Check {
    fn config(&self, keys: &Keys) -> Config {
        // A refused value stands in for itself: with a fault, none of them is ever used.
        let line_items = self.required("line-items", keys.line_items.clone(), "a file");
        let base = self.parsed(
            "base",
            keys.base.as_deref().unwrap_or("USD"),
            BASE,
            |text| Currency::parse(text).ok_or(String::new()),
        );
        let listen = self.listen(keys);
        let admin = self.socket_address("admin", keys.admin.as_deref());
        let notices = self.notices(keys);
        let limits = self.limits(keys);
        let server = self.server(keys, limits.message_bytes_max);
        self.check_one_message_fits(&server.limits);
        Config {
            line_items: line_items.unwrap_or_default(),
            rates: keys.rates.clone(),
            base: base.unwrap_or(Currency::USD),
            listen,
            admin,
            notices,
            server,
            limits,
            validate: keys.validate.unwrap_or_default(),
            deadline: Deadline {
                network_margin: micros(self.ranged(
                    "network-margin-us",
                    keys.network_margin_us,
                    1000,
                    0,
                    MICROS_MAX,
                )),
                decision_min: micros(self.ranged(
                    "decision-us-min",
                    keys.decision_us_min,
                    500,
                    0,
                    MICROS_MAX,
                )),
            },
            overload: Overload {
                wait_max: match self.ranged("wait-us-max", keys.wait_us_max, 20_000, 0, MICROS_MAX)
                {
                    0 => None,
                    us => Some(micros(us)),
                },
                shed: keys.shed.unwrap_or_default(),
            },
            exp_s: self.ranged("exp-s", keys.exp_s, 120, 1, SECONDS_MAX),
            grace_s: self.ranged("grace-s", keys.grace_s, 60, 0, SECONDS_MAX),
            drain_max: millis(self.ranged(
                "drain-ms-max",
                keys.drain_ms_max,
                10_000,
                0,
                MILLIS_MAX,
            )),
            log_format: keys.log_format.unwrap_or_default(),
            log_level: keys.log_level.unwrap_or_default(),
        }
    }

    fn listen(&self, keys: &Keys) -> Vec<Address> {
        const ALLOWED: &str = "unix:///path or tcp://host:port, at least one";
        let given = keys.listen.as_deref().unwrap_or_default();
        if given.is_empty() {
            self.fault("listen", "is missing".to_owned(), ALLOWED);
        }
        let mut listen: Vec<Address> = Vec::with_capacity(given.len());
        for text in given {
            let address = self.parsed("listen", text, ALLOWED, |text| {
                text.parse::<Address>().map_err(|error| error.to_string())
            });
            let Some(address) = address else { continue };
            if listen.contains(&address) && !text.ends_with(":0") {
                self.fault("listen", format!("is {address} twice"), "each address once");
            }
            listen.push(address);
        }
        listen
    }

    fn notices(&self, keys: &Keys) -> Option<Notices> {
        let listen = self.socket_address("notices", keys.notices.as_deref());
        let url = keys.notice_url.as_deref().and_then(|url| {
            let url = url.trim_end_matches('/');
            self.parsed(
                "notice-url",
                url,
                "http:// or https://, a host and a path",
                check_url,
            )
        });
        match (&keys.notice_url, &keys.notices) {
            (Some(_), None) => self.fault(
                "notices",
                "is missing".to_owned(),
                "an IP:port that notice-url leads to",
            ),
            (None, Some(_)) => self.fault(
                "notice-url",
                "is missing".to_owned(),
                "a URL that leads to notices",
            ),
            _ => {}
        }
        Some(Notices {
            url: url?,
            listen: listen?,
        })
    }

    fn limits(&self, keys: &Keys) -> Limits {
        let mut limits = Limits::default();
        for (limit, value) in [
            (Limit::MessageBytes, keys.message_bytes_max),
            (Limit::Imps, keys.imps_max),
            (Limit::Deals, keys.deals_max),
            (Limit::Depth, keys.depth_max),
            (Limit::StringBytes, keys.string_bytes_max),
            (Limit::Work, keys.work_max),
        ] {
            let Some(value) = value else { continue };
            if limits.set(limit, value).is_err() {
                let allowed = format!("1 to {}", Limits::greatest(limit));
                let key = limit.name().replace('_', "-");
                self.fault(&key, format!("is {value}"), &allowed);
            }
        }
        limits
    }

    fn server(&self, keys: &Keys, message_bytes_max: u32) -> ServerOptions {
        ServerOptions {
            threads: size(self.ranged("threads", keys.threads, 0, 0, THREADS_MAX)),
            limits: ServerLimits {
                message_bytes_max: size(message_bytes_max),
                ..self.server_limits(keys)
            },
            socket: SocketOptions {
                folder_mode: self.mode(
                    "socket-folder-mode",
                    keys.socket_folder_mode.as_deref(),
                    0o750,
                ),
                file_mode: self.mode("socket-file-mode", keys.socket_file_mode.as_deref(), 0o660),
            },
            peers: PeerPolicy {
                uids: keys.peer_uids.clone().unwrap_or_default(),
                gids: keys.peer_gids.clone().unwrap_or_default(),
            },
            ..ServerOptions::default()
        }
    }

    /// What a message may hold while it comes in has to be within what a connection, and all of them, may.
    fn check_one_message_fits(&self, limits: &ServerLimits) {
        for (key, most) in [
            (
                "partial-bytes-per-connection-max",
                limits.partial_bytes_per_connection_max,
            ),
            ("partial-bytes-max", limits.partial_bytes_max),
        ] {
            let message = limits.message_bytes_max;
            if message > most {
                let problem =
                    format!("is {message}, which a message never reaches: {key} is {most}");
                self.fault(
                    "message-bytes-max",
                    problem,
                    &format!("1 to {most}, or a higher {key}"),
                );
            }
        }
    }

    // Long: a table of keys.
    fn server_limits(&self, keys: &Keys) -> ServerLimits {
        let default = ServerLimits::default();
        let amount = |key, given, default: usize| {
            let default = u32::try_from(default).unwrap_or(u32::MAX);
            size(self.ranged(key, given, default, 1, AMOUNT_MAX))
        };
        let count = |key, given, default| self.ranged(key, given, default, 1, COUNT_MAX);
        let time = |key, given: Option<u32>, default| match given {
            Some(given) => millis(self.ranged(key, Some(given), 1, 1, MILLIS_MAX)),
            None => default,
        };
        let or_never = |key, given: Option<u32>, default| match given {
            None => default,
            Some(0) => None,
            Some(given) => Some(millis(self.ranged(key, Some(given), 1, 1, MILLIS_MAX))),
        };
        let idle = or_never("idle-ms-max", keys.idle_ms_max, None);
        let idle = |default| match keys.idle_ms_max {
            Some(_) => idle,
            None => default,
        };
        ServerLimits {
            connections_max: amount(
                "connections-max",
                keys.connections_max,
                default.connections_max,
            ),
            streams_per_connection_max: count(
                "streams-per-connection-max",
                keys.streams_per_connection_max,
                default.streams_per_connection_max,
            ),
            header_list_bytes_max: count(
                "header-list-bytes-max",
                keys.header_list_bytes_max,
                default.header_list_bytes_max,
            ),
            partial_bytes_per_connection_max: amount(
                "partial-bytes-per-connection-max",
                keys.partial_bytes_per_connection_max,
                default.partial_bytes_per_connection_max,
            ),
            partial_bytes_max: amount(
                "partial-bytes-max",
                keys.partial_bytes_max,
                default.partial_bytes_max,
            ),
            unsent_bytes_max: amount(
                "unsent-bytes-max",
                keys.unsent_bytes_max,
                default.unsent_bytes_max,
            ),
            unsent_bytes_per_connection_max: amount(
                "unsent-bytes-per-connection-max",
                keys.unsent_bytes_per_connection_max,
                default.unsent_bytes_per_connection_max,
            ),
            resets_max: count("resets-max", keys.resets_max, default.resets_max),
            control_frames_max: count(
                "control-frames-max",
                keys.control_frames_max,
                default.control_frames_max,
            ),
            handshake_timeout: time(
                "handshake-ms-max",
                keys.handshake_ms_max,
                default.handshake_timeout,
            ),
            frame_timeout: time("frame-ms-max", keys.frame_ms_max, default.frame_timeout),
            request_timeout: time(
                "request-ms-max",
                keys.request_ms_max,
                default.request_timeout,
            ),
            slow_reader_timeout: time(
                "slow-reader-ms-max",
                keys.slow_reader_ms_max,
                default.slow_reader_timeout,
            ),
            tcp_idle_timeout: idle(default.tcp_idle_timeout),
            unix_idle_timeout: idle(default.unix_idle_timeout),
            keepalive_interval: or_never(
                "keepalive-ms",
                keys.keepalive_ms,
                default.keepalive_interval,
            ),
            ..default
        }
    }

    fn socket_address(&self, key: &str, given: Option<&str>) -> Option<SocketAddr> {
        self.parsed(
            key,
            given?,
            "an IP address and a port, 127.0.0.1:9091",
            |text| text.parse().map_err(|_| String::new()),
        )
    }

    fn mode(&self, key: &str, given: Option<&str>, default: u32) -> u32 {
        let Some(given) = given else { return default };
        let mode = self.parsed(key, given, "octal digits, 0000 to 0777", |text| {
            let digits = text.strip_prefix("0o").unwrap_or(text);
            let mode = u32::from_str_radix(digits, 8).map_err(|_| String::new())?;
            if mode > 0o777 {
                Err(String::new())
            } else {
                Ok(mode)
            }
        });
        mode.unwrap_or(default)
    }

    fn ranged(&self, key: &str, given: Option<u32>, default: u32, min: u32, max: u32) -> u32 {
        let value = given.unwrap_or(default);
        if !(min..=max).contains(&value) {
            self.fault(key, format!("is {value}"), &format!("{min} to {max}"));
        }
        value
    }

    fn required<T>(&self, key: &str, given: Option<T>, allowed: &str) -> Option<T> {
        if given.is_none() {
            self.fault(key, "is missing".to_owned(), allowed);
        }
        given
    }

    /// What `parse` makes of `text`; its error says more where it is not empty.
    fn parsed<T>(
        &self,
        key: &str,
        text: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        match parse(text) {
            Ok(value) => Some(value),
            Err(why) => {
                let why = if why.is_empty() {
                    why
                } else {
                    format!(": {why}")
                };
                self.fault(key, format!("is {:?}{why}", shown(text)), allowed);
                None
            }
        }
    }

    fn fault(&self, key: &str, problem: String, allowed: &str) {
        let (line, column) = self.places.get(key).copied().unwrap_or_default();
        self.sink.push(|| Fault {
            line,
            column,
            line_item: None,
            key: key.to_owned(),
            problem,
            allowed: allowed.to_owned(),
        });
    }
}

const BASE: &str = "three letters of ISO 4217";
const THREADS_MAX: u32 = 1024;
/// A week: longer than any bid stands.
const SECONDS_MAX: u32 = 604_800;
const MILLIS_MAX: u32 = 86_400_000;
/// A minute: longer than any auction waits.
const MICROS_MAX: u32 = 60_000_000;
const AMOUNT_MAX: u32 = 1 << 30;
const COUNT_MAX: u32 = 1 << 24;

fn check_url(text: &str) -> Result<String, String> {
    let rest = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"))
        .ok_or_else(|| "it has no scheme".to_owned())?;
    let host = rest.split('/').next().unwrap_or_default();
    let plain = |c: char| {
        c.is_ascii_graphic() && !matches!(c, '?' | '#' | '"' | '<' | '>' | '$' | '{' | '}')
    };
    match (host.is_empty(), rest.chars().all(plain)) {
        (true, _) => Err("it has no host".to_owned()),
        (_, false) => {
            Err("it holds a query, a fragment or a character that needs escaping".to_owned())
        }
        (false, true) => Ok(text.to_owned()),
    }
}

fn micros(us: u32) -> Duration {
    Duration::from_micros(u64::from(us))
}

fn millis(ms: u32) -> Duration {
    Duration::from_millis(u64::from(ms))
}

fn size(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::Parser;
    use std::path::Path;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        keys: Keys,
    }

    fn flags(flags: &str) -> Keys {
        let words = std::iter::once("nearbid").chain(flags.split_whitespace());
        Cli::try_parse_from(words).unwrap().keys
    }

    fn config(words: &str, toml: &str) -> Result<Config, Faults> {
        let file = File::parse(Path::new("nearbid.toml"), toml)?;
        Config::new(flags(words), file)
    }

    #[track_caller]
    fn check_faults(words: &str, toml: &str, expect: &[&str]) {
        let told = config(words, toml).unwrap_err().to_string();
        assert_eq!(told, expect.join("\n"), "{words} {toml}");
    }

    const LEAST: &str = "--line-items f --listen unix:///s";

    #[test]
    fn the_least_configuration_has_the_defaults() {
        let config = config(LEAST, "").unwrap();
        assert_eq!(config.line_items, Path::new("f"));
        assert_eq!(config.listen, ["unix:///s".parse().unwrap()]);
        assert_eq!((config.base, config.rates), (Currency::USD, None));
        assert_eq!((config.admin, config.notices), (None, None));
        assert_eq!((config.exp_s, config.grace_s), (120, 60));
        assert_eq!(config.limits, Limits::default());
        assert_eq!(config.server, ServerOptions::default());
    }

    #[test]
    fn a_flag_stands_above_the_file() {
        let toml = "line-items = \"g\"\nlisten = [\"tcp://[::1]:1\"]\nexp-s = 5\nthreads = 3\n\
                    log-format = \"json\"\npeer-uids = [1, 2]\nimps-max = 7\nmessage-bytes-max = 9\n";
        let flags = "--line-items f --threads 2 --log-level debug --notices 127.0.0.1:0 --notice-url http://h/n/";
        let config = config(flags, toml).unwrap();
        assert_eq!(config.line_items, Path::new("f"));
        assert_eq!(config.listen, ["tcp://[::1]:1".parse().unwrap()]);
        assert_eq!((config.exp_s, config.server.threads), (5, 2));
        assert_eq!(config.server.peers.uids, [1, 2]);
        assert_eq!(
            (
                config.limits.imps_max,
                config.server.limits.message_bytes_max
            ),
            (7, 9)
        );
        assert_eq!(
            (config.log_format, config.log_level),
            (LogFormat::Json, LogLevel::Debug)
        );
        assert_eq!(config.notices.unwrap().url, "http://h/n");
    }

    #[test]
    fn every_key_of_the_file_is_a_flag_and_a_variable() {
        use clap::CommandFactory;
        let command = Cli::command();
        for name in Keys::names() {
            let flag = command
                .get_arguments()
                .find(|arg| arg.get_long() == Some(&name))
                .unwrap();
            let variable = format!("NEARBID_{}", name.to_uppercase().replace('-', "_"));
            assert_eq!(flag.get_env().unwrap(), &*variable);
        }
    }

    #[test]
    fn every_key_is_documented() {
        let manual = include_str!("../../../../docs/operating.md");
        for name in Keys::names() {
            assert!(manual.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn faults_of_values_are_told_at_once_with_their_place() {
        check_faults(
            "",
            "",
            &[
                "nearbid.toml: line-items is missing; allowed: a file",
                "nearbid.toml: listen is missing; allowed: unix:///path or tcp://host:port, at least one",
            ],
        );
        check_faults(
            "--line-items f --exp-s 0 --notices 1.2.3.4:5",
            "base = \"EURO\"\nlisten = [\"unix://s\", \"a:1\", \"a:1\"]\nadmin = \"localhost:1\"\n\
             exp-s = 1\nsocket-file-mode = \"0999\"\nimps-max = 0\nthreads = 5000\nresets-max = 0\nframe-ms-max = 0",
            &[
                "nearbid.toml:1:1: base is \"EURO\"; allowed: three letters of ISO 4217",
                "nearbid.toml:2:1: listen is \"unix://s\": `unix://s` names a host; an absolute path has three slashes: unix:///s; allowed: unix:///path or tcp://host:port, at least one",
                "nearbid.toml:2:1: listen is tcp://a:1 twice; allowed: each address once",
                "nearbid.toml:3:1: admin is \"localhost:1\"; allowed: an IP address and a port, 127.0.0.1:9091",
                "nearbid.toml: notice-url is missing; allowed: a URL that leads to notices",
                "nearbid.toml:6:1: imps-max is 0; allowed: 1 to 65536",
                "nearbid.toml:7:1: threads is 5000; allowed: 0 to 1024",
                "nearbid.toml:8:1: resets-max is 0; allowed: 1 to 16777216",
                "nearbid.toml:9:1: frame-ms-max is 0; allowed: 1 to 86400000",
                "nearbid.toml:5:1: socket-file-mode is \"0999\"; allowed: octal digits, 0000 to 0777",
                "nearbid.toml: exp-s is 0; allowed: 1 to 604800",
            ],
        );
    }

    #[test]
    fn times_have_their_ranges() {
        check_faults(
            LEAST,
            "network-margin-us = 60000001\ndecision-us-min = 4000000000\ndrain-ms-max = 86400001\nidle-ms-max = 86400001",
            &[
                "nearbid.toml:4:1: idle-ms-max is 86400001; allowed: 1 to 86400000",
                "nearbid.toml:1:1: network-margin-us is 60000001; allowed: 0 to 60000000",
                "nearbid.toml:2:1: decision-us-min is 4000000000; allowed: 0 to 60000000",
                "nearbid.toml:3:1: drain-ms-max is 86400001; allowed: 0 to 86400000",
            ],
        );
        for (idle_ms, expect) in [(0, None), (7, Some(millis(7)))] {
            let config = config(&format!("{LEAST} --idle-ms-max {idle_ms}"), "").unwrap();
            let limits = config.server.limits;
            assert_eq!(limits.tcp_idle_timeout, expect);
            assert_eq!(limits.unix_idle_timeout, expect);
        }
    }

    #[test]
    fn one_message_has_to_fit() {
        let per_connection = "partial-bytes-per-connection-max";
        check_faults(
            LEAST,
            "message-bytes-max = 8000000",
            &[&format!(
                "nearbid.toml:1:1: message-bytes-max is 8000000, which a message never reaches: \
                 {per_connection} is 4194304; allowed: 1 to 4194304, or a higher {per_connection}"
            )],
        );
        let both = "message-bytes-max = 8000000\npartial-bytes-per-connection-max = 8000000";
        assert!(config(LEAST, both).is_ok());
    }

    #[test]
    fn faults_of_the_file_are_told_at_once_with_their_place() {
        let told = File::parse(
            Path::new("c"),
            "thread = 1\n\nthreads = \"x\"\nlisten = 1\n",
        )
        .unwrap_err()
        .to_string();
        let lines: Vec<_> = told.lines().collect();
        assert_eq!(
            lines,
            [
                "c:4:1: listen is 1: invalid type: integer `1`, expected a sequence",
                &format!(
                    "c:1:1: thread is no key of the configuration; allowed: {}",
                    Keys::names().join(", ")
                ),
                "c:3:1: threads is \"x\": invalid type: string \"x\", expected u32",
            ]
        );
        let told = File::parse(Path::new("c"), "threads = \n")
            .unwrap_err()
            .to_string();
        assert!(told.starts_with("c:1:"), "{told}");
        assert!(told.contains("not TOML: "), "{told}");
    }

    #[test]
    fn a_notice_url_is_a_plain_url() {
        for (url, good) in [
            ("http://h", true),
            ("https://h:1/a/b", true),
            ("http://", false),
            ("h:1/n", false),
            ("http://h/?x", false),
            ("http://h/a b", false),
            ("http://h/${X}", false),
        ] {
            assert_eq!(check_url(url).is_ok(), good, "{url}");
        }
    }
}
