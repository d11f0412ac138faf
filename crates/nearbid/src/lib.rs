//! The command line: one module a subcommand, each with its `Args` and its `run`.
//!
//! The binary is only `main`; what it does is here, so that tests and other subcommands can call
//! it without a process in between.

pub mod bench;
pub mod bidder;
pub mod check;
pub mod cli;
pub mod convert;
pub mod cpu;
pub mod decide;
pub mod demo;
pub mod generate;
mod lines;
pub mod load;
mod output;
mod progress;
