//! What a handler does with a message, whatever carries the call: a fixed no, or the bidder's own
//! service.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bidder::config::{Deadline, Overload, Shed};
use bidder::metrics::Metrics;
use bidder::response::BidTerms;
use bidder::service::{BID_PATH, BidderService, Shared};
use engine::{MemoryBudgets, MemoryLimits};
use openrtb::{Currency, Reason};
use transport::{Call, Method, MethodKind, Reply, Service, Status};
use wire::{Format, Limits};

use super::plan::Work;

/// The content-subtype of all calls.
pub const SUBTYPE: &str = "flatbuffers";
/// What a request may have waited.
const WAIT_MAX: Duration = Duration::from_millis(20);

/// One thread's handler.
pub enum Handler {
    /// Gives these bytes.
    Fixed(Vec<u8>),
    /// Decides.
    Decide(Box<BidderService>),
    /// Sheds: it is told that every request waited for too long.
    Shed(Box<BidderService>),
}

impl Handler {
    /// A handler over the line items of a file.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn new(work: Work, line_items: &Path) -> anyhow::Result<Handler> {
        Ok(match work {
            Work::Fixed => Handler::Fixed(fixed_no()),
            Work::Decide => Handler::Decide(Box::new(service(line_items)?)),
            Work::Shed => Handler::Shed(Box::new(service(line_items)?)),
        })
    }
}

/// A no as nearly all are.
pub fn fixed_no() -> Vec<u8> {
    let mut no = Vec::new();
    let id = openrtb::Text::Plain("0b1f9cb2-5a26-4d33-9d0e-6f3b7b0a52c1");
    wire::no_bid(Format::FlatBuffers, Some(id), Reason::Floor.nbr(), &mut no);
    no
}

fn service(line_items: &Path) -> anyhow::Result<BidderService> {
    let budgets = MemoryBudgets::new(MemoryLimits::default());
    let source = bidder::snapshot::Source {
        line_items: line_items.to_owned(),
        rates: None,
        base: Currency::USD,
        budgets: budgets.clone(),
    };
    let state = source
        .load(None)
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    let shared = Shared {
        current: Arc::new(arc_swap::ArcSwap::from_pointee(state)),
        budgets,
        terms: BidTerms {
            base: Currency::USD,
            exp_s: 60,
            notice_url: None,
        },
        deadline: Deadline {
            network_margin: Duration::ZERO,
            decision_min: Duration::ZERO,
        },
        overload: Overload {
            wait_max: Some(WAIT_MAX),
            shed: Shed::NoBid,
        },
        limits: Limits::default(),
        validate: false,
        metrics: Metrics::new().context("metrics")?,
        draining: AtomicBool::new(false),
    };
    Ok(BidderService::new(Arc::new(shared), Arc::default()))
}

impl Service for Handler {
    fn method(&self, path: &str) -> Option<Method> {
        (path == BID_PATH).then_some(Method {
            id: 0,
            kind: MethodKind::Unary,
        })
    }

    fn call(&mut self, call: &Call<'_>, reply: &mut Reply<'_>) -> Result<(), Status> {
        match self {
            Handler::Fixed(no) => {
                reply.message().extend_from_slice(no);
                Ok(())
            }
            Handler::Decide(service) => service.call(call, reply),
            Handler::Shed(service) => {
                let mut late = Call::local(0, call.message, call.received);
                late.subtype = call.subtype;
                late.waited = WAIT_MAX * 2;
                service.call(&late, reply)
            }
        }
    }

    fn tick(&mut self, now: Instant) {
        if let Handler::Decide(service) | Handler::Shed(service) = self {
            service.tick(now);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use transport::ReplyBuffer;

    #[test]
    fn every_handler_answers_and_only_one_sheds() {
        let items = Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../examples/line-items.json"
        ));
        let request = crate::generate::Traffic::new(1).next().unwrap();
        let mut message = Vec::new();
        wire::encode(Format::FlatBuffers, &request, &mut message);
        let answer = |work| {
            let mut handler = Handler::new(work, items).unwrap();
            let mut buffer = ReplyBuffer::default();
            let mut call = Call::local(0, &message, Instant::now());
            call.subtype = SUBTYPE;
            handler.call(&call, &mut buffer.reply()).unwrap();
            let reply = buffer.message().unwrap();
            wire::decode::<wire::message::BidResponse>(
                Format::FlatBuffers,
                reply,
                &Limits::default(),
            )
            .unwrap()
        };
        assert_eq!(answer(Work::Fixed).nbr, Some(Reason::Floor.nbr()));
        assert_eq!(answer(Work::Decide).id, request.id);
        assert_eq!(answer(Work::Shed).nbr, Some(510));
    }
}
