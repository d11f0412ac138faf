//! JSON that is kept as the text it is.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The text of a value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raw(Box<RawValue>);

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.0.get() == other.0.get()
    }
}
