//! Who is at the other end of a Unix socket, and who may be.

use std::os::fd::AsFd;

use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;

/// What the kernel says about the process that connected (`SO_PEERCRED`), as it was at `connect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerCred {
    /// Process id, in the server's pid namespace; 0 when the peer is outside it.
    pub pid: u32,
    /// User id.
    pub uid: u32,
    /// Primary group id. Supplementary groups are not reported.
    pub gid: u32,
}

impl PeerCred {
    /// Asks the kernel; `None` for a socket that has no such answer (TCP).
    pub(crate) fn of(socket: impl AsFd) -> Option<Self> {
        let cred = getsockopt(&socket, PeerCredentials).ok()?;
        Some(Self {
            pid: u32::try_from(cred.pid()).unwrap_or(0),
            uid: cred.uid(),
            gid: cred.gid(),
        })
    }
}

/// Who may call over a Unix socket. Empty lists: anyone whom the file's mode lets in.
///
/// With a list, a peer passes when its user is among `uids` or its group among `gids`; any other is
/// closed at accept and counted. TCP peers carry no such identity and are not judged by it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PeerPolicy {
    /// Users that may call.
    pub uids: Vec<u32>,
    /// Primary groups that may call.
    pub gids: Vec<u32>,
}

impl PeerPolicy {
    /// Whether a peer with these credentials may call. No credentials: only where anyone may.
    pub fn allows(&self, peer: Option<PeerCred>) -> bool {
        if self.uids.is_empty() && self.gids.is_empty() {
            return true;
        }
        peer.is_some_and(|p| self.uids.contains(&p.uid) || self.gids.contains(&p.gid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy() {
        let peer = Some(PeerCred {
            pid: 1,
            uid: 10,
            gid: 20,
        });
        let policy = |uids: &[u32], gids: &[u32]| PeerPolicy {
            uids: uids.to_vec(),
            gids: gids.to_vec(),
        };
        assert!(policy(&[], &[]).allows(peer));
        assert!(policy(&[], &[]).allows(None));
        assert!(policy(&[10], &[]).allows(peer));
        assert!(policy(&[9], &[20]).allows(peer));
        assert!(!policy(&[9], &[]).allows(peer));
        assert!(!policy(&[20], &[10]).allows(peer));
        assert!(!policy(&[10], &[]).allows(None));
    }
}
