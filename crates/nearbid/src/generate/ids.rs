//! Identifiers and opaque strings, in the shapes that real ones have.

use super::rng::Rng;

const HEX: &[u8] = b"0123456789abcdef";
const BASE64URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A random UUID (version 4), lower case.
pub fn uuid(rng: &mut Rng) -> String {
    let bits = (u128::from(rng.bits()) << 64) | u128::from(rng.bits());
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!(
        "{}-{}-{}-{}-{}",
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32)
    )
}

/// `count` hexadecimal digits.
pub fn hex(count: usize, rng: &mut Rng) -> String {
    rng.text(HEX, count)
}

/// `count` characters of base64url.
pub fn base64url(count: usize, rng: &mut Rng) -> String {
    rng.text(BASE64URL, count)
}

/// A TCF consent string: a core segment, sometimes the vendors it was disclosed to.
pub fn tcf(rng: &mut Rng) -> String {
    let core = rng.between(90, 260) as usize;
    let string = format!("CQ{}", base64url(core, rng));
    if rng.percent(60) {
        format!("{string}.{}", base64url(24, rng))
    } else {
        string
    }
}

/// A GPP string: a header and one section, which holds a whole TCF string for the EU.
pub fn gpp(eu: bool, rng: &mut Rng) -> String {
    if eu {
        return format!("DBABMA~{}", tcf(rng));
    }
    format!("DBABLA~{}.QA", base64url(14, rng))
}

/// An IPv4 address reserved for documentation (RFC 5737).
pub fn ipv4(rng: &mut Rng) -> String {
    let net = rng.one_of(&["198.51.100", "203.0.113"]);
    format!("{net}.{}", rng.between(1, 254))
}

/// An IPv6 address reserved for documentation (RFC 3849).
pub fn ipv6(rng: &mut Rng) -> String {
    let [a, b, c, d] = [(); 4].map(|()| rng.below(0xffff) + 1);
    format!("2001:db8:{a:x}:{b:x}::{c:x}:{d:x}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn uuids_are_of_version_4() {
        let mut rng = Rng::new(&[1]);
        for _ in 0..100 {
            let id = uuid(&mut rng);
            let parts: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
            assert_eq!(id.as_bytes()[14], b'4', "{id}");
            assert!(b"89ab".contains(&id.as_bytes()[19]), "{id}");
        }
    }

    #[test]
    fn addresses_are_of_the_ranges_for_documentation() {
        let mut rng = Rng::new(&[2]);
        for _ in 0..100 {
            let v4: std::net::Ipv4Addr = ipv4(&mut rng).parse().unwrap();
            assert!(v4.is_documentation(), "{v4}");
            let v6: std::net::Ipv6Addr = ipv6(&mut rng).parse().unwrap();
            assert_eq!(v6.segments()[..2], [0x2001, 0xdb8], "{v6}");
        }
    }
}
