//! Small encoders of well-typed JSON values into the two binary formats: written apart from the
//! crate's own, field numbers and all, so that a test fails when either is wrong. They also write
//! what no sound encoder would.

use serde_json::Value;

/// What a field holds.
pub enum Kind {
    Text,
    Int,
    Flag,
    Double,
    Texts,
    Ints,
    Message(&'static [Field]),
    Messages(&'static [Field]),
}

/// A field: its name, its number in the IAB's protobuf, and what it holds.
pub type Field = (&'static str, u16, Kind);

use Kind::{Double, Flag, Int, Ints, Message, Messages, Text, Texts};

/// The fields that a view reads, and some between them that it does not.
pub static REQUEST: &[Field] = &[
    ("id", 1, Text),
    ("imp", 2, Messages(IMP)),
    ("site", 3, Message(SITE)),
    ("app", 4, Message(APP)),
    ("device", 5, Message(DEVICE)),
    ("user", 6, Message(USER)),
    ("at", 7, Int),
    ("tmax", 8, Int),
    ("wseat", 9, Texts),
    ("allimps", 10, Flag),
    ("cur", 11, Texts),
    ("bcat", 12, Texts),
    ("badv", 13, Texts),
    ("test", 15, Flag),
    ("bapp", 16, Texts),
    ("bseat", 17, Texts),
    ("wlang", 18, Texts),
    ("cattax", 21, Int),
    ("dooh", 22, Message(DOOH)),
    ("acat", 23, Texts),
];
static SITE: &[Field] = &[
    ("id", 1, Text),
    ("domain", 3, Text),
    ("cat", 4, Texts),
    ("sectioncat", 5, Texts),
    ("page", 7, Text),
    ("publisher", 11, Message(PUBLISHER)),
    ("content", 12, Message(CONTENT)),
    ("cattax", 16, Int),
];
static APP: &[Field] = &[
    ("id", 1, Text),
    ("domain", 3, Text),
    ("cat", 4, Texts),
    ("bundle", 8, Text),
    ("publisher", 11, Message(PUBLISHER)),
    ("content", 12, Message(CONTENT)),
    ("cattax", 17, Int),
];
static DOOH: &[Field] = &[
    ("id", 1, Text),
    ("venuetype", 3, Texts),
    ("publisher", 5, Message(PUBLISHER)),
    ("domain", 6, Text),
    ("content", 8, Message(CONTENT)),
];
static PUBLISHER: &[Field] = &[("id", 1, Text), ("cat", 3, Texts), ("domain", 4, Text)];
static CONTENT: &[Field] = &[
    ("id", 1, Text),
    ("cat", 7, Texts),
    ("language", 19, Text),
    ("cattax", 27, Int),
    ("langb", 29, Text),
];
static USER: &[Field] = &[("id", 1, Text), ("yob", 3, Int), ("geo", 7, Message(GEO))];
static DEVICE: &[Field] = &[
    ("dnt", 1, Flag),
    ("ua", 2, Text),
    ("geo", 4, Message(GEO)),
    ("os", 14, Text),
    ("osv", 15, Text),
    ("connectiontype", 17, Int),
    ("devicetype", 18, Int),
    ("w", 25, Int),
    ("pxratio", 28, Double),
];
static GEO: &[Field] = &[
    ("lat", 1, Double),
    ("lon", 2, Double),
    ("country", 3, Text),
    ("region", 4, Text),
    ("metro", 6, Text),
    ("city", 7, Text),
    ("type", 9, Int),
    ("utcoffset", 10, Int),
];
static IMP: &[Field] = &[
    ("id", 1, Text),
    ("banner", 2, Message(BANNER)),
    ("video", 3, Message(VIDEO)),
    ("displaymanager", 4, Text),
    ("instl", 6, Flag),
    ("bidfloor", 8, Double),
    ("bidfloorcur", 9, Text),
    ("pmp", 11, Message(PMP)),
    ("secure", 12, Flag),
    ("native", 13, Message(NATIVE)),
    ("exp", 14, Int),
    ("audio", 15, Message(AUDIO)),
    ("rwdd", 18, Flag),
    ("qty", 20, Message(QTY)),
];
static QTY: &[Field] = &[("multiplier", 1, Double), ("sourcetype", 2, Int)];
static PMP: &[Field] = &[("private_auction", 1, Flag), ("deals", 2, Messages(DEAL))];
static DEAL: &[Field] = &[
    ("id", 1, Text),
    ("bidfloor", 2, Double),
    ("bidfloorcur", 3, Text),
    ("wseat", 4, Texts),
    ("wadomain", 5, Texts),
    ("at", 6, Int),
    ("guar", 7, Int),
];
static BANNER: &[Field] = &[
    ("w", 1, Int),
    ("h", 2, Int),
    ("id", 3, Text),
    ("pos", 4, Int),
    ("battr", 6, Ints),
    ("mimes", 7, Texts),
    ("topframe", 8, Flag),
    ("api", 10, Ints),
    ("format", 15, Messages(FORMAT)),
];
static FORMAT: &[Field] = &[("w", 1, Int), ("h", 2, Int), ("wratio", 3, Int)];
static VIDEO: &[Field] = &[
    ("mimes", 1, Texts),
    ("linearity", 2, Int),
    ("minduration", 3, Int),
    ("maxduration", 4, Int),
    ("w", 6, Int),
    ("h", 7, Int),
    ("battr", 10, Ints),
    ("boxingallowed", 14, Flag),
    ("playbackmethod", 15, Ints),
    ("pos", 17, Int),
    ("api", 19, Ints),
    ("protocols", 21, Ints),
    ("podid", 30, Text),
    ("rqddurs", 32, Ints),
    ("mincpmpersec", 34, Double),
    ("plcmt", 35, Int),
    ("durfloors", 36, Messages(DURFLOORS)),
];
static AUDIO: &[Field] = &[
    ("mimes", 1, Texts),
    ("minduration", 2, Int),
    ("maxduration", 3, Int),
    ("protocols", 4, Ints),
    ("battr", 7, Ints),
    ("api", 13, Ints),
    ("rqddurs", 26, Ints),
    ("mincpmpersec", 30, Double),
    ("durfloors", 31, Messages(DURFLOORS)),
];
static DURFLOORS: &[Field] = &[("mindur", 1, Int), ("bidfloor", 3, Double)];
static NATIVE: &[Field] = &[
    ("request", 1, Text),
    ("ver", 2, Text),
    ("api", 3, Ints),
    ("battr", 4, Ints),
];

/// The fields of an object, with their values, in the order of the schema.
fn members<'a>(
    fields: &'static [Field],
    object: &'a Value,
) -> impl Iterator<Item = (&'static Field, &'a Value)> {
    for name in object.as_object().unwrap().keys() {
        assert!(
            fields.iter().any(|field| field.0 == name),
            "{name} is not in the table of the test"
        );
    }
    fields
        .iter()
        .filter_map(|field| Some((field, object.get(field.0)?)))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// The 32-bit value of a JSON integer.
fn int(value: &Value) -> i32 {
    value.as_i64().unwrap().try_into().unwrap()
}

pub mod protobuf {
    use super::*;

    pub fn varint(mut value: u64) -> Vec<u8> {
        let mut out = Vec::new();
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
        out
    }

    /// A field of integers or flags.
    pub fn number(field: u16, value: u64) -> Vec<u8> {
        [varint(u64::from(field) << 3), varint(value)].concat()
    }

    /// A field of doubles.
    pub fn double(field: u16, value: f64) -> Vec<u8> {
        [
            varint(u64::from(field) << 3 | 1),
            value.to_le_bytes().to_vec(),
        ]
        .concat()
    }

    /// A field of strings or messages.
    pub fn len(field: u16, value: impl AsRef<[u8]>) -> Vec<u8> {
        let value = value.as_ref();
        let tag = varint(u64::from(field) << 3 | 2);
        [tag, varint(value.len() as u64), value.to_vec()].concat()
    }

    /// A message; `packed` says how lists of integers are written.
    pub fn message(fields: &'static [Field], object: &Value, packed: bool) -> Vec<u8> {
        let int = |value: &Value| i64::from(int(value)) as u64;
        let mut out = Vec::new();
        for ((_, field, kind), value) in members(fields, object) {
            let texts = |value: &Value| len(*field, value.as_str().unwrap());
            match kind {
                Text => out.extend(texts(value)),
                Int => out.extend(number(*field, int(value))),
                Flag => out.extend(number(*field, u64::from(value.as_bool().unwrap()))),
                Double => out.extend(double(*field, value.as_f64().unwrap())),
                Texts => out.extend(list(value).iter().flat_map(texts)),
                Ints if packed => {
                    let ints: Vec<u8> = list(value).iter().flat_map(|v| varint(int(v))).collect();
                    out.extend(len(*field, ints));
                }
                Ints => out.extend(list(value).iter().flat_map(|v| number(*field, int(v)))),
                Message(fields) => out.extend(len(*field, message(fields, value, packed))),
                Messages(fields) => {
                    for value in list(value) {
                        out.extend(len(*field, message(fields, value, packed)));
                    }
                }
            }
        }
        out
    }
}

pub mod flatbuffers {
    use super::*;

    /// A message with `root` as its root table.
    pub fn message(fields: &'static [Field], root: &Value) -> Vec<u8> {
        let mut out = vec![0; 4];
        let at = table(fields, root, &mut out);
        point(&mut out, 0, at);
        out
    }

    /// Makes the offset at `from` point to `to`.
    pub fn point(out: &mut [u8], from: usize, to: usize) {
        let offset = (to as u32).wrapping_sub(from as u32);
        out[from..from + 4].copy_from_slice(&offset.to_le_bytes());
    }

    /// Writes a vtable, the table, and then what its fields point to.
    fn table(fields: &'static [Field], object: &Value, out: &mut Vec<u8>) -> usize {
        let slots = members(fields, object).map(|(field, _)| field.1 + 1);
        let slots = usize::from(slots.max().unwrap_or(0));
        let vtable_at = out.len();
        out.resize(vtable_at + 4 + 2 * slots, 0);
        let at = out.len();
        out.extend(((at - vtable_at) as i32).to_le_bytes());
        let mut pointers = Vec::new();
        for (field, value) in members(fields, object) {
            let entry = vtable_at + 4 + 2 * usize::from(field.1);
            let offset = (out.len() - at) as u16;
            out[entry..entry + 2].copy_from_slice(&offset.to_le_bytes());
            match field.2 {
                Int => out.extend(int(value).to_le_bytes()),
                Flag => out.push(value.as_bool().unwrap().into()),
                Double => out.extend(value.as_f64().unwrap().to_le_bytes()),
                _ => {
                    pointers.push((out.len(), field, value));
                    out.extend([0; 4]);
                }
            }
        }
        let sizes = [(4 + 2 * slots) as u16, (out.len() - at) as u16];
        out[vtable_at..vtable_at + 4].copy_from_slice(&sizes.map(u16::to_le_bytes).concat());
        for (from, field, value) in pointers {
            let to = pointed(&field.2, value, out);
            point(out, from, to);
        }
        at
    }

    fn pointed(kind: &Kind, value: &Value, out: &mut Vec<u8>) -> usize {
        match kind {
            Text => text(value, out),
            Message(fields) => table(fields, value, out),
            Texts => vector(list(value), out, text),
            Messages(fields) => vector(list(value), out, |value, out| table(fields, value, out)),
            Ints => {
                let at = out.len();
                out.extend((list(value).len() as u32).to_le_bytes());
                out.extend(
                    list(value)
                        .iter()
                        .flat_map(|value| int(value).to_le_bytes()),
                );
                at
            }
            Int | Flag | Double => unreachable!("lies in its table"),
        }
    }

    fn text(value: &Value, out: &mut Vec<u8>) -> usize {
        let at = out.len();
        let text = value.as_str().unwrap();
        out.extend((text.len() as u32).to_le_bytes());
        out.extend(text.as_bytes());
        out.push(0);
        at
    }

    fn vector(
        values: &[Value],
        out: &mut Vec<u8>,
        mut element: impl FnMut(&Value, &mut Vec<u8>) -> usize,
    ) -> usize {
        let at = out.len();
        out.extend((values.len() as u32).to_le_bytes());
        out.resize(at + 4 + 4 * values.len(), 0);
        for (index, value) in values.iter().enumerate() {
            let to = element(value, out);
            point(out, at + 4 + 4 * index, to);
        }
        at
    }
}
