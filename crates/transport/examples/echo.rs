//! A server that says back what it hears, for trying the transport with other clients and with
//! h2spec: `cargo run -p transport --example echo -- unix:///tmp/echo.sock tcp://127.0.0.1:9090`.
//! It serves until its standard input ends, then drains.

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use transport::{Address, Call, Method, MethodKind, Reply, ServerOptions, Service, Status, serve};

struct Echo;

impl Service for Echo {
    fn method(&self, path: &str) -> Option<Method> {
        match path {
            "/echo.Echo/Unary" => Some(Method {
                id: 0,
                kind: MethodKind::Unary,
            }),
            "/echo.Echo/Stream" => Some(Method {
                id: 1,
                kind: MethodKind::Bidi,
            }),
            _ => None,
        }
    }

    fn call(&mut self, call: &Call<'_>, reply: &mut Reply<'_>) -> Result<(), Status> {
        reply.message().extend_from_slice(call.message);
        Ok(())
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let addresses: Vec<Address> = std::env::args()
        .skip(1)
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let options = ServerOptions {
        health: vec!["echo.Echo".to_owned()],
        ..ServerOptions::default()
    };
    let server = serve(&addresses, options, |_| Echo)?;
    for address in server.local_addresses() {
        println!("{address}");
    }
    std::io::stdin().read_to_end(&mut Vec::new())?;
    for (counter, count) in server.counters().iter().filter(|(_, count)| *count > 0) {
        println!("{} {count}", counter.name());
    }
    println!("{:?}", server.drain(Duration::from_secs(5)));
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("echo: {error}");
            ExitCode::FAILURE
        }
    }
}
