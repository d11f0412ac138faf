//! What a connection remembers of the calls before, because the next one is mostly the same.

use crate::h2::head::RequestHead;
use crate::h2::host::Route;
use crate::metadata::Kept;

const KNOWN_BYTES_MAX: usize = 256;

/// What the last header block began with: the same bytes say the same as long as the table stands.
#[derive(Debug, Default)]
pub(super) struct KnownStart {
    bytes: Vec<u8>,
    table: u64,
    head: Option<RequestHead<Route>>,
    kept: Kept,
}

impl KnownStart {
    #[inline]
    pub(super) fn recall(
        &self,
        start: &[u8],
        table: u64,
        kept: &mut Kept,
    ) -> Option<RequestHead<Route>> {
        let head = self
            .head
            .filter(|_| self.table == table && self.bytes == start)?;
        kept.copy_from(&self.kept);
        Some(head)
    }

    pub(super) fn remember(
        &mut self,
        start: &[u8],
        table: u64,
        head: RequestHead<Route>,
        kept: &Kept,
    ) {
        self.head = None;
        if start.len() > KNOWN_BYTES_MAX || kept.bytes() > KNOWN_BYTES_MAX {
            return;
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(start);
        self.table = table;
        self.head = Some(head);
        self.kept.copy_from(kept);
    }
}

/// The method that was asked for last, which is mostly the one that is asked for next.
#[derive(Debug, Default)]
pub(super) struct LastPath {
    path: Vec<u8>,
    route: Option<Route>,
}

impl LastPath {
    #[inline]
    pub(super) fn route(
        &mut self,
        path: &[u8],
        find: impl FnOnce(&str) -> Option<Route>,
    ) -> Option<Route> {
        if path.len() > KNOWN_BYTES_MAX {
            return std::str::from_utf8(path).ok().and_then(find);
        }
        if self.route.is_none() || self.path != path {
            self.route = std::str::from_utf8(path).ok().and_then(find);
            self.path.clear();
            self.path.extend_from_slice(path);
        }
        self.route
    }
}
