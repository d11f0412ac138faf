//! The life of a socket file: bound beside its name and renamed into place, so that a client never
//! finds half a socket; never taken from a live server, never left behind.

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{self, RenameFlags};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::address::check_unix_path;
use crate::{Address, AddressError, SocketOptions};

/// Connections that the kernel completes before we accept them. The system's own bound
/// (`net.core.somaxconn`) is usually lower.
pub(crate) const BACKLOG: i32 = 4096;
/// What the socket is called before it is renamed into place.
const BESIDE: &str = ".tmp";
/// What is locked meanwhile.
const LOCK: &str = ".lock";
/// How long another server may take to start at the same path.
const LOCK_WAIT: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Why an address cannot be listened on.
#[derive(Debug)]
pub enum SocketError {
    /// The path (or the name beside it that is bound first) is longer than the system allows.
    Path(AddressError),
    /// A server answers at this path.
    Live(PathBuf),
    /// Another server has been starting at this path for 5 s.
    Starting(PathBuf),
    /// Something that is no socket is at this path; it is not touched.
    NotASocket(PathBuf),
    /// The folder could not be made.
    Folder(PathBuf, io::Error),
    /// The system refused.
    System(&'static str, io::Error),
}

impl std::error::Error for SocketError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Folder(_, error) | Self::System(_, error) => Some(error),
            Self::Path(_) | Self::Live(_) | Self::Starting(_) | Self::NotASocket(_) => None,
        }
    }
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(error) => error.fmt(f),
            Self::Live(path) => write!(f, "another server answers at {}", path.display()),
            Self::Starting(path) => {
                write!(f, "another server is starting at {}", path.display())
            }
            Self::NotASocket(path) => {
                write!(
                    f,
                    "{} exists and is no socket; it was left alone",
                    path.display()
                )
            }
            Self::Folder(path, error) => {
                write!(f, "cannot make the folder {}: {error}", path.display())
            }
            Self::System(what, error) => write!(f, "{what}: {error}"),
        }
    }
}

fn system<E: Into<io::Error>>(what: &'static str) -> impl Fn(E) -> SocketError {
    move |error| SocketError::System(what, error.into())
}

/// A socket file of ours. Dropped, it is gone, unless somebody has put another one in its place.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SocketFile {
    /// Whether the file is still there, and the one we made.
    pub fn is_there(&self) -> bool {
        std::fs::symlink_metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == (self.device, self.inode))
    }

    /// Removes the file if it is still the one we made.
    fn remove(&self) {
        if self.is_there() {
            // Nobody is left to tell if this fails; the next server finds a stale socket.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        self.remove();
    }
}

/// A socket that listens, does not block, and knows where.
#[derive(Debug)]
pub(crate) struct Listening {
    pub socket: OwnedFd,
    pub address: Address,
    pub file: Option<SocketFile>,
}

pub(crate) fn listen(address: &Address, options: &SocketOptions) -> Result<Listening, SocketError> {
    match address {
        Address::Unix(path) => listen_unix(path, options),
        Address::Tcp(host_port) => listen_tcp(host_port),
    }
}

fn listen_tcp(host_port: &str) -> Result<Listening, SocketError> {
    let listener = TcpListener::bind(host_port).map_err(system("cannot bind"))?;
    listener
        .set_nonblocking(true)
        .map_err(system("cannot set the socket up"))?;
    net::listen(&listener, BACKLOG).map_err(system("cannot listen"))?;
    let local = listener
        .local_addr()
        .map_err(system("cannot read the socket's address"))?;
    Ok(Listening {
        socket: listener.into(),
        address: Address::Tcp(local.to_string()),
        file: None,
    })
}

fn listen_unix(path: &Path, options: &SocketOptions) -> Result<Listening, SocketError> {
    let beside = beside(path);
    check_unix_path(path)
        .and_then(|()| check_unix_path(&beside))
        .map_err(SocketError::Path)?;
    make_folder(path, options.folder_mode)?;
    let _lock = Lock::take(path)?;
    check_vacant(path)?;
    check_vacant(&beside)?;
    // What is left is stale; the one at `path` stays until it is replaced.
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(SocketError::System("cannot remove a stale socket", error));
        }
        _ => {}
    }
    let (socket, file) = bind(&beside, options.file_mode)?;
    let mut file = SocketFile {
        path: beside,
        ..file
    };
    move_into_place(&file.path, path)?;
    path.clone_into(&mut file.path);
    Ok(Listening {
        socket,
        address: Address::Unix(path.to_owned()),
        file: Some(file),
    })
}

fn beside(path: &Path) -> PathBuf {
    named_after(path, BESIDE)
}

