//! The command line: one module a subcommand, each with its `Args` and its `run`.
//!
//! The binary is only `main`; what it does is here, so that tests and other subcommands can call
//! it without a process in between.

#![warn(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "they panic where nobody takes what is printed; `output` does not"
)]

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
pub mod output;
mod progress;
