//! Templates in FlatBuffers.
//!
//! A template is a request that lacks what a patch sets. A table has a place for every field and a
//! vtable of its own, and offsets point forward; so filling a template is copying it, writing what the
//! patch sets behind it, and saying in the tables that are there where that lies. Nothing of the copy
//! moves.

use super::cursor::Table;
use super::message::{self, Builder, Fields, Gap, Laid, Place};
use crate::json::ext;
use crate::json::template::TemplateExt;
use crate::message::forward::{self, Forward};
use crate::message::{BidRequest, Imp, ImpExt, Site, Source};
use crate::template::{Base, ImpPatch, Patch, gaps};
use openrtb::Read;

/// What is the same in all requests of a placement.
#[derive(Debug, PartialEq)]
pub(crate) struct Template {
    bytes: Box<[u8]>,
    gaps: RequestGaps,
    imps: Box<[TemplateImp]>,
    /// Whether it has them even where the patch sets nothing in them.
    has_site: bool,
    has_source: bool,
}

/// What a patch may set, but for impressions.
#[derive(Debug, PartialEq)]
struct RequestGaps {
    id: Gap,
    site: Gap,
    device: Gap,
    user: Gap,
    tmax: Gap,
    regs: Gap,
    source: Gap,
    page: Gap,
    r#ref: Gap,
    tid: Gap,
}

#[derive(Debug, PartialEq)]
struct TemplateImp {
    id: Gap,
    bidfloor: Gap,
    bidfloorcur: Gap,
    ext: Gap,
    ext_text: TemplateExt,
}

impl Template {
    pub(crate) fn new(base: &Base) -> Template {
        // Site and source are there in any case, for a patch to set something in them.
        let whole = BidRequest {
            imp: base.imps.iter().map(|imp| imp.whole()).collect(),
            site: Some(base.site.clone().unwrap_or_default()),
            source: Some(base.source.clone().unwrap_or_default()),
            ..base.request.clone()
        };
        let (mut room, mut text) = (Vec::new(), Vec::new());
        let bytes = forward::fill(&mut room, |out| {
            message::encode(&whole, false, &mut text, out);
        });
        // What was just written can be read.
        let places = Places::read(bytes).unwrap_or_default();
        let imps = base.imps.iter().zip(&places.imps);
        Template {
            bytes: bytes.into(),
            gaps: places.gaps(),
            imps: imps
                .map(|(imp, place)| TemplateImp::new(imp.ext.as_deref(), *place))
                .collect(),
            has_site: base.site.is_some(),
            has_source: base.source.is_some(),
        }
    }

    pub(crate) fn imps(&self) -> usize {
        self.imps.len()
    }

    /// Writes a request.
    pub(crate) fn fill(&self, patch: &Patch<'_>, text: &mut Vec<u8>, out: &mut Forward<'_>) {
        let Some(bytes) = out.claim(self.bytes.len()) else {
            return;
        };
        bytes.copy_from_slice(&self.bytes);
        let mut fields = Fields { bytes, start: 0 };
        let mut to = Builder { out, text };
        for (imp, patch) in self.imps.iter().zip(patch.imp) {
            imp.fill(patch, &mut fields, &mut to);
        }
        let gaps = &self.gaps;
        for (gap, text) in [
            (gaps.id, patch.id),
            (gaps.page, patch.site_page),
            (gaps.r#ref, patch.site_ref),
            (gaps.tid, patch.source_tid),
        ] {
            fields.text(gap, text, &mut to);
        }
        if let Some(device) = patch.device {
            fields.refer(gaps.device, to.table(device));
        }
        if let Some(user) = patch.user {
            fields.refer(gaps.user, to.table(user));
        }
        if let Some(regs) = patch.regs {
            fields.refer(gaps.regs, to.table(regs));
        }
        let tmax = patch.tmax.unwrap_or_default().to_le_bytes();
        fields.scalar(gaps.tmax, patch.tmax.is_some(), tmax);
        fields.keep(gaps.site, self.has_site || patch.sets_site());
        fields.keep(gaps.source, self.has_source || patch.source_tid.is_some());
    }
}

impl TemplateImp {
    fn new(ext: Option<&ImpExt>, place: Place) -> TemplateImp {
        fn join(ext: &ImpExt, out: &mut Vec<u8>) {
            if let Some(rest) = ext::join_trusting(ext, out) {
                out.extend_from_slice(rest.as_bytes());
            }
        }
        let [id, bidfloor, bidfloorcur, ext_number] = gaps::IMP;
        let gap = |number| Imp::gap(number).of_table(place);
        TemplateImp {
            id: gap(id),
            bidfloor: gap(bidfloor),
            bidfloorcur: gap(bidfloorcur),
            ext: gap(ext_number),
            ext_text: TemplateExt::new(ext, join),
        }
    }

    fn fill(&self, patch: &ImpPatch<'_>, fields: &mut Fields<'_>, to: &mut Builder<'_, '_>) {
        fields.text(self.id, patch.id, to);
        fields.text(self.bidfloorcur, patch.bidfloorcur, to);
        let bidfloor = patch.bidfloor.unwrap_or_default().to_le_bytes();
        fields.scalar(self.bidfloor, patch.bidfloor.is_some(), bidfloor);
        // Without a `tid` it is as it is in the template.
        if patch.ext_tid.is_some() {
            let place = to.composed(|text| self.ext_text.fill(patch.ext_tid, text));
            fields.refer(self.ext, place);
        }
    }
}

/// Where the tables lie that a patch sets something in.
#[derive(Default)]
struct Places {
    request: Place,
    site: Place,
    source: Place,
    imps: Vec<Place>,
}

impl Places {
    fn read(bytes: &[u8]) -> Read<Places> {
        let [_, imp, site, .., source] = gaps::REQUEST.map(|number| number as u16);
        let request = Table::root(bytes)?;
        let place = |table: Option<Table<'_>>| table.map_or(0, |table| table.at() as Place);
        let imps = request.vector(imp)?;
        Ok(Places {
            request: request.at() as Place,
            site: place(request.table(site)?),
            source: place(request.table(source)?),
            imps: (0..imps.len())
                .map(|index| Ok(imps.table(index)?.at() as Place))
                .collect::<Read<_>>()?,
        })
    }

    fn gaps(&self) -> RequestGaps {
        let [id, _, site, device, user, tmax, regs, source] = gaps::REQUEST;
        let [page, r#ref] = gaps::SITE;
        let [tid] = gaps::SOURCE;
        let gap = |number| BidRequest::gap(number).of_table(self.request);
        RequestGaps {
            id: gap(id),
            site: gap(site),
            device: gap(device),
            user: gap(user),
            tmax: gap(tmax),
            regs: gap(regs),
            source: gap(source),
            page: Site::gap(page).of_table(self.site),
            r#ref: Site::gap(r#ref).of_table(self.site),
            tid: Source::gap(tid).of_table(self.source),
        }
    }
}
