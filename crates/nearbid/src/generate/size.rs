//! How large a request is: filled fields, and bytes as JSON.

/// Filled fields of a request as an exchange counts them, in JSON text without white space: every
/// scalar is one, and so is a list of scalars.
pub fn fields(json: &[u8]) -> usize {
    let mut fields = 0;
    let mut rest = json;
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        match first {
            b'"' => rest = after_string(tail),
            b':' if !matches!(tail, [b'{', ..] | [b'[', b'{', ..]) => fields += 1,
            _ => {}
        }
    }
    fields
}

/// What follows the string that `text` is inside of.
fn after_string(mut text: &[u8]) -> &[u8] {
    loop {
        match text {
            [] => return text,
            [b'"', rest @ ..] => return rest,
            [b'\\', _, rest @ ..] | [_, rest @ ..] => text = rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn scalars_and_lists_of_scalars_count_once() {
        for (json, expect) in [
            (r#"{}"#, 0),
            (r#"{"a":1,"b":"x","c":true}"#, 3),
            (r#"{"a":[1,2,3],"b":["x","y"]}"#, 2),
            (r#"{"a":{"b":1,"c":{"d":2}},"e":[{"f":1},{"f":2}]}"#, 4),
            (r#"{"a":"\":{\"b\":1","c\"d:":2}"#, 2),
            (r#"{"a":"\\","b":"#, 2),
        ] {
            assert_eq!(fields(json.as_bytes()), expect, "{json}");
        }
    }
}
