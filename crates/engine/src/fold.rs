//! How domains and mime types are made comparable (`docs/decisions.md`, "Publisher rules").

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

/// What follows each dot of a folded domain, the longest first: the domains it is a subdomain of.
pub(crate) fn parents(domain: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(Some(domain), |of| {
        of.split_once('.').map(|(_, parent)| parent)
    })
    .skip(1)
}

/// What precedes each `-` of a category, the longest first: the entries of taxonomy 1 it is under.
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
    fn parents_and_broader_categories() {
        assert!(parents("a.b.c").eq(["b.c", "c"]));
        assert!(parents("a").eq([""; 0]));
        assert!(parents("a.").eq([""]));
        assert!(broader("IAB1-5-2").eq(["IAB1-5", "IAB1"]));
        assert!(broader("IAB1").eq([""; 0]));
    }
}
