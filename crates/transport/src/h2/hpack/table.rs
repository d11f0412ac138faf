//! The static table (RFC 7541 appendix A) and the dynamic one (2.3.2), without an allocation a field.

use std::collections::VecDeque;

/// What a field costs beside its strings (RFC 7541 4.1).
const FIELD_OVERHEAD_BYTES: usize = 32;

/// Index 1 is the first.
pub(super) const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// Where a field's strings lie, counted from the first byte ever stored.
#[derive(Debug, Clone, Copy)]
struct Field {
    at: u64,
    name_bytes: u32,
    value_bytes: u32,
    mark: u8,
}

impl Field {
    fn strings(self) -> usize {
        self.name_bytes as usize + self.value_bytes as usize
    }
}

/// The dynamic table. The strings of all fields lie one behind the other in one buffer, oldest first;
/// evicted ones leave a gap in front, which is closed when it is as large as the table.
#[derive(Debug)]
pub(super) struct Dynamic {
    fields: VecDeque<Field>,
    strings: Vec<u8>,
    /// The number of the byte at `strings[0]`.
    base: u64,
    size: usize,
    size_max: usize,
}

impl Dynamic {
    pub fn new(size_max: usize) -> Self {
        Self {
            fields: VecDeque::new(),
            strings: Vec::new(),
            base: 0,
            size: 0,
            size_max,
        }
    }

    pub fn resize(&mut self, size_max: usize) {
        self.size_max = size_max;
        self.evict(0);
    }

    /// The field at an index, 0 being the newest.
    pub fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let field = self.fields.get(index)?;
        let start = usize::try_from(field.at.checked_sub(self.base)?).ok()?;
        let strings = self
            .strings
            .get(start..start.checked_add(field.strings())?)?;
        strings.split_at_checked(field.name_bytes as usize)
    }

    /// The mark of the field at an index.
    pub fn mark(&mut self, index: usize) -> Option<&mut u8> {
        self.fields.get_mut(index).map(|field| &mut field.mark)
    }

    /// A field larger than the table empties it (RFC 7541 4.4).
    pub fn insert(&mut self, name: &[u8], value: &[u8], mark: u8) {
        let size = name.len() + value.len() + FIELD_OVERHEAD_BYTES;
        self.evict(size);
        let (Ok(name_bytes), Ok(value_bytes)) =
            (u32::try_from(name.len()), u32::try_from(value.len()))
        else {
            return;
        };
        if size > self.size_max {
            return;
        }
        self.close_gap();
        let at = self.base.wrapping_add(self.strings.len() as u64);
        self.strings.extend_from_slice(name);
        self.strings.extend_from_slice(value);
        self.fields.push_front(Field {
            at,
            name_bytes,
            value_bytes,
            mark,
        });
        self.size += size;
    }

    fn evict(&mut self, room: usize) {
        while self.size.saturating_add(room) > self.size_max {
            let Some(field) = self.fields.pop_back() else {
                return;
            };
            self.size -= field.strings() + FIELD_OVERHEAD_BYTES;
        }
    }

    fn close_gap(&mut self) {
        let end = self.base.wrapping_add(self.strings.len() as u64);
        let oldest = self.fields.back().map_or(end, |field| field.at);
        let gap = usize::try_from(oldest.wrapping_sub(self.base))
            .unwrap_or(0)
            .min(self.strings.len());
        if gap > 0 && gap >= self.size_max {
            self.strings.drain(..gap);
            self.base = oldest;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of strings.
        #[test]
        fn same_as_a_list(
            size_max in 0usize..300,
            steps in proptest::collection::vec(("[a-z]{0,40}", "[a-z]{0,80}", 0usize..400), 0..200),
        ) {
            let mut table = Dynamic::new(size_max);
            let (mut list, mut max) = (VecDeque::new(), size_max);
            for (name, value, resize) in steps {
                if resize < 20 {
                    max = resize * 10;
                    table.resize(max);
                } else {
                    table.insert(name.as_bytes(), value.as_bytes(), 0);
                    list.push_front((name, value));
                }
                let mut size = 0;
                list.retain(|(n, v)| { size += n.len() + v.len() + 32; size <= max });
                prop_assert!(table.strings.len() <= 2 * 300 + 130);
                prop_assert_eq!(table.fields.len(), list.len());
                for (index, (n, v)) in list.iter().enumerate() {
                    prop_assert_eq!(table.get(index).unwrap(), (n.as_bytes(), v.as_bytes()));
                }
                prop_assert!(table.get(list.len()).is_none());
            }
        }
    }
}
