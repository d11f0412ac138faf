//! A request taken apart: what a patch sets is gone, and each message that has a field a patch sets
//! stands by itself.

use crate::message::{BidRequest, Imp, ImpExt, Site, Source};

/// What is the same in all requests of a placement.
pub(crate) struct Base {
    /// But for what else is here.
    pub(crate) request: BidRequest,
    pub(crate) imps: Vec<BaseImp>,
    pub(crate) site: Option<Box<Site>>,
    pub(crate) source: Option<Box<Source>>,
}

/// An impression.
pub(crate) struct BaseImp {
    /// But for its ext.
    pub(crate) imp: Imp,
    pub(crate) ext: Option<Box<ImpExt>>,
}

/// Numbers of the fields that a patch sets, ascending.
pub(crate) mod gaps {
    /// `id`, `imp`, `site`, `device`, `user`, `tmax`, `regs`, `source`.
    pub(crate) const REQUEST: [u32; 8] = [1, 2, 3, 5, 6, 8, 14, 19];
    /// `page`, `ref`.
    pub(crate) const SITE: [u32; 2] = [7, 9];
    /// `tid`.
    pub(crate) const SOURCE: [u32; 1] = [2];
    /// `id`, `bidfloor`, `bidfloorcur`, `ext`.
    pub(crate) const IMP: [u32; 4] = [1, 8, 9, 99];
    /// `tid`.
    pub(crate) const IMP_EXT: [u32; 1] = [4];
}

impl Base {
    /// A request taken apart.
    pub(crate) fn of(request: &BidRequest) -> Base {
        let mut request = request.clone();
        (request.id, request.tmax) = (None, None);
        (request.device, request.user, request.regs) = (None, None, None);
        let mut site = request.site.take();
        if let Some(site) = &mut site {
            (site.page, site.r#ref) = (None, None);
        }
        let mut source = request.source.take();
        if let Some(source) = &mut source {
            source.tid = None;
        }
        let imps = core::mem::take(&mut request.imp);
        Base {
            request,
            imps: imps.into_iter().map(BaseImp::of).collect(),
            site,
            source,
        }
    }
}

impl BaseImp {
    /// With its ext.
    pub(crate) fn whole(&self) -> Imp {
        Imp {
            ext: self.ext.clone(),
            ..self.imp.clone()
        }
    }

    fn of(mut imp: Imp) -> BaseImp {
        (imp.id, imp.bidfloor, imp.bidfloorcur) = (None, None, None);
        let mut ext = imp.ext.take();
        if let Some(ext) = &mut ext {
            ext.tid = None;
        }
        BaseImp { imp, ext }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    #[track_caller]
    fn check<M: Message>(gaps: &[u32], names: &[&str]) {
        assert!(gaps.is_sorted());
        let found: Vec<_> = gaps.iter().map(|number| M::name(*number)).collect();
        assert_eq!(found, names);
    }

    #[test]
    fn gaps_are_the_fields_of_the_schema() {
        let request = [
            "id", "imp", "site", "device", "user", "tmax", "regs", "source",
        ];
        check::<BidRequest>(&gaps::REQUEST, &request);
        check::<Site>(&gaps::SITE, &["page", "ref"]);
        check::<Source>(&gaps::SOURCE, &["tid"]);
        check::<Imp>(&gaps::IMP, &["id", "bidfloor", "bidfloorcur", "ext"]);
        check::<ImpExt>(&gaps::IMP_EXT, &["tid"]);
    }
}
