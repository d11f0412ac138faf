//! The bidder as a service: configuration, line items file, serving, notices, admin port.

pub mod config;
mod domain;
mod fault;
mod json;
pub mod line_items;
pub mod rates;
pub mod time;

pub use fault::{FAULTS_MAX, Fault, Faults};
