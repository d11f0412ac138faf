//! What is a domain: labels of letters, digits, `-` and `_`, with a dot between them.

/// The longest domain, in bytes (RFC 1035).
const DOMAIN_BYTES_MAX: usize = 253;
/// The longest label of a domain, in bytes (RFC 1035).
const LABEL_BYTES_MAX: usize = 63;

/// Whether `text` names a domain, once it is trimmed and its outer dots are off. Letters of any
/// script are letters: names come as people write them, not only in Punycode.
pub(crate) fn is_valid(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_suffix('.').unwrap_or(text);
    let text = text.strip_prefix('.').unwrap_or(text);
    text.len() <= DOMAIN_BYTES_MAX && text.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&label.len())
        && label
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn domains() {
        for (text, expect) in [
            ("brand.example", true),
            (" WWW.Brand.Example. ", true),
            (".brand.example", true),
            ("localhost", true),
            ("münchen.example", true),
            ("", false),
            (".", false),
            ("a..b", false),
            ("https://brand.example", false),
            ("brand.example/path", false),
            ("a b.example", false),
            ("brand.example:80", false),
        ] {
            assert_eq!(is_valid(text), expect, "{text:?}");
        }
        assert!(is_valid(&format!("{}.example", "a".repeat(63))));
        assert!(!is_valid(&format!("{}.example", "a".repeat(64))));
        assert!(!is_valid(&vec!["a".repeat(50); 6].join(".")));
    }
}
