//! File descriptors: as many as the system gives, and no more connections than that.
//!
//! Out of descriptors a server accepts nobody, not even a probe. So the limit of connections stays
//! below what is there, with room for everything else.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Config;

/// For line items, logs, listeners, and whatever a library opens.
const KEPT: usize = 64;
/// An epoll and a wake-up for each server thread, and the listeners it shares.
const KEPT_PER_THREAD: usize = 8;

/// Raises the limit of open files as far as the system lets it be raised, and lowers the limit of
/// connections to what that allows beside those that the HTTP ports may need.
pub(crate) fn make_room(config: &mut Config, http_connections_max: usize) {
    let files = raise();
    let threads = match config.server.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let kept = KEPT + KEPT_PER_THREAD * threads + http_connections_max;
    let (asked, possible) = (
        config.server.limits.connections_max,
        connections(files, kept),
    );
    if asked > possible {
        config.server.limits.connections_max = possible;
        tracing::warn!(
            connections_max = asked,
            possible,
            files,
            "connections-max is more than the limit of open files allows, and was lowered; raise that \
             limit (ulimit -n, LimitNOFILE) or lower connections-max"
        );
    }
}

/// Connections that so many files allow, if so many are kept for other uses: at least half of them,
/// where there are very few.
fn connections(files: usize, kept: usize) -> usize {
    files.saturating_sub(kept).max(files / 2).max(1)
}

/// The limit of open files, raised to the highest that is allowed.
fn raise() -> usize {
    let before = getrlimit(Resource::Nofile);
    let highest = Rlimit {
        current: before.maximum,
        ..before
    };
    // Where it cannot be raised it is what it was.
    let now = match setrlimit(Resource::Nofile, highest) {
        Ok(()) => highest,
        Err(_) => before,
    };
    now.current
        .map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room() {
        for (files, kept, expect) in [
            (1_048_576, 1_400, 1_047_176),
            (usize::MAX, 1_400, usize::MAX - 1_400),
            (4_096, 1_400, 2_696),
            (1_024, 1_400, 512),
            (1, 1_400, 1),
        ] {
            assert_eq!(connections(files, kept), expect, "{files}");
        }
    }
}
