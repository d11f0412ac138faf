//! What both ends of a connection have in common: frames in order, settings, windows, floods.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::frame::{self, ConnectionError, ErrorCode, FRAME_BYTES_MAX, HEAD_BYTES, Head, MAX_31};
use super::grpc::{self, PREFIX_BYTES};
use super::hpack::Decoder;
use crate::Counter;

/// Every window starts so (RFC 9113 6.9.2).
const WINDOW_BYTES_DEFAULT: u32 = 65_535;
/// What a peer may send on a stream before we say more: a whole message of the default limit, and more.
pub(crate) const STREAM_WINDOW_BYTES: u32 = 1 << 20;
/// What a peer may send on the connection before we say more. Bytes are taken up as they are read,
/// so this bounds no memory; it only must not stall a peer.
pub(crate) const CONNECTION_WINDOW_BYTES: u32 = 8 << 20;
/// Our HPACK decoder's table, the protocol's default.
const TABLE_BYTES: usize = 4096;
/// Frames without content that one call's end, or one frame of data sent, makes up for.
const FRAMES_PER_PROGRESS: u32 = 4;

/// For who makes us work for nothing.
pub(crate) const WASTE: ConnectionError =
    ConnectionError::calm(Counter::FloodControl, "too many frames that carry nothing");

/// A number of things a peer may do: a burst, refilled every second.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u32,
    max: u32,
    refilled: Instant,
}

impl Budget {
    pub fn new(max: u32, now: Instant) -> Self {
        Self {
            left: max,
            max,
            refilled: now,
        }
    }

    pub fn take(&mut self, now: Instant) -> bool {
        if now.saturating_duration_since(self.refilled) >= Duration::from_secs(1) {
            self.left = self.max;
            self.refilled = now;
        }
        let enough = self.left > 0;
        self.left = self.left.saturating_sub(1);
        enough
    }

    #[inline]
    pub fn give(&mut self, n: u32) {
        self.left = self.left.saturating_add(n).min(self.max);
    }
}

/// What the peer asked for in its SETTINGS.
#[derive(Debug)]
pub(crate) struct PeerSettings {
    pub initial_window: u32,
    pub frame_bytes_max: usize,
    pub streams_max: u32,
    /// The lowest table size it ever asked for: what is below the default ends our use of the table.
    pub table_bytes_min: u32,
}

/// What a frame means to the side that reads it. Frames that only the connection cares about are
/// [`Event::Nothing`].
#[derive(Debug)]
pub(crate) enum Event<'a> {
    Nothing,
    Headers {
        stream: u32,
        end_stream: bool,
        block: Cow<'a, [u8]>,
    },
    /// `flow_bytes` is what the frame takes of the windows: payload and padding.
    Data {
        stream: u32,
        end_stream: bool,
        payload: &'a [u8],
        flow_bytes: u32,
    },
    Reset {
        stream: u32,
        code: u32,
    },
    /// On stream 0 the connection's window has been raised already.
    Window {
        stream: u32,
        increment: u32,
    },
    /// Every stream's send window changes by this.
    InitialWindow(i64),
    GoAway {
        last: u32,
    },
    Pong([u8; 8]),
}

/// A header block whose CONTINUATION frames are still to come.
#[derive(Debug)]
struct OpenBlock {
    stream: u32,
    end_stream: bool,
    bytes: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Link {
    /// Bytes for the peer.
    pub out: Vec<u8>,
    pub decoder: Decoder,
    pub settings: PeerSettings,
    pub send_window: i64,
    /// Since the beginning; wraps.
    pub data_bytes_sent: u64,
    /// Whether the peer's first SETTINGS came.
    pub ready: bool,
    open_block: Option<OpenBlock>,
    header_block_bytes_max: usize,
    receive_left: u32,
    is_server: bool,
    control: Budget,
    /// The peer did more for nothing than its budget allows.
    flooded: bool,
}

impl Link {
    pub fn new(
        is_server: bool,
        header_block_bytes_max: u32,
        control_frames_max: u32,
        now: Instant,
    ) -> Self {
        Self {
            out: Vec::new(),
            decoder: Decoder::new(TABLE_BYTES),
            settings: PeerSettings {
                initial_window: WINDOW_BYTES_DEFAULT,
                frame_bytes_max: FRAME_BYTES_MAX,
                streams_max: u32::MAX,
                table_bytes_min: u32::MAX,
            },
            send_window: i64::from(WINDOW_BYTES_DEFAULT),
            data_bytes_sent: 0,
            ready: false,
            open_block: None,
            header_block_bytes_max: header_block_bytes_max as usize,
            receive_left: CONNECTION_WINDOW_BYTES,
            is_server,
            control: Budget::new(control_frames_max, now),
            flooded: false,
        }
    }

