//! The bidder as a service: configuration, line items file, serving, notices, admin port.
//!
//! [`run`] is the whole of it. A request's way is [`service`]; what it reads is [`snapshot`]; all
//! else runs beside the path.

mod admin;
pub mod config;
mod descriptors;
mod domain;
mod fault;
mod http;
mod ids;
mod json;
mod keeper;
pub mod line_items;
pub mod metrics;
mod notices;
pub mod rates;
pub mod response;
mod run;
pub mod service;
pub mod snapshot;
pub mod time;

pub use fault::{FAULTS_MAX, Fault, Faults};
pub use ids::BidIds;
pub use run::{RunError, run};
