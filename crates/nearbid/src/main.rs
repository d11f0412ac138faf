//! The one binary. Everything it does is in the library beside it, so that tests can call it.

use std::process::ExitCode;

use clap::Parser;
use nearbid::cli::Cli;

fn main() -> ExitCode {
    match nearbid::cpu::check().and_then(|()| Cli::parse().run()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("nearbid: {error:#}");
            ExitCode::FAILURE
        }
    }
}