    /// Our SETTINGS, and the connection's window.
    pub fn greet(&mut self, settings: &[(u16, u32)]) {
        frame::put_with(&mut self.out, frame::SETTINGS, 0, 0, |out| {
            for (setting, value) in settings {
                frame::put_setting(out, *setting, *value);
            }
        });
        frame::put_window_update(
            &mut self.out,
            0,
            CONNECTION_WINDOW_BYTES - WINDOW_BYTES_DEFAULT,
        );
    }

    /// Whether a header block has begun and not ended.
    pub fn in_block(&self) -> bool {
        self.open_block.is_some()
    }

    /// Something useful was done: frames that carry nothing are forgiven.
    #[inline]
    pub fn progress(&mut self) {
        self.control.give(FRAMES_PER_PROGRESS);
    }

    /// Reads the frame at the start of `input`: its whole length and its meaning, or `None` if it is
    /// not complete yet.
    #[inline(always)]
    pub fn next<'a>(
        &mut self,
        input: &'a [u8],
        now: Instant,
    ) -> Result<Option<(usize, Event<'a>)>, ConnectionError> {
        let Some((head, rest)) = Head::split(input) else {
            return Ok(None);
        };
        if head.length > FRAME_BYTES_MAX {
            return Err(ConnectionError::frame_size(
                "frame longer than SETTINGS_MAX_FRAME_SIZE",
            ));
        }
        let Some(payload) = rest.get(..head.length) else {
            return Ok(None);
        };
        self.check_order(head)?;
        let event = match head.kind {
            frame::DATA => self.data(head, payload, now)?,
            frame::HEADERS => self.headers(head, payload)?,
            frame::CONTINUATION => self.continuation(head, payload, now)?,
            _ => self.control(head, payload, now)?,
        };
        Ok(Some((HEAD_BYTES + head.length, event)))
    }

    #[inline]
    fn check_order(&self, head: Head) -> Result<(), ConnectionError> {
        if !self.ready && (head.kind != frame::SETTINGS || head.has(frame::ACK)) {
            return Err(ConnectionError::protocol("the first frame is not SETTINGS"));
        }
        if let Some(open) = &self.open_block
            && (head.kind != frame::CONTINUATION || head.stream != open.stream)
        {
            return Err(ConnectionError::protocol("a header block is interrupted"));
        }
        Ok(())
    }

    /// Notes that the peer made us work for nothing; [`is_flooded`](Self::is_flooded) says when it was too
    /// much.
    #[cold]
    pub fn note_waste(&mut self, now: Instant) {
        self.flooded |= !self.control.take(now);
    }

    fn charge(&mut self, now: Instant) -> Result<(), ConnectionError> {
        if self.control.take(now) {
            return Ok(());
        }
        Err(WASTE)
    }

    /// Whether the peer made us do more for nothing than it may, see [`note_waste`](Self::note_waste).
    #[inline]
    pub fn is_flooded(&self) -> bool {
        self.flooded
    }

