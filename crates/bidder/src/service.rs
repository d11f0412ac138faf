//! The gRPC service `nearbid.v1.Bidder` on one server thread: bytes in, answer out, where they
//! arrived. A warm no takes no lock and allocates nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arc_swap::Cache;
use engine::{Invalid, MemoryBudgets, Outcome, Scratch};
use openrtb::{Limit, Reason, Refusal, RequestView};
use transport::{Call, CallGroup, Code, Method, MethodKind, Reply, Service, Status};
use wire::message::{BidRequest, Cause};
use wire::{Format, Limits, Reader, Visit};

use crate::config::{Deadline, Overload, Shed};
use crate::ids::BidIds;
use crate::metrics::{LocalMetrics, Metrics};
use crate::notices;
use crate::response::{BidTerms, bid_response};
use crate::snapshot::{Current, State};
use crate::time::Clock;

/// The service's full name, as health checks ask for it.
pub const SERVICE: &str = "nearbid.v1.Bidder";
/// The path of `Bid`.
pub const BID_PATH: &str = "/nearbid.v1.Bidder/Bid";
/// The path of `BidStream`.
pub const BID_STREAM_PATH: &str = "/nearbid.v1.Bidder/BidStream";
/// The path of `Notify`.
pub const NOTIFY_PATH: &str = "/nearbid.v1.Bidder/Notify";
/// The metadata that names a format, for clients that cannot set a content-subtype.
pub const FORMAT_METADATA: &str = "nearbid-format";

const BID: Method = Method {
    id: 0,
    kind: MethodKind::Unary,
};
const BID_STREAM: Method = Method {
    id: 2,
    kind: MethodKind::Bidi,
};
const NOTIFY: Method = Method {
    id: 1,
    kind: MethodKind::Unary,
};

/// What all server threads, the notice listener and the admin port share.
pub struct Shared {
    /// What decisions read.
    pub current: Current,
    /// Where notices go.
    pub budgets: MemoryBudgets,
    /// What every bid carries.
    pub terms: BidTerms,
    /// The time a decision needs.
    pub deadline: Deadline,
    /// What waited too long for a decision.
    pub overload: Overload,
    /// What a request may be.
    pub limits: Limits,
    /// Whether all of a request is checked, or only what the decision reads.
    pub validate: bool,
    /// What is counted.
    pub metrics: Metrics,
    /// Whether the bidder is going away: it bids no more, as no notice of a bid would reach it.
    pub draining: AtomicBool,
}

/// When a server thread last ticked: microseconds since 1970. A thread that hangs does not tick.
pub type Heartbeat = Arc<AtomicU64>;

/// One thread's service.
pub struct BidderService {
    shared: Arc<Shared>,
    state: Cache<Current, Arc<State>>,
    reader: Reader,
    scratch: Scratch,
    ids: BidIds,
    clock: Clock,
    metrics: LocalMetrics,
    heartbeat: Heartbeat,
}

impl BidderService {
    /// A service that hands on at every tick what it counted, and says that it lives.
    pub fn new(shared: Arc<Shared>, heartbeat: Heartbeat) -> BidderService {
        BidderService {
            state: Cache::new(shared.current.clone()),
            reader: Reader::new(shared.limits),
            scratch: Scratch::default(),
            ids: BidIds::default(),
            clock: Clock::now(),
            metrics: shared.metrics.local(),
            heartbeat,
            shared,
        }
    }

    /// Answers one request; of a stream too where it is invalid.
    fn bid(&mut self, call: &Call<'_>, reply: &mut Reply<'_>) -> Result<(), Status> {
        let format = call_format(call).inspect_err(|_| self.metrics.count_formatless(call.kind))?;
        let out = reply.message();
        match self.decide(format, call, out) {
            Err(status) if call.method == BID_STREAM.id && status.code == Code::InvalidArgument => {
                out.clear();
                let id_alone = InvalidNo {
                    format,
                    out: &mut *out,
                };
                if self.reader.read(format, call.message, id_alone).is_err() {
                    // What cannot be read at all has no id.
                    wire::no_bid(format, None, Reason::InvalidRequest.nbr(), out);
                }
                Ok(())
            }
            answered => answered,
        }
    }

