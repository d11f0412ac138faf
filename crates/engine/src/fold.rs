//! How domains, mime types, places and the like are made comparable (`docs/decisions.md`,
//! "Targeting" and "Publisher rules").

/// `text` case-folded, in `room`: a request's strings are folded without allocating once the room
/// has grown.
pub(crate) fn case<'r>(text: &str, room: &'r mut String) -> &'r str {
    room.clear();
    if text.is_ascii() {
        room.push_str(text);
        room.make_ascii_lowercase();
    } else {
        room.extend(text.chars().flat_map(char::to_lowercase));
    }
    room
}

/// A domain as the domain rule compares it: trimmed, case-folded, without a trailing dot, a
/// leading dot, and then a leading `www.` if a dot remains after it.
pub(crate) fn domain<'r>(text: &str, room: &'r mut String) -> &'r str {
    let folded = case(text.trim(), room);
    let folded = folded.strip_suffix('.').unwrap_or(folded);
    let folded = folded.strip_prefix('.').unwrap_or(folded);
    let bare = folded
        .strip_prefix("www.")
        .filter(|bare| bare.contains('.'));
    bare.unwrap_or(folded)
}

/// A name: trimmed and case-folded.
pub(crate) fn name<'r>(text: &str, room: &'r mut String) -> &'r str {
    case(text.trim(), room)
}

/// A region: a name without the country that may stand before it, as two letters and a `-`.
pub(crate) fn region<'r>(text: &str, room: &'r mut String) -> &'r str {
    let folded = name(text, room);
    match folded.as_bytes() {
        [a, b, b'-', ..] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
            folded.get(3..).unwrap_or(folded)
        }
        _ => folded,
    }
}

/// What follows each dot of a folded domain, the longest first: the domains it is a subdomain of.
pub(crate) fn parents(domain: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(Some(domain), |of| {
        of.split_once('.').map(|(_, parent)| parent)
    })
    .skip(1)
}

/// What precedes each `-` of a category or a language, the longest first: the entries it is under.
pub(crate) fn broader(category: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(Some(category), |of| {
        of.rsplit_once('-').map(|(wider, _)| wider)
    })
    .skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_made_comparable() {
        let mut room = String::new();
        for (text, expect) in [
            (" Brand.Example. ", "brand.example"),
            (".www.brand.example", "brand.example"),
            ("www.www.brand.example", "www.brand.example"),
            ("www.com", "www.com"),
            ("www.", "www"),
            (".", ""),
            ("..", ""),
            ("a..", "a."),
            ("BÜCHER.example", "bücher.example"),
        ] {
            assert_eq!(domain(text, &mut room), expect, "{text:?}");
        }
    }

    #[test]
    fn regions_lose_their_country() {
        let mut room = String::new();
        for (text, expect) in [
            (" US-CA ", "ca"),
            ("ca", "ca"),
            ("us-", ""),
            ("u1-ca", "u1-ca"),
            ("usa-ca", "usa-ca"),
            ("é-ca", "é-ca"),
            ("US-DE-X", "de-x"),
        ] {
            assert_eq!(region(text, &mut room), expect, "{text:?}");
        }
        assert_eq!(name(" New YORK\t", &mut room), "new york");
    }

    #[test]
    fn parents_and_broader_categories() {
        assert!(parents("a.b.c").eq(["b.c", "c"]));
        assert!(parents("a").eq([""; 0]));
        assert!(parents("a.").eq([""]));
        assert!(broader("IAB1-5-2").eq(["IAB1-5", "IAB1"]));
        assert!(broader("IAB1").eq([""; 0]));
    }
}
