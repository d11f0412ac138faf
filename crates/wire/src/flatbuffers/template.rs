//! Templates in FlatBuffers.
//!
//! Offsets point forward, and strings differ in length from request to request. So a request is, from
//! its start:
//!
//! * the **head**: the tables that have a field that a patch sets. Each has a vtable of its own right in
//!   front of it, in which a field that is absent is crossed out;
//! * what the patch sets: strings, and the tables of device, user and regs;
//! * the **tail**: all that the tables of the head point to and that is the same in all requests.
//!
//! Head and tail are copied. They lie further apart in one request than in another, so what points from
//! one to the other is moved by as much while it is copied: an addition for every word of the head.

use super::message::{
    Builder, Group, Layout, Place, Room, Set, Word, new_vtable, resolved, slots, string,
};
use crate::json::ext;
use crate::json::template::TemplateExt;
use crate::message::ImpExt;
use crate::message::reverse::{self, Reverse};
use crate::template::{Base, BaseImp, ImpPatch, Patch, gaps};

/// What is the same in all requests of a placement.
#[derive(Debug, PartialEq)]
pub(crate) struct Template {
    head: Head,
    tail: Box<[u8]>,
    request: RequestGaps,
    imps: Box<[TemplateImp]>,
    /// Whether it has them even where the patch sets nothing in them.
    has_site: bool,
    has_source: bool,
}

/// What may differ in the tables of the head.
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
    /// Where the text without a `tid` lies, in the tail; 0 where there is none.
    ext_place: Place,
}

/// A field of the head.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gap {
    /// Where its value starts, in bytes before the end of the head.
    at: usize,
    /// Where its entry in the vtable starts, likewise.
    entry: usize,
}

/// The head as words: what each is in a request is the sum of `words` and, where `moving` has all bits
/// set, the place where the head ends.
#[derive(Debug, PartialEq)]
struct Head {
    words: Box<[u32]>,
    moving: Box<[u32]>,
}

impl Template {
    pub(crate) fn new(base: &Base) -> Template {
        let mut room = Vec::new();
        let mut tables = Room::default();
        let mut parts = None;
        let tail = reverse::fill(&mut room, |out| {
            let mut builder = Builder::new(&mut tables, out);
            parts = Some(Parts::write(base, &mut builder));
            let mut out = builder.finish(&mut tables);
            out.align(8, 0);
            out
        });
        // Writing the tail has made the parts.
        let parts = parts.unwrap_or_default();
        let mut plan = Plan::default();
        let (request, imps) = parts.plan(&mut plan);
        Template {
            head: plan.finish(),
            tail: tail.into(),
            request,
            imps,
            has_site: base.site.is_some(),
            has_source: base.source.is_some(),
        }
    }

    pub(crate) fn imps(&self) -> usize {
        self.imps.len()
    }

    /// Writes a request in front of the end.
    pub(crate) fn fill<'b>(
        &self,
        patch: &Patch<'_>,
        room: &mut Room,
        mut out: Reverse<'b>,
    ) -> Reverse<'b> {
        if let Some(room) = out.claim(self.tail.len()) {
            room.copy_from_slice(&self.tail);
        }
        let mut builder = Builder::new(room, out);
        let to = &mut builder;
        let regs = patch.regs.map(|regs| to.table(regs));
        let user = patch.user.map(|user| to.table(user));
        let device = patch.device.map(|device| to.table(device));
        let tid = to.text(patch.source_tid);
        let r#ref = to.text(patch.site_ref);
        let page = to.text(patch.site_page);
        let id = to.text(patch.id);
        for (imp, patch) in self.imps.iter().zip(patch.imp).rev() {
            imp.write(patch, to);
        }
        to.out.align(8, 0);
        let end = to.place();
        let Some(bytes) = to.out.claim(self.head.len()) else {
            return builder.finish(room);
        };
        self.head.copy(end, bytes);
        let mut head = Filling { bytes, end };
        for (imp, patch) in self.imps.iter().zip(patch.imp) {
            imp.fill(patch, to, &mut head);
        }
        let gaps = &self.request;
        for (gap, place) in [
            (gaps.id, id),
            (gaps.device, device),
            (gaps.user, user),
            (gaps.regs, regs),
            (gaps.page, page),
            (gaps.r#ref, r#ref),
            (gaps.tid, tid),
        ] {
            head.place(gap, place);
        }
        head.scalar(gaps.tmax, patch.tmax.map(i32::to_le_bytes));
        head.keep(gaps.site, self.has_site || patch.sets_site());
        head.keep(gaps.source, self.has_source || patch.source_tid.is_some());
        builder.finish(room)
    }
}