    fn decide(&mut self, format: Format, call: &Call<'_>, out: &mut Vec<u8>) -> Result<(), Status> {
        let way = self.metrics.way(format, call.kind);
        way.requests.inc();
        let started = Instant::now();
        let overload = &self.shared.overload;
        let is_late = overload.is_late(call.waited);
        // A status would end a whole stream.
        let by_status = overload.shed == Shed::ResourceExhausted && call.method == BID.id;
        if is_late && by_status {
            way.shed.inc();
            return Err(LATE);
        }
        if self.shared.validate && !is_late {
            validate(format, call.message, &self.shared.limits).map_err(|error| {
                let status = damaged_status(&error);
                way.count_invalid(Refusal::from(error).into());
                status
            })?;
        }
        let state = self.state.load();
        let answer = Answer {
            shared: &self.shared,
            state,
            scratch: &mut self.scratch,
            ids: &mut self.ids,
            now: self.clock.moment(started),
            left: call.timeout,
            gone: started.saturating_duration_since(call.received) + call.waited,
            is_late,
            format,
            out,
        };
        let read = self.reader.read(format, call.message, answer);
        let answered = read.unwrap_or_else(|refusal| Answered::Invalid(refusal.into()));
        let ended = Instant::now();
        way.decision_seconds
            .observe((ended - started).as_secs_f64());
        let call_time = ended.saturating_duration_since(call.received);
        way.call_seconds.observe(call_time.as_secs_f64());
        match answered {
            Answered::Bids(count) => way.bids.inc_by(count),
            Answered::NoBid(reason) => way.count_no_bid(reason),
            Answered::Invalid(cause) => {
                way.count_invalid(cause);
                return Err(invalid_status(cause));
            }
        }
        Ok(())
    }
}

impl Service for BidderService {
    fn method(&self, path: &str) -> Option<Method> {
        match path {
            BID_PATH => Some(BID),
            BID_STREAM_PATH => Some(BID_STREAM),
            NOTIFY_PATH => Some(NOTIFY),
            _ => None,
        }
    }

    fn call(&mut self, call: &Call<'_>, reply: &mut Reply<'_>) -> Result<(), Status> {
        if call.method == NOTIFY.id {
            let now = self.clock.moment(call.received);
            return notices::notify(&self.shared, self.state.load(), now, call, reply.message());
        }
        self.bid(call, reply)
    }

    fn group(&self, call: &Call<'_>) -> CallGroup {
        match call.method {
            method if method == NOTIFY.id => group_of(Format::Protobuf),
            _ => call_format(call).map_or(CallGroup::OTHER, group_of),
        }
    }

    fn tick(&mut self, now: Instant) {
        self.clock = Clock::now();
        self.metrics.flush();
        // A thread without calls must not keep line items that were replaced.
        self.state.load();
        let beat = self.clock.moment(now).0;
        self.heartbeat.store(beat.unsigned_abs(), Ordering::Relaxed);
    }
}

/// Where calls of a format are counted while they are in flight.
const fn group_of(format: Format) -> CallGroup {
    CallGroup::new(match format {
        Format::Protobuf => 0,
        Format::FlatBuffers => 1,
        Format::Json => 2,
    })
}

/// Every group of calls, by the name of its format; `unknown` are those that name none or two, and
/// those of the services beside ours.
pub(crate) fn call_groups() -> impl Iterator<Item = (&'static str, CallGroup)> {
    let formats = Format::ALL.into_iter();
    formats
        .map(|format| (format.name(), group_of(format)))
        .chain([("unknown", CallGroup::OTHER)])
}

/// What a call was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answered {
    /// This many bids.
    Bids(u64),
    NoBid(Reason),
    Invalid(Invalid),
}