    #[inline(always)]
    fn data<'a>(
        &mut self,
        head: Head,
        payload: &'a [u8],
        now: Instant,
    ) -> Result<Event<'a>, ConnectionError> {
        if head.stream == 0 {
            return Err(ConnectionError::protocol("DATA on stream 0"));
        }
        // At most 16,384, checked above.
        let flow_bytes = u32::try_from(head.length).unwrap_or(u32::MAX);
        self.receive_left =
            self.receive_left
                .checked_sub(flow_bytes)
                .ok_or(ConnectionError::flow_control(
                    "more DATA than the connection's window",
                ))?;
        if self.receive_left <= CONNECTION_WINDOW_BYTES / 2 {
            frame::put_window_update(
                &mut self.out,
                0,
                CONNECTION_WINDOW_BYTES - self.receive_left,
            );
            self.receive_left = CONNECTION_WINDOW_BYTES;
        }
        let payload = unpad(head, payload)?;
        let end_stream = head.has(frame::END_STREAM);
        if payload.is_empty() && !end_stream {
            self.charge(now)?;
        }
        Ok(Event::Data {
            stream: head.stream,
            end_stream,
            payload,
            flow_bytes,
        })
    }

    #[inline(always)]
    fn headers<'a>(&mut self, head: Head, payload: &'a [u8]) -> Result<Event<'a>, ConnectionError> {
        if head.stream == 0 {
            return Err(ConnectionError::protocol("HEADERS on stream 0"));
        }
        let block = without_priority(head, unpad(head, payload)?)?;
        let end_stream = head.has(frame::END_STREAM);
        self.check_block(block.len())?;
        if head.has(frame::END_HEADERS) {
            return Ok(Event::Headers {
                stream: head.stream,
                end_stream,
                block: Cow::Borrowed(block),
            });
        }
        self.open_block = Some(OpenBlock {
            stream: head.stream,
            end_stream,
            bytes: block.to_vec(),
        });
        Ok(Event::Nothing)
    }

    fn check_block(&self, bytes: usize) -> Result<(), ConnectionError> {
        if bytes > self.header_block_bytes_max {
            return Err(ConnectionError::calm(
                Counter::FloodHeaders,
                "header block too long",
            ));
        }
        Ok(())
    }

    #[cold]
    fn continuation<'a>(
        &mut self,
        head: Head,
        payload: &[u8],
        now: Instant,
    ) -> Result<Event<'a>, ConnectionError> {
        let Some(mut open) = self.open_block.take() else {
            return Err(ConnectionError::protocol("CONTINUATION of no header block"));
        };
        self.charge(now)?;
        self.check_block(open.bytes.len().saturating_add(payload.len()))?;
        open.bytes.extend_from_slice(payload);
        if head.has(frame::END_HEADERS) {
            let OpenBlock {
                stream,
                end_stream,
                bytes,
            } = open;
            return Ok(Event::Headers {
                stream,
                end_stream,
                block: Cow::Owned(bytes),
            });
        }
        self.open_block = Some(open);
        Ok(Event::Nothing)
    }

    #[cold]
    fn control<'a>(
        &mut self,
        head: Head,
        payload: &[u8],
        now: Instant,
    ) -> Result<Event<'a>, ConnectionError> {
        self.charge(now)?;
        match head.kind {
            frame::SETTINGS => self.settings(head, payload),
            frame::PING => self.ping(head, payload),
            frame::WINDOW_UPDATE => self.window_update(head, payload),
            frame::PRIORITY => priority(head, payload),
            frame::RST_STREAM => reset(head, payload),
            frame::GOAWAY => go_away(head, payload),
            frame::PUSH_PROMISE => Err(ConnectionError::protocol("PUSH_PROMISE is not allowed")),
            // Frames of kinds we do not know are for somebody else (RFC 9113 5.5).
            _ => Ok(Event::Nothing),
        }
    }

    fn settings<'a>(&mut self, head: Head, payload: &[u8]) -> Result<Event<'a>, ConnectionError> {
        if head.stream != 0 {
            return Err(ConnectionError::protocol("SETTINGS on a stream"));
        }
        if head.has(frame::ACK) {
            return match payload {
                [] => Ok(Event::Nothing),
                _ => Err(ConnectionError::frame_size("SETTINGS ACK with a payload")),
            };
        }
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() {
            return Err(ConnectionError::frame_size("SETTINGS of a wrong length"));
        }
        let window_before = i64::from(self.settings.initial_window);
        for [a, b, value @ ..] in settings {
            self.setting(u16::from_be_bytes([*a, *b]), u32::from_be_bytes(*value))?;
        }
        self.ready = true;
        frame::put(&mut self.out, frame::SETTINGS, frame::ACK, 0, &[]);
        match i64::from(self.settings.initial_window) - window_before {
            0 => Ok(Event::Nothing),
            change => Ok(Event::InitialWindow(change)),
        }
    }

    fn setting(&mut self, setting: u16, value: u32) -> Result<(), ConnectionError> {
        match setting {
            frame::SETTINGS_HEADER_TABLE_SIZE => {
                self.settings.table_bytes_min = self.settings.table_bytes_min.min(value);
            }
            frame::SETTINGS_ENABLE_PUSH if value > u32::from(self.is_server) => {
                return Err(ConnectionError::protocol(
                    "SETTINGS_ENABLE_PUSH out of range",
                ));
            }
            frame::SETTINGS_MAX_CONCURRENT_STREAMS => self.settings.streams_max = value,
            frame::SETTINGS_INITIAL_WINDOW_SIZE if value > MAX_31 => {
                return Err(ConnectionError::flow_control(
                    "SETTINGS_INITIAL_WINDOW_SIZE out of range",
                ));
            }
            frame::SETTINGS_INITIAL_WINDOW_SIZE => self.settings.initial_window = value,
            frame::SETTINGS_MAX_FRAME_SIZE => {
                let bytes = value as usize;
                if !(FRAME_BYTES_MAX..1 << 24).contains(&bytes) {
                    return Err(ConnectionError::protocol(
                        "SETTINGS_MAX_FRAME_SIZE out of range",
                    ));
                }
                self.settings.frame_bytes_max = bytes;
            }
            // Unknown ones, and the header list size, which our replies are far from.
            _ => {}
        }
        Ok(())
    }

    fn ping<'a>(&mut self, head: Head, payload: &[u8]) -> Result<Event<'a>, ConnectionError> {
        if head.stream != 0 {
            return Err(ConnectionError::protocol("PING on a stream"));
        }
        let opaque = <[u8; 8]>::try_from(payload)
            .map_err(|_| ConnectionError::frame_size("PING of a wrong length"))?;
        if head.has(frame::ACK) {
            return Ok(Event::Pong(opaque));
        }
        frame::put(&mut self.out, frame::PING, frame::ACK, 0, &opaque);
        Ok(Event::Nothing)
    }

    fn window_update<'a>(
        &mut self,
        head: Head,
        payload: &[u8],
    ) -> Result<Event<'a>, ConnectionError> {
        let increment = <[u8; 4]>::try_from(payload)
            .map_err(|_| ConnectionError::frame_size("WINDOW_UPDATE of a wrong length"))?;
        let increment = u32::from_be_bytes(increment) & MAX_31;
        if head.stream == 0 {
            if increment == 0 {
                return Err(ConnectionError::protocol("WINDOW_UPDATE of 0"));
            }
            self.send_window += i64::from(increment);
            if self.send_window > i64::from(MAX_31) {
                return Err(ConnectionError::flow_control(
                    "the connection's window is over 2^31 - 1",
                ));
            }
        }
        Ok(Event::Window {
            stream: head.stream,
            increment,
        })
    }

    /// Sends as much of `payload` on a stream as its window and the connection's allow; gives how much.
    #[inline]
    pub fn send_data(&mut self, stream: u32, window: &mut i64, payload: &[u8]) -> usize {
        let allowed = usize::try_from(self.send_window.min(*window))
            .unwrap_or(0)
            .min(payload.len());
        let mut rest = payload.get(..allowed).unwrap_or_default();
        while let Some((now, later)) =
            rest.split_at_checked(self.settings.frame_bytes_max.min(rest.len()))
            && !now.is_empty()
        {
            frame::put(&mut self.out, frame::DATA, 0, stream, now);
            self.progress();
            rest = later;
        }
        let sent = i64::try_from(allowed).unwrap_or(i64::MAX);
        self.data_bytes_sent = self.data_bytes_sent.wrapping_add(allowed as u64);
        self.send_window -= sent;
        *window -= sent;
        allowed
    }

    /// Sends a message in one frame, if the windows and the frame's limit allow; `false` if not.
    #[inline]
    pub fn send_message(
        &mut self,
        stream: u32,
        window: &mut i64,
        flags: u8,
        message: &[u8],
    ) -> bool {
        let bytes = PREFIX_BYTES + message.len();
        let allowed = usize::try_from(self.send_window.min(*window)).unwrap_or(0);
        if bytes > allowed.min(self.settings.frame_bytes_max) {
            return false;
        }
        let [a, b, c, d, e, f, g, h, i] = frame::head(bytes, frame::DATA, flags, stream);
        let [j, k, l, m, n] = grpc::prefix(message.len());
        self.out
            .extend_from_slice(&[a, b, c, d, e, f, g, h, i, j, k, l, m, n]);
        self.out.extend_from_slice(message);
        self.data_bytes_sent = self.data_bytes_sent.wrapping_add(bytes as u64);
        let sent = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.send_window -= sent;
        *window -= sent;
        self.progress();
        true
    }

    /// Tells the peer why the connection ends.
    pub fn fail(&mut self, last: u32, error: ConnectionError) {
        frame::put_go_away(&mut self.out, last, error.code, error.what);
    }
}