impl TemplateImp {
    /// Writes the texts of an impression, and keeps where they lie.
    fn write(&self, patch: &ImpPatch<'_>, to: &mut Builder<'_>) {
        let ext = match patch.ext_tid {
            Some(_) => to.composed(|text| self.ext_text.fill(patch.ext_tid, text)),
            None => self.ext_place,
        };
        let bidfloorcur = to.text(patch.bidfloorcur).unwrap_or_default();
        let id = to.text(patch.id).unwrap_or_default();
        to.keep_places([ext, bidfloorcur, id]);
    }

    /// Puts into the table what was written; the impression written last comes first.
    fn fill(&self, patch: &ImpPatch<'_>, from: &mut Builder<'_>, head: &mut Filling<'_>) {
        let [ext, bidfloorcur, id] = from.kept_places();
        for (gap, place) in [
            (self.ext, ext),
            (self.bidfloorcur, bidfloorcur),
            (self.id, id),
        ] {
            head.place(gap, Some(place).filter(|place| *place != 0));
        }
        head.scalar(self.bidfloor, patch.bidfloor.map(f64::to_le_bytes));
    }
}

impl Head {
    fn len(&self) -> usize {
        4 * self.words.len()
    }

    /// Copies the head to where it ends at `end`.
    fn copy(&self, end: Place, to: &mut [u8]) {
        let (to, _) = to.as_chunks_mut::<4>();
        for ((to, word), moving) in to.iter_mut().zip(&self.words).zip(&self.moving) {
            *to = word.wrapping_add(moving & end).to_le_bytes();
        }
    }
}

/// A head in a request.
struct Filling<'b> {
    bytes: &'b mut [u8],
    /// Where it ends.
    end: Place,
}

impl Filling<'_> {
    /// Points at what lies at `place`; `None` is absent.
    #[inline(always)]
    fn place(&mut self, gap: Gap, place: Option<Place>) {
        let at = self.end + gap.at as Place;
        self.scalar(gap, place.map(|place| at.wrapping_sub(place).to_le_bytes()));
    }

    #[inline(always)]
    fn scalar<const N: usize>(&mut self, gap: Gap, value: Option<[u8; N]>) {
        match value {
            Some(value) => self.put(gap.at, value),
            None => self.put(gap.entry, [0; 2]),
        }
    }

    /// Crosses a field out that is not kept.
    fn keep(&mut self, gap: Gap, keep: bool) {
        if !keep {
            self.put(gap.entry, [0; 2]);
        }
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        let start = self.bytes.len().wrapping_sub(at);
        let room = self.bytes.get_mut(start..).unwrap_or_default();
        if let Some(room) = room.first_chunk_mut() {
            *room = value;
        }
    }
}

/// The tables of the head, before they are laid out.
#[derive(Default)]
struct Parts {
    request: Part,
    imps: Vec<(Part, TemplateExt, Place)>,
    site: Part,
    source: Part,
}

/// The fields of a table that are the same in all requests: its words, which point to the tail, and
/// its doubles. All with the highest slot first.
#[derive(Default)]
pub(super) struct Part {
    pub(super) set: Set,
    pub(super) words: Vec<Word>,
    pub(super) doubles: Vec<f64>,
}

impl Parts {
    /// Writes what the tables point to.
    fn write(base: &Base, to: &mut Builder<'_>) -> Parts {
        let imps = base.imps.iter().map(|imp| part_of_imp(imp, to)).collect();
        Parts {
            imps,
            site: base
                .site
                .as_deref()
                .map_or_else(Part::default, |site| to.part(site)),
            source: base
                .source
                .as_deref()
                .map_or_else(Part::default, |source| to.part(source)),
            request: to.part(&base.request),
        }
    }

