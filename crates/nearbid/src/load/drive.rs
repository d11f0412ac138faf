//! Sends requests at their times and takes the replies: one thread, no locks, nothing decoded.
//!
//! What is measured here is the call, so the thread that makes the calls does nothing else. Replies
//! are copied into batches and handed to another thread, which decodes and counts them; its time is
//! not the exchange's.

use std::io;
use std::num::NonZeroU64;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use bidder::service::{BID_PATH, FORMAT_METADATA};
use hdrhistogram::Histogram;
use transport::{Client, Code, Finished, StartError};
use wire::Format;

use super::pace::Pace;
use super::pool::Pool;
use super::usage;

/// Replies handed on together: few enough to show progress, many enough to wake nobody often.
const BATCH_REPLIES_MAX: usize = 256;
/// Longest wait for the sockets, so that a stop is seen.
const WAIT_MAX: Duration = Duration::from_millis(50);
/// From the beginning to the time of request 0.
const LEAD: Duration = Duration::from_millis(5);
/// Latencies are kept from 1 ns to this, to three digits.
const LATENCY_NS_MAX: u64 = 600_000_000_000;

/// What is sent, and how.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The requests, encoded; taken round and round.
    pub pool: &'a Pool,
    /// Their format.
    pub format: Format,
    /// When.
    pub pace: Pace,
    /// How many.
    pub requests: u64,
    /// After which a call is given up.
    pub timeout: Duration,
}

/// Replies on their way to be counted.
#[derive(Debug, Default)]
pub struct Batch {
    entries: Vec<(u64, Code, usize)>,
    bytes: Vec<u8>,
}

impl Batch {
    fn push(&mut self, index: u64, finished: &Finished<'_>) {
        self.entries
            .push((index, finished.status.code, finished.message.len()));
        self.bytes.extend_from_slice(finished.message);
    }

    /// Number of the request, status and message of each reply.
    pub fn replies(&self) -> impl Iterator<Item = (u64, Code, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.entries.iter().map(move |(index, code, length)| {
            let (message, tail) = rest.split_at_checked(*length).unwrap_or((rest, &[]));
            rest = tail;
            (*index, *code, message)
        })
    }
}

/// What a run measured of itself.
#[derive(Debug)]
pub struct Measured {
    /// From a request's time to its reply, in nanoseconds.
    pub latency_ns: Histogram<u64>,
    /// From the first request's time to the last reply.
    pub elapsed: Duration,
    /// CPU time of the calling thread, user and system.
    pub cpu: Duration,
    /// Requests that never left, because no connection stood for as long as a call may take.
    pub unsent: u64,
}

/// Sends everything and waits for every reply; where the bidder goes away and stays away, what was
/// sent until then.
///
/// # Errors
/// The sockets fail, or nobody takes the batches.
pub fn drive(
    plan: &Plan<'_>,
    client: &mut Client,
    batches: &SyncSender<Batch>,
) -> anyhow::Result<Measured> {
    // The default slack of 50 µs would be half a percentile curve. Refused, it stays.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let cpu_before = usage::thread_cpu();
    let mut run = Run {
        plan,
        client,
        batches,
        batch: Batch::default(),
        latency_ns: Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3)?,
        start: Instant::now() + LEAD,
        sent: 0,
        answered: 0,
        cut_off: None,
        gave_up: false,
    };
    while !run.is_over() {
        run.step()?;
    }
    run.hand_on()?;
    let elapsed = run.start.elapsed();
    Ok(Measured {
        latency_ns: run.latency_ns,
        elapsed,
        cpu: usage::thread_cpu() - cpu_before,
        unsent: plan.requests - run.sent,
    })
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    client: &'a mut Client,
    batches: &'a SyncSender<Batch>,
    batch: Batch,
    latency_ns: Histogram<u64>,
    /// Time of request 0.
    start: Instant,
    sent: u64,
    answered: u64,
    /// Since when there is no connection.
    cut_off: Option<Instant>,
    /// There was none for too long: nothing more is sent.
    gave_up: bool,
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.answered == self.sent && (self.gave_up || self.sent == self.plan.requests)
    }

    /// Sends what is due, then waits for replies or for the next request's time.
    fn step(&mut self) -> anyhow::Result<()> {
        let blocked = self.send_due()?;
        let wait = if blocked || self.sent == self.plan.requests {
            WAIT_MAX
        } else {
            self.time_of(self.sent)
                .saturating_duration_since(Instant::now())
                .min(WAIT_MAX)
        };
        self.receive(wait).context("the calls' sockets")?;
        if self.batch.entries.len() >= BATCH_REPLIES_MAX {
            self.hand_on()?;
        }
        Ok(())
    }

    fn time_of(&self, index: u64) -> Instant {
        self.start + self.plan.pace.due(index)
    }

    /// Starts every call whose time has come; true when one had to stay because too many are in
    /// flight or no connection stands. Its latency goes on counting.
    fn send_due(&mut self) -> anyhow::Result<bool> {
        while !self.gave_up
            && self.sent < self.plan.requests
            && self.time_of(self.sent) <= Instant::now()
        {
            match self.send() {
                Ok(()) => {
                    self.sent += 1;
                    self.cut_off = None;
                }
                Err(StartError::Full) => return Ok(true),
                Err(StartError::Closed) => {
                    self.wait_for_connection();
                    return Ok(true);
                }
                Err(error @ StartError::Metadata) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// The client connects again by itself; a bidder that stays away ends the run.
    fn wait_for_connection(&mut self) {
        let since = *self.cut_off.get_or_insert_with(Instant::now);
        self.gave_up = since.elapsed() >= self.plan.timeout;
    }

    /// The client numbers its calls from 0 as they start, as requests are numbered here.
    fn send(&mut self) -> Result<(), StartError> {
        let format = self.plan.format.name().as_bytes();
        let message = self.plan.pool.request(self.sent);
        let metadata = [(FORMAT_METADATA, format)];
        self.client
            .start(BID_PATH, "", &metadata, message, Some(self.plan.timeout))
            .map(|_| ())
    }

    fn receive(&mut self, wait: Duration) -> io::Result<()> {
        let Run {
            client,
            batch,
            latency_ns,
            answered,
            ..
        } = self;
        let (start, pace) = (self.start, self.plan.pace);
        client.poll(wait, |finished| {
            let index = finished.id.number();
            let latency = start.elapsed().saturating_sub(pace.due(index));
            let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
            latency_ns.saturating_record(nanos.max(1));
            batch.push(index, &finished);
            *answered += 1;
        })?;
        Ok(())
    }

    fn hand_on(&mut self) -> anyhow::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batches
            .send(batch)
            .ok()
            .context("the replies cannot be counted")
    }
}