/// Removes padding (RFC 9113 6.1).
#[inline]
fn unpad(head: Head, payload: &[u8]) -> Result<&[u8], ConnectionError> {
    if !head.has(frame::PADDED) {
        return Ok(payload);
    }
    let (padding, rest) = payload.split_first().ok_or(ConnectionError::frame_size(
        "padded frame without a padding length",
    ))?;
    let length = rest.len().checked_sub(usize::from(*padding));
    length
        .and_then(|length| rest.get(..length))
        .ok_or(ConnectionError::protocol("more padding than payload"))
}

/// Removes the priority of a HEADERS frame, which is not used (RFC 9113 5.3.2).
#[inline]
fn without_priority(head: Head, payload: &[u8]) -> Result<&[u8], ConnectionError> {
    if !head.has(frame::WITH_PRIORITY) {
        return Ok(payload);
    }
    let (priority, rest) = payload
        .split_first_chunk::<5>()
        .ok_or(ConnectionError::frame_size("HEADERS without its priority"))?;
    check_dependency(head.stream, priority)?;
    Ok(rest)
}

fn check_dependency(stream: u32, priority: &[u8; 5]) -> Result<(), ConnectionError> {
    let [a, b, c, d, _] = *priority;
    if u32::from_be_bytes([a, b, c, d]) & MAX_31 == stream {
        return Err(ConnectionError::protocol("a stream depends on itself"));
    }
    Ok(())
}