    /// Lays the tables out, the last one first.
    fn plan(self, plan: &mut Plan) -> (RequestGaps, Box<[TemplateImp]>) {
        use Group::{Doubles, Words};
        let [tid] = gaps::SOURCE;
        let (source, [tid]) = plan.table(&self.source, [(tid, Words)]);
        let [page, r#ref] = gaps::SITE;
        let (site, [page, r#ref]) = plan.table(&self.site, [(page, Words), (r#ref, Words)]);
        let mut starts = Vec::new();
        let mut imps = Vec::new();
        let [id, bidfloor, bidfloorcur, _] = gaps::IMP;
        for (part, ext_text, ext_place) in self.imps.into_iter().rev() {
            let fields = [
                (id, Words),
                (bidfloor, Doubles),
                (bidfloorcur, Words),
                (0, Words),
            ];
            let (start, [id, bidfloor, bidfloorcur, ext]) = plan.table(&part, fields);
            starts.push(start);
            imps.push(TemplateImp {
                id,
                bidfloor,
                bidfloorcur,
                ext,
                ext_text,
                ext_place,
            });
        }
        imps.reverse();
        let imp_vector = plan.vector(&starts);
        let [id, imp, to_site, device, user, tmax, regs, to_source] = gaps::REQUEST;
        let fields = [
            (id, Words),
            (imp, Words),
            (to_site, Words),
            (device, Words),
            (user, Words),
            (tmax, Words),
            (regs, Words),
            (to_source, Words),
        ];
        let (root, [id, imp, to_site, device, user, tmax, regs, to_source]) =
            plan.table(&self.request, fields);
        plan.link(to_site, site);
        plan.link(to_source, source);
        if imps.is_empty() {
            plan.cross_out(imp);
        } else {
            plan.link(imp, imp_vector);
        }
        plan.root(root);
        let gaps = RequestGaps {
            id,
            site: to_site,
            device,
            user,
            tmax,
            regs,
            source: to_source,
            page,
            r#ref,
            tid,
        };
        (gaps, imps.into())
    }
}

fn part_of_imp(base: &BaseImp, to: &mut Builder<'_>) -> (Part, TemplateExt, Place) {
    fn join(ext: &ImpExt, out: &mut Vec<u8>) {
        if let Some(rest) = ext::join_trusting(ext, out) {
            out.extend_from_slice(rest.as_bytes());
        }
    }
    let text = TemplateExt::new(base.ext.as_deref(), join);
    let place = text
        .without_tid()
        .map_or(0, |text| string(&mut to.out, text));
    (to.part(&base.imp), text, place)
}

/// The head while it is laid out, from its end. Words are bytes before its end.
#[derive(Default)]
struct Plan {
    bytes: Vec<u8>,
    /// Words that point to the tail.
    moving: Vec<usize>,
}

impl Plan {
    fn prepend(&mut self, bytes: &[u8]) {
        self.bytes.splice(..0, bytes.iter().copied());
    }

    fn align(&mut self, to: usize, more: usize) {
        while !(self.bytes.len() + more).is_multiple_of(to) {
            self.prepend(&[0]);
        }
    }

    /// A table with its own vtable in front: where it starts, and where its gaps are. All of them are in
    /// the vtable.
    fn table<const N: usize>(
        &mut self,
        part: &Part,
        fields: [(u32, Group); N],
    ) -> (usize, [Gap; N]) {
        let mut set = part.set;
        for (slot, group) in fields {
            *set.group(group) |= 1 << slot;
        }
        let layout = Layout::of(&set);
        let vtable = new_vtable(&set, &layout);
        if set.doubles != 0 {
            self.align(8, 0);
        }
        let start = self.bytes.len() + layout.len;
        let gap = |slot: u32| {
            let entry = 4 + 2 * slot as usize;
            let offset = vtable.get(entry..).and_then(|entry| entry.first_chunk());
            Gap {
                at: start - usize::from(u16::from_le_bytes(*offset.unwrap_or(&[0; 2]))),
                entry: start + vtable.len() - entry,
            }
        };
        self.prepend(&vec![0; layout.len]);
        self.prepend(&vtable);
        self.put(start, (vtable.len() as u32).to_le_bytes());
        for (slot, word) in slots(part.set.words).zip(&part.words) {
            let Gap { at, .. } = gap(slot);
            self.put(at, resolved(*word, at as Place).to_le_bytes());
            if word >> 32 != 0 {
                self.moving.push(at);
            }
        }
        for (slot, value) in slots(part.set.doubles).zip(&part.doubles) {
            self.put(gap(slot).at, value.to_le_bytes());
        }
        (start, fields.map(|(slot, _)| gap(slot)))
    }

    /// A vector of tables that start at `starts`, the last one first.
    fn vector(&mut self, starts: &[usize]) -> usize {
        for start in starts {
            let at = self.bytes.len() + 4;
            self.prepend(&((at - start) as u32).to_le_bytes());
        }
        self.prepend(&(starts.len() as u32).to_le_bytes());
        self.bytes.len()
    }

    fn root(&mut self, root: usize) {
        self.align(8, 4);
        let at = self.bytes.len() + 4;
        self.prepend(&((at - root) as u32).to_le_bytes());
    }

    /// Points at another part of the head.
    fn link(&mut self, gap: Gap, to: usize) {
        self.put(gap.at, ((gap.at - to) as u32).to_le_bytes());
    }

    fn cross_out(&mut self, gap: Gap) {
        self.put(gap.entry, [0; 2]);
    }

    fn put<const N: usize>(&mut self, at: usize, value: [u8; N]) {
        let (bytes, end) = (&mut self.bytes, 0);
        Filling { bytes, end }.put(at, value);
    }

    fn finish(self) -> Head {
        let (words, _) = self.bytes.as_chunks::<4>();
        let mut moving = vec![0; words.len()];
        for at in self.moving {
            let index = words.len().wrapping_sub(at / 4);
            if let Some(word) = moving.get_mut(index) {
                *word = u32::MAX;
            }
        }
        Head {
            words: words.iter().map(|word| u32::from_le_bytes(*word)).collect(),
            moving: moving.into(),
        }
    }
}