/// Decides on one request and writes the answer, in the format that it came in.
struct Answer<'s> {
    shared: &'s Shared,
    state: &'s State,
    scratch: &'s mut Scratch,
    ids: &'s mut BidIds,
    now: engine::Timestamp,
    /// What was left of the call's own deadline when its bytes came, and what is gone since.
    left: Option<Duration>,
    gone: Duration,
    /// Whether it waited so long that it is not decided on.
    is_late: bool,
    format: Format,
    out: &'s mut Vec<u8>,
}

impl Visit for Answer<'_> {
    type Out = Answered;

    fn visit<'a, V: RequestView<'a>>(self, view: &V) -> Answered {
        match self.early_no(view) {
            Ok(None) => self.decide(view),
            Ok(Some(reason)) => self.no(view, reason),
            Err(refusal) => Answered::Invalid(refusal.into()),
        }
    }
}

impl Answer<'_> {
    /// What keeps the stages from being walked at all.
    fn early_no<'a>(&self, view: &impl RequestView<'a>) -> openrtb::Read<Option<Reason>> {
        if self.shared.draining.load(Ordering::Relaxed) {
            return Ok(Some(Reason::ShuttingDown));
        }
        if self.is_late {
            return Ok(Some(Reason::Overload));
        }
        let in_time = self
            .shared
            .deadline
            .allows(view.tmax_ms()?, self.left, self.gone);
        Ok((!in_time).then_some(Reason::Deadline))
    }

    /// A no without a decision. An invalid request is invalid all the same.
    fn no<'a>(self, view: &impl RequestView<'a>, reason: Reason) -> Answered {
        match (view.id(), view.imps()) {
            (Err(refusal), _) | (_, Err(refusal)) => Answered::Invalid(refusal.into()),
            (Ok(None), _) => Answered::Invalid(Invalid::NoId),
            (_, Ok(0)) => Answered::Invalid(Invalid::NoImp),
            (Ok(id), Ok(_)) => {
                wire::no_bid(self.format, id, reason.nbr(), self.out);
                Answered::NoBid(reason)
            }
        }
    }

    fn decide<'a>(self, view: &impl RequestView<'a>) -> Answered {
        let State { snapshot, rates } = self.state;
        let mut ids = || self.ids.draw();
        let decision = engine::decide(view, snapshot, rates, self.now, self.scratch, &mut ids);
        match decision.outcome {
            Outcome::NoBid(reason) => {
                wire::no_bid(self.format, decision.id, reason.nbr(), self.out);
                Answered::NoBid(reason)
            }
            Outcome::Invalid(cause) => Answered::Invalid(cause),
            Outcome::Bids(ref bids) => {
                let response = bid_response(&decision, &self.shared.terms);
                wire::encode(self.format, &response, self.out);
                Answered::Bids(bids.len() as u64)
            }
        }
    }
}

/// Answers an invalid request of a stream: its id, if that can be read, and `nbr` 2.
struct InvalidNo<'s> {
    format: Format,
    out: &'s mut Vec<u8>,
}

impl Visit for InvalidNo<'_> {
    type Out = ();

    fn visit<'a, V: RequestView<'a>>(self, view: &V) {
        let id = view.id().ok().flatten();
        wire::no_bid(self.format, id, Reason::InvalidRequest.nbr(), self.out);
    }
}

/// The status of what is shed.
const LATE: Status = Status::fixed(
    Code::ResourceExhausted,
    "the bidder is behind: the request waited longer than wait-us-max",
);

impl Overload {
    /// Whether a request waited too long.
    fn is_late(&self, waited: Duration) -> bool {
        self.wait_max.is_some_and(|most| waited > most)
    }
}