fn priority<'a>(head: Head, payload: &[u8]) -> Result<Event<'a>, ConnectionError> {
    if head.stream == 0 {
        return Err(ConnectionError::protocol("PRIORITY on stream 0"));
    }
    let priority = <[u8; 5]>::try_from(payload)
        .map_err(|_| ConnectionError::frame_size("PRIORITY of a wrong length"))?;
    check_dependency(head.stream, &priority)?;
    Ok(Event::Nothing)
}

fn reset<'a>(head: Head, payload: &[u8]) -> Result<Event<'a>, ConnectionError> {
    let code = <[u8; 4]>::try_from(payload)
        .map_err(|_| ConnectionError::frame_size("RST_STREAM of a wrong length"))?;
    if head.stream == 0 {
        return Err(ConnectionError::protocol("RST_STREAM on stream 0"));
    }
    Ok(Event::Reset {
        stream: head.stream,
        code: u32::from_be_bytes(code),
    })
}

fn go_away<'a>(head: Head, payload: &[u8]) -> Result<Event<'a>, ConnectionError> {
    if head.stream != 0 {
        return Err(ConnectionError::protocol("GOAWAY on a stream"));
    }
    let (last, rest) = payload
        .split_first_chunk::<4>()
        .ok_or(ConnectionError::frame_size("GOAWAY too short"))?;
    if rest.len() < 4 {
        return Err(ConnectionError::frame_size("GOAWAY too short"));
    }
    Ok(Event::GoAway {
        last: u32::from_be_bytes(*last) & MAX_31,
    })
}

/// Streams that were reset lately, on which the peer may still be sending: a ring.
#[derive(Debug)]
pub(crate) struct RecentResets {
    streams: Vec<u32>,
    streams_max: usize,
    next: usize,
}

impl RecentResets {
    /// Each frame on a closed stream is looked for here, so the ring stays short whatever may be in
    /// flight.
    const IN_FLIGHT_MAX: usize = 4096;
    /// Beside those: a peer is done with what it has reset itself, but for a frame or two.
    const BY_PEER: usize = 256;

    /// For a peer that may have so many streams in flight: it may be sending on all of them when it is
    /// told that they are over.
    pub fn new(in_flight_max: usize) -> Self {
        Self {
            streams: Vec::new(),
            streams_max: in_flight_max.min(Self::IN_FLIGHT_MAX) + Self::BY_PEER,
            next: 0,
        }
    }

    /// Resets a stream and remembers it.
    pub fn reset(&mut self, out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
        frame::put_reset(out, stream, code);
        self.remember(stream);
    }

    /// Remembers a stream that was reset, by whichever side.
    pub fn remember(&mut self, stream: u32) {
        if self.streams.len() < self.streams_max {
            self.streams.push(stream);
        } else if let Some(oldest) = self.streams.get_mut(self.next) {
            *oldest = stream;
            self.next = (self.next + 1) % self.streams_max;
        }
    }

    pub fn contains(&self, stream: u32) -> bool {
        self.streams.contains(&stream)
    }
}
