//! Templates in protobuf: pieces of messages, and what differs between them. Written backwards as whole
//! messages are, so that the length of a part is known when it is to be written.

use super::cursor::Fields;
use super::message::{self, Encoder};
use crate::message::reverse::{self, Reverse};
use crate::message::{FieldSink as _, Message};
use crate::template::{Base, BaseImp, Cut, ImpPatch, Part, Patch, gaps};

/// What is the same in all requests of a placement.
#[derive(Debug, PartialEq)]
pub(crate) struct Template {
    request: Cut,
    imps: Box<[TemplateImp]>,
    site: Part,
    source: Part,
}

#[derive(Debug, PartialEq)]
struct TemplateImp {
    imp: Cut,
    ext: Part,
}

impl Template {
    pub(crate) fn new(base: &Base) -> Template {
        Template {
            request: cut(&base.request, &gaps::REQUEST),
            imps: base.imps.iter().map(TemplateImp::new).collect(),
            site: Part::new(base.site.as_deref(), &gaps::SITE, cut),
            source: Part::new(base.source.as_deref(), &gaps::SOURCE, cut),
        }
    }

    pub(crate) fn imps(&self) -> usize {
        self.imps.len()
    }

    /// Writes a request in front of what has been written.
    pub(crate) fn fill<'b>(&self, patch: &Patch<'_>, out: Reverse<'b>) -> Reverse<'b> {
        let [id, imp, site, device, user, tmax, regs, source] = gaps::REQUEST;
        let [
            to_id,
            to_imp,
            to_site,
            to_device,
            to_user,
            to_tmax,
            to_regs,
            to_source,
            rest,
        ] = self.request.pieces();
        let mut to = Encoder::new(out);
        to.raw(rest);
        if self.source.is_set || patch.source_tid.is_some() {
            to.nested(source, |to| self.source(patch, to));
        }
        to.raw(to_source);
        to.optional(regs, patch.regs);
        to.raw(to_regs);
        to.int(tmax, "", patch.tmax);
        to.raw(to_tmax);
        to.optional(user, patch.user);
        to.raw(to_user);
        to.optional(device, patch.device);
        to.raw(to_device);
        if self.site.is_set || patch.sets_site() {
            to.nested(site, |to| self.site(patch, to));
        }
        to.raw(to_site);
        for (each, patch) in self.imps.iter().zip(patch.imp).rev() {
            to.nested(imp, |to| each.fill(patch, to));
        }
        to.raw(to_imp);
        to.text(id, patch.id);
        to.raw(to_id);
        to.finish()
    }

    fn site(&self, patch: &Patch<'_>, to: &mut Encoder<'_>) {
        let [page, r#ref] = gaps::SITE;
        let [to_page, to_ref, rest] = self.site.cut.pieces();
        to.raw(rest);
        to.text(r#ref, patch.site_ref);
        to.raw(to_ref);
        to.text(page, patch.site_page);
        to.raw(to_page);
    }

    fn source(&self, patch: &Patch<'_>, to: &mut Encoder<'_>) {
        let [tid] = gaps::SOURCE;
        let [to_tid, rest] = self.source.cut.pieces();
        to.raw(rest);
        to.text(tid, patch.source_tid);
        to.raw(to_tid);
    }
}

impl TemplateImp {
    fn new(base: &BaseImp) -> TemplateImp {
        TemplateImp {
            imp: cut(&base.imp, &gaps::IMP),
            ext: Part::new(base.ext.as_deref(), &gaps::IMP_EXT, cut),
        }
    }

    fn fill(&self, patch: &ImpPatch<'_>, to: &mut Encoder<'_>) {
        let [id, bidfloor, bidfloorcur, ext] = gaps::IMP;
        let [to_id, to_bidfloor, to_bidfloorcur, to_ext, rest] = self.imp.pieces();
        to.raw(rest);
        if self.ext.is_set || patch.ext_tid.is_some() {
            to.nested(ext, |to| self.ext(patch, to));
        }
        to.raw(to_ext);
        to.text(bidfloorcur, patch.bidfloorcur);
        to.raw(to_bidfloorcur);
        to.floor(bidfloor, "", patch.bidfloor);
        to.raw(to_bidfloor);
        to.text(id, patch.id);
        to.raw(to_id);
    }

    fn ext(&self, patch: &ImpPatch<'_>, to: &mut Encoder<'_>) {
        let [tid] = gaps::IMP_EXT;
        let [to_tid, rest] = self.ext.cut.pieces();
        to.raw(rest);
        to.text(tid, patch.ext_tid);
        to.raw(to_tid);
    }
}

/// Encodes a message and cuts it.
fn cut<M: Message>(message: &M, gaps: &[u32]) -> Cut {
    let mut room = Vec::new();
    let bytes = reverse::fill(&mut room, |out| message::encode(message, out));
    let mut fields = Fields::new(bytes);
    let each = core::iter::from_fn(|| {
        let start = fields.at() as usize;
        // What was encoded is well-formed.
        let tag = fields.tag().ok()??;
        fields.skip(tag).ok()?;
        Some((tag >> 3, bytes.get(start..fields.at() as usize)?))
    });
    Cut::new(each, gaps)
}
