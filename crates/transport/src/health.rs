//! `grpc.health.v1.Health`: whether the server serves, asked once or watched.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::protobuf::{self, Fields, Value};
use crate::{Code, Status};

/// `HealthCheckResponse.ServingStatus`.
const SERVING: u64 = 1;
const NOT_SERVING: u64 = 2;
const SERVICE_UNKNOWN: u64 = 3;

/// The server's health: one answer for the server and all of its services.
#[derive(Debug)]
pub(crate) struct Health {
    services: Vec<String>,
    serving: AtomicBool,
}

impl Health {
    pub fn new(services: Vec<String>) -> Self {
        Self {
            services,
            serving: AtomicBool::new(true),
        }
    }

    pub fn set(&self, serving: bool) {
        self.serving.store(serving, Ordering::Release);
    }

    pub fn is_serving(&self) -> bool {
        self.serving.load(Ordering::Acquire)
    }

    fn status(&self, known: bool) -> u64 {
        match (known, self.is_serving()) {
            (false, _) => SERVICE_UNKNOWN,
            (true, true) => SERVING,
            (true, false) => NOT_SERVING,
        }
    }

    /// Writes a `HealthCheckResponse` about a service that is known or not.
    pub fn write(&self, known: bool, out: &mut Vec<u8>) {
        protobuf::put_number(out, 1, self.status(known));
    }

    /// Whether the service that a `HealthCheckRequest` names is one of ours; empty is the server.
    fn knows(&self, request: &[u8]) -> Result<bool, Status> {
        let mut fields = Fields::new(request);
        let mut name: &[u8] = &[];
        for (field, value) in fields.by_ref() {
            if let (1, Value::Bytes(bytes)) = (field, value) {
                name = bytes;
            }
        }
        if !fields.is_sound() {
            return Err(Status::fixed(
                Code::InvalidArgument,
                "malformed HealthCheckRequest",
            ));
        }
        Ok(name.is_empty()
            || self
                .services
                .iter()
                .any(|service| service.as_bytes() == name))
    }

    pub fn check(&self, request: &[u8], out: &mut Vec<u8>) -> Result<(), Status> {
        if !self.knows(request)? {
            return Err(Status::fixed(Code::NotFound, "unknown service"));
        }
        self.write(true, out);
        Ok(())
    }

    /// The first answer to a `Watch`; gives whether the service is known, for the next ones.
    pub fn watch(&self, request: &[u8], out: &mut Vec<u8>) -> Result<bool, Status> {
        let known = self.knows(request)?;
        self.write(known, out);
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        request: &[u8],
        serving: bool,
        expect: Result<&[u8], Code>,
        watched: Result<&[u8], Code>,
    ) {
        let health = Health::new(vec!["a.B".to_owned()]);
        health.set(serving);
        let mut out = Vec::new();
        let got = health
            .check(request, &mut out)
            .map(|()| out.as_slice())
            .map_err(|status| status.code);
        assert_eq!(got, expect);
        let mut out = Vec::new();
        let got = health
            .watch(request, &mut out)
            .map(|_| out.as_slice())
            .map_err(|status| status.code);
        assert_eq!(got, watched);
    }

    #[test]
    fn answers() {
        check(b"", true, Ok(&[8, 1]), Ok(&[8, 1]));
        check(b"\x0a\x00", false, Ok(&[8, 2]), Ok(&[8, 2]));
        check(b"\x0a\x03a.B", true, Ok(&[8, 1]), Ok(&[8, 1]));
        check(b"\x0a\x03a.C", true, Err(Code::NotFound), Ok(&[8, 3]));
        check(
            b"\x0a\x09a.B",
            true,
            Err(Code::InvalidArgument),
            Err(Code::InvalidArgument),
        );
    }
}
