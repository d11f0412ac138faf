//! The requests of a run, encoded before it starts, so that encoding is no part of a call.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context as _, ensure};
use wire::message::BidRequest;
use wire::{Format, Limits, Records};

use crate::generate::Traffic;

/// Requests held at a time; a longer run takes them round and round. At 3 KB each some 100 MB.
pub const POOL_REQUESTS_MAX: u64 = 32_768;

/// Encoded requests.
#[derive(Debug, Default)]
pub struct Pool(Vec<Box<[u8]>>);

impl Pool {
    /// The first `requests` requests of the traffic of `seed`, at most [`POOL_REQUESTS_MAX`].
    pub fn generated(requests: u64, seed: u64, format: Format) -> Pool {
        let count = usize::try_from(requests.clamp(1, POOL_REQUESTS_MAX)).unwrap_or(usize::MAX);
        let mut pool = Pool::default();
        for request in Traffic::new(seed).take(count) {
            pool.push(&request, format);
        }
        pool
    }

    /// The requests of a file with one JSON object a line.
    ///
    /// # Errors
    /// The file cannot be read, a line is no bid request, or there are none or too many.
    pub fn read(path: &Path, format: Format) -> anyhow::Result<Pool> {
        let file = File::open(path).with_context(|| format!("{}", path.display()))?;
        let mut pool = Pool::default();
        let limits = Limits::default();
        let mut records =
            Records::new(Format::Json, BufReader::new(file), limits.message_bytes_max);
        while let Some(record) = records
            .next()
            .with_context(|| format!("{}", path.display()))?
        {
            let request = wire::decode::<BidRequest>(Format::Json, record.bytes, &limits)
                .with_context(|| format!("{}:{}", path.display(), record.number))?;
            pool.push(&request, format);
            ensure!(
                pool.len() <= POOL_REQUESTS_MAX,
                "{}: more than {POOL_REQUESTS_MAX} requests",
                path.display()
            );
        }
        ensure!(pool.len() > 0, "{}: no request", path.display());
        Ok(pool)
    }

    fn push(&mut self, request: &BidRequest, format: Format) {
        let mut message = Vec::new();
        wire::encode(format, request, &mut message);
        self.0.push(message.into_boxed_slice());
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// The message of request `index` of a run, however long the run is.
    pub fn request(&self, index: u64) -> &[u8] {
        let at = usize::try_from(index % self.len().max(1)).unwrap_or(0);
        self.0.get(at).map_or(&[], |message| message)
    }
}
