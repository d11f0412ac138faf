//! Requests of one placement: what is the same in all of them is laid out once, a request patches what
//! differs.
//!
//! An exchange sends a placement's site, player, deals and supply chain again and again, and builds
//! them again and again. A [`Template`] holds them as they stand in a message: encoded, in order, with
//! gaps. Filling one is copying it, and writing into the gaps what a [`Patch`] says.
//!
//! ```
//! use wire::message::{BidRequest, Device, Imp};
//! use wire::template::{ImpPatch, Patch, Template};
//! use wire::{Encoder, Format, Limits, decode};
//!
//! // Once a placement: everything that does not depend on who looks at it.
//! let placement = BidRequest {
//!     imp: vec![Imp { tagid: Some("top".to_owned()), ..Imp::default() }],
//!     cur: vec!["USD".to_owned()],
//!     ..BidRequest::default()
//! };
//! let template = Template::new(Format::FlatBuffers, &placement);
//!
//! // Once a request. Threads share a template; each has an encoder of its own.
//! let device = Device { ip: Some("192.0.2.7".to_owned()), ..Device::default() };
//! let imp = ImpPatch { id: Some("1"), bidfloor: Some(0.75), ..ImpPatch::default() };
//! let patch = Patch {
//!     id: Some("request-1"),
//!     imp: &[imp],
//!     device: Some(&device),
//!     ..Patch::default()
//! };
//! let mut encoder = Encoder::new();
//! let bytes = template.fill(&patch, &mut encoder)?;
//!
//! let mut whole = placement.clone();
//! patch.apply(&mut whole)?;
//! let read: BidRequest = decode(Format::FlatBuffers, bytes, &Limits::default())?;
//! assert_eq!(read, whole);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base;
mod cut;

pub(crate) use base::{Base, BaseImp, gaps};
pub(crate) use cut::{Cut, Part};

use crate::message::{BidRequest, Device, Imp, Regs, User};
use crate::{Encoder, Format, flatbuffers, json, protobuf};
use core::fmt;

/// What is the same in all requests of a placement, in one format. It takes about as much memory as
/// one request.
#[derive(Debug, PartialEq)]
pub struct Template(Kind);

#[derive(Debug, PartialEq)]
enum Kind {
    Protobuf(protobuf::template::Template),
    FlatBuffers(flatbuffers::template::Template),
    Json(json::template::Template),
}

/// What differs from request to request. These fields are the patch's alone, whatever they are in
/// the request that the template was made from: what is `None` here is absent.
///
/// What else differs has no place here; it takes a template for each of its values, or an
/// [`Encoder`] for the whole message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Patch<'p> {
    /// `id`.
    pub id: Option<&'p str>,
    /// For each impression of the template, in order.
    pub imp: &'p [ImpPatch<'p>],
    /// `site.page`. Where the template has no site, setting it makes one; so does `site_ref`.
    pub site_page: Option<&'p str>,
    /// `site.ref`.
    pub site_ref: Option<&'p str>,
    /// `device`, with all that is in it.
    pub device: Option<&'p Device>,
    /// `user`, with all that is in it, consent included.
    pub user: Option<&'p User>,
    /// `tmax`, in milliseconds.
    pub tmax: Option<i32>,
    /// `regs`, with all that is in it.
    pub regs: Option<&'p Regs>,
    /// `source.tid`. Where the template has no source, setting it makes one.
    pub source_tid: Option<&'p str>,
}

/// What differs from request to request in an impression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImpPatch<'p> {
    /// `imp.id`.
    pub id: Option<&'p str>,
    /// `imp.bidfloor`.
    pub bidfloor: Option<f64>,
    /// `imp.bidfloorcur`.
    pub bidfloorcur: Option<&'p str>,
    /// `imp.ext.tid`. Where the template has no ext, setting it makes one.
    pub ext_tid: Option<&'p str>,
}

/// A patch is for another number of impressions than the template has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImpCount {
    /// Impressions of the template.
    pub template: usize,
    /// Impressions of the patch.
    pub patch: usize,
}

impl Template {
    /// The template of requests that are like this one in all that a [`Patch`] does not set. What it
    /// does set is not looked at.
    pub fn new(format: Format, request: &BidRequest) -> Template {
        let base = Base::of(request);
        Template(match format {
            Format::Protobuf => Kind::Protobuf(protobuf::template::Template::new(&base)),
            Format::FlatBuffers => Kind::FlatBuffers(flatbuffers::template::Template::new(&base)),
            Format::Json => Kind::Json(json::template::Template::new(&base)),
        })
    }