fn named_after(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Renames a socket over a stale one or none: what has become live meanwhile stays.
fn move_into_place(from: &Path, path: &Path) -> Result<(), SocketError> {
    let rename = || fs::renameat_with(fs::CWD, from, fs::CWD, path, RenameFlags::NOREPLACE);
    let mut renamed = rename();
    if renamed == Err(Errno::EXIST) {
        check_vacant(path)?;
        std::fs::remove_file(path).map_err(system("cannot remove a stale socket"))?;
        renamed = rename();
    }
    match renamed {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(SocketError::Live(path.to_owned())),
        Err(error) => Err(system("cannot rename the socket into place")(error)),
    }
}

/// The right to make a socket at a path: of two servers that start at once, the second one finds the
/// first one's socket. A file beside it that is locked and, in the end, removed; what a server that was
/// killed leaves behind is not locked any more.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    /// Locked as long as it is open.
    _file: File,
}

impl Lock {
    fn take(socket: &Path) -> Result<Self, SocketError> {
        let path = named_after(socket, LOCK);
        let until = Instant::now() + LOCK_WAIT;
        loop {
            let file = open_lock(&path)?;
            match file.try_lock() {
                // Else somebody has removed it between our opening and locking it.
                Ok(()) if is_at(&file, &path) => return Ok(Self { path, _file: file }),
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(SocketError::System("cannot lock the socket's path", error));
                }
            }
            if Instant::now() >= until {
                return Err(SocketError::Starting(socket.to_owned()));
            }
            std::thread::sleep(LOCK_PAUSE);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If this fails the file stays, and does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn open_lock(path: &Path) -> Result<File, SocketError> {
    let flags = i32::try_from(fs::OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)
        .map_err(system("cannot open the lock beside the socket"))?;
    let found = file
        .metadata()
        .map_err(system("cannot look at the lock beside the socket"))?;
    if found.is_file() && found.len() == 0 {
        return Ok(file);
    }
    Err(SocketError::NotASocket(path.to_owned()))
}

fn is_at(file: &File, path: &Path) -> bool {
    let same = |a: Metadata, b: Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(ours), Ok(there)) => same(ours, there),
        _ => false,
    }
}

/// Makes the folder of a socket if there is none, with this mode whatever the umask.
fn make_folder(socket: &Path, mode: u32) -> Result<(), SocketError> {
    let Some(folder) = socket
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    else {
        return Ok(());
    };
    if folder.exists() {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(folder)
        .and_then(|()| std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)))
        .map_err(|error| SocketError::Folder(folder.to_owned(), error))
}

