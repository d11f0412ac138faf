//! What the tests share: a service that does what its calls ask for, and a place to serve it.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

pub mod wire;

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use transport::{
    Address, Call, CallGroup, Client, ClientOptions, Code, Counters, Method, MethodKind, Reply,
    Server, ServerOptions, Service, Status, TransportKind, serve,
};

pub const ECHO: &str = "/test.Test/Echo";
pub const STREAM: &str = "/test.Test/Stream";
pub const GROW: &str = "/test.Test/Grow";
pub const FAIL: &str = "/test.Test/Fail";
pub const TELL: &str = "/test.Test/Tell";
pub const WAIT: &str = "/test.Test/Wait";
pub const SILENT: &str = "/test.Test/Silent";
pub const WAITED: &str = "/test.Test/Waited";

/// What [`GROW`] gives at most.
pub const GROW_BYTES_MAX: usize = 16 << 20;

/// A service that does as it is told.
#[derive(Debug, Clone, Default)]
pub struct Test {
    pub calls: Rc<Cell<u64>>,
}

impl Service for Test {
    fn method(&self, path: &str) -> Option<Method> {
        let (id, kind) = match path {
            ECHO => (0, MethodKind::Unary),
            STREAM => (1, MethodKind::Bidi),
            GROW => (2, MethodKind::Unary),
            FAIL => (3, MethodKind::Unary),
            TELL => (4, MethodKind::Unary),
            WAIT => (5, MethodKind::Unary),
            SILENT => (6, MethodKind::Unary),
            WAITED => (7, MethodKind::Unary),
            _ => return None,
        };
        Some(Method { id, kind })
    }

    fn group(&self, call: &Call<'_>) -> CallGroup {
        CallGroup::new(u8::try_from(call.method).unwrap())
    }

    fn call(&mut self, call: &Call<'_>, reply: &mut Reply<'_>) -> Result<(), Status> {
        self.calls.set(self.calls.get() + 1);
        match call.method {
            // The message, once; on a stream as often as it is long.
            0 => reply.message().extend_from_slice(call.message),
            1 => {
                for byte in call.message {
                    reply.message().push(*byte);
                }
                if call.message == b"fail" {
                    return Err(Status::fixed(Code::Aborted, "as told"));
                }
            }
            // As many bytes as the message says, within reason.
            2 => {
                let bytes: usize = std::str::from_utf8(call.message)
                    .unwrap_or("")
                    .parse()
                    .unwrap_or(0);
                reply.message().resize(bytes.min(GROW_BYTES_MAX), b'g');
            }
            3 => {
                reply.message().extend_from_slice(b"never seen");
                return Err(Status::new(
                    Code::NotFound,
                    "no such \u{201c}thing\u{201d}: 100%\n",
                ));
            }
            // What is known about the call.
            4 => {
                reply.metadata("seen", call.metadata("x-seen").unwrap_or(b"-"));
                reply.metadata("grpc-status", b"3");
                let text = format!(
                    "{} {} {:?} {} {}",
                    call.subtype,
                    call.kind,
                    call.metadata("x-other").map(String::from_utf8_lossy),
                    call.peer.map_or("-".to_owned(), |peer| format!(
                        "{}",
                        peer.pid == std::process::id()
                    )),
                    call.timeout
                        .is_some_and(|left| left <= Duration::from_secs(5)),
                );
                reply.message().extend_from_slice(text.as_bytes());
            }
            // Busy for as many microseconds as the message says.
            5 => {
                let micros = std::str::from_utf8(call.message).unwrap().parse().unwrap();
                let until = Instant::now() + Duration::from_micros(micros);
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
                reply.message().extend_from_slice(call.message);
            }
            // How many microseconds it may have waited.
            7 => {
                let micros = call.waited.as_micros().to_string();
                reply.message().extend_from_slice(micros.as_bytes());
            }
            // Well, without a word.
            _ => {}
        }
        Ok(())
    }
}

/// A server on an address of one kind, and whatever must outlive it.
pub struct Place {
    pub server: Server,
    pub address: Address,
    pub folder: tempfile::TempDir,
}

pub fn unix(folder: &tempfile::TempDir) -> Address {
    Address::Unix(folder.path().join("t.sock"))
}

/// Runs a test over both kinds of address.
pub fn over_both(options: &ServerOptions, test: impl Fn(&Place)) {
    for kind in ["unix", "tcp"] {
        println!("over {kind}");
        test(&place(kind, options.clone()));
    }
}

pub fn place(kind: &str, options: ServerOptions) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let address = if kind == "unix" {
        unix(&folder)
    } else {
        "127.0.0.1:0".parse().unwrap()
    };
    let server = serve(&[address], options, |_| Test::default()).unwrap();
    let address = server.local_addresses().first().unwrap().clone();
    Place {
        server,
        address,
        folder,
    }
}

pub fn options(threads: usize) -> ServerOptions {
    ServerOptions {
        threads,
        keep_metadata: vec!["x-seen", "x-other"],
        health: vec!["test.Test".to_owned()],
        ..ServerOptions::default()
    }
}

pub fn client(place: &Place) -> Client {
    client_with(place, ClientOptions::default())
}

pub fn client_with(place: &Place, options: ClientOptions) -> Client {
    Client::connect(&place.address, options).unwrap()
}

/// Calls in flight, of all groups and transports.
pub fn in_flight(counters: &Counters) -> u64 {
    let groups = || (0..CallGroup::COUNT).map(|n| CallGroup::new(u8::try_from(n).unwrap()));
    let of = |kind| -> u64 { groups().map(|group| counters.in_flight(kind, group)).sum() };
    of(TransportKind::Unix) + of(TransportKind::Tcp)
}

pub const LONG: Duration = Duration::from_secs(20);

/// Waits for something that other threads do; says what, if it does not come.
#[track_caller]
pub fn eventually(what: &str, mut come: impl FnMut() -> bool) {
    let until = Instant::now() + LONG;
    while !come() {
        assert!(Instant::now() < until, "not within {LONG:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
