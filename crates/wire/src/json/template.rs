//! Templates in JSON: pieces of objects, and what differs between them.

use super::ext;
use super::message::{Encoder, object};
use super::strict::{Reader, Token};
use crate::message::{FieldSink as _, ImpExt, Message};
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
    ext: TemplateExt,
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

    /// Appends a request.
    pub(crate) fn fill(&self, patch: &Patch<'_>, out: &mut Vec<u8>) {
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
        Encoder::object(out, |to| {
            to.raw(to_id);
            to.text(id, "id", patch.id);
            to.raw(to_imp);
            to.list(
                imp,
                "imp",
                self.imps.iter().zip(patch.imp),
                |(imp, patch), out| {
                    imp.fill(patch, out);
                },
            );
            to.raw(to_site);
            if self.site.is_set || patch.sets_site() {
                to.nested(site, "site", |to| self.site(patch, to));
            }
            to.raw(to_device);
            to.optional(device, "device", patch.device);
            to.raw(to_user);
            to.optional(user, "user", patch.user);
            to.raw(to_tmax);
            to.int(tmax, "tmax", patch.tmax);
            to.raw(to_regs);
            to.optional(regs, "regs", patch.regs);
            to.raw(to_source);
            if self.source.is_set || patch.source_tid.is_some() {
                to.nested(source, "source", |to| self.source(patch, to));
            }
            to.raw(rest);
        });
    }

    fn site(&self, patch: &Patch<'_>, to: &mut Encoder<'_>) {
        let [page, r#ref] = gaps::SITE;
        let [to_page, to_ref, rest] = self.site.cut.pieces();
        to.raw(to_page);
        to.text(page, "page", patch.site_page);
        to.raw(to_ref);
        to.text(r#ref, "ref", patch.site_ref);
        to.raw(rest);
    }

    fn source(&self, patch: &Patch<'_>, to: &mut Encoder<'_>) {
        let [tid] = gaps::SOURCE;
        let [to_tid, rest] = self.source.cut.pieces();
        to.raw(to_tid);
        to.text(tid, "tid", patch.source_tid);
        to.raw(rest);
    }
}

impl TemplateImp {
    fn new(base: &BaseImp) -> TemplateImp {
        TemplateImp {
            imp: cut(&base.imp, &gaps::IMP),
            ext: TemplateExt::new(base.ext.as_deref(), ext::join),
        }
    }

    fn fill(&self, patch: &ImpPatch<'_>, out: &mut Vec<u8>) {
        let [id, bidfloor, bidfloorcur, ext] = gaps::IMP;
        let [to_id, to_bidfloor, to_bidfloorcur, to_ext, rest] = self.imp.pieces();
        Encoder::object(out, |to| {
            to.raw(to_id);
            to.text(id, "id", patch.id);
            to.raw(to_bidfloor);
            to.floor(bidfloor, "bidfloor", patch.bidfloor);
            to.raw(to_bidfloorcur);
            to.text(bidfloorcur, "bidfloorcur", patch.bidfloorcur);
            to.raw(to_ext);
            if self.ext.is_set(patch.ext_tid) {
                to.member(ext, "ext", |out| self.ext.fill(patch.ext_tid, out));
            }
            to.raw(rest);
        });
    }
}

/// The text of an impression's ext, but for its `tid`.
#[derive(Debug, PartialEq)]
pub(crate) struct TemplateExt {
    /// The whole text if there is no `tid`; `None` where there then is no ext.
    without_tid: Option<Box<[u8]>>,
    /// In front of what `tid` is, from behind its first quote.
    to_tid: Box<[u8]>,
    /// Behind it, from its last quote.
    rest: Box<[u8]>,
}

impl TemplateExt {
    /// `join` appends extensions as one JSON text.
    pub(crate) fn new(base: Option<&ImpExt>, join: fn(&ImpExt, &mut Vec<u8>)) -> TemplateExt {
        let text = |ext: &ImpExt| {
            let mut text = Vec::new();
            join(ext, &mut text);
            text
        };
        let with_tid = ImpExt {
            tid: Some(String::new()),
            ..base.cloned().unwrap_or_default()
        };
        let up_to_tid = ImpExt {
            igs: None,
            json: None,
            ..with_tid.clone()
        };
        let mut to_tid = Vec::new();
        object(&up_to_tid, &mut to_tid);
        // Behind it come a quote and what closes the object.
        to_tid.truncate(to_tid.len().saturating_sub(2));
        let whole = text(&with_tid);
        TemplateExt {
            without_tid: base.map(|ext| text(ext).into()),
            rest: whole.get(to_tid.len()..).unwrap_or_default().into(),
            to_tid: to_tid.into(),
        }
    }

    fn is_set(&self, tid: Option<&str>) -> bool {
        tid.is_some() || self.without_tid.is_some()
    }

    /// Appends the text.
    pub(crate) fn fill(&self, tid: Option<&str>, out: &mut Vec<u8>) {
        match (tid, &self.without_tid) {
            (Some(tid), _) => {
                out.extend_from_slice(&self.to_tid);
                super::message::write_escaped(tid, out);
                out.extend_from_slice(&self.rest);
            }
            (None, Some(text)) => out.extend_from_slice(text),
            (None, None) => {}
        }
    }
}

/// Writes a message and cuts it; a piece is members, a comma in front of each.
fn cut<M: Message>(message: &M, gaps: &[u32]) -> Cut {
    let mut pieces = Vec::new();
    message.write(&mut Encoder::new(&mut pieces));
    let mut text = Vec::new();
    object(message, &mut text);
    // The two differ in what opens and closes the object.
    let mut reader = Reader::new(&text, u32::MAX);
    let (mut first, mut start, mut number) = (true, 0, 0);
    let is_object = matches!(reader.token(), Ok(Token::Object));
    let each = core::iter::from_fn(|| {
        let key = reader.member(&mut first).ok()??;
        number = M::number(&key.bytes()).unwrap_or(number);
        let value = reader.token().and_then(|token| reader.skip(token));
        // One that is nested too deeply to be read takes the rest along.
        let end = value.map_or(pieces.len(), |()| reader.offset());
        let member = pieces.get(start..end)?;
        start = end;
        Some((number, member))
    });
    Cut::new(each.take_while(|_| is_object), gaps)
}
