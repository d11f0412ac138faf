//! Moments: RFC 3339 from files and flags, and the clock that the service reads.

use std::time::Instant;

use engine::Timestamp;

/// The moment that a text of RFC 3339 names (`2026-12-01T12:00:00Z`, `…T13:00:00.25+01:00`),
/// to the microsecond. `None` for anything else.
pub fn parse(text: &str) -> Option<Timestamp> {
    // The library takes a wider language; RFC 3339 is what files may hold.
    if !has_shape(text.as_bytes()) {
        return None;
    }
    let moment: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp(moment.as_microsecond()))
}

/// Now, by the wall clock.
pub fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_microsecond())
}

/// The wall clock, told from the clock of sockets and timers, so that a call reads one clock only.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    instant: Instant,
    moment: Timestamp,
}

impl Clock {
    /// The clocks as they stand to each other now. Made anew from time to time it follows a wall
    /// clock that is set.
    pub fn now() -> Clock {
        Clock {
            instant: Instant::now(),
            moment: now(),
        }
    }

    /// What the wall clock said at `instant`.
    pub fn moment(&self, instant: Instant) -> Timestamp {
        let us = |duration: std::time::Duration| i64::try_from(duration.as_micros()).unwrap_or(0);
        let after = us(instant.saturating_duration_since(self.instant));
        let before = us(self.instant.saturating_duration_since(instant));
        self.moment.plus_us(after - before)
    }
}

/// `date T time [fraction] offset`, digits where digits are due.
fn has_shape(text: &[u8]) -> bool {
    const MOMENT: &[u8] = b"0000-00-00T00:00:00";
    let Some((moment, rest)) = text.split_at_checked(MOMENT.len()) else {
        return false;
    };
    let fraction = match rest {
        [b'.', digits @ ..] => 1 + digits.iter().take_while(|b| b.is_ascii_digit()).count(),
        _ => 0,
    };
    let offset = rest.get(fraction..).unwrap_or_default();
    fits(moment, MOMENT)
        && fraction != 1
        && (fits(offset, b"Z") || fits(offset, b"+00:00") || fits(offset, b"-00:00"))
}

fn fits(text: &[u8], shape: &[u8]) -> bool {
    text.len() == shape.len()
        && text.iter().zip(shape).all(|(byte, due)| match due {
            b'0' => byte.is_ascii_digit(),
            letter => byte.eq_ignore_ascii_case(letter),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rfc_3339_is_a_moment() {
        let noon = Some(Timestamp(1_796_126_400_000_000));
        for (text, expect) in [
            ("2026-12-01T12:00:00Z", noon),
            ("2026-12-01t12:00:00z", noon),
            ("2026-12-01T13:00:00+01:00", noon),
            ("2026-12-01T12:00:00.000000Z", noon),
            ("2026-12-01T12:00:00.0000015Z", noon.map(|at| at.plus_us(1))),
            ("2026-12-01T12:00:00", None),
            ("2026-12-01", None),
            ("2026-12-01 12:00:00Z", None),
            ("2026-12-01T12:00:00.Z", None),
            ("2026-12-01T12:00:00+01", None),
            ("2026-12-01T12:00:00Z[UTC]", None),
            ("2026-13-01T12:00:00Z", None),
            ("2026-12-01T25:00:00Z", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expect, "{text:?}");
        }
    }
}
