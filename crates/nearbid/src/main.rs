//! The one binary. Everything it does is in the library beside it, so that tests can call it.

use std::process::ExitCode;

use clap::Parser;
use nearbid::cli::Cli;

fn main() -> ExitCode {
    let ready = nearbid::cpu::check().and_then(|()| nearbid::demo::end_with_demo());
    match ready.and_then(|()| Cli::parse().run()) {
        Ok(code) => code,
        Err(error) => {
            nearbid::output::tell(&format!("nearbid: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
