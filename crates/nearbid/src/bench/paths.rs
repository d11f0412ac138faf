//! The ways to get from bytes to something that can be decided on.

use openrtb::Read;
use wire::{Format, Reader, Visit};

/// Opens a request that lies in the receive buffer and lets a visitor look at it.
pub trait Open {
    /// What comes of the visit.
    ///
    /// # Errors
    /// The path refuses the bytes.
    fn open<W: Visit>(&mut self, bytes: &[u8], visit: W) -> Read<W::Out>;
}

/// Ours: in place.
pub struct InPlace {
    reader: Reader,
    format: Format,
}

impl InPlace {
    /// For a format.
    pub fn new(format: Format) -> InPlace {
        InPlace {
            reader: Reader::default(),
            format,
        }
    }
}

impl Open for InPlace {
    #[inline]
    fn open<W: Visit>(&mut self, bytes: &[u8], visit: W) -> Read<W::Out> {
        self.reader.read(self.format, bytes, visit)
    }
}

/// The libraries', each by the name of what it does.
#[cfg(feature = "peers")]
pub mod peer {
    use super::{Open, Read, Visit};
    use peers::read;

    macro_rules! peer {
        ($(#[$doc:meta] $name:ident: $read:path, by $by:tt;)*) => {$(
            #[$doc]
            pub struct $name;

            impl Open for $name {
                #[inline]
                fn open<W: Visit>(&mut self, bytes: &[u8], visit: W) -> Read<W::Out> {
                    let request = $read(bytes)?;
                    Ok(peer!($by visit request))
                }
            }
        )*};
        (reference $visit:ident $request:ident) => { $visit.visit(&&$request) };
        (value $visit:ident $request:ident) => { $visit.visit(&$request) };
    }

    peer! {
        /// prost decodes the whole message.
        Prost: read::prost, by reference;
        /// `serde_json` decodes the whole text.
        SerdeJson: read::serde_json, by reference;
        /// sonic-rs reads what is asked for.
        Sonic: read::sonic, by reference;
        /// The crate `flatbuffers` verifies the whole buffer, then reads in place.
        FlatBuffers: read::flatbuffers, by value;
        /// planus checks on access.
        Planus: read::planus, by value;
        /// planus decodes the whole buffer.
        PlanusOwned: read::planus_owned, by reference;
    }
}
