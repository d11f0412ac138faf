//! Operating systems and their versions, as rows.
//!
//! The bounds that line items set on the versions of a system cut the line of versions into
//! stretches in which nothing changes, and each stretch has its row.

use crate::change::Column;
use crate::intern::Interner;
use crate::rows::{Row, RowBuilder, RowId, Rows};
use crate::{OsTarget, Version, fold};
use openrtb::Text;

/// The line items by operating system and version.
#[derive(Debug)]
pub(crate) struct Systems {
    rows: Rows,
    names: Interner<Box<str>>,
    /// By the name's number; the last are all that are too many to have rows of their own.
    by_name: Box<[Stretches]>,
    /// Those that take any.
    otherwise: RowId,
    exact: bool,
}

/// The stretches of versions of one system.
#[derive(Debug)]
struct Stretches {
    /// Where each but the first begins.
    from: Box<[u64]>,
    rows: Box<[RowId]>,
    /// Those that take any version.
    unknown: RowId,
}

/// An entry of a line item, as a stretch of versions.
#[derive(Clone, Copy)]
struct Bounds {
    at: usize,
    least: u64,
    greatest: u64,
    any: bool,
}

impl Systems {
    /// So many names have rows of their own.
    const NAMES_MAX: usize = 16;

    /// `column` is the systems that each line item names.
    pub fn new<'i>(column: impl Column<&'i [OsTarget]>) -> Systems {
        let mut rows = Rows::new(column.len());
        let mut any = rows.builder();
        let (mut names, mut room) = (Interner::<Box<str>>::default(), String::new());
        let mut by_name: Vec<Vec<Bounds>> = Vec::new();
        for (at, targets) in column.enumerate() {
            for target in targets {
                let number = names.number(fold::name(&target.name, &mut room)) as usize;
                let place = number.min(Self::NAMES_MAX);
                by_name.resize_with(by_name.len().max(place + 1), Vec::new);
                by_name
                    .get_mut(place)
                    .into_iter()
                    .for_each(|of_name| of_name.push(Bounds::of(at, target)));
            }
            if targets.is_empty() {
                any.set(at);
            }
        }
        let mut exact = by_name.len() <= Self::NAMES_MAX;
        let stretches = by_name.iter().map(|bounds| {
            let (stretches, all) = Stretches::new(&mut rows, &any, bounds);
            exact &= all;
            stretches
        });
        Systems {
            by_name: stretches.collect(),
            names,
            otherwise: rows.add(any),
            exact,
            rows,
        }
    }

    /// Whether some line item names a system.
    pub fn is_targeted(&self) -> bool {
        !self.by_name.is_empty()
    }

    /// Whether [`Systems::row`] says all there is to say. If not, it may let too many through.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Whether the row of a system depends on its version.
    pub fn asks_version(&self, name: Option<&str>) -> bool {
        self.stretches(name)
            .is_some_and(|of| !of.from.is_empty() || of.rows.first() != Some(&of.unknown))
    }

    /// Those that take the system, folded, and its version; `None` is all of them. It may let too
    /// many through where [`Systems::is_exact`] is false.
    pub fn row(&self, name: Option<&str>, version: Option<Version>) -> Option<Row<'_>> {
        self.rows.get(self.row_id(name, version))
    }

    fn row_id(&self, name: Option<&str>, version: Option<Version>) -> RowId {
        let Some(stretches) = self.stretches(name) else {
            return self.otherwise;
        };
        let row = version.and_then(|version| {
            let from = &stretches.from;
            let stretch = from.partition_point(|from| *from <= version.least());
            stretches.rows.get(stretch)
        });
        *row.unwrap_or(&stretches.unknown)
    }

    fn stretches(&self, name: Option<&str>) -> Option<&Stretches> {
        let number = self.names.get(name?)? as usize;
        self.by_name.get(number.min(Self::NAMES_MAX))
    }
}

impl Bounds {
    fn of(at: usize, target: &OsTarget) -> Bounds {
        let (min, max) = (target.min_version, target.max_version);
        Bounds {
            at,
            least: min.map_or(0, Version::least),
            greatest: max.map_or(u64::MAX, Version::greatest),
            any: min.is_none() && max.is_none(),
        }
    }
}

impl Stretches {
    /// So many stretches have rows of their own.
    const STRETCHES_MAX: usize = 64;

    /// The stretches, and whether they are all there are.
    fn new(rows: &mut Rows, any: &RowBuilder, bounds: &[Bounds]) -> (Stretches, bool) {
        let bounded = bounds.iter().filter(|bounds| !bounds.any);
        let edges = bounded.flat_map(|b| [Some(b.least), b.greatest.checked_add(1)]);
        let mut from: Vec<_> = edges.flatten().filter(|edge| *edge > 0).collect();
        from.sort_unstable();
        from.dedup();
        let every = from.len().div_ceil(Self::STRETCHES_MAX - 1).max(1);
        let from: Box<[_]> = from.into_iter().step_by(every).collect();
        let mut row = |takes: &dyn Fn(&Bounds) -> bool| {
            let mut row = any.clone();
            bounds
                .iter()
                .filter(|bounds| takes(bounds))
                .for_each(|bounds| row.set(bounds.at));
            rows.add(row)
        };
        let starts = core::iter::once(0).chain(from.iter().copied());
        let ends = from.iter().map(|from| from - 1).chain([u64::MAX]);
        let of_stretch = |(start, end)| row(&|b: &Bounds| b.least <= end && b.greatest >= start);
        let rows = starts.zip(ends).map(of_stretch).collect();
        let unknown = row(&|bounds| bounds.any);
        (
            Stretches {
                from,
                rows,
                unknown,
            },
            every == 1,
        )
    }
}

/// A request's operating system and version.
#[derive(Debug, Default)]
pub(crate) struct System {
    /// Folded; empty is unknown.
    name: String,
    version: Option<Version>,
    /// Room to fold a text in.
    room: String,
}

impl System {
    /// Notes the name.
    pub fn set_name(&mut self, name: Option<Text<'_>>) {
        self.version = None;
        self.name.clear();
        let name = name.filter(|name| crate::keys::is_known(*name));
        if let Some(name) = name {
            name.with(|name| fold::name(name, &mut self.name).len());
        }
    }

    /// Notes the version.
    pub fn set_version(&mut self, version: Option<Text<'_>>) {
        self.version = version.and_then(|version| version.with(Version::parse));
    }

    /// The name, if it is known.
    pub fn name(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !name.is_empty())
    }

    /// The version, if it is known.
    pub fn version(&self) -> Option<Version> {
        self.version
    }

    /// Whether a line item that names systems names this one.
    pub fn meets(&mut self, targets: &[OsTarget]) -> bool {
        let (name, room) = (&self.name, &mut self.room);
        let version = self.version.map(Version::least);
        targets.iter().any(|target| {
            let bounds = Bounds::of(0, target);
            let inside = |version| bounds.least <= version && version <= bounds.greatest;
            !name.is_empty()
                && fold::name(&target.name, room) == name
                && (bounds.any || version.is_some_and(inside))
        })
    }
}
