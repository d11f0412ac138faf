//! The thread that keeps house: reloads line items and rates when their files change or SIGHUP
//! asks for it, frees reservations whose time is over, and lets go of what was replaced.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use engine::Budgets;

use crate::fault::Faults;
use crate::http::join_until;
use crate::metrics::Reload;
use crate::service::Shared;
use crate::snapshot::{LoadError, Source, Stamp, State};
use crate::time;

/// How often files are looked at and reservations expired; also the least time between two reloads
/// that somebody asks for.
const ROUND: Duration = Duration::from_secs(1);

/// The thread; it ends when this is stopped or dropped.
pub(crate) struct Keeper {
    reload: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Starts the thread. `source` is what the state now was made from.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(shared: Arc<Shared>, source: Source) -> std::io::Result<Keeper> {
        // One reload that waits is enough: it will see whatever is on disk.
        let (reload, asked) = mpsc::sync_channel(1);
        let loaded = source.stamp();
        let house = House {
            shared,
            loaded,
            seen: loaded,
            source,
            replaced: Vec::new(),
        };
        let thread = std::thread::Builder::new()
            .name("keeper".to_owned())
            .spawn(move || house.keep(&asked))?;
        Ok(Keeper {
            reload: Some(reload),
            thread: Some(thread),
        })
    }

    /// Asks for a reload, whether files have changed or not.
    pub fn reload(&self) {
        if let Some(reload) = &self.reload {
            // Full: one waits already.
            let _ = reload.try_send(());
        }
    }

    /// Tells it to end, after a reload that it is at.
    pub fn stop(&mut self) {
        drop(self.reload.take());
    }

    /// Waits for the end, once it was told to.
    pub fn join(mut self, until: Instant) {
        if let Some(thread) = self.thread.take() {
            join_until(thread, until);
        }
    }
}

/// When what is due: rounds by the clock, however often a reload is asked for.
struct Timetable {
    round: Instant,
    reload_is_asked: bool,
    /// No reload that is asked for before this.
    reloads_from: Instant,
}

impl Timetable {
    fn new(now: Instant) -> Timetable {
        Timetable {
            round: now + ROUND,
            reload_is_asked: false,
            reloads_from: now,
        }
    }

    /// How long there is nothing to do.
    fn wait(&self, now: Instant) -> Duration {
        let until = match self.reload_is_asked {
            true => self.round.min(self.reloads_from),
            false => self.round,
        };
        until.saturating_duration_since(now)
    }

    /// Whether a round is due; the next one then is later.
    fn is_round(&mut self, now: Instant) -> bool {
        let due = now >= self.round;
        if due {
            self.round = now + ROUND;
        }
        due
    }

    /// Whether a reload is due; it then is asked for no more.
    fn is_reload(&mut self, now: Instant) -> bool {
        let due = self.reload_is_asked && now >= self.reloads_from;
        self.reload_is_asked &= !due;
        due
    }
}

struct House {
    shared: Arc<Shared>,
    source: Source,
    /// What the files looked like when they were last read, good or bad.
    loaded: Stamp,
    /// What they looked like a round ago.
    seen: Stamp,
    /// States that a thread may still be reading.
    replaced: Vec<Arc<State>>,
}

impl House {
    fn keep(mut self, asked: &mpsc::Receiver<()>) {
        let mut timetable = Timetable::new(Instant::now());
        loop {
            match asked.recv_timeout(timetable.wait(Instant::now())) {
                Ok(()) => timetable.reload_is_asked = true,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if timetable.is_round(Instant::now()) {
                self.round();
            }
            if timetable.is_reload(Instant::now()) {
                self.reload("SIGHUP");
                timetable.reloads_from = Instant::now() + ROUND;
            }
        }
    }

    fn round(&mut self) {
        self.shared.budgets.expire(time::now());
        // Line items are large; they are freed here, not on a server thread.
        self.replaced.retain(|state| Arc::strong_count(state) > 1);
        let stamp = self.source.stamp();
        // A file that is still being written changes from round to round.
        if stamp != self.loaded && stamp == self.seen {
            self.reload("a file changed");
        }
        self.seen = stamp;
    }

    fn reload(&mut self, why: &'static str) {
        let started = Instant::now();
        self.loaded = self.source.stamp();
        if self.source.is_blank() {
            self.shared.metrics.count_reload(Reload::Refused);
            let file = self.source.line_items.display();
            tracing::error!(why, %file, "the file is blank ([] means no line items); the old line items stay");
            return;
        }
        let before = self.shared.current.load_full();
        match self.source.load(Some(&before)) {
            Ok(state) => self.take_over(state, why, started),
            Err(error) => {
                self.shared.metrics.count_reload(Reload::Refused);
                say_refused(&error, why);
            }
        }
    }

    fn take_over(&mut self, state: State, why: &str, started: Instant) {
        let metrics = &self.shared.metrics;
        metrics.loaded(&state);
        metrics.count_reload(Reload::Ok);
        let line_items = state.snapshot.catalog().len();
        self.replaced
            .push(self.shared.current.swap(Arc::new(state)));
        let ms = started.elapsed().as_millis();
        tracing::info!(why, line_items, ms, "reloaded");
    }
}

/// How many faults of a file go to the log.
const FAULTS_LOGGED_MAX: usize = 10;

fn say_refused(error: &LoadError, why: &str) {
    if let LoadError::Faults(Faults {
        file,
        faults,
        count,
    }) = error
    {
        for fault in faults.iter().take(FAULTS_LOGGED_MAX) {
            tracing::error!(file = %file.display(), %fault, "bad file");
        }
        tracing::error!(why, faults = count, file = %file.display(), "not reloaded; the old line items stay");
    } else {
        tracing::error!(why, %error, "not reloaded; the old line items stay");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_come_however_often_a_reload_is_asked_for() {
        let start = Instant::now();
        let mut timetable = Timetable::new(start);
        let (mut rounds, mut reloads) = (0, 0);
        for tenth in 0..50 {
            let now = start + Duration::from_millis(100 * tenth);
            timetable.reload_is_asked = true;
            rounds += u32::from(timetable.is_round(now));
            if timetable.is_reload(now) {
                reloads += 1;
                timetable.reloads_from = now + ROUND;
            }
        }
        assert_eq!((rounds, reloads), (4, 5));
    }

    #[test]
    fn a_reload_is_not_waited_for_longer_than_the_next_may_come() {
        let now = Instant::now();
        let mut timetable = Timetable::new(now);
        assert_eq!(timetable.wait(now), ROUND);
        timetable.reload_is_asked = true;
        assert_eq!(timetable.wait(now), Duration::ZERO);
        assert!(timetable.is_reload(now) && !timetable.is_reload(now));
    }
}
