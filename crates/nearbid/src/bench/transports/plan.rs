//! What a run measures: placements, stacks, cores and loads, and which of their products are run.

use std::fmt;
use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

/// Where the two ends are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Pods of two nodes, over VXLAN
    Overlay,
    /// Two pods of one node, over its bridge
    Tcp,
    /// Two pods of one node, over a socket in a shared folder
    Unix,
}

/// What carries the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stack {
    /// Ours
    Nearbid,
    /// tonic, on tokio's current_thread
    Tonic,
    /// grpc-go
    GrpcGo,
    /// A bare socket: the floor
    Bare,
}

/// Where the two ends may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cores {
    /// Both on one
    Same,
    /// Each on its own
    Two,
    /// Anywhere
    Free,
}

/// When requests leave, and what the bidder does with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Load {
    /// One in flight, a fixed no
    Sequential,
    /// 64 in flight on 4 connections, a fixed no
    Saturated,
    /// 10,000 a second in ticks of 500 µs, real work
    Paced,
    /// 10,000 a second one by one, real work
    Spaced,
    /// As saturated, real work
    Full,
    /// As full, every request shed: it waited too long
    Shed,
}

/// What a handler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Work {
    /// A fixed no
    Fixed,
    /// The decision
    Decide,
    /// The decision, of a request that waited too long
    Shed,
}

impl Load {
    /// Calls in flight; where requests have their times, any number.
    pub fn in_flight(self) -> usize {
        match self {
            Load::Sequential => 1,
            Load::Saturated | Load::Full | Load::Shed => 64,
            Load::Paced | Load::Spaced => 4096,
        }
    }

    /// Connections.
    pub fn connections(self) -> usize {
        match self {
            Load::Saturated | Load::Full | Load::Shed => 4,
            Load::Sequential | Load::Paced | Load::Spaced => 1,
        }
    }

    /// What the handler does.
    pub fn work(self) -> Work {
        match self {
            Load::Sequential | Load::Saturated => Work::Fixed,
            Load::Paced | Load::Spaced | Load::Full => Work::Decide,
            Load::Shed => Work::Shed,
        }
    }

    /// The time of a request after the start, where it has one.
    pub fn due(self) -> Option<fn(u64) -> Duration> {
        match self {
            Load::Paced => Some(|number| Duration::from_micros(number / 5 * 500)),
            Load::Spaced => Some(|number| Duration::from_micros(number * 100)),
            _ => None,
        }
    }
}

/// One row: what is run in every round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Where.
    pub placement: Placement,
    /// By what.
    pub stack: Stack,
    /// On which cores.
    pub cores: Cores,
    /// How.
    pub load: Load,
}

impl Case {
    /// Whether there is such a row: a bare socket knows no calls in flight, only we shed, and nobody
    /// needs placements where it is the handler that counts.
    pub fn is_run(self) -> bool {
        match self.load {
            Load::Sequential => true,
            Load::Shed => {
                self.stack == Stack::Nearbid
                    && self.placement == Placement::Unix
                    && self.cores == Cores::Free
            }
            Load::Saturated | Load::Paced | Load::Spaced | Load::Full => self.stack != Stack::Bare,
        }
    }

    /// Whether a quick run has it: what the bounds ask for, and unpinned rows of every placement.
    pub fn is_quick(self) -> bool {
        let unix = self.placement == Placement::Unix;
        match self.load {
            Load::Sequential => self.cores == Cores::Same,
            Load::Paced => self.cores == Cores::Free,
            Load::Saturated | Load::Full | Load::Shed => unix && self.cores == Cores::Free,
            Load::Spaced => false,
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case {
            placement,
            stack,
            cores,
            load,
        } = self;
        let (placement, stack) = (name(placement), name(stack));
        write!(f, "{placement}/{stack}/{}/{}", name(cores), name(load))
    }
}

/// The word for a value, as on the command line.
pub fn name(value: &impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The rows of a run. An empty list takes all.
pub fn cases(placements: &[Placement], stacks: &[Stack], loads: &[Load], quick: bool) -> Vec<Case> {
    fn all<T: ValueEnum>(some: &[T]) -> &[T] {
        if some.is_empty() {
            T::value_variants()
        } else {
            some
        }
    }
    let mut cases = Vec::new();
    for &load in all(loads) {
        for &placement in all(placements) {
            for &cores in Cores::value_variants() {
                for &stack in all(stacks) {
                    cases.push(Case {
                        placement,
                        stack,
                        cores,
                        load,
                    });
                }
            }
        }
    }
    cases.retain(|case| case.is_run() && (!quick || case.is_quick()));
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_socket_is_only_sequential_and_only_we_shed() {
        let all = cases(&[], &[], &[], false);
        let bare = all.iter().filter(|case| case.stack == Stack::Bare);
        assert_eq!(bare.clone().count(), 9);
        assert!(bare.clone().all(|case| case.load == Load::Sequential));
        let shed = all.iter().filter(|case| case.load == Load::Shed);
        assert_eq!(shed.count(), 1);
    }

    #[test]
    fn a_quick_run_has_what_the_bounds_ask_for() {
        let quick: Vec<_> = cases(&[], &[], &[], true)
            .iter()
            .map(Case::to_string)
            .collect();
        for row in [
            "unix/nearbid/same/sequential",
            "tcp/nearbid/same/sequential",
            "unix/bare/same/sequential",
            "unix/grpc-go/free/paced",
            "unix/tonic/free/saturated",
            "unix/nearbid/free/full",
            "unix/nearbid/free/shed",
        ] {
            assert!(quick.iter().any(|name| name == row), "{row}: {quick:?}");
        }
    }

    #[test]
    fn requests_leave_at_their_times() {
        let us = |load: Load, number| load.due().map(|due| due(number).as_micros());
        for (load, number, expect) in [
            (Load::Paced, 4, Some(0)),
            (Load::Paced, 5, Some(500)),
            (Load::Paced, 20_000, Some(2_000_000)),
            (Load::Spaced, 1, Some(100)),
            (Load::Full, 1, None),
        ] {
            assert_eq!(us(load, number), expect, "{load:?} {number}");
        }
    }
}
