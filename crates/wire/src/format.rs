//! The formats a request may come in, and the names that peers give them.

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the formats, by name")]
pub enum Format {
    Protobuf,
    FlatBuffers,
    Json,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 3] = [Format::Protobuf, Format::FlatBuffers, Format::Json];

    /// The stable name, as it stands in metrics, flags and metadata.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Protobuf => "protobuf",
            Format::FlatBuffers => "flatbuffers",
            Format::Json => "json",
        }
    }

    /// The format with this [name](Format::name), in any case.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL
            .into_iter()
            .find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// The format of a gRPC content-subtype: what stands behind `application/grpc+`, or nothing.
    pub fn from_grpc_subtype(subtype: &str) -> Option<Format> {
        match subtype {
            "" | "proto" => Some(Format::Protobuf),
            "flatbuffers" => Some(Format::FlatBuffers),
            "json" => Some(Format::Json),
            _ => None,
        }
    }
}

impl core::fmt::Display for Format {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_format() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
            assert_eq!(format.to_string(), format.name());
        }
        assert_eq!(Format::from_name("JSON"), Some(Format::Json));
        assert_eq!(Format::from_name("proto"), None);
    }

    #[test]
    fn grpc_subtypes() {
        for (subtype, expect) in [
            ("", Some(Format::Protobuf)),
            ("proto", Some(Format::Protobuf)),
            ("flatbuffers", Some(Format::FlatBuffers)),
            ("json", Some(Format::Json)),
            ("xml", None),
        ] {
            assert_eq!(Format::from_grpc_subtype(subtype), expect, "{subtype:?}");
        }
    }
}