impl Deadline {
    /// Whether there is time for a decision: the smaller of `tmax` and what was left of the call's
    /// timeout, less the way back and what is gone.
    fn allows(&self, tmax_ms: Option<i32>, left: Option<Duration>, gone: Duration) -> bool {
        let tmax = tmax_ms.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)));
        let Some(least) = tmax.into_iter().chain(left).min() else {
            return true;
        };
        let needed = self.network_margin.saturating_add(gone);
        least.saturating_sub(needed) >= self.decision_min
    }
}

/// The format of a call: by its content-subtype, or by metadata where that says nothing.
fn call_format(call: &Call<'_>) -> Result<Format, Status> {
    const SUBTYPE: Status = Status::fixed(
        Code::InvalidArgument,
        "the content-subtype is none of proto, flatbuffers, json",
    );
    const METADATA: Status = Status::fixed(
        Code::InvalidArgument,
        "nearbid-format is none of protobuf, flatbuffers, json",
    );
    const DIFFERENT: Status = Status::fixed(
        Code::InvalidArgument,
        "the content-subtype and nearbid-format name different formats",
    );
    let by_subtype = Format::from_grpc_subtype(call.subtype).ok_or(SUBTYPE)?;
    let Some(name) = call.metadata(FORMAT_METADATA) else {
        return Ok(by_subtype);
    };
    let name = std::str::from_utf8(name).ok();
    let named = name.and_then(Format::from_name).ok_or(METADATA)?;
    // Plain `application/grpc` is what clients send that cannot say more.
    if call.subtype.is_empty() || named == by_subtype {
        return Ok(named);
    }
    Err(DIFFERENT)
}

/// Reads all of a request, as a tool would that converts it.
fn validate(format: Format, message: &[u8], limits: &Limits) -> Result<(), wire::DecodeError> {
    wire::decode::<BidRequest>(format, message, limits).map(drop)
}

/// Says what is wrong where, in words of the schema: nothing of a request is ever echoed.
fn damaged_status(error: &wire::DecodeError) -> Status {
    let message = match error.cause() {
        Cause::Malformed(_) => format!("the message is not well-formed: {error}"),
        Cause::OverLimit(_) => error.to_string(),
    };
    Status::new(Code::InvalidArgument, message)
}

/// Says what is wrong in fixed words: nothing of a request is ever echoed.
fn invalid_status(cause: Invalid) -> Status {
    Status::fixed(
        Code::InvalidArgument,
        match cause {
            Invalid::Malformed => "the message is not well-formed",
            Invalid::NoId => "the request has no id",
            Invalid::NoImp => "the request has no impression",
            Invalid::OverLimit(Limit::MessageBytes) => "the message is over message_bytes_max",
            Invalid::OverLimit(Limit::Imps) => "the request is over imps_max",
            Invalid::OverLimit(Limit::Deals) => "an impression is over deals_max",
            Invalid::OverLimit(Limit::Depth) => "the message is over depth_max",
            Invalid::OverLimit(Limit::StringBytes) => "a string is over string_bytes_max",
            Invalid::OverLimit(Limit::Work) => "the request is over work_max",
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_the_smaller_one_less_margin_and_time_gone() {
        let deadline = Deadline {
            network_margin: Duration::from_micros(1000),
            decision_min: Duration::from_micros(500),
        };
        let us = Duration::from_micros;
        for (tmax_ms, left, gone, expect) in [
            (None, None, us(1_000_000), true),
            (Some(2), None, us(0), true),
            (Some(2), None, us(500), true),
            (Some(2), None, us(501), false),
            (Some(1), None, us(0), false),
            (Some(0), None, us(0), false),
            (Some(-5), None, us(0), false),
            (Some(100), Some(us(1499)), us(0), false),
            (Some(100), Some(us(1500)), us(0), true),
            (Some(1), Some(us(90_000)), us(0), false),
            (None, Some(us(1400)), us(0), false),
            (Some(i32::MAX), None, Duration::MAX, false),
        ] {
            let got = deadline.allows(tmax_ms, left, gone);
            assert_eq!(got, expect, "{tmax_ms:?} {left:?} {gone:?}");
        }
    }
}