/// That there is nothing at a path but, perhaps, a socket that nobody serves.
fn check_vacant(path: &Path) -> Result<(), SocketError> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(SocketError::System(
                "cannot look at the socket's path",
                error,
            ));
        }
        Ok(found) if !found.file_type().is_socket() => {
            return Err(SocketError::NotASocket(path.to_owned()));
        }
        Ok(_) => {}
    }
    match connect_unix(path) {
        // A full backlog (`WouldBlock`) is a live server's, too.
        Ok(_) => Err(SocketError::Live(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(SocketError::Live(path.to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(SocketError::System(
            "cannot tell whether the socket is served",
            error,
        )),
    }
}

/// Binds and listens. The mode is set before anybody can connect.
fn bind(path: &Path, mode: u32) -> Result<(OwnedFd, SocketFile), SocketError> {
    let socket = unix_socket().map_err(system("cannot make a socket"))?;
    let address = SocketAddrUnix::new(path).map_err(system("not a socket path"))?;
    net::bind(&socket, &address).map_err(system("cannot bind"))?;
    let found = std::fs::symlink_metadata(path).map_err(system("cannot look at the socket"))?;
    let file = SocketFile {
        path: path.to_owned(),
        device: found.dev(),
        inode: found.ino(),
    };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
        .map_err(system("cannot set the socket's mode"))?;
    net::listen(&socket, BACKLOG).map_err(system("cannot listen"))?;
    Ok((socket, file))
}

fn unix_socket() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

/// Connects to a socket file; at once, or not at all.
pub(crate) fn connect_unix(path: &Path) -> io::Result<OwnedFd> {
    check_unix_path(path).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let socket = unix_socket()?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// Connects over TCP, to the first of the host's addresses that answers.
pub(crate) fn connect_tcp(host_port: &str, timeout: Duration) -> io::Result<OwnedFd> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in host_port.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                return Ok(stream.into());
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Starts to connect over TCP; the socket is writable when that is done, one way or the other.
pub(crate) fn start_tcp(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    net::sockopt::set_tcp_nodelay(&socket, true)?;
    match net::connect(&socket, &address) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use std::os::unix::net::{UnixListener, UnixStream};

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn try_listen(path: &Path) -> Result<Listening, SocketError> {
        listen_unix(path, &SocketOptions::default())
    }

    #[test]
    fn a_life() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made/bid.sock");
        let listening = try_listen(&path).unwrap();
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o750, 0o660));
        assert!(!beside(&path).exists());
        UnixStream::connect(&path).unwrap();
        assert!(matches!(try_listen(&path), Err(SocketError::Live(_))));
        UnixStream::connect(&path).unwrap();
        drop(listening);
        assert!(!path.exists());
    }

    #[test]
    fn modes_are_as_asked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f/s");
        let options = SocketOptions {
            folder_mode: 0o711,
            file_mode: 0o606,
        };
        let _listening = listen_unix(&path, &options).unwrap();
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o711, 0o606));
    }

    #[test]
    fn a_stale_socket_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        drop(UnixListener::bind(&path).unwrap());
        drop(UnixListener::bind(beside(&path)).unwrap());
        let _listening = try_listen(&path).unwrap();
        UnixStream::connect(&path).unwrap();
        assert!(!beside(&path).exists());
    }

    /// Of servers that start at once exactly one is there in the end, and answers.
    #[test]
    fn a_race() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        for round in 0..30 {
            let start = std::sync::Barrier::new(4);
            if round % 2 == 0 {
                drop(UnixListener::bind(&path).unwrap());
            }
            let listening: Vec<_> = std::thread::scope(|scope| {
                let one = || {
                    start.wait();
                    try_listen(&path)
                };
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(one)).collect();
                threads.into_iter().map(|t| t.join().unwrap()).collect()
            });
            UnixStream::connect(&path).unwrap();
            let (won, lost): (Vec<_>, Vec<_>) = listening.into_iter().partition(Result::is_ok);
            assert_eq!(won.len(), 1, "{lost:?}");
            for error in lost {
                assert!(matches!(error, Err(SocketError::Live(_))), "{error:?}");
            }
            drop(won);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    /// Between looking at what is there and replacing it nobody else may do the same.
    #[test]
    fn who_starts_waits_for_another_who_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let lock = Lock::take(&path).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| try_listen(&path));
            std::thread::sleep(10 * LOCK_PAUSE);
            assert!(!path.exists() && !waiting.is_finished());
            drop(lock);
            assert!(waiting.join().unwrap().is_ok());
        });
    }

    #[test]
    fn what_has_become_live_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, theirs) = (folder.path().join("ours"), folder.path().join("theirs"));
        let _ours = UnixListener::bind(&ours).unwrap();
        let listener = UnixListener::bind(&theirs).unwrap();
        assert!(matches!(
            move_into_place(&ours, &theirs),
            Err(SocketError::Live(_))
        ));
        drop(listener);
        move_into_place(&ours, &theirs).unwrap();
        assert!(!ours.exists());
        UnixStream::connect(&theirs).unwrap();
    }

    #[test]
    fn what_is_no_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (name, in_the_way) in [
            ("file", "file"),
            ("beside", "beside.tmp"),
            ("lock", "lock.lock"),
        ] {
            std::fs::write(folder.path().join(in_the_way), "precious").unwrap();
            let error = try_listen(&folder.path().join(name)).unwrap_err();
            assert!(matches!(error, SocketError::NotASocket(_)), "{error}");
            assert_eq!(
                std::fs::read_to_string(folder.path().join(in_the_way)).unwrap(),
                "precious"
            );
        }
        std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
        assert!(matches!(
            try_listen(&folder.path().join("link")),
            Err(SocketError::NotASocket(_))
        ));
    }

    #[test]
    fn another_servers_file_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let first = try_listen(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let second = try_listen(&path).unwrap();
        drop(first);
        UnixStream::connect(&path).unwrap();
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn long_paths_are_explained() {
        let folder = tempfile::tempdir().unwrap();
        let name = |bytes: usize| {
            folder
                .path()
                .join("x".repeat(bytes - folder.path().as_os_str().len() - 1))
        };
        for (bytes, expect) in [
            (108, "is 108 bytes; the system allows 107"),
            (104, ".tmp is 108 bytes"),
        ] {
            let error = try_listen(&name(bytes)).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        }
        let _listening = try_listen(&name(103)).unwrap();
    }

    #[test]
    fn tcp_tells_its_port() {
        let listening = listen_tcp("127.0.0.1:0").unwrap();
        let Address::Tcp(host_port) = &listening.address else {
            panic!("not TCP")
        };
        assert!(!host_port.ends_with(":0"));
        connect_tcp(host_port, Duration::from_secs(1)).unwrap();
        assert!(matches!(
            listen_tcp(host_port),
            Err(SocketError::System("cannot bind", _))
        ));
    }
}
