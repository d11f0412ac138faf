//! How large a header list is, whichever way it was written.

use super::Field;

/// What a field costs beside its strings (RFC 9113 6.5.2).
const FIELD_OVERHEAD_BYTES: usize = 32;

/// The size of a header list against its limit. A byte of a block can name a field of 4 KiB, so what is
/// over the limit is counted and not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListSize {
    bytes: usize,
    bytes_max: usize,
}

impl ListSize {
    pub fn new(bytes_max: u32) -> Self {
        Self {
            bytes: 0,
            bytes_max: bytes_max as usize,
        }
    }

    /// Counts a field; `false` if it is not to be looked at.
    #[inline]
    pub fn takes(&mut self, field: &Field<'_>) -> bool {
        let bytes = field.name.len() + field.value.len() + FIELD_OVERHEAD_BYTES;
        self.bytes = self.bytes.saturating_add(bytes);
        !self.is_over()
    }

    #[inline]
    pub fn is_over(&self) -> bool {
        self.bytes > self.bytes_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_inclusive() {
        let field = Field {
            name: b"name",
            value: b"value!",
            mark: 0,
        };
        let mut size = ListSize::new(84);
        assert_eq!(
            [size.takes(&field), size.takes(&field), size.is_over()],
            [true, true, false]
        );
        assert_eq!([size.takes(&field), size.is_over()], [false, true]);
    }
}