    /// The request that the patch makes, in the encoder's room: what [`Encoder::encode`] makes of the
    /// whole message after [`Patch::apply`]. The same bytes in protobuf and JSON; the same message,
    /// laid out otherwise, in FlatBuffers. A warm encoder allocates nothing.
    ///
    /// # Errors
    /// Impressions of template and patch are not as many.
    pub fn fill<'e>(
        &self,
        patch: &Patch<'_>,
        encoder: &'e mut Encoder,
    ) -> Result<&'e [u8], ImpCount> {
        patch.check_imps(self.imps())?;
        Ok(match &self.0 {
            Kind::Protobuf(template) => encoder.protobuf(|out| template.fill(patch, out)),
            Kind::FlatBuffers(template) => {
                encoder.flatbuffers(|text, out| template.fill(patch, text, out))
            }
            Kind::Json(template) => encoder.json(|out| template.fill(patch, out)),
        })
    }

    /// How many impressions its requests have.
    pub fn imps(&self) -> usize {
        match &self.0 {
            Kind::Protobuf(template) => template.imps(),
            Kind::FlatBuffers(template) => template.imps(),
            Kind::Json(template) => template.imps(),
        }
    }
}

impl<'p> Patch<'p> {
    /// What a patch sets, as it is in a request. `imp` is made by [`ImpPatch::of`] of each impression.
    pub fn of(request: &'p BidRequest, imp: &'p [ImpPatch<'p>]) -> Patch<'p> {
        let (site, source) = (request.site.as_deref(), request.source.as_deref());
        Patch {
            id: request.id.as_deref(),
            imp,
            site_page: site.and_then(|site| site.page.as_deref()),
            site_ref: site.and_then(|site| site.r#ref.as_deref()),
            device: request.device.as_deref(),
            user: request.user.as_deref(),
            tmax: request.tmax,
            regs: request.regs.as_deref(),
            source_tid: source.and_then(|source| source.tid.as_deref()),
        }
    }

    /// Makes `request` the one that a template made from it would be filled to.
    ///
    /// # Errors
    /// Impressions of request and patch are not as many; the request is then as it was.
    pub fn apply(&self, request: &mut BidRequest) -> Result<(), ImpCount> {
        self.check_imps(request.imp.len())?;
        for (imp, patch) in request.imp.iter_mut().zip(self.imp) {
            patch.apply(imp);
        }
        request.id = owned(self.id);
        request.device = self.device.cloned().map(Box::new);
        request.user = self.user.cloned().map(Box::new);
        request.tmax = self.tmax;
        request.regs = self.regs.cloned().map(Box::new);
        if request.site.is_some() || self.sets_site() {
            let site = request.site.get_or_insert_default();
            site.page = owned(self.site_page);
            site.r#ref = owned(self.site_ref);
        }
        if request.source.is_some() || self.source_tid.is_some() {
            request.source.get_or_insert_default().tid = owned(self.source_tid);
        }
        Ok(())
    }

    /// Whether there is a site even if the template has none.
    pub(crate) fn sets_site(&self) -> bool {
        self.site_page.is_some() || self.site_ref.is_some()
    }

    fn check_imps(&self, template: usize) -> Result<(), ImpCount> {
        match self.imp.len() {
            patch if patch == template => Ok(()),
            patch => Err(ImpCount { template, patch }),
        }
    }
}

impl<'p> ImpPatch<'p> {
    /// What a patch sets, as it is in an impression.
    pub fn of(imp: &'p Imp) -> ImpPatch<'p> {
        let ext = imp.ext.as_deref();
        ImpPatch {
            id: imp.id.as_deref(),
            bidfloor: imp.bidfloor,
            bidfloorcur: imp.bidfloorcur.as_deref(),
            ext_tid: ext.and_then(|ext| ext.tid.as_deref()),
        }
    }

    fn apply(&self, imp: &mut Imp) {
        imp.id = owned(self.id);
        imp.bidfloor = self.bidfloor;
        imp.bidfloorcur = owned(self.bidfloorcur);
        if imp.ext.is_some() || self.ext_tid.is_some() {
            imp.ext.get_or_insert_default().tid = owned(self.ext_tid);
        }
    }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

impl fmt::Display for ImpCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ImpCount { template, patch } = self;
        write!(
            f,
            "the template has {template} impressions, the patch has {patch}"
        )
    }
}

impl std::error::Error for ImpCount {}
