//! A message channel: what carries a connection's bytes once an address has led to a peer. The machines
//! behind it see the peer's bytes and give theirs, whatever the channel makes of them on the way.
//!
//! In the clear it is one system call a read and one a write, and copies nothing.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};

/// What one read gave.
#[derive(Debug)]
pub(crate) enum Received {
    /// So many bytes of the peer's; `all`: the socket holds no more of them.
    Bytes { count: usize, all: bool },
    /// None now.
    Nothing,
    /// The peer is gone, or says no more.
    End,
}

/// The channel is lost; nothing more can be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

/// A channel to a peer, over a socket that does not block.
#[derive(Debug)]
pub(crate) struct Channel {
    socket: OwnedFd,
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Channel {
    pub fn plain(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// One read.
    pub fn receive(&mut self, space: &mut [u8]) -> Received {
        let room = space.len();
        match rustix::net::recv(&self.socket, space, RecvFlags::DONTWAIT) {
            Ok((_, 0)) => Received::End,
            Ok((_, count)) => Received::Bytes {
                count,
                all: count < room,
            },
            Err(Errno::AGAIN | Errno::INTR) => Received::Nothing,
            Err(_) => Received::End,
        }
    }

    /// One write of what is in `out`. Gives how many bytes of it were taken.
    pub fn send(&mut self, out: &[u8]) -> Result<usize, Gone> {
        if out.is_empty() {
            return Ok(0);
        }
        match rustix::net::send(&self.socket, out, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(sent) => Ok(sent.min(out.len())),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(_) => Err(Gone),
        }
    }

    /// Says that nothing more comes from here.
    pub fn finish(&mut self) {
        // A peer that is gone already needs no end.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Write);
    }
}
