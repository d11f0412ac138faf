//! The keys of the configuration as they are given: the same names as flags, as environment
//! variables (`NEARBID_…`) and in a TOML file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Deserialize;

/// Declares the keys once: the struct that flags, environment and file are read into, how two of
/// them are laid over each other, and which keys one of them gives.
macro_rules! keys {
    ($($(#[$meta:meta])* $name:ident: $kind:ty,)*) => {
        /// The keys as given; `None` where one is not.
        #[derive(Args, Clone, Debug, Default, Deserialize, PartialEq, Eq)]
        #[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
        pub struct Keys {
            $($(#[$meta])* pub $name: Option<$kind>,)*
        }

        impl Keys {
            /// Each key as it is here, or else as it is in `other`.
            #[must_use]
            pub fn or(self, other: Keys) -> Keys {
                Keys { $($name: self.$name.or(other.$name),)* }
            }

            /// The names of all keys, as a file spells them.
            pub fn names() -> Vec<String> {
                [$(stringify!($name),)*].map(spelled).to_vec()
            }

            /// The names of the keys that are given.
            pub fn given(&self) -> Vec<String> {
                let given = [$((stringify!($name), self.$name.is_some()),)*];
                let given = given.into_iter().filter(|(_, given)| *given);
                given.map(|(name, _)| spelled(name)).collect()
            }
        }
    };
}

fn spelled(name: &str) -> String {
    name.replace('_', "-")
}

keys! {
    /// Line items: a JSON array, or one object a line
    #[arg(long, env = "NEARBID_LINE_ITEMS", value_name = "FILE")]
    line_items: PathBuf,
    /// Currency rates: {"EUR": 1.08}, base units for one unit of the other currency
    #[arg(long, env = "NEARBID_RATES", value_name = "FILE")]
    rates: PathBuf,
    /// The currency of prices and budgets [default: USD]
    #[arg(long, env = "NEARBID_BASE", value_name = "CODE")]
    base: String,
    /// Where to answer bid requests: unix:///path or tcp://host:port; may be repeated
    #[arg(long, env = "NEARBID_LISTEN", value_name = "ADDRESS", value_delimiter = ',')]
    listen: Vec<String>,
    /// Where to answer health checks and metrics over HTTP
    #[arg(long, env = "NEARBID_ADMIN", value_name = "IP:PORT")]
    admin: String,
    /// What burl and lurl of a bid begin with; needs --notices
    #[arg(long, env = "NEARBID_NOTICE_URL", value_name = "URL")]
    notice_url: String,
    /// Where to answer notices over HTTP; needs --notice-url
    #[arg(long, env = "NEARBID_NOTICES", value_name = "IP:PORT")]
    notices: String,
    /// Server threads; 0: one for each core [default: 0]
    #[arg(long, env = "NEARBID_THREADS", value_name = "N")]
    threads: u32,

    /// How long a bid stands, in seconds [default: 120]
    #[arg(long, env = "NEARBID_EXP_S", value_name = "S", help_heading = "Bids")]
    exp_s: u32,
    /// How long after that a reservation is kept for a late notice, in seconds [default: 60]
    #[arg(long, env = "NEARBID_GRACE_S", value_name = "S", help_heading = "Bids")]
    grace_s: u32,
    /// What the way back to the exchange takes, in microseconds [default: 1000]
    #[arg(long, env = "NEARBID_NETWORK_MARGIN_US", value_name = "US", help_heading = "Bids")]
    network_margin_us: u32,
    /// The least time to decide in, in microseconds; with less the answer is no [default: 500]
    #[arg(long, env = "NEARBID_DECISION_US_MIN", value_name = "US", help_heading = "Bids")]
    decision_us_min: u32,

    /// How long a request may have waited to be read, in microseconds; what waited longer is shed; 0: never [default: 20000]
    #[arg(long, env = "NEARBID_WAIT_US_MAX", value_name = "US", help_heading = "Overload")]
    wait_us_max: u32,
    /// What is shed is answered with a no (nbr 510), or with the status RESOURCE_EXHAUSTED [default: no-bid]
    #[arg(long, env = "NEARBID_SHED", value_enum, help_heading = "Overload")]
    shed: Shed,

    /// Mode of a socket's folder where it is made, octal [default: 0750]
    #[arg(long, env = "NEARBID_SOCKET_FOLDER_MODE", value_name = "MODE", help_heading = "Sockets")]
    socket_folder_mode: String,
    /// Mode of a socket file, octal [default: 0660]
    #[arg(long, env = "NEARBID_SOCKET_FILE_MODE", value_name = "MODE", help_heading = "Sockets")]
    socket_file_mode: String,
    /// Users that may call over a socket; none given: whom the mode lets in
    #[arg(long, env = "NEARBID_PEER_UIDS", value_name = "UID", value_delimiter = ',', help_heading = "Sockets")]
    peer_uids: Vec<u32>,
    /// Groups that may call over a socket
    #[arg(long, env = "NEARBID_PEER_GIDS", value_name = "GID", value_delimiter = ',', help_heading = "Sockets")]
    peer_gids: Vec<u32>,

    /// Check the whole of every request before it is decided on, not only what the decision reads
    #[arg(long, env = "NEARBID_VALIDATE", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", help_heading = "Limits of a request")]
    validate: bool,
    /// Length of a request in bytes [default: 262144]
    #[arg(long, env = "NEARBID_MESSAGE_BYTES_MAX", value_name = "N", help_heading = "Limits of a request")]
    message_bytes_max: u32,
    /// Impressions in a request [default: 256]
    #[arg(long, env = "NEARBID_IMPS_MAX", value_name = "N", help_heading = "Limits of a request")]
    imps_max: u32,
    /// Deals of an impression [default: 256]
    #[arg(long, env = "NEARBID_DEALS_MAX", value_name = "N", help_heading = "Limits of a request")]
    deals_max: u32,
    /// Depth of nesting [default: 64]
    #[arg(long, env = "NEARBID_DEPTH_MAX", value_name = "N", help_heading = "Limits of a request")]
    depth_max: u32,
    /// Length in bytes of a string that is used [default: 4096]
    #[arg(long, env = "NEARBID_STRING_BYTES_MAX", value_name = "N", help_heading = "Limits of a request")]
    string_bytes_max: u32,
    /// Work for one request, in elements looked at [default: 200000]
    #[arg(long, env = "NEARBID_WORK_MAX", value_name = "N", help_heading = "Limits of a request")]
    work_max: u32,

    /// Open connections [default: 10000]
    #[arg(long, env = "NEARBID_CONNECTIONS_MAX", value_name = "N", help_heading = "Limits of a connection")]
    connections_max: u32,
    /// Calls in flight on a connection [default: 512]
    #[arg(long, env = "NEARBID_STREAMS_PER_CONNECTION_MAX", value_name = "N", help_heading = "Limits of a connection")]
    streams_per_connection_max: u32,
    /// A call's header list in bytes [default: 16384]
    #[arg(long, env = "NEARBID_HEADER_LIST_BYTES_MAX", value_name = "N", help_heading = "Limits of a connection")]
    header_list_bytes_max: u32,
    /// Incomplete requests of a connection in bytes [default: 4194304]
    #[arg(long, env = "NEARBID_PARTIAL_BYTES_PER_CONNECTION_MAX", value_name = "N", help_heading = "Limits of a connection")]
    partial_bytes_per_connection_max: u32,
    /// Incomplete requests of all connections in bytes [default: 268435456]
    #[arg(long, env = "NEARBID_PARTIAL_BYTES_MAX", value_name = "N", help_heading = "Limits of a connection")]
    partial_bytes_max: u32,
    /// Replies of a connection that wait for the peer, in bytes [default: 1048576]
    #[arg(long, env = "NEARBID_UNSENT_BYTES_PER_CONNECTION_MAX", value_name = "N", help_heading = "Limits of a connection")]
    unsent_bytes_per_connection_max: u32,
    /// Replies of all connections that wait for their peers, in bytes [default: 268435456]
    #[arg(long, env = "NEARBID_UNSENT_BYTES_MAX", value_name = "N", help_heading = "Limits of a connection")]
    unsent_bytes_max: u32,
    /// Calls a peer may reset unanswered, at once and then a second [default: 20]
    #[arg(long, env = "NEARBID_RESETS_MAX", value_name = "N", help_heading = "Limits of a connection")]
    resets_max: u32,
    /// Frames that carry nothing, at once and then a second [default: 1000]
    #[arg(long, env = "NEARBID_CONTROL_FRAMES_MAX", value_name = "N", help_heading = "Limits of a connection")]
    control_frames_max: u32,
    /// From accept to the peer's SETTINGS, in milliseconds [default: 10000]
    #[arg(long, env = "NEARBID_HANDSHAKE_MS_MAX", value_name = "MS", help_heading = "Limits of a connection")]
    handshake_ms_max: u32,
    /// From a frame's first byte to its last, in milliseconds [default: 10000]
    #[arg(long, env = "NEARBID_FRAME_MS_MAX", value_name = "MS", help_heading = "Limits of a connection")]
    frame_ms_max: u32,
    /// From a call's headers to the end of its request, in milliseconds [default: 30000]
    #[arg(long, env = "NEARBID_REQUEST_MS_MAX", value_name = "MS", help_heading = "Limits of a connection")]
    request_ms_max: u32,
    /// Without a byte taken by a peer that has bytes to take, in milliseconds [default: 10000]
    #[arg(long, env = "NEARBID_SLOW_READER_MS_MAX", value_name = "MS", help_heading = "Limits of a connection")]
    slow_reader_ms_max: u32,
    /// An idle connection is sent away after this, in milliseconds; 0: never [default: 600000 over TCP, never over a socket]
    #[arg(long, env = "NEARBID_IDLE_MS_MAX", value_name = "MS", help_heading = "Limits of a connection")]
    idle_ms_max: u32,
    /// A silent connection is pinged after this, in milliseconds; 0: never [default: 0]
    #[arg(long, env = "NEARBID_KEEPALIVE_MS", value_name = "MS", help_heading = "Limits of a connection")]
    keepalive_ms: u32,

    /// How long calls in flight may take to end on SIGTERM, in milliseconds [default: 10000]
    #[arg(long, env = "NEARBID_DRAIN_MS_MAX", value_name = "MS", help_heading = "Operation")]
    drain_ms_max: u32,
    /// Logs as text or as one JSON object a line [default: text]
    #[arg(long, env = "NEARBID_LOG_FORMAT", value_enum, help_heading = "Operation")]
    log_format: LogFormat,
    /// What is logged: error, warn, info, debug, trace [default: info]
    #[arg(long, env = "NEARBID_LOG_LEVEL", value_enum, help_heading = "Operation")]
    log_level: LogLevel,
}

/// How a request is answered that waited too long.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Shed {
    /// With a response that holds no bid, and `nbr` 510.
    #[default]
    NoBid,
    /// With the status `RESOURCE_EXHAUSTED`; nothing of the request is read.
    ResourceExhausted,
}

/// How logs are written.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// A line for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// The least important event that is logged.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the levels, by name")]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

impl LogLevel {
    /// The level's name.
    pub const fn name(self) -> &'static str {
        match self {
            LogLevel::Error => "error",
            LogLevel::Warn => "warn",
            LogLevel::Info => "info",
            LogLevel::Debug => "debug",
            LogLevel::Trace => "trace",
        }
    }
}
