// Made by "cargo xtask codegen" from schema/openrtb.proto; do not edit.
//! The messages of OpenRTB 2.6 and Native Ads 1.2, owned, with the walk over their fields.
#![allow(missing_docs, reason = "the fields of the standards, by name")]

use crate::message::{Entry, Extension, FieldSink, FieldSource, Message};
use openrtb::Limit;

/// A bid request (OpenRTB 2.6, 3.2.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BidRequest {
    pub id: Option<String>,
    pub imp: Vec<Imp>,
    pub site: Option<Box<Site>>,
    pub app: Option<Box<App>>,
    pub device: Option<Box<Device>>,
    pub user: Option<Box<User>>,
    pub at: Option<i32>,
    pub tmax: Option<i32>,
    pub wseat: Vec<String>,
    pub allimps: Option<bool>,
    pub cur: Vec<String>,
    pub bcat: Vec<String>,
    pub badv: Vec<String>,
    pub regs: Option<Box<Regs>>,
    pub test: Option<bool>,
    pub bapp: Vec<String>,
    pub bseat: Vec<String>,
    pub wlang: Vec<String>,
    pub source: Option<Box<Source>>,
    pub wlangb: Vec<String>,
    pub cattax: Option<i32>,
    pub dooh: Option<Box<Dooh>>,
    pub acat: Vec<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for BidRequest {
    const INDEX: u16 = 0;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "imp", 4), (3, "site", 4), (4, "app", 4), (5, "device", 4),
        (6, "user", 4), (7, "at", 4), (8, "tmax", 4), (9, "wseat", 4), (10, "allimps", 1),
        (11, "cur", 4), (12, "bcat", 4), (13, "badv", 4), (14, "regs", 4), (15, "test", 1),
        (16, "bapp", 4), (17, "bseat", 4), (18, "wlang", 4), (19, "source", 4), (20, "wlangb", 4),
        (21, "cattax", 4), (22, "dooh", 4), (23, "acat", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"imp" => Some(2),
            b"site" => Some(3),
            b"app" => Some(4),
            b"device" => Some(5),
            b"user" => Some(6),
            b"at" => Some(7),
            b"tmax" => Some(8),
            b"wseat" => Some(9),
            b"allimps" => Some(10),
            b"cur" => Some(11),
            b"bcat" => Some(12),
            b"badv" => Some(13),
            b"regs" => Some(14),
            b"test" => Some(15),
            b"bapp" => Some(16),
            b"bseat" => Some(17),
            b"wlang" => Some(18),
            b"source" => Some(19),
            b"wlangb" => Some(20),
            b"cattax" => Some(21),
            b"dooh" => Some(22),
            b"acat" => Some(23),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.messages(2, "imp", &self.imp);
        to.message(3, "site", &self.site);
        to.message(4, "app", &self.app);
        to.message(5, "device", &self.device);
        to.message(6, "user", &self.user);
        to.int(7, "at", self.at);
        to.int(8, "tmax", self.tmax);
        to.strings(9, "wseat", &self.wseat);
        to.bool(10, "allimps", self.allimps);
        to.strings(11, "cur", &self.cur);
        to.strings(12, "bcat", &self.bcat);
        to.strings(13, "badv", &self.badv);
        to.message(14, "regs", &self.regs);
        to.bool(15, "test", self.test);
        to.strings(16, "bapp", &self.bapp);
        to.strings(17, "bseat", &self.bseat);
        to.strings(18, "wlang", &self.wlang);
        to.message(19, "source", &self.source);
        to.strings(20, "wlangb", &self.wlangb);
        to.int(21, "cattax", self.cattax);
        to.message(22, "dooh", &self.dooh);
        to.strings(23, "acat", &self.acat);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.strings(23, "acat", &self.acat);
        to.message(22, "dooh", &self.dooh);
        to.int(21, "cattax", self.cattax);
        to.strings(20, "wlangb", &self.wlangb);
        to.message(19, "source", &self.source);
        to.strings(18, "wlang", &self.wlang);
        to.strings(17, "bseat", &self.bseat);
        to.strings(16, "bapp", &self.bapp);
        to.bool(15, "test", self.test);
        to.message(14, "regs", &self.regs);
        to.strings(13, "badv", &self.badv);
        to.strings(12, "bcat", &self.bcat);
        to.strings(11, "cur", &self.cur);
        to.bool(10, "allimps", self.allimps);
        to.strings(9, "wseat", &self.wseat);
        to.int(8, "tmax", self.tmax);
        to.int(7, "at", self.at);
        to.message(6, "user", &self.user);
        to.message(5, "device", &self.device);
        to.message(4, "app", &self.app);
        to.message(3, "site", &self.site);
        to.messages(2, "imp", &self.imp);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.messages(&mut self.imp)?,
            3 => from.message(&mut self.site)?,
            4 => from.message(&mut self.app)?,
            5 => from.message(&mut self.device)?,
            6 => from.message(&mut self.user)?,
            7 => from.int(&mut self.at)?,
            8 => from.int(&mut self.tmax)?,
            9 => from.strings(&mut self.wseat)?,
            10 => from.bool(&mut self.allimps)?,
            11 => from.strings(&mut self.cur)?,
            12 => from.strings(&mut self.bcat)?,
            13 => from.strings(&mut self.badv)?,
            14 => from.message(&mut self.regs)?,
            15 => from.bool(&mut self.test)?,
            16 => from.strings(&mut self.bapp)?,
            17 => from.strings(&mut self.bseat)?,
            18 => from.strings(&mut self.wlang)?,
            19 => from.message(&mut self.source)?,
            20 => from.strings(&mut self.wlangb)?,
            21 => from.int(&mut self.cattax)?,
            22 => from.message(&mut self.dooh)?,
            23 => from.strings(&mut self.acat)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Who sells, and by which way (3.2.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    pub fd: Option<bool>,
    pub tid: Option<String>,
    pub pchain: Option<String>,
    pub schain: Option<Box<SupplyChain>>,
    pub ext: Option<Box<SourceExt>>,
}

impl Message for Source {
    const INDEX: u16 = 1;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "fd", 1), (2, "tid", 4), (3, "pchain", 4), (4, "schain", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"fd" => Some(1),
            b"tid" => Some(2),
            b"pchain" => Some(3),
            b"schain" => Some(4),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.bool(1, "fd", self.fd);
        to.string(2, "tid", &self.tid);
        to.string(3, "pchain", &self.pchain);
        to.message(4, "schain", &self.schain);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.message(4, "schain", &self.schain);
        to.string(3, "pchain", &self.pchain);
        to.string(2, "tid", &self.tid);
        to.bool(1, "fd", self.fd);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.bool(&mut self.fd)?,
            2 => from.string(&mut self.tid)?,
            3 => from.string(&mut self.pchain)?,
            4 => from.message(&mut self.schain)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of Source: the supply chain of 2.5, and the Open Measurement partner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceExt {
    pub schain: Option<Box<SupplyChain>>,
    pub omidpn: Option<String>,
    pub omidpv: Option<String>,
    pub json: Option<String>,
}

impl Message for SourceExt {
    const INDEX: u16 = 2;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "schain", 4), (2, "omidpn", 4), (3, "omidpv", 4), (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"schain" => Some(1),
            b"omidpn" => Some(2),
            b"omidpv" => Some(3),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.message(1, "schain", &self.schain);
        to.string(2, "omidpn", &self.omidpn);
        to.string(3, "omidpv", &self.omidpv);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.string(3, "omidpv", &self.omidpv);
        to.string(2, "omidpn", &self.omidpn);
        to.message(1, "schain", &self.schain);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.message(&mut self.schain)?,
            2 => from.string(&mut self.omidpn)?,
            3 => from.string(&mut self.omidpv)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for SourceExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// The sellers between publisher and bidder (3.2.25).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SupplyChain {
    pub complete: Option<bool>,
    pub nodes: Vec<SupplyChainNode>,
    pub ver: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for SupplyChain {
    const INDEX: u16 = 3;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "complete", 1), (2, "nodes", 4), (3, "ver", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"complete" => Some(1),
            b"nodes" => Some(2),
            b"ver" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.bool(1, "complete", self.complete);
        to.messages(2, "nodes", &self.nodes);
        to.string(3, "ver", &self.ver);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(3, "ver", &self.ver);
        to.messages(2, "nodes", &self.nodes);
        to.bool(1, "complete", self.complete);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.bool(&mut self.complete)?,
            2 => from.messages(&mut self.nodes)?,
            3 => from.string(&mut self.ver)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// One seller in a supply chain (3.2.26).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SupplyChainNode {
    pub asi: Option<String>,
    pub sid: Option<String>,
    pub rid: Option<String>,
    pub name: Option<String>,
    pub domain: Option<String>,
    pub hp: Option<bool>,
    pub ext: Option<Box<Ext>>,
}

impl Message for SupplyChainNode {
    const INDEX: u16 = 4;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "asi", 4), (2, "sid", 4), (3, "rid", 4), (4, "name", 4), (5, "domain", 4), (6, "hp", 1),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"asi" => Some(1),
            b"sid" => Some(2),
            b"rid" => Some(3),
            b"name" => Some(4),
            b"domain" => Some(5),
            b"hp" => Some(6),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "asi", &self.asi);
        to.string(2, "sid", &self.sid);
        to.string(3, "rid", &self.rid);
        to.string(4, "name", &self.name);
        to.string(5, "domain", &self.domain);
        to.bool(6, "hp", self.hp);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.bool(6, "hp", self.hp);
        to.string(5, "domain", &self.domain);
        to.string(4, "name", &self.name);
        to.string(3, "rid", &self.rid);
        to.string(2, "sid", &self.sid);
        to.string(1, "asi", &self.asi);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.asi)?,
            2 => from.string(&mut self.sid)?,
            3 => from.string(&mut self.rid)?,
            4 => from.string(&mut self.name)?,
            5 => from.string(&mut self.domain)?,
            6 => from.bool(&mut self.hp)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// One opportunity to show an ad (3.2.4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imp {
    pub id: Option<String>,
    pub banner: Option<Box<Banner>>,
    pub video: Option<Box<Video>>,
    pub displaymanager: Option<String>,
    pub displaymanagerver: Option<String>,
    pub instl: Option<bool>,
    pub tagid: Option<String>,
    pub bidfloor: Option<f64>,
    pub bidfloorcur: Option<String>,
    pub iframebuster: Vec<String>,
    pub pmp: Option<Box<Pmp>>,
    pub secure: Option<bool>,
    pub native: Option<Box<Native>>,
    pub exp: Option<i32>,
    pub audio: Option<Box<Audio>>,
    pub clickbrowser: Option<bool>,
    pub metric: Vec<Metric>,
    pub rwdd: Option<bool>,
    pub ssai: Option<i32>,
    pub qty: Option<Box<Qty>>,
    pub dt: Option<f64>,
    pub refresh: Option<Box<Refresh>>,
    pub ext: Option<Box<ImpExt>>,
}

impl Message for Imp {
    const INDEX: u16 = 5;
    const LIMIT: Option<Limit> = Some(Limit::Imps);
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "banner", 4), (3, "video", 4), (4, "displaymanager", 4),
        (5, "displaymanagerver", 4), (6, "instl", 1), (7, "tagid", 4), (8, "bidfloor", 8),
        (9, "bidfloorcur", 4), (10, "iframebuster", 4), (11, "pmp", 4), (12, "secure", 1),
        (13, "native", 4), (14, "exp", 4), (15, "audio", 4), (16, "clickbrowser", 1),
        (17, "metric", 4), (18, "rwdd", 1), (19, "ssai", 4), (20, "qty", 4), (21, "dt", 8),
        (22, "refresh", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"banner" => Some(2),
            b"video" => Some(3),
            b"displaymanager" => Some(4),
            b"displaymanagerver" => Some(5),
            b"instl" => Some(6),
            b"tagid" => Some(7),
            b"bidfloor" => Some(8),
            b"bidfloorcur" => Some(9),
            b"iframebuster" => Some(10),
            b"pmp" => Some(11),
            b"secure" => Some(12),
            b"native" => Some(13),
            b"exp" => Some(14),
            b"audio" => Some(15),
            b"clickbrowser" => Some(16),
            b"metric" => Some(17),
            b"rwdd" => Some(18),
            b"ssai" => Some(19),
            b"qty" => Some(20),
            b"dt" => Some(21),
            b"refresh" => Some(22),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.message(2, "banner", &self.banner);
        to.message(3, "video", &self.video);
        to.string(4, "displaymanager", &self.displaymanager);
        to.string(5, "displaymanagerver", &self.displaymanagerver);
        to.bool(6, "instl", self.instl);
        to.string(7, "tagid", &self.tagid);
        to.floor(8, "bidfloor", self.bidfloor);
        to.string(9, "bidfloorcur", &self.bidfloorcur);
        to.strings(10, "iframebuster", &self.iframebuster);
        to.message(11, "pmp", &self.pmp);
        to.bool(12, "secure", self.secure);
        to.message(13, "native", &self.native);
        to.int(14, "exp", self.exp);
        to.message(15, "audio", &self.audio);
        to.bool(16, "clickbrowser", self.clickbrowser);
        to.messages(17, "metric", &self.metric);
        to.bool(18, "rwdd", self.rwdd);
        to.int(19, "ssai", self.ssai);
        to.message(20, "qty", &self.qty);
        to.double(21, "dt", self.dt);
        to.message(22, "refresh", &self.refresh);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.message(22, "refresh", &self.refresh);
        to.double(21, "dt", self.dt);
        to.message(20, "qty", &self.qty);
        to.int(19, "ssai", self.ssai);
        to.bool(18, "rwdd", self.rwdd);
        to.messages(17, "metric", &self.metric);
        to.bool(16, "clickbrowser", self.clickbrowser);
        to.message(15, "audio", &self.audio);
        to.int(14, "exp", self.exp);
        to.message(13, "native", &self.native);
        to.bool(12, "secure", self.secure);
        to.message(11, "pmp", &self.pmp);
        to.strings(10, "iframebuster", &self.iframebuster);
        to.string(9, "bidfloorcur", &self.bidfloorcur);
        to.floor(8, "bidfloor", self.bidfloor);
        to.string(7, "tagid", &self.tagid);
        to.bool(6, "instl", self.instl);
        to.string(5, "displaymanagerver", &self.displaymanagerver);
        to.string(4, "displaymanager", &self.displaymanager);
        to.message(3, "video", &self.video);
        to.message(2, "banner", &self.banner);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.message(&mut self.banner)?,
            3 => from.message(&mut self.video)?,
            4 => from.string(&mut self.displaymanager)?,
            5 => from.string(&mut self.displaymanagerver)?,
            6 => from.bool(&mut self.instl)?,
            7 => from.string(&mut self.tagid)?,
            8 => from.floor(&mut self.bidfloor)?,
            9 => from.string(&mut self.bidfloorcur)?,
            10 => from.strings(&mut self.iframebuster)?,
            11 => from.message(&mut self.pmp)?,
            12 => from.bool(&mut self.secure)?,
            13 => from.message(&mut self.native)?,
            14 => from.int(&mut self.exp)?,
            15 => from.message(&mut self.audio)?,
            16 => from.bool(&mut self.clickbrowser)?,
            17 => from.messages(&mut self.metric)?,
            18 => from.bool(&mut self.rwdd)?,
            19 => from.int(&mut self.ssai)?,
            20 => from.message(&mut self.qty)?,
            21 => from.double(&mut self.dt)?,
            22 => from.message(&mut self.refresh)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of Imp.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImpExt {
    pub gpid: Option<String>,
    pub skadn: Option<Box<SKAdNetworkRequest>>,
    pub intrinsic: Option<bool>,
    pub tid: Option<String>,
    pub igs: Option<Box<InterestGroupAuctionSupport>>,
    pub json: Option<String>,
}

impl Message for ImpExt {
    const INDEX: u16 = 6;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "gpid", 4), (2, "skadn", 4), (3, "intrinsic", 1), (4, "tid", 4), (5, "igs", 4),
        (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"gpid" => Some(1),
            b"skadn" => Some(2),
            b"intrinsic" => Some(3),
            b"tid" => Some(4),
            b"igs" => Some(5),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "gpid", &self.gpid);
        to.message(2, "skadn", &self.skadn);
        to.bool(3, "intrinsic", self.intrinsic);
        to.string(4, "tid", &self.tid);
        to.message(5, "igs", &self.igs);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.message(5, "igs", &self.igs);
        to.string(4, "tid", &self.tid);
        to.bool(3, "intrinsic", self.intrinsic);
        to.message(2, "skadn", &self.skadn);
        to.string(1, "gpid", &self.gpid);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.gpid)?,
            2 => from.message(&mut self.skadn)?,
            3 => from.bool(&mut self.intrinsic)?,
            4 => from.string(&mut self.tid)?,
            5 => from.message(&mut self.igs)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for ImpExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// A measurement of the placement (3.2.5).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metric {
    pub r#type: Option<String>,
    pub value: Option<f64>,
    pub vendor: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Metric {
    const INDEX: u16 = 7;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "type", 4), (2, "value", 8), (3, "vendor", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"type" => Some(1),
            b"value" => Some(2),
            b"vendor" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "type", &self.r#type);
        to.double(2, "value", self.value);
        to.string(3, "vendor", &self.vendor);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(3, "vendor", &self.vendor);
        to.double(2, "value", self.value);
        to.string(1, "type", &self.r#type);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.r#type)?,
            2 => from.double(&mut self.value)?,
            3 => from.string(&mut self.vendor)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A banner is welcome (3.2.6).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Banner {
    pub w: Option<i32>,
    pub h: Option<i32>,
    pub id: Option<String>,
    pub pos: Option<i32>,
    pub btype: Vec<i32>,
    pub battr: Vec<i32>,
    pub mimes: Vec<String>,
    pub topframe: Option<bool>,
    pub expdir: Vec<i32>,
    pub api: Vec<i32>,
    pub wmax: Option<i32>,
    pub hmax: Option<i32>,
    pub wmin: Option<i32>,
    pub hmin: Option<i32>,
    pub format: Vec<Format>,
    pub vcm: Option<bool>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Banner {
    const INDEX: u16 = 8;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "w", 4), (2, "h", 4), (3, "id", 4), (4, "pos", 4), (5, "btype", 4), (6, "battr", 4),
        (7, "mimes", 4), (8, "topframe", 1), (9, "expdir", 4), (10, "api", 4), (11, "wmax", 4),
        (12, "hmax", 4), (13, "wmin", 4), (14, "hmin", 4), (15, "format", 4), (16, "vcm", 1),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"w" => Some(1),
            b"h" => Some(2),
            b"id" => Some(3),
            b"pos" => Some(4),
            b"btype" => Some(5),
            b"battr" => Some(6),
            b"mimes" => Some(7),
            b"topframe" => Some(8),
            b"expdir" => Some(9),
            b"api" => Some(10),
            b"wmax" => Some(11),
            b"hmax" => Some(12),
            b"wmin" => Some(13),
            b"hmin" => Some(14),
            b"format" => Some(15),
            b"vcm" => Some(16),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "w", self.w);
        to.int(2, "h", self.h);
        to.string(3, "id", &self.id);
        to.int(4, "pos", self.pos);
        to.ints(5, "btype", &self.btype);
        to.ints(6, "battr", &self.battr);
        to.strings(7, "mimes", &self.mimes);
        to.bool(8, "topframe", self.topframe);
        to.ints(9, "expdir", &self.expdir);
        to.ints(10, "api", &self.api);
        to.int(11, "wmax", self.wmax);
        to.int(12, "hmax", self.hmax);
        to.int(13, "wmin", self.wmin);
        to.int(14, "hmin", self.hmin);
        to.messages(15, "format", &self.format);
        to.bool(16, "vcm", self.vcm);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.bool(16, "vcm", self.vcm);
        to.messages(15, "format", &self.format);
        to.int(14, "hmin", self.hmin);
        to.int(13, "wmin", self.wmin);
        to.int(12, "hmax", self.hmax);
        to.int(11, "wmax", self.wmax);
        to.ints(10, "api", &self.api);
        to.ints(9, "expdir", &self.expdir);
        to.bool(8, "topframe", self.topframe);
        to.strings(7, "mimes", &self.mimes);
        to.ints(6, "battr", &self.battr);
        to.ints(5, "btype", &self.btype);
        to.int(4, "pos", self.pos);
        to.string(3, "id", &self.id);
        to.int(2, "h", self.h);
        to.int(1, "w", self.w);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.w)?,
            2 => from.int(&mut self.h)?,
            3 => from.string(&mut self.id)?,
            4 => from.int(&mut self.pos)?,
            5 => from.ints(&mut self.btype)?,
            6 => from.ints(&mut self.battr)?,
            7 => from.strings(&mut self.mimes)?,
            8 => from.bool(&mut self.topframe)?,
            9 => from.ints(&mut self.expdir)?,
            10 => from.ints(&mut self.api)?,
            11 => from.int(&mut self.wmax)?,
            12 => from.int(&mut self.hmax)?,
            13 => from.int(&mut self.wmin)?,
            14 => from.int(&mut self.hmin)?,
            15 => from.messages(&mut self.format)?,
            16 => from.bool(&mut self.vcm)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A size a banner may have (3.2.10).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Format {
    pub w: Option<i32>,
    pub h: Option<i32>,
    pub wratio: Option<i32>,
    pub hratio: Option<i32>,
    pub wmin: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Format {
    const INDEX: u16 = 9;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "w", 4), (2, "h", 4), (3, "wratio", 4), (4, "hratio", 4), (5, "wmin", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"w" => Some(1),
            b"h" => Some(2),
            b"wratio" => Some(3),
            b"hratio" => Some(4),
            b"wmin" => Some(5),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "w", self.w);
        to.int(2, "h", self.h);
        to.int(3, "wratio", self.wratio);
        to.int(4, "hratio", self.hratio);
        to.int(5, "wmin", self.wmin);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(5, "wmin", self.wmin);
        to.int(4, "hratio", self.hratio);
        to.int(3, "wratio", self.wratio);
        to.int(2, "h", self.h);
        to.int(1, "w", self.w);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.w)?,
            2 => from.int(&mut self.h)?,
            3 => from.int(&mut self.wratio)?,
            4 => from.int(&mut self.hratio)?,
            5 => from.int(&mut self.wmin)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A video is welcome (3.2.7).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Video {
    pub mimes: Vec<String>,
    pub linearity: Option<i32>,
    pub minduration: Option<i32>,
    pub maxduration: Option<i32>,
    pub protocol: Option<i32>,
    pub w: Option<i32>,
    pub h: Option<i32>,
    pub startdelay: Option<i32>,
    pub sequence: Option<i32>,
    pub battr: Vec<i32>,
    pub maxextended: Option<i32>,
    pub minbitrate: Option<i32>,
    pub maxbitrate: Option<i32>,
    pub boxingallowed: Option<bool>,
    pub playbackmethod: Vec<i32>,
    pub delivery: Vec<i32>,
    pub pos: Option<i32>,
    pub companionad: Vec<Banner>,
    pub api: Vec<i32>,
    pub companiontype: Vec<i32>,
    pub protocols: Vec<i32>,
    pub skip: Option<bool>,
    pub skipmin: Option<i32>,
    pub skipafter: Option<i32>,
    pub placement: Option<i32>,
    pub playbackend: Option<i32>,
    pub maxseq: Option<i32>,
    pub poddur: Option<i32>,
    pub podid: Option<String>,
    pub podseq: Option<i32>,
    pub rqddurs: Vec<i32>,
    pub slotinpod: Option<i32>,
    pub mincpmpersec: Option<f64>,
    pub plcmt: Option<i32>,
    pub durfloors: Vec<DurFloors>,
    pub poddedupe: Vec<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Video {
    const INDEX: u16 = 10;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "mimes", 4), (2, "linearity", 4), (3, "minduration", 4), (4, "maxduration", 4),
        (5, "protocol", 4), (6, "w", 4), (7, "h", 4), (8, "startdelay", 4), (9, "sequence", 4),
        (10, "battr", 4), (11, "maxextended", 4), (12, "minbitrate", 4), (13, "maxbitrate", 4),
        (14, "boxingallowed", 1), (15, "playbackmethod", 4), (16, "delivery", 4), (17, "pos", 4),
        (18, "companionad", 4), (19, "api", 4), (20, "companiontype", 4), (21, "protocols", 4),
        (23, "skip", 1), (24, "skipmin", 4), (25, "skipafter", 4), (26, "placement", 4),
        (27, "playbackend", 4), (28, "maxseq", 4), (29, "poddur", 4), (30, "podid", 4),
        (31, "podseq", 4), (32, "rqddurs", 4), (33, "slotinpod", 4), (34, "mincpmpersec", 8),
        (35, "plcmt", 4), (36, "durfloors", 4), (37, "poddedupe", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"mimes" => Some(1),
            b"linearity" => Some(2),
            b"minduration" => Some(3),
            b"maxduration" => Some(4),
            b"protocol" => Some(5),
            b"w" => Some(6),
            b"h" => Some(7),
            b"startdelay" => Some(8),
            b"sequence" => Some(9),
            b"battr" => Some(10),
            b"maxextended" => Some(11),
            b"minbitrate" => Some(12),
            b"maxbitrate" => Some(13),
            b"boxingallowed" => Some(14),
            b"playbackmethod" => Some(15),
            b"delivery" => Some(16),
            b"pos" => Some(17),
            b"companionad" => Some(18),
            b"api" => Some(19),
            b"companiontype" => Some(20),
            b"protocols" => Some(21),
            b"skip" => Some(23),
            b"skipmin" => Some(24),
            b"skipafter" => Some(25),
            b"placement" => Some(26),
            b"playbackend" => Some(27),
            b"maxseq" => Some(28),
            b"poddur" => Some(29),
            b"podid" => Some(30),
            b"podseq" => Some(31),
            b"rqddurs" => Some(32),
            b"slotinpod" => Some(33),
            b"mincpmpersec" => Some(34),
            b"plcmt" => Some(35),
            b"durfloors" => Some(36),
            b"poddedupe" => Some(37),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.strings(1, "mimes", &self.mimes);
        to.int(2, "linearity", self.linearity);
        to.int(3, "minduration", self.minduration);
        to.int(4, "maxduration", self.maxduration);
        to.int(5, "protocol", self.protocol);
        to.int(6, "w", self.w);
        to.int(7, "h", self.h);
        to.int(8, "startdelay", self.startdelay);
        to.int(9, "sequence", self.sequence);
        to.ints(10, "battr", &self.battr);
        to.int(11, "maxextended", self.maxextended);
        to.int(12, "minbitrate", self.minbitrate);
        to.int(13, "maxbitrate", self.maxbitrate);
        to.bool(14, "boxingallowed", self.boxingallowed);
        to.ints(15, "playbackmethod", &self.playbackmethod);
        to.ints(16, "delivery", &self.delivery);
        to.int(17, "pos", self.pos);
        to.messages(18, "companionad", &self.companionad);
        to.ints(19, "api", &self.api);
        to.ints(20, "companiontype", &self.companiontype);
        to.ints(21, "protocols", &self.protocols);
        to.bool(23, "skip", self.skip);
        to.int(24, "skipmin", self.skipmin);
        to.int(25, "skipafter", self.skipafter);
        to.int(26, "placement", self.placement);
        to.int(27, "playbackend", self.playbackend);
        to.int(28, "maxseq", self.maxseq);
        to.int(29, "poddur", self.poddur);
        to.string(30, "podid", &self.podid);
        to.int(31, "podseq", self.podseq);
        to.ints(32, "rqddurs", &self.rqddurs);
        to.int(33, "slotinpod", self.slotinpod);
        to.double(34, "mincpmpersec", self.mincpmpersec);
        to.int(35, "plcmt", self.plcmt);
        to.messages(36, "durfloors", &self.durfloors);
        to.ints(37, "poddedupe", &self.poddedupe);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.ints(37, "poddedupe", &self.poddedupe);
        to.messages(36, "durfloors", &self.durfloors);
        to.int(35, "plcmt", self.plcmt);
        to.double(34, "mincpmpersec", self.mincpmpersec);
        to.int(33, "slotinpod", self.slotinpod);
        to.ints(32, "rqddurs", &self.rqddurs);
        to.int(31, "podseq", self.podseq);
        to.string(30, "podid", &self.podid);
        to.int(29, "poddur", self.poddur);
        to.int(28, "maxseq", self.maxseq);
        to.int(27, "playbackend", self.playbackend);
        to.int(26, "placement", self.placement);
        to.int(25, "skipafter", self.skipafter);
        to.int(24, "skipmin", self.skipmin);
        to.bool(23, "skip", self.skip);
        to.ints(21, "protocols", &self.protocols);
        to.ints(20, "companiontype", &self.companiontype);
        to.ints(19, "api", &self.api);
        to.messages(18, "companionad", &self.companionad);
        to.int(17, "pos", self.pos);
        to.ints(16, "delivery", &self.delivery);
        to.ints(15, "playbackmethod", &self.playbackmethod);
        to.bool(14, "boxingallowed", self.boxingallowed);
        to.int(13, "maxbitrate", self.maxbitrate);
        to.int(12, "minbitrate", self.minbitrate);
        to.int(11, "maxextended", self.maxextended);
        to.ints(10, "battr", &self.battr);
        to.int(9, "sequence", self.sequence);
        to.int(8, "startdelay", self.startdelay);
        to.int(7, "h", self.h);
        to.int(6, "w", self.w);
        to.int(5, "protocol", self.protocol);
        to.int(4, "maxduration", self.maxduration);
        to.int(3, "minduration", self.minduration);
        to.int(2, "linearity", self.linearity);
        to.strings(1, "mimes", &self.mimes);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.strings(&mut self.mimes)?,
            2 => from.int(&mut self.linearity)?,
            3 => from.int(&mut self.minduration)?,
            4 => from.int(&mut self.maxduration)?,
            5 => from.int(&mut self.protocol)?,
            6 => from.int(&mut self.w)?,
            7 => from.int(&mut self.h)?,
            8 => from.int(&mut self.startdelay)?,
            9 => from.int(&mut self.sequence)?,
            10 => from.ints(&mut self.battr)?,
            11 => from.int(&mut self.maxextended)?,
            12 => from.int(&mut self.minbitrate)?,
            13 => from.int(&mut self.maxbitrate)?,
            14 => from.bool(&mut self.boxingallowed)?,
            15 => from.ints(&mut self.playbackmethod)?,
            16 => from.ints(&mut self.delivery)?,
            17 => from.int(&mut self.pos)?,
            18 => from.messages(&mut self.companionad)?,
            19 => from.ints(&mut self.api)?,
            20 => from.ints(&mut self.companiontype)?,
            21 => from.ints(&mut self.protocols)?,
            23 => from.bool(&mut self.skip)?,
            24 => from.int(&mut self.skipmin)?,
            25 => from.int(&mut self.skipafter)?,
            26 => from.int(&mut self.placement)?,
            27 => from.int(&mut self.playbackend)?,
            28 => from.int(&mut self.maxseq)?,
            29 => from.int(&mut self.poddur)?,
            30 => from.string(&mut self.podid)?,
            31 => from.int(&mut self.podseq)?,
            32 => from.ints(&mut self.rqddurs)?,
            33 => from.int(&mut self.slotinpod)?,
            34 => from.double(&mut self.mincpmpersec)?,
            35 => from.int(&mut self.plcmt)?,
            36 => from.messages(&mut self.durfloors)?,
            37 => from.ints(&mut self.poddedupe)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// An audio ad is welcome (3.2.8).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audio {
    pub mimes: Vec<String>,
    pub minduration: Option<i32>,
    pub maxduration: Option<i32>,
    pub protocols: Vec<i32>,
    pub startdelay: Option<i32>,
    pub sequence: Option<i32>,
    pub battr: Vec<i32>,
    pub maxextended: Option<i32>,
    pub minbitrate: Option<i32>,
    pub maxbitrate: Option<i32>,
    pub delivery: Vec<i32>,
    pub companionad: Vec<Banner>,
    pub api: Vec<i32>,
    pub companiontype: Vec<i32>,
    pub maxseq: Option<i32>,
    pub feed: Option<i32>,
    pub stitched: Option<bool>,
    pub nvol: Option<i32>,
    pub poddur: Option<i32>,
    pub rqddurs: Vec<i32>,
    pub podid: Option<String>,
    pub podseq: Option<i32>,
    pub slotinpod: Option<i32>,
    pub mincpmpersec: Option<f64>,
    pub durfloors: Vec<DurFloors>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Audio {
    const INDEX: u16 = 11;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "mimes", 4), (2, "minduration", 4), (3, "maxduration", 4), (4, "protocols", 4),
        (5, "startdelay", 4), (6, "sequence", 4), (7, "battr", 4), (8, "maxextended", 4),
        (9, "minbitrate", 4), (10, "maxbitrate", 4), (11, "delivery", 4), (12, "companionad", 4),
        (13, "api", 4), (20, "companiontype", 4), (21, "maxseq", 4), (22, "feed", 4),
        (23, "stitched", 1), (24, "nvol", 4), (25, "poddur", 4), (26, "rqddurs", 4),
        (27, "podid", 4), (28, "podseq", 4), (29, "slotinpod", 4), (30, "mincpmpersec", 8),
        (31, "durfloors", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"mimes" => Some(1),
            b"minduration" => Some(2),
            b"maxduration" => Some(3),
            b"protocols" => Some(4),
            b"startdelay" => Some(5),
            b"sequence" => Some(6),
            b"battr" => Some(7),
            b"maxextended" => Some(8),
            b"minbitrate" => Some(9),
            b"maxbitrate" => Some(10),
            b"delivery" => Some(11),
            b"companionad" => Some(12),
            b"api" => Some(13),
            b"companiontype" => Some(20),
            b"maxseq" => Some(21),
            b"feed" => Some(22),
            b"stitched" => Some(23),
            b"nvol" => Some(24),
            b"poddur" => Some(25),
            b"rqddurs" => Some(26),
            b"podid" => Some(27),
            b"podseq" => Some(28),
            b"slotinpod" => Some(29),
            b"mincpmpersec" => Some(30),
            b"durfloors" => Some(31),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.strings(1, "mimes", &self.mimes);
        to.int(2, "minduration", self.minduration);
        to.int(3, "maxduration", self.maxduration);
        to.ints(4, "protocols", &self.protocols);
        to.int(5, "startdelay", self.startdelay);
        to.int(6, "sequence", self.sequence);
        to.ints(7, "battr", &self.battr);
        to.int(8, "maxextended", self.maxextended);
        to.int(9, "minbitrate", self.minbitrate);
        to.int(10, "maxbitrate", self.maxbitrate);
        to.ints(11, "delivery", &self.delivery);
        to.messages(12, "companionad", &self.companionad);
        to.ints(13, "api", &self.api);
        to.ints(20, "companiontype", &self.companiontype);
        to.int(21, "maxseq", self.maxseq);
        to.int(22, "feed", self.feed);
        to.bool(23, "stitched", self.stitched);
        to.int(24, "nvol", self.nvol);
        to.int(25, "poddur", self.poddur);
        to.ints(26, "rqddurs", &self.rqddurs);
        to.string(27, "podid", &self.podid);
        to.int(28, "podseq", self.podseq);
        to.int(29, "slotinpod", self.slotinpod);
        to.double(30, "mincpmpersec", self.mincpmpersec);
        to.messages(31, "durfloors", &self.durfloors);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.messages(31, "durfloors", &self.durfloors);
        to.double(30, "mincpmpersec", self.mincpmpersec);
        to.int(29, "slotinpod", self.slotinpod);
        to.int(28, "podseq", self.podseq);
        to.string(27, "podid", &self.podid);
        to.ints(26, "rqddurs", &self.rqddurs);
        to.int(25, "poddur", self.poddur);
        to.int(24, "nvol", self.nvol);
        to.bool(23, "stitched", self.stitched);
        to.int(22, "feed", self.feed);
        to.int(21, "maxseq", self.maxseq);
        to.ints(20, "companiontype", &self.companiontype);
        to.ints(13, "api", &self.api);
        to.messages(12, "companionad", &self.companionad);
        to.ints(11, "delivery", &self.delivery);
        to.int(10, "maxbitrate", self.maxbitrate);
        to.int(9, "minbitrate", self.minbitrate);
        to.int(8, "maxextended", self.maxextended);
        to.ints(7, "battr", &self.battr);
        to.int(6, "sequence", self.sequence);
        to.int(5, "startdelay", self.startdelay);
        to.ints(4, "protocols", &self.protocols);
        to.int(3, "maxduration", self.maxduration);
        to.int(2, "minduration", self.minduration);
        to.strings(1, "mimes", &self.mimes);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.strings(&mut self.mimes)?,
            2 => from.int(&mut self.minduration)?,
            3 => from.int(&mut self.maxduration)?,
            4 => from.ints(&mut self.protocols)?,
            5 => from.int(&mut self.startdelay)?,
            6 => from.int(&mut self.sequence)?,
            7 => from.ints(&mut self.battr)?,
            8 => from.int(&mut self.maxextended)?,
            9 => from.int(&mut self.minbitrate)?,
            10 => from.int(&mut self.maxbitrate)?,
            11 => from.ints(&mut self.delivery)?,
            12 => from.messages(&mut self.companionad)?,
            13 => from.ints(&mut self.api)?,
            20 => from.ints(&mut self.companiontype)?,
            21 => from.int(&mut self.maxseq)?,
            22 => from.int(&mut self.feed)?,
            23 => from.bool(&mut self.stitched)?,
            24 => from.int(&mut self.nvol)?,
            25 => from.int(&mut self.poddur)?,
            26 => from.ints(&mut self.rqddurs)?,
            27 => from.string(&mut self.podid)?,
            28 => from.int(&mut self.podseq)?,
            29 => from.int(&mut self.slotinpod)?,
            30 => from.double(&mut self.mincpmpersec)?,
            31 => from.messages(&mut self.durfloors)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A native ad is welcome (3.2.9).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Native {
    pub request: Option<String>,
    pub ver: Option<String>,
    pub api: Vec<i32>,
    pub battr: Vec<i32>,
    pub request_native: Option<Box<NativeRequest>>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Native {
    const INDEX: u16 = 12;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "request", 4), (2, "ver", 4), (3, "api", 4), (4, "battr", 4), (50, "request_native", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"request" => Some(1),
            b"ver" => Some(2),
            b"api" => Some(3),
            b"battr" => Some(4),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn object(number: u32) -> u32 {
        if number == 1 { 50 } else { number }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "request", &self.request);
        to.string(2, "ver", &self.ver);
        to.ints(3, "api", &self.api);
        to.ints(4, "battr", &self.battr);
        if !S::ONE_KEY || self.request.is_none() {
            to.message(50, "request", &self.request_native);
        }
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.message(50, "request_native", &self.request_native);
        to.ints(4, "battr", &self.battr);
        to.ints(3, "api", &self.api);
        to.string(2, "ver", &self.ver);
        to.string(1, "request", &self.request);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.request)?,
            2 => from.string(&mut self.ver)?,
            3 => from.ints(&mut self.api)?,
            4 => from.ints(&mut self.battr)?,
            50 => from.message(&mut self.request_native)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// How many people an impression reaches (3.2.31).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Qty {
    pub multiplier: Option<f64>,
    pub sourcetype: Option<i32>,
    pub vendor: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Qty {
    const INDEX: u16 = 13;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "multiplier", 8), (2, "sourcetype", 4), (3, "vendor", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"multiplier" => Some(1),
            b"sourcetype" => Some(2),
            b"vendor" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.double(1, "multiplier", self.multiplier);
        to.int(2, "sourcetype", self.sourcetype);
        to.string(3, "vendor", &self.vendor);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(3, "vendor", &self.vendor);
        to.int(2, "sourcetype", self.sourcetype);
        to.double(1, "multiplier", self.multiplier);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.double(&mut self.multiplier)?,
            2 => from.int(&mut self.sourcetype)?,
            3 => from.string(&mut self.vendor)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// How a placement refreshes (3.2.33).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refresh {
    pub refsettings: Vec<RefSettings>,
    pub count: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Refresh {
    const INDEX: u16 = 14;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "refsettings", 4), (2, "count", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"refsettings" => Some(1),
            b"count" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.messages(1, "refsettings", &self.refsettings);
        to.int(2, "count", self.count);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(2, "count", self.count);
        to.messages(1, "refsettings", &self.refsettings);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.messages(&mut self.refsettings)?,
            2 => from.int(&mut self.count)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// One trigger of a refresh (3.2.34).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RefSettings {
    pub reftype: Option<i32>,
    pub minint: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for RefSettings {
    const INDEX: u16 = 15;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "reftype", 4), (2, "minint", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"reftype" => Some(1),
            b"minint" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "reftype", self.reftype);
        to.int(2, "minint", self.minint);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(2, "minint", self.minint);
        to.int(1, "reftype", self.reftype);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.reftype)?,
            2 => from.int(&mut self.minint)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The private marketplace of an impression (3.2.11).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pmp {
    pub private_auction: Option<bool>,
    pub deals: Vec<Deal>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Pmp {
    const INDEX: u16 = 16;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "private_auction", 1), (2, "deals", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"private_auction" => Some(1),
            b"deals" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.bool(1, "private_auction", self.private_auction);
        to.messages(2, "deals", &self.deals);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.messages(2, "deals", &self.deals);
        to.bool(1, "private_auction", self.private_auction);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.bool(&mut self.private_auction)?,
            2 => from.messages(&mut self.deals)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A deal between buyer and seller (3.2.12).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deal {
    pub id: Option<String>,
    pub bidfloor: Option<f64>,
    pub bidfloorcur: Option<String>,
    pub wseat: Vec<String>,
    pub wadomain: Vec<String>,
    pub at: Option<i32>,
    pub guar: Option<i32>,
    pub mincpmpersec: Option<f64>,
    pub durfloors: Vec<DurFloors>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Deal {
    const INDEX: u16 = 17;
    const LIMIT: Option<Limit> = Some(Limit::Deals);
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "bidfloor", 8), (3, "bidfloorcur", 4), (4, "wseat", 4),
        (5, "wadomain", 4), (6, "at", 4), (7, "guar", 4), (8, "mincpmpersec", 8),
        (9, "durfloors", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"bidfloor" => Some(2),
            b"bidfloorcur" => Some(3),
            b"wseat" => Some(4),
            b"wadomain" => Some(5),
            b"at" => Some(6),
            b"guar" => Some(7),
            b"mincpmpersec" => Some(8),
            b"durfloors" => Some(9),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.floor(2, "bidfloor", self.bidfloor);
        to.string(3, "bidfloorcur", &self.bidfloorcur);
        to.strings(4, "wseat", &self.wseat);
        to.strings(5, "wadomain", &self.wadomain);
        to.int(6, "at", self.at);
        to.int(7, "guar", self.guar);
        to.double(8, "mincpmpersec", self.mincpmpersec);
        to.messages(9, "durfloors", &self.durfloors);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.messages(9, "durfloors", &self.durfloors);
        to.double(8, "mincpmpersec", self.mincpmpersec);
        to.int(7, "guar", self.guar);
        to.int(6, "at", self.at);
        to.strings(5, "wadomain", &self.wadomain);
        to.strings(4, "wseat", &self.wseat);
        to.string(3, "bidfloorcur", &self.bidfloorcur);
        to.floor(2, "bidfloor", self.bidfloor);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.floor(&mut self.bidfloor)?,
            3 => from.string(&mut self.bidfloorcur)?,
            4 => from.strings(&mut self.wseat)?,
            5 => from.strings(&mut self.wadomain)?,
            6 => from.int(&mut self.at)?,
            7 => from.int(&mut self.guar)?,
            8 => from.double(&mut self.mincpmpersec)?,
            9 => from.messages(&mut self.durfloors)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// SKAdNetwork ids by reference to a list (extension skadn).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SKAdNetworkList {
    pub max: Option<i32>,
    pub excl: Vec<i32>,
    pub addl: Vec<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for SKAdNetworkList {
    const INDEX: u16 = 18;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "max", 4), (2, "excl", 4), (3, "addl", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"max" => Some(1),
            b"excl" => Some(2),
            b"addl" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "max", self.max);
        to.ints(2, "excl", &self.excl);
        to.strings(3, "addl", &self.addl);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.strings(3, "addl", &self.addl);
        to.ints(2, "excl", &self.excl);
        to.int(1, "max", self.max);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.max)?,
            2 => from.ints(&mut self.excl)?,
            3 => from.strings(&mut self.addl)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// What SKAdNetwork support the app has (extension skadn).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SKAdNetworkRequest {
    pub version: Option<String>,
    pub sourceapp: Option<String>,
    pub skadnetids: Vec<String>,
    pub skadnetlist: Option<Box<SKAdNetworkList>>,
    pub versions: Vec<String>,
    pub productpage: Option<bool>,
    pub skoverlay: Option<bool>,
    pub ext: Option<Box<Ext>>,
}

impl Message for SKAdNetworkRequest {
    const INDEX: u16 = 19;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "version", 4), (2, "sourceapp", 4), (3, "skadnetids", 4), (4, "skadnetlist", 4),
        (5, "versions", 4), (6, "productpage", 1), (7, "skoverlay", 1), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"version" => Some(1),
            b"sourceapp" => Some(2),
            b"skadnetids" => Some(3),
            b"skadnetlist" => Some(4),
            b"versions" => Some(5),
            b"productpage" => Some(6),
            b"skoverlay" => Some(7),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "version", &self.version);
        to.string(2, "sourceapp", &self.sourceapp);
        to.strings(3, "skadnetids", &self.skadnetids);
        to.message(4, "skadnetlist", &self.skadnetlist);
        to.strings(5, "versions", &self.versions);
        to.bool(6, "productpage", self.productpage);
        to.bool(7, "skoverlay", self.skoverlay);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.bool(7, "skoverlay", self.skoverlay);
        to.bool(6, "productpage", self.productpage);
        to.strings(5, "versions", &self.versions);
        to.message(4, "skadnetlist", &self.skadnetlist);
        to.strings(3, "skadnetids", &self.skadnetids);
        to.string(2, "sourceapp", &self.sourceapp);
        to.string(1, "version", &self.version);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.version)?,
            2 => from.string(&mut self.sourceapp)?,
            3 => from.strings(&mut self.skadnetids)?,
            4 => from.message(&mut self.skadnetlist)?,
            5 => from.strings(&mut self.versions)?,
            6 => from.bool(&mut self.productpage)?,
            7 => from.bool(&mut self.skoverlay)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Whether an interest group auction may follow (extension igs).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterestGroupAuctionSupport {
    pub ae: Option<i32>,
    pub biddable: Option<bool>,
}

impl Message for InterestGroupAuctionSupport {
    const INDEX: u16 = 20;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "ae", 4), (2, "biddable", 1),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"ae" => Some(1),
            b"biddable" => Some(2),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "ae", self.ae);
        to.bool(2, "biddable", self.biddable);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.bool(2, "biddable", self.biddable);
        to.int(1, "ae", self.ae);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.ae)?,
            2 => from.bool(&mut self.biddable)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The website (3.2.13).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Site {
    pub id: Option<String>,
    pub name: Option<String>,
    pub domain: Option<String>,
    pub cat: Vec<String>,
    pub sectioncat: Vec<String>,
    pub pagecat: Vec<String>,
    pub page: Option<String>,
    pub privacypolicy: Option<bool>,
    pub r#ref: Option<String>,
    pub search: Option<String>,
    pub publisher: Option<Box<Publisher>>,
    pub content: Option<Box<Content>>,
    pub keywords: Option<String>,
    pub mobile: Option<bool>,
    pub cattax: Option<i32>,
    pub inventorypartnerdomain: Option<String>,
    pub kwarray: Vec<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Site {
    const INDEX: u16 = 21;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "name", 4), (3, "domain", 4), (4, "cat", 4), (5, "sectioncat", 4),
        (6, "pagecat", 4), (7, "page", 4), (8, "privacypolicy", 1), (9, "ref", 4),
        (10, "search", 4), (11, "publisher", 4), (12, "content", 4), (13, "keywords", 4),
        (15, "mobile", 1), (16, "cattax", 4), (17, "inventorypartnerdomain", 4), (18, "kwarray", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"name" => Some(2),
            b"domain" => Some(3),
            b"cat" => Some(4),
            b"sectioncat" => Some(5),
            b"pagecat" => Some(6),
            b"page" => Some(7),
            b"privacypolicy" => Some(8),
            b"ref" => Some(9),
            b"search" => Some(10),
            b"publisher" => Some(11),
            b"content" => Some(12),
            b"keywords" => Some(13),
            b"mobile" => Some(15),
            b"cattax" => Some(16),
            b"inventorypartnerdomain" => Some(17),
            b"kwarray" => Some(18),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "name", &self.name);
        to.string(3, "domain", &self.domain);
        to.strings(4, "cat", &self.cat);
        to.strings(5, "sectioncat", &self.sectioncat);
        to.strings(6, "pagecat", &self.pagecat);
        to.string(7, "page", &self.page);
        to.bool(8, "privacypolicy", self.privacypolicy);
        to.string(9, "ref", &self.r#ref);
        to.string(10, "search", &self.search);
        to.message(11, "publisher", &self.publisher);
        to.message(12, "content", &self.content);
        to.string(13, "keywords", &self.keywords);
        to.bool(15, "mobile", self.mobile);
        to.int(16, "cattax", self.cattax);
        to.string(17, "inventorypartnerdomain", &self.inventorypartnerdomain);
        to.strings(18, "kwarray", &self.kwarray);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.strings(18, "kwarray", &self.kwarray);
        to.string(17, "inventorypartnerdomain", &self.inventorypartnerdomain);
        to.int(16, "cattax", self.cattax);
        to.bool(15, "mobile", self.mobile);
        to.string(13, "keywords", &self.keywords);
        to.message(12, "content", &self.content);
        to.message(11, "publisher", &self.publisher);
        to.string(10, "search", &self.search);
        to.string(9, "ref", &self.r#ref);
        to.bool(8, "privacypolicy", self.privacypolicy);
        to.string(7, "page", &self.page);
        to.strings(6, "pagecat", &self.pagecat);
        to.strings(5, "sectioncat", &self.sectioncat);
        to.strings(4, "cat", &self.cat);
        to.string(3, "domain", &self.domain);
        to.string(2, "name", &self.name);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.name)?,
            3 => from.string(&mut self.domain)?,
            4 => from.strings(&mut self.cat)?,
            5 => from.strings(&mut self.sectioncat)?,
            6 => from.strings(&mut self.pagecat)?,
            7 => from.string(&mut self.page)?,
            8 => from.bool(&mut self.privacypolicy)?,
            9 => from.string(&mut self.r#ref)?,
            10 => from.string(&mut self.search)?,
            11 => from.message(&mut self.publisher)?,
            12 => from.message(&mut self.content)?,
            13 => from.string(&mut self.keywords)?,
            15 => from.bool(&mut self.mobile)?,
            16 => from.int(&mut self.cattax)?,
            17 => from.string(&mut self.inventorypartnerdomain)?,
            18 => from.strings(&mut self.kwarray)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The app (3.2.14).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct App {
    pub id: Option<String>,
    pub name: Option<String>,
    pub domain: Option<String>,
    pub cat: Vec<String>,
    pub sectioncat: Vec<String>,
    pub pagecat: Vec<String>,
    pub ver: Option<String>,
    pub bundle: Option<String>,
    pub privacypolicy: Option<bool>,
    pub paid: Option<bool>,
    pub publisher: Option<Box<Publisher>>,
    pub content: Option<Box<Content>>,
    pub keywords: Option<String>,
    pub storeurl: Option<String>,
    pub cattax: Option<i32>,
    pub inventorypartnerdomain: Option<String>,
    pub kwarray: Vec<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for App {
    const INDEX: u16 = 22;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "name", 4), (3, "domain", 4), (4, "cat", 4), (5, "sectioncat", 4),
        (6, "pagecat", 4), (7, "ver", 4), (8, "bundle", 4), (9, "privacypolicy", 1),
        (10, "paid", 1), (11, "publisher", 4), (12, "content", 4), (13, "keywords", 4),
        (16, "storeurl", 4), (17, "cattax", 4), (18, "inventorypartnerdomain", 4),
        (19, "kwarray", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"name" => Some(2),
            b"domain" => Some(3),
            b"cat" => Some(4),
            b"sectioncat" => Some(5),
            b"pagecat" => Some(6),
            b"ver" => Some(7),
            b"bundle" => Some(8),
            b"privacypolicy" => Some(9),
            b"paid" => Some(10),
            b"publisher" => Some(11),
            b"content" => Some(12),
            b"keywords" => Some(13),
            b"storeurl" => Some(16),
            b"cattax" => Some(17),
            b"inventorypartnerdomain" => Some(18),
            b"kwarray" => Some(19),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "name", &self.name);
        to.string(3, "domain", &self.domain);
        to.strings(4, "cat", &self.cat);
        to.strings(5, "sectioncat", &self.sectioncat);
        to.strings(6, "pagecat", &self.pagecat);
        to.string(7, "ver", &self.ver);
        to.string(8, "bundle", &self.bundle);
        to.bool(9, "privacypolicy", self.privacypolicy);
        to.bool(10, "paid", self.paid);
        to.message(11, "publisher", &self.publisher);
        to.message(12, "content", &self.content);
        to.string(13, "keywords", &self.keywords);
        to.string(16, "storeurl", &self.storeurl);
        to.int(17, "cattax", self.cattax);
        to.string(18, "inventorypartnerdomain", &self.inventorypartnerdomain);
        to.strings(19, "kwarray", &self.kwarray);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.strings(19, "kwarray", &self.kwarray);
        to.string(18, "inventorypartnerdomain", &self.inventorypartnerdomain);
        to.int(17, "cattax", self.cattax);
        to.string(16, "storeurl", &self.storeurl);
        to.string(13, "keywords", &self.keywords);
        to.message(12, "content", &self.content);
        to.message(11, "publisher", &self.publisher);
        to.bool(10, "paid", self.paid);
        to.bool(9, "privacypolicy", self.privacypolicy);
        to.string(8, "bundle", &self.bundle);
        to.string(7, "ver", &self.ver);
        to.strings(6, "pagecat", &self.pagecat);
        to.strings(5, "sectioncat", &self.sectioncat);
        to.strings(4, "cat", &self.cat);
        to.string(3, "domain", &self.domain);
        to.string(2, "name", &self.name);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.name)?,
            3 => from.string(&mut self.domain)?,
            4 => from.strings(&mut self.cat)?,
            5 => from.strings(&mut self.sectioncat)?,
            6 => from.strings(&mut self.pagecat)?,
            7 => from.string(&mut self.ver)?,
            8 => from.string(&mut self.bundle)?,
            9 => from.bool(&mut self.privacypolicy)?,
            10 => from.bool(&mut self.paid)?,
            11 => from.message(&mut self.publisher)?,
            12 => from.message(&mut self.content)?,
            13 => from.string(&mut self.keywords)?,
            16 => from.string(&mut self.storeurl)?,
            17 => from.int(&mut self.cattax)?,
            18 => from.string(&mut self.inventorypartnerdomain)?,
            19 => from.strings(&mut self.kwarray)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The screen out of home (3.2.32).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dooh {
    pub id: Option<String>,
    pub name: Option<String>,
    pub venuetype: Vec<String>,
    pub venuetypetax: Option<i32>,
    pub publisher: Option<Box<Publisher>>,
    pub domain: Option<String>,
    pub keywords: Option<String>,
    pub content: Option<Box<Content>>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Dooh {
    const INDEX: u16 = 23;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "name", 4), (3, "venuetype", 4), (4, "venuetypetax", 4),
        (5, "publisher", 4), (6, "domain", 4), (7, "keywords", 4), (8, "content", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"name" => Some(2),
            b"venuetype" => Some(3),
            b"venuetypetax" => Some(4),
            b"publisher" => Some(5),
            b"domain" => Some(6),
            b"keywords" => Some(7),
            b"content" => Some(8),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "name", &self.name);
        to.strings(3, "venuetype", &self.venuetype);
        to.int(4, "venuetypetax", self.venuetypetax);
        to.message(5, "publisher", &self.publisher);
        to.string(6, "domain", &self.domain);
        to.string(7, "keywords", &self.keywords);
        to.message(8, "content", &self.content);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.message(8, "content", &self.content);
        to.string(7, "keywords", &self.keywords);
        to.string(6, "domain", &self.domain);
        to.message(5, "publisher", &self.publisher);
        to.int(4, "venuetypetax", self.venuetypetax);
        to.strings(3, "venuetype", &self.venuetype);
        to.string(2, "name", &self.name);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.name)?,
            3 => from.strings(&mut self.venuetype)?,
            4 => from.int(&mut self.venuetypetax)?,
            5 => from.message(&mut self.publisher)?,
            6 => from.string(&mut self.domain)?,
            7 => from.string(&mut self.keywords)?,
            8 => from.message(&mut self.content)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The publisher of the site, app or screen (3.2.15).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Publisher {
    pub id: Option<String>,
    pub name: Option<String>,
    pub cat: Vec<String>,
    pub domain: Option<String>,
    pub cattax: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Publisher {
    const INDEX: u16 = 24;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "name", 4), (3, "cat", 4), (4, "domain", 4), (5, "cattax", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"name" => Some(2),
            b"cat" => Some(3),
            b"domain" => Some(4),
            b"cattax" => Some(5),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "name", &self.name);
        to.strings(3, "cat", &self.cat);
        to.string(4, "domain", &self.domain);
        to.int(5, "cattax", self.cattax);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(5, "cattax", self.cattax);
        to.string(4, "domain", &self.domain);
        to.strings(3, "cat", &self.cat);
        to.string(2, "name", &self.name);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.name)?,
            3 => from.strings(&mut self.cat)?,
            4 => from.string(&mut self.domain)?,
            5 => from.int(&mut self.cattax)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// What the ad appears with (3.2.16).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Content {
    pub id: Option<String>,
    pub episode: Option<i32>,
    pub title: Option<String>,
    pub series: Option<String>,
    pub season: Option<String>,
    pub url: Option<String>,
    pub cat: Vec<String>,
    pub videoquality: Option<i32>,
    pub keywords: Option<String>,
    pub contentrating: Option<String>,
    pub userrating: Option<String>,
    pub livestream: Option<bool>,
    pub sourcerelationship: Option<bool>,
    pub producer: Option<Box<Producer>>,
    pub len: Option<i32>,
    pub qagmediarating: Option<i32>,
    pub embeddable: Option<bool>,
    pub language: Option<String>,
    pub context: Option<i32>,
    pub artist: Option<String>,
    pub genre: Option<String>,
    pub album: Option<String>,
    pub isrc: Option<String>,
    pub prodq: Option<i32>,
    pub cattax: Option<i32>,
    pub data: Vec<Data>,
    pub langb: Option<String>,
    pub network: Option<Box<Network>>,
    pub channel: Option<Box<Channel>>,
    pub kwarray: Vec<String>,
    pub gtax: Option<i32>,
    pub genres: Vec<String>,
    pub ext: Option<Box<ContentExt>>,
}

impl Message for Content {
    const INDEX: u16 = 25;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "episode", 4), (3, "title", 4), (4, "series", 4), (5, "season", 4),
        (6, "url", 4), (7, "cat", 4), (8, "videoquality", 4), (9, "keywords", 4),
        (10, "contentrating", 4), (11, "userrating", 4), (13, "livestream", 1),
        (14, "sourcerelationship", 1), (15, "producer", 4), (16, "len", 4),
        (17, "qagmediarating", 4), (18, "embeddable", 1), (19, "language", 4), (20, "context", 4),
        (21, "artist", 4), (22, "genre", 4), (23, "album", 4), (24, "isrc", 4), (25, "prodq", 4),
        (27, "cattax", 4), (28, "data", 4), (29, "langb", 4), (30, "network", 4),
        (31, "channel", 4), (32, "kwarray", 4), (33, "gtax", 4), (35, "genres", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"episode" => Some(2),
            b"title" => Some(3),
            b"series" => Some(4),
            b"season" => Some(5),
            b"url" => Some(6),
            b"cat" => Some(7),
            b"videoquality" => Some(8),
            b"keywords" => Some(9),
            b"contentrating" => Some(10),
            b"userrating" => Some(11),
            b"livestream" => Some(13),
            b"sourcerelationship" => Some(14),
            b"producer" => Some(15),
            b"len" => Some(16),
            b"qagmediarating" => Some(17),
            b"embeddable" => Some(18),
            b"language" => Some(19),
            b"context" => Some(20),
            b"artist" => Some(21),
            b"genre" => Some(22),
            b"album" => Some(23),
            b"isrc" => Some(24),
            b"prodq" => Some(25),
            b"cattax" => Some(27),
            b"data" => Some(28),
            b"langb" => Some(29),
            b"network" => Some(30),
            b"channel" => Some(31),
            b"kwarray" => Some(32),
            b"gtax" => Some(33),
            b"genres" => Some(35),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.int(2, "episode", self.episode);
        to.string(3, "title", &self.title);
        to.string(4, "series", &self.series);
        to.string(5, "season", &self.season);
        to.string(6, "url", &self.url);
        to.strings(7, "cat", &self.cat);
        to.int(8, "videoquality", self.videoquality);
        to.string(9, "keywords", &self.keywords);
        to.string(10, "contentrating", &self.contentrating);
        to.string(11, "userrating", &self.userrating);
        to.bool(13, "livestream", self.livestream);
        to.bool(14, "sourcerelationship", self.sourcerelationship);
        to.message(15, "producer", &self.producer);
        to.int(16, "len", self.len);
        to.int(17, "qagmediarating", self.qagmediarating);
        to.bool(18, "embeddable", self.embeddable);
        to.string(19, "language", &self.language);
        to.int(20, "context", self.context);
        to.string(21, "artist", &self.artist);
        to.string(22, "genre", &self.genre);
        to.string(23, "album", &self.album);
        to.string(24, "isrc", &self.isrc);
        to.int(25, "prodq", self.prodq);
        to.int(27, "cattax", self.cattax);
        to.messages(28, "data", &self.data);
        to.string(29, "langb", &self.langb);
        to.message(30, "network", &self.network);
        to.message(31, "channel", &self.channel);
        to.strings(32, "kwarray", &self.kwarray);
        to.int(33, "gtax", self.gtax);
        to.strings(35, "genres", &self.genres);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.strings(35, "genres", &self.genres);
        to.int(33, "gtax", self.gtax);
        to.strings(32, "kwarray", &self.kwarray);
        to.message(31, "channel", &self.channel);
        to.message(30, "network", &self.network);
        to.string(29, "langb", &self.langb);
        to.messages(28, "data", &self.data);
        to.int(27, "cattax", self.cattax);
        to.int(25, "prodq", self.prodq);
        to.string(24, "isrc", &self.isrc);
        to.string(23, "album", &self.album);
        to.string(22, "genre", &self.genre);
        to.string(21, "artist", &self.artist);
        to.int(20, "context", self.context);
        to.string(19, "language", &self.language);
        to.bool(18, "embeddable", self.embeddable);
        to.int(17, "qagmediarating", self.qagmediarating);
        to.int(16, "len", self.len);
        to.message(15, "producer", &self.producer);
        to.bool(14, "sourcerelationship", self.sourcerelationship);
        to.bool(13, "livestream", self.livestream);
        to.string(11, "userrating", &self.userrating);
        to.string(10, "contentrating", &self.contentrating);
        to.string(9, "keywords", &self.keywords);
        to.int(8, "videoquality", self.videoquality);
        to.strings(7, "cat", &self.cat);
        to.string(6, "url", &self.url);
        to.string(5, "season", &self.season);
        to.string(4, "series", &self.series);
        to.string(3, "title", &self.title);
        to.int(2, "episode", self.episode);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.int(&mut self.episode)?,
            3 => from.string(&mut self.title)?,
            4 => from.string(&mut self.series)?,
            5 => from.string(&mut self.season)?,
            6 => from.string(&mut self.url)?,
            7 => from.strings(&mut self.cat)?,
            8 => from.int(&mut self.videoquality)?,
            9 => from.string(&mut self.keywords)?,
            10 => from.string(&mut self.contentrating)?,
            11 => from.string(&mut self.userrating)?,
            13 => from.bool(&mut self.livestream)?,
            14 => from.bool(&mut self.sourcerelationship)?,
            15 => from.message(&mut self.producer)?,
            16 => from.int(&mut self.len)?,
            17 => from.int(&mut self.qagmediarating)?,
            18 => from.bool(&mut self.embeddable)?,
            19 => from.string(&mut self.language)?,
            20 => from.int(&mut self.context)?,
            21 => from.string(&mut self.artist)?,
            22 => from.string(&mut self.genre)?,
            23 => from.string(&mut self.album)?,
            24 => from.string(&mut self.isrc)?,
            25 => from.int(&mut self.prodq)?,
            27 => from.int(&mut self.cattax)?,
            28 => from.messages(&mut self.data)?,
            29 => from.string(&mut self.langb)?,
            30 => from.message(&mut self.network)?,
            31 => from.message(&mut self.channel)?,
            32 => from.strings(&mut self.kwarray)?,
            33 => from.int(&mut self.gtax)?,
            35 => from.strings(&mut self.genres)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of Content.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContentExt {
    pub feedurls: Vec<String>,
    pub json: Option<String>,
}

impl Message for ContentExt {
    const INDEX: u16 = 26;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "feedurls", 4), (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"feedurls" => Some(1),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.strings(1, "feedurls", &self.feedurls);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.strings(1, "feedurls", &self.feedurls);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.strings(&mut self.feedurls)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for ContentExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// Who made the content (3.2.17).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Producer {
    pub id: Option<String>,
    pub name: Option<String>,
    pub cat: Vec<String>,
    pub domain: Option<String>,
    pub cattax: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Producer {
    const INDEX: u16 = 27;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "name", 4), (3, "cat", 4), (4, "domain", 4), (5, "cattax", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"name" => Some(2),
            b"cat" => Some(3),
            b"domain" => Some(4),
            b"cattax" => Some(5),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "name", &self.name);
        to.strings(3, "cat", &self.cat);
        to.string(4, "domain", &self.domain);
        to.int(5, "cattax", self.cattax);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(5, "cattax", self.cattax);
        to.string(4, "domain", &self.domain);
        to.strings(3, "cat", &self.cat);
        to.string(2, "name", &self.name);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.name)?,
            3 => from.strings(&mut self.cat)?,
            4 => from.string(&mut self.domain)?,
            5 => from.int(&mut self.cattax)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The network the content is on (3.2.23).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Network {
    pub id: Option<String>,
    pub name: Option<String>,
    pub domain: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Network {
    const INDEX: u16 = 28;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "name", 4), (3, "domain", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"name" => Some(2),
            b"domain" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "name", &self.name);
        to.string(3, "domain", &self.domain);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(3, "domain", &self.domain);
        to.string(2, "name", &self.name);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.name)?,
            3 => from.string(&mut self.domain)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The channel the content is on (3.2.24).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Channel {
    pub id: Option<String>,
    pub name: Option<String>,
    pub domain: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Channel {
    const INDEX: u16 = 29;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "name", 4), (3, "domain", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"name" => Some(2),
            b"domain" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "name", &self.name);
        to.string(3, "domain", &self.domain);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(3, "domain", &self.domain);
        to.string(2, "name", &self.name);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.name)?,
            3 => from.string(&mut self.domain)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The device of the user (3.2.18).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Device {
    pub dnt: Option<bool>,
    pub ua: Option<String>,
    pub ip: Option<String>,
    pub geo: Option<Box<Geo>>,
    pub didsha1: Option<String>,
    pub didmd5: Option<String>,
    pub dpidsha1: Option<String>,
    pub dpidmd5: Option<String>,
    pub ipv6: Option<String>,
    pub carrier: Option<String>,
    pub language: Option<String>,
    pub make: Option<String>,
    pub model: Option<String>,
    pub os: Option<String>,
    pub osv: Option<String>,
    pub js: Option<bool>,
    pub connectiontype: Option<i32>,
    pub devicetype: Option<i32>,
    pub flashver: Option<String>,
    pub ifa: Option<String>,
    pub macsha1: Option<String>,
    pub macmd5: Option<String>,
    pub lmt: Option<bool>,
    pub hwv: Option<String>,
    pub w: Option<i32>,
    pub h: Option<i32>,
    pub ppi: Option<i32>,
    pub pxratio: Option<f64>,
    pub geofetch: Option<bool>,
    pub mccmnc: Option<String>,
    pub sua: Option<Box<UserAgent>>,
    pub langb: Option<String>,
    pub ext: Option<Box<DeviceExt>>,
}

impl Message for Device {
    const INDEX: u16 = 30;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "dnt", 1), (2, "ua", 4), (3, "ip", 4), (4, "geo", 4), (5, "didsha1", 4),
        (6, "didmd5", 4), (7, "dpidsha1", 4), (8, "dpidmd5", 4), (9, "ipv6", 4), (10, "carrier", 4),
        (11, "language", 4), (12, "make", 4), (13, "model", 4), (14, "os", 4), (15, "osv", 4),
        (16, "js", 1), (17, "connectiontype", 4), (18, "devicetype", 4), (19, "flashver", 4),
        (20, "ifa", 4), (21, "macsha1", 4), (22, "macmd5", 4), (23, "lmt", 1), (24, "hwv", 4),
        (25, "w", 4), (26, "h", 4), (27, "ppi", 4), (28, "pxratio", 8), (29, "geofetch", 1),
        (30, "mccmnc", 4), (31, "sua", 4), (32, "langb", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"dnt" => Some(1),
            b"ua" => Some(2),
            b"ip" => Some(3),
            b"geo" => Some(4),
            b"didsha1" => Some(5),
            b"didmd5" => Some(6),
            b"dpidsha1" => Some(7),
            b"dpidmd5" => Some(8),
            b"ipv6" => Some(9),
            b"carrier" => Some(10),
            b"language" => Some(11),
            b"make" => Some(12),
            b"model" => Some(13),
            b"os" => Some(14),
            b"osv" => Some(15),
            b"js" => Some(16),
            b"connectiontype" => Some(17),
            b"devicetype" => Some(18),
            b"flashver" => Some(19),
            b"ifa" => Some(20),
            b"macsha1" => Some(21),
            b"macmd5" => Some(22),
            b"lmt" => Some(23),
            b"hwv" => Some(24),
            b"w" => Some(25),
            b"h" => Some(26),
            b"ppi" => Some(27),
            b"pxratio" => Some(28),
            b"geofetch" => Some(29),
            b"mccmnc" => Some(30),
            b"sua" => Some(31),
            b"langb" => Some(32),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.bool(1, "dnt", self.dnt);
        to.string(2, "ua", &self.ua);
        to.string(3, "ip", &self.ip);
        to.message(4, "geo", &self.geo);
        to.string(5, "didsha1", &self.didsha1);
        to.string(6, "didmd5", &self.didmd5);
        to.string(7, "dpidsha1", &self.dpidsha1);
        to.string(8, "dpidmd5", &self.dpidmd5);
        to.string(9, "ipv6", &self.ipv6);
        to.string(10, "carrier", &self.carrier);
        to.string(11, "language", &self.language);
        to.string(12, "make", &self.make);
        to.string(13, "model", &self.model);
        to.string(14, "os", &self.os);
        to.string(15, "osv", &self.osv);
        to.bool(16, "js", self.js);
        to.int(17, "connectiontype", self.connectiontype);
        to.int(18, "devicetype", self.devicetype);
        to.string(19, "flashver", &self.flashver);
        to.string(20, "ifa", &self.ifa);
        to.string(21, "macsha1", &self.macsha1);
        to.string(22, "macmd5", &self.macmd5);
        to.bool(23, "lmt", self.lmt);
        to.string(24, "hwv", &self.hwv);
        to.int(25, "w", self.w);
        to.int(26, "h", self.h);
        to.int(27, "ppi", self.ppi);
        to.double(28, "pxratio", self.pxratio);
        to.bool(29, "geofetch", self.geofetch);
        to.string(30, "mccmnc", &self.mccmnc);
        to.message(31, "sua", &self.sua);
        to.string(32, "langb", &self.langb);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(32, "langb", &self.langb);
        to.message(31, "sua", &self.sua);
        to.string(30, "mccmnc", &self.mccmnc);
        to.bool(29, "geofetch", self.geofetch);
        to.double(28, "pxratio", self.pxratio);
        to.int(27, "ppi", self.ppi);
        to.int(26, "h", self.h);
        to.int(25, "w", self.w);
        to.string(24, "hwv", &self.hwv);
        to.bool(23, "lmt", self.lmt);
        to.string(22, "macmd5", &self.macmd5);
        to.string(21, "macsha1", &self.macsha1);
        to.string(20, "ifa", &self.ifa);
        to.string(19, "flashver", &self.flashver);
        to.int(18, "devicetype", self.devicetype);
        to.int(17, "connectiontype", self.connectiontype);
        to.bool(16, "js", self.js);
        to.string(15, "osv", &self.osv);
        to.string(14, "os", &self.os);
        to.string(13, "model", &self.model);
        to.string(12, "make", &self.make);
        to.string(11, "language", &self.language);
        to.string(10, "carrier", &self.carrier);
        to.string(9, "ipv6", &self.ipv6);
        to.string(8, "dpidmd5", &self.dpidmd5);
        to.string(7, "dpidsha1", &self.dpidsha1);
        to.string(6, "didmd5", &self.didmd5);
        to.string(5, "didsha1", &self.didsha1);
        to.message(4, "geo", &self.geo);
        to.string(3, "ip", &self.ip);
        to.string(2, "ua", &self.ua);
        to.bool(1, "dnt", self.dnt);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.bool(&mut self.dnt)?,
            2 => from.string(&mut self.ua)?,
            3 => from.string(&mut self.ip)?,
            4 => from.message(&mut self.geo)?,
            5 => from.string(&mut self.didsha1)?,
            6 => from.string(&mut self.didmd5)?,
            7 => from.string(&mut self.dpidsha1)?,
            8 => from.string(&mut self.dpidmd5)?,
            9 => from.string(&mut self.ipv6)?,
            10 => from.string(&mut self.carrier)?,
            11 => from.string(&mut self.language)?,
            12 => from.string(&mut self.make)?,
            13 => from.string(&mut self.model)?,
            14 => from.string(&mut self.os)?,
            15 => from.string(&mut self.osv)?,
            16 => from.bool(&mut self.js)?,
            17 => from.int(&mut self.connectiontype)?,
            18 => from.int(&mut self.devicetype)?,
            19 => from.string(&mut self.flashver)?,
            20 => from.string(&mut self.ifa)?,
            21 => from.string(&mut self.macsha1)?,
            22 => from.string(&mut self.macmd5)?,
            23 => from.bool(&mut self.lmt)?,
            24 => from.string(&mut self.hwv)?,
            25 => from.int(&mut self.w)?,
            26 => from.int(&mut self.h)?,
            27 => from.int(&mut self.ppi)?,
            28 => from.double(&mut self.pxratio)?,
            29 => from.bool(&mut self.geofetch)?,
            30 => from.string(&mut self.mccmnc)?,
            31 => from.message(&mut self.sua)?,
            32 => from.string(&mut self.langb)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of Device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceExt {
    pub atts: Option<i32>,
    pub ifv: Option<String>,
    pub cdep: Option<String>,
    pub ifa_type: Option<String>,
    pub json: Option<String>,
}

impl Message for DeviceExt {
    const INDEX: u16 = 31;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "atts", 4), (2, "ifv", 4), (3, "cdep", 4), (4, "ifa_type", 4), (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"atts" => Some(1),
            b"ifv" => Some(2),
            b"cdep" => Some(3),
            b"ifa_type" => Some(4),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "atts", self.atts);
        to.string(2, "ifv", &self.ifv);
        to.string(3, "cdep", &self.cdep);
        to.string(4, "ifa_type", &self.ifa_type);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.string(4, "ifa_type", &self.ifa_type);
        to.string(3, "cdep", &self.cdep);
        to.string(2, "ifv", &self.ifv);
        to.int(1, "atts", self.atts);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.atts)?,
            2 => from.string(&mut self.ifv)?,
            3 => from.string(&mut self.cdep)?,
            4 => from.string(&mut self.ifa_type)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for DeviceExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// A place (3.2.19).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geo {
    pub lat: Option<f64>,
    pub lon: Option<f64>,
    pub country: Option<String>,
    pub region: Option<String>,
    pub regionfips104: Option<String>,
    pub metro: Option<String>,
    pub city: Option<String>,
    pub zip: Option<String>,
    pub r#type: Option<i32>,
    pub utcoffset: Option<i32>,
    pub accuracy: Option<i32>,
    pub lastfix: Option<i32>,
    pub ipservice: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Geo {
    const INDEX: u16 = 32;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "lat", 8), (2, "lon", 8), (3, "country", 4), (4, "region", 4), (5, "regionfips104", 4),
        (6, "metro", 4), (7, "city", 4), (8, "zip", 4), (9, "type", 4), (10, "utcoffset", 4),
        (11, "accuracy", 4), (12, "lastfix", 4), (13, "ipservice", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"lat" => Some(1),
            b"lon" => Some(2),
            b"country" => Some(3),
            b"region" => Some(4),
            b"regionfips104" => Some(5),
            b"metro" => Some(6),
            b"city" => Some(7),
            b"zip" => Some(8),
            b"type" => Some(9),
            b"utcoffset" => Some(10),
            b"accuracy" => Some(11),
            b"lastfix" => Some(12),
            b"ipservice" => Some(13),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.double(1, "lat", self.lat);
        to.double(2, "lon", self.lon);
        to.string(3, "country", &self.country);
        to.string(4, "region", &self.region);
        to.string(5, "regionfips104", &self.regionfips104);
        to.string(6, "metro", &self.metro);
        to.string(7, "city", &self.city);
        to.string(8, "zip", &self.zip);
        to.int(9, "type", self.r#type);
        to.int(10, "utcoffset", self.utcoffset);
        to.int(11, "accuracy", self.accuracy);
        to.int(12, "lastfix", self.lastfix);
        to.int(13, "ipservice", self.ipservice);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(13, "ipservice", self.ipservice);
        to.int(12, "lastfix", self.lastfix);
        to.int(11, "accuracy", self.accuracy);
        to.int(10, "utcoffset", self.utcoffset);
        to.int(9, "type", self.r#type);
        to.string(8, "zip", &self.zip);
        to.string(7, "city", &self.city);
        to.string(6, "metro", &self.metro);
        to.string(5, "regionfips104", &self.regionfips104);
        to.string(4, "region", &self.region);
        to.string(3, "country", &self.country);
        to.double(2, "lon", self.lon);
        to.double(1, "lat", self.lat);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.double(&mut self.lat)?,
            2 => from.double(&mut self.lon)?,
            3 => from.string(&mut self.country)?,
            4 => from.string(&mut self.region)?,
            5 => from.string(&mut self.regionfips104)?,
            6 => from.string(&mut self.metro)?,
            7 => from.string(&mut self.city)?,
            8 => from.string(&mut self.zip)?,
            9 => from.int(&mut self.r#type)?,
            10 => from.int(&mut self.utcoffset)?,
            11 => from.int(&mut self.accuracy)?,
            12 => from.int(&mut self.lastfix)?,
            13 => from.int(&mut self.ipservice)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The user agent, taken apart (3.2.29).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserAgent {
    pub browsers: Vec<BrandVersion>,
    pub platform: Option<Box<BrandVersion>>,
    pub mobile: Option<bool>,
    pub architecture: Option<String>,
    pub bitness: Option<String>,
    pub model: Option<String>,
    pub source: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for UserAgent {
    const INDEX: u16 = 33;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "browsers", 4), (2, "platform", 4), (3, "mobile", 1), (4, "architecture", 4),
        (5, "bitness", 4), (6, "model", 4), (7, "source", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"browsers" => Some(1),
            b"platform" => Some(2),
            b"mobile" => Some(3),
            b"architecture" => Some(4),
            b"bitness" => Some(5),
            b"model" => Some(6),
            b"source" => Some(7),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.messages(1, "browsers", &self.browsers);
        to.message(2, "platform", &self.platform);
        to.bool(3, "mobile", self.mobile);
        to.string(4, "architecture", &self.architecture);
        to.string(5, "bitness", &self.bitness);
        to.string(6, "model", &self.model);
        to.int(7, "source", self.source);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(7, "source", self.source);
        to.string(6, "model", &self.model);
        to.string(5, "bitness", &self.bitness);
        to.string(4, "architecture", &self.architecture);
        to.bool(3, "mobile", self.mobile);
        to.message(2, "platform", &self.platform);
        to.messages(1, "browsers", &self.browsers);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.messages(&mut self.browsers)?,
            2 => from.message(&mut self.platform)?,
            3 => from.bool(&mut self.mobile)?,
            4 => from.string(&mut self.architecture)?,
            5 => from.string(&mut self.bitness)?,
            6 => from.string(&mut self.model)?,
            7 => from.int(&mut self.source)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A browser or platform and its version (3.2.30).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrandVersion {
    pub brand: Option<String>,
    pub version: Vec<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for BrandVersion {
    const INDEX: u16 = 34;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "brand", 4), (2, "version", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"brand" => Some(1),
            b"version" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "brand", &self.brand);
        to.strings(2, "version", &self.version);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.strings(2, "version", &self.version);
        to.string(1, "brand", &self.brand);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.brand)?,
            2 => from.strings(&mut self.version)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The user (3.2.20).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct User {
    pub id: Option<String>,
    pub buyeruid: Option<String>,
    pub yob: Option<i32>,
    pub gender: Option<String>,
    pub keywords: Option<String>,
    pub customdata: Option<String>,
    pub geo: Option<Box<Geo>>,
    pub data: Vec<Data>,
    pub kwarray: Vec<String>,
    pub consent: Option<String>,
    pub eids: Vec<EID>,
    pub ext: Option<Box<UserExt>>,
}

impl Message for User {
    const INDEX: u16 = 35;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "buyeruid", 4), (3, "yob", 4), (4, "gender", 4), (5, "keywords", 4),
        (6, "customdata", 4), (7, "geo", 4), (8, "data", 4), (9, "kwarray", 4), (10, "consent", 4),
        (11, "eids", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"buyeruid" => Some(2),
            b"yob" => Some(3),
            b"gender" => Some(4),
            b"keywords" => Some(5),
            b"customdata" => Some(6),
            b"geo" => Some(7),
            b"data" => Some(8),
            b"kwarray" => Some(9),
            b"consent" => Some(10),
            b"eids" => Some(11),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "buyeruid", &self.buyeruid);
        to.int(3, "yob", self.yob);
        to.string(4, "gender", &self.gender);
        to.string(5, "keywords", &self.keywords);
        to.string(6, "customdata", &self.customdata);
        to.message(7, "geo", &self.geo);
        to.messages(8, "data", &self.data);
        to.strings(9, "kwarray", &self.kwarray);
        to.string(10, "consent", &self.consent);
        to.messages(11, "eids", &self.eids);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.messages(11, "eids", &self.eids);
        to.string(10, "consent", &self.consent);
        to.strings(9, "kwarray", &self.kwarray);
        to.messages(8, "data", &self.data);
        to.message(7, "geo", &self.geo);
        to.string(6, "customdata", &self.customdata);
        to.string(5, "keywords", &self.keywords);
        to.string(4, "gender", &self.gender);
        to.int(3, "yob", self.yob);
        to.string(2, "buyeruid", &self.buyeruid);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.buyeruid)?,
            3 => from.int(&mut self.yob)?,
            4 => from.string(&mut self.gender)?,
            5 => from.string(&mut self.keywords)?,
            6 => from.string(&mut self.customdata)?,
            7 => from.message(&mut self.geo)?,
            8 => from.messages(&mut self.data)?,
            9 => from.strings(&mut self.kwarray)?,
            10 => from.string(&mut self.consent)?,
            11 => from.messages(&mut self.eids)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of User: what 2.5 kept here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserExt {
    pub consent: Option<String>,
    pub eids: Vec<EID>,
    pub json: Option<String>,
}

impl Message for UserExt {
    const INDEX: u16 = 36;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "consent", 4), (2, "eids", 4), (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"consent" => Some(1),
            b"eids" => Some(2),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "consent", &self.consent);
        to.messages(2, "eids", &self.eids);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.messages(2, "eids", &self.eids);
        to.string(1, "consent", &self.consent);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.consent)?,
            2 => from.messages(&mut self.eids)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for UserExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// Ids of the user from one source (3.2.27).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EID {
    pub source: Option<String>,
    pub uids: Vec<UID>,
    pub inserter: Option<String>,
    pub matcher: Option<String>,
    pub mm: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for EID {
    const INDEX: u16 = 37;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "source", 4), (2, "uids", 4), (3, "inserter", 4), (4, "matcher", 4), (5, "mm", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"source" => Some(1),
            b"uids" => Some(2),
            b"inserter" => Some(3),
            b"matcher" => Some(4),
            b"mm" => Some(5),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "source", &self.source);
        to.messages(2, "uids", &self.uids);
        to.string(3, "inserter", &self.inserter);
        to.string(4, "matcher", &self.matcher);
        to.int(5, "mm", self.mm);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(5, "mm", self.mm);
        to.string(4, "matcher", &self.matcher);
        to.string(3, "inserter", &self.inserter);
        to.messages(2, "uids", &self.uids);
        to.string(1, "source", &self.source);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.source)?,
            2 => from.messages(&mut self.uids)?,
            3 => from.string(&mut self.inserter)?,
            4 => from.string(&mut self.matcher)?,
            5 => from.int(&mut self.mm)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// One id (3.2.28).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UID {
    pub id: Option<String>,
    pub atype: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for UID {
    const INDEX: u16 = 38;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "atype", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"atype" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.int(2, "atype", self.atype);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(2, "atype", self.atype);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.int(&mut self.atype)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// What a provider knows of the user or content (3.2.21).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    pub id: Option<String>,
    pub name: Option<String>,
    pub segment: Vec<Segment>,
    pub ext: Option<Box<DataExt>>,
}

impl Message for Data {
    const INDEX: u16 = 39;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "name", 4), (3, "segment", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"name" => Some(2),
            b"segment" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "name", &self.name);
        to.messages(3, "segment", &self.segment);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.messages(3, "segment", &self.segment);
        to.string(2, "name", &self.name);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.name)?,
            3 => from.messages(&mut self.segment)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of Data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataExt {
    pub cids: Vec<String>,
    pub json: Option<String>,
}

impl Message for DataExt {
    const INDEX: u16 = 40;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "cids", 4), (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"cids" => Some(1),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.strings(1, "cids", &self.cids);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.strings(1, "cids", &self.cids);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.strings(&mut self.cids)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for DataExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// One thing a provider knows (3.2.22).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    pub id: Option<String>,
    pub name: Option<String>,
    pub value: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for Segment {
    const INDEX: u16 = 41;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "name", 4), (3, "value", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"name" => Some(2),
            b"value" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "name", &self.name);
        to.string(3, "value", &self.value);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(3, "value", &self.value);
        to.string(2, "name", &self.name);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.name)?,
            3 => from.string(&mut self.value)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Regulations that apply (3.2.3).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regs {
    pub coppa: Option<bool>,
    pub gpp: Option<String>,
    pub gpp_sid: Vec<i32>,
    pub gdpr: Option<bool>,
    pub us_privacy: Option<String>,
    pub ext: Option<Box<RegsExt>>,
}

impl Message for Regs {
    const INDEX: u16 = 42;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "coppa", 1), (2, "gpp", 4), (3, "gpp_sid", 4), (4, "gdpr", 1), (5, "us_privacy", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"coppa" => Some(1),
            b"gpp" => Some(2),
            b"gpp_sid" => Some(3),
            b"gdpr" => Some(4),
            b"us_privacy" => Some(5),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.bool(1, "coppa", self.coppa);
        to.string(2, "gpp", &self.gpp);
        to.ints(3, "gpp_sid", &self.gpp_sid);
        to.bool(4, "gdpr", self.gdpr);
        to.string(5, "us_privacy", &self.us_privacy);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(5, "us_privacy", &self.us_privacy);
        to.bool(4, "gdpr", self.gdpr);
        to.ints(3, "gpp_sid", &self.gpp_sid);
        to.string(2, "gpp", &self.gpp);
        to.bool(1, "coppa", self.coppa);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.bool(&mut self.coppa)?,
            2 => from.string(&mut self.gpp)?,
            3 => from.ints(&mut self.gpp_sid)?,
            4 => from.bool(&mut self.gdpr)?,
            5 => from.string(&mut self.us_privacy)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of Regs: what 2.5 kept here, and newer ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegsExt {
    pub gdpr: Option<bool>,
    pub us_privacy: Option<String>,
    pub gpc: Option<String>,
    pub dsa: Option<Box<DsaRequest>>,
    pub s22580: Option<bool>,
    pub json: Option<String>,
}

impl Message for RegsExt {
    const INDEX: u16 = 43;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "gdpr", 1), (2, "us_privacy", 4), (3, "gpc", 4), (4, "dsa", 4), (5, "s22580", 1),
        (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"gdpr" => Some(1),
            b"us_privacy" => Some(2),
            b"gpc" => Some(3),
            b"dsa" => Some(4),
            b"s22580" => Some(5),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.bool(1, "gdpr", self.gdpr);
        to.string(2, "us_privacy", &self.us_privacy);
        to.string(3, "gpc", &self.gpc);
        to.message(4, "dsa", &self.dsa);
        to.bool(5, "s22580", self.s22580);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.bool(5, "s22580", self.s22580);
        to.message(4, "dsa", &self.dsa);
        to.string(3, "gpc", &self.gpc);
        to.string(2, "us_privacy", &self.us_privacy);
        to.bool(1, "gdpr", self.gdpr);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.bool(&mut self.gdpr)?,
            2 => from.string(&mut self.us_privacy)?,
            3 => from.string(&mut self.gpc)?,
            4 => from.message(&mut self.dsa)?,
            5 => from.bool(&mut self.s22580)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for RegsExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// What the Digital Services Act asks to be shown (extension dsa).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DsaRequest {
    pub dsarequired: Option<i32>,
    pub pubrender: Option<i32>,
    pub datatopub: Option<i32>,
    pub transparency: Vec<Transparency>,
}

impl Message for DsaRequest {
    const INDEX: u16 = 44;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "dsarequired", 4), (2, "pubrender", 4), (3, "datatopub", 4), (4, "transparency", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"dsarequired" => Some(1),
            b"pubrender" => Some(2),
            b"datatopub" => Some(3),
            b"transparency" => Some(4),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "dsarequired", self.dsarequired);
        to.int(2, "pubrender", self.pubrender);
        to.int(3, "datatopub", self.datatopub);
        to.messages(4, "transparency", &self.transparency);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.messages(4, "transparency", &self.transparency);
        to.int(3, "datatopub", self.datatopub);
        to.int(2, "pubrender", self.pubrender);
        to.int(1, "dsarequired", self.dsarequired);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.dsarequired)?,
            2 => from.int(&mut self.pubrender)?,
            3 => from.int(&mut self.datatopub)?,
            4 => from.messages(&mut self.transparency)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The floor for a range of durations (3.2.35).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DurFloors {
    pub mindur: Option<i32>,
    pub maxdur: Option<i32>,
    pub bidfloor: Option<f64>,
    pub ext: Option<Box<Ext>>,
}

impl Message for DurFloors {
    const INDEX: u16 = 45;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "mindur", 4), (2, "maxdur", 4), (3, "bidfloor", 8), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"mindur" => Some(1),
            b"maxdur" => Some(2),
            b"bidfloor" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "mindur", self.mindur);
        to.int(2, "maxdur", self.maxdur);
        to.floor(3, "bidfloor", self.bidfloor);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.floor(3, "bidfloor", self.bidfloor);
        to.int(2, "maxdur", self.maxdur);
        to.int(1, "mindur", self.mindur);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.mindur)?,
            2 => from.int(&mut self.maxdur)?,
            3 => from.floor(&mut self.bidfloor)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A bid response (4.2.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BidResponse {
    pub id: Option<String>,
    pub seatbid: Vec<SeatBid>,
    pub bidid: Option<String>,
    pub cur: Option<String>,
    pub customdata: Option<String>,
    pub nbr: Option<i32>,
    pub ext: Option<Box<BidResponseExt>>,
}

impl Message for BidResponse {
    const INDEX: u16 = 46;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "seatbid", 4), (3, "bidid", 4), (4, "cur", 4), (5, "customdata", 4),
        (6, "nbr", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"seatbid" => Some(2),
            b"bidid" => Some(3),
            b"cur" => Some(4),
            b"customdata" => Some(5),
            b"nbr" => Some(6),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.messages(2, "seatbid", &self.seatbid);
        to.string(3, "bidid", &self.bidid);
        to.string(4, "cur", &self.cur);
        to.string(5, "customdata", &self.customdata);
        to.int(6, "nbr", self.nbr);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(6, "nbr", self.nbr);
        to.string(5, "customdata", &self.customdata);
        to.string(4, "cur", &self.cur);
        to.string(3, "bidid", &self.bidid);
        to.messages(2, "seatbid", &self.seatbid);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.messages(&mut self.seatbid)?,
            3 => from.string(&mut self.bidid)?,
            4 => from.string(&mut self.cur)?,
            5 => from.string(&mut self.customdata)?,
            6 => from.int(&mut self.nbr)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of BidResponse.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BidResponseExt {
    pub seatnonbid: Vec<SeatNonBid>,
    pub igi: Vec<InterestGroupAuctionIntent>,
    pub json: Option<String>,
}

impl Message for BidResponseExt {
    const INDEX: u16 = 47;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "seatnonbid", 4), (2, "igi", 4), (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"seatnonbid" => Some(1),
            b"igi" => Some(2),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.messages(1, "seatnonbid", &self.seatnonbid);
        to.messages(2, "igi", &self.igi);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.messages(2, "igi", &self.igi);
        to.messages(1, "seatnonbid", &self.seatnonbid);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.messages(&mut self.seatnonbid)?,
            2 => from.messages(&mut self.igi)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for BidResponseExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// The bids of one seat (4.2.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeatBid {
    pub bid: Vec<Bid>,
    pub seat: Option<String>,
    pub group: Option<bool>,
    pub ext: Option<Box<Ext>>,
}

impl Message for SeatBid {
    const INDEX: u16 = 48;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "bid", 4), (2, "seat", 4), (3, "group", 1), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"bid" => Some(1),
            b"seat" => Some(2),
            b"group" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.messages(1, "bid", &self.bid);
        to.string(2, "seat", &self.seat);
        to.bool(3, "group", self.group);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.bool(3, "group", self.group);
        to.string(2, "seat", &self.seat);
        to.messages(1, "bid", &self.bid);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.messages(&mut self.bid)?,
            2 => from.string(&mut self.seat)?,
            3 => from.bool(&mut self.group)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// One bid (4.2.3).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bid {
    pub id: Option<String>,
    pub impid: Option<String>,
    pub price: Option<f64>,
    pub adid: Option<String>,
    pub nurl: Option<String>,
    pub adm: Option<String>,
    pub adomain: Vec<String>,
    pub iurl: Option<String>,
    pub cid: Option<String>,
    pub crid: Option<String>,
    pub attr: Vec<i32>,
    pub dealid: Option<String>,
    pub bundle: Option<String>,
    pub cat: Vec<String>,
    pub w: Option<i32>,
    pub h: Option<i32>,
    pub api: Option<i32>,
    pub protocol: Option<i32>,
    pub qagmediarating: Option<i32>,
    pub exp: Option<i32>,
    pub burl: Option<String>,
    pub lurl: Option<String>,
    pub tactic: Option<String>,
    pub language: Option<String>,
    pub wratio: Option<i32>,
    pub hratio: Option<i32>,
    pub slotinpod: Option<i32>,
    pub langb: Option<String>,
    pub cattax: Option<i32>,
    pub apis: Vec<i32>,
    pub dur: Option<i32>,
    pub mtype: Option<i32>,
    pub adm_native: Option<Box<NativeResponse>>,
    pub ext: Option<Box<BidExt>>,
}

impl Message for Bid {
    const INDEX: u16 = 49;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "impid", 4), (3, "price", 8), (4, "adid", 4), (5, "nurl", 4),
        (6, "adm", 4), (7, "adomain", 4), (8, "iurl", 4), (9, "cid", 4), (10, "crid", 4),
        (11, "attr", 4), (13, "dealid", 4), (14, "bundle", 4), (15, "cat", 4), (16, "w", 4),
        (17, "h", 4), (18, "api", 4), (19, "protocol", 4), (20, "qagmediarating", 4),
        (21, "exp", 4), (22, "burl", 4), (23, "lurl", 4), (24, "tactic", 4), (25, "language", 4),
        (26, "wratio", 4), (27, "hratio", 4), (28, "slotinpod", 4), (29, "langb", 4),
        (30, "cattax", 4), (31, "apis", 4), (32, "dur", 4), (33, "mtype", 4), (50, "adm_native", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"impid" => Some(2),
            b"price" => Some(3),
            b"adid" => Some(4),
            b"nurl" => Some(5),
            b"adm" => Some(6),
            b"adomain" => Some(7),
            b"iurl" => Some(8),
            b"cid" => Some(9),
            b"crid" => Some(10),
            b"attr" => Some(11),
            b"dealid" => Some(13),
            b"bundle" => Some(14),
            b"cat" => Some(15),
            b"w" => Some(16),
            b"h" => Some(17),
            b"api" => Some(18),
            b"protocol" => Some(19),
            b"qagmediarating" => Some(20),
            b"exp" => Some(21),
            b"burl" => Some(22),
            b"lurl" => Some(23),
            b"tactic" => Some(24),
            b"language" => Some(25),
            b"wratio" => Some(26),
            b"hratio" => Some(27),
            b"slotinpod" => Some(28),
            b"langb" => Some(29),
            b"cattax" => Some(30),
            b"apis" => Some(31),
            b"dur" => Some(32),
            b"mtype" => Some(33),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn object(number: u32) -> u32 {
        if number == 6 { 50 } else { number }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "id", &self.id);
        to.string(2, "impid", &self.impid);
        to.double(3, "price", self.price);
        to.string(4, "adid", &self.adid);
        to.string(5, "nurl", &self.nurl);
        to.string(6, "adm", &self.adm);
        to.strings(7, "adomain", &self.adomain);
        to.string(8, "iurl", &self.iurl);
        to.string(9, "cid", &self.cid);
        to.string(10, "crid", &self.crid);
        to.ints(11, "attr", &self.attr);
        to.string(13, "dealid", &self.dealid);
        to.string(14, "bundle", &self.bundle);
        to.strings(15, "cat", &self.cat);
        to.int(16, "w", self.w);
        to.int(17, "h", self.h);
        to.int(18, "api", self.api);
        to.int(19, "protocol", self.protocol);
        to.int(20, "qagmediarating", self.qagmediarating);
        to.int(21, "exp", self.exp);
        to.string(22, "burl", &self.burl);
        to.string(23, "lurl", &self.lurl);
        to.string(24, "tactic", &self.tactic);
        to.string(25, "language", &self.language);
        to.int(26, "wratio", self.wratio);
        to.int(27, "hratio", self.hratio);
        to.int(28, "slotinpod", self.slotinpod);
        to.string(29, "langb", &self.langb);
        to.int(30, "cattax", self.cattax);
        to.ints(31, "apis", &self.apis);
        to.int(32, "dur", self.dur);
        to.int(33, "mtype", self.mtype);
        if !S::ONE_KEY || self.adm.is_none() {
            to.message(50, "adm", &self.adm_native);
        }
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.message(50, "adm_native", &self.adm_native);
        to.int(33, "mtype", self.mtype);
        to.int(32, "dur", self.dur);
        to.ints(31, "apis", &self.apis);
        to.int(30, "cattax", self.cattax);
        to.string(29, "langb", &self.langb);
        to.int(28, "slotinpod", self.slotinpod);
        to.int(27, "hratio", self.hratio);
        to.int(26, "wratio", self.wratio);
        to.string(25, "language", &self.language);
        to.string(24, "tactic", &self.tactic);
        to.string(23, "lurl", &self.lurl);
        to.string(22, "burl", &self.burl);
        to.int(21, "exp", self.exp);
        to.int(20, "qagmediarating", self.qagmediarating);
        to.int(19, "protocol", self.protocol);
        to.int(18, "api", self.api);
        to.int(17, "h", self.h);
        to.int(16, "w", self.w);
        to.strings(15, "cat", &self.cat);
        to.string(14, "bundle", &self.bundle);
        to.string(13, "dealid", &self.dealid);
        to.ints(11, "attr", &self.attr);
        to.string(10, "crid", &self.crid);
        to.string(9, "cid", &self.cid);
        to.string(8, "iurl", &self.iurl);
        to.strings(7, "adomain", &self.adomain);
        to.string(6, "adm", &self.adm);
        to.string(5, "nurl", &self.nurl);
        to.string(4, "adid", &self.adid);
        to.double(3, "price", self.price);
        to.string(2, "impid", &self.impid);
        to.string(1, "id", &self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.id)?,
            2 => from.string(&mut self.impid)?,
            3 => from.double(&mut self.price)?,
            4 => from.string(&mut self.adid)?,
            5 => from.string(&mut self.nurl)?,
            6 => from.string(&mut self.adm)?,
            7 => from.strings(&mut self.adomain)?,
            8 => from.string(&mut self.iurl)?,
            9 => from.string(&mut self.cid)?,
            10 => from.string(&mut self.crid)?,
            11 => from.ints(&mut self.attr)?,
            13 => from.string(&mut self.dealid)?,
            14 => from.string(&mut self.bundle)?,
            15 => from.strings(&mut self.cat)?,
            16 => from.int(&mut self.w)?,
            17 => from.int(&mut self.h)?,
            18 => from.int(&mut self.api)?,
            19 => from.int(&mut self.protocol)?,
            20 => from.int(&mut self.qagmediarating)?,
            21 => from.int(&mut self.exp)?,
            22 => from.string(&mut self.burl)?,
            23 => from.string(&mut self.lurl)?,
            24 => from.string(&mut self.tactic)?,
            25 => from.string(&mut self.language)?,
            26 => from.int(&mut self.wratio)?,
            27 => from.int(&mut self.hratio)?,
            28 => from.int(&mut self.slotinpod)?,
            29 => from.string(&mut self.langb)?,
            30 => from.int(&mut self.cattax)?,
            31 => from.ints(&mut self.apis)?,
            32 => from.int(&mut self.dur)?,
            33 => from.int(&mut self.mtype)?,
            50 => from.message(&mut self.adm_native)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of Bid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BidExt {
    pub skadn: Option<Box<SKAdNetworkResponse>>,
    pub dsa: Option<Box<DsaResponse>>,
    pub scid: Option<String>,
    pub json: Option<String>,
}

impl Message for BidExt {
    const INDEX: u16 = 50;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "skadn", 4), (2, "dsa", 4), (3, "scid", 4), (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"skadn" => Some(1),
            b"dsa" => Some(2),
            b"scid" => Some(3),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.message(1, "skadn", &self.skadn);
        to.message(2, "dsa", &self.dsa);
        to.string(3, "scid", &self.scid);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.string(3, "scid", &self.scid);
        to.message(2, "dsa", &self.dsa);
        to.message(1, "skadn", &self.skadn);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.message(&mut self.skadn)?,
            2 => from.message(&mut self.dsa)?,
            3 => from.string(&mut self.scid)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for BidExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// Who paid for the ad, and for whom (extension dsa).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DsaResponse {
    pub behalf: Option<String>,
    pub paid: Option<String>,
    pub transparency: Vec<Transparency>,
    pub adrender: Option<bool>,
}

impl Message for DsaResponse {
    const INDEX: u16 = 51;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "behalf", 4), (2, "paid", 4), (3, "transparency", 4), (4, "adrender", 1),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"behalf" => Some(1),
            b"paid" => Some(2),
            b"transparency" => Some(3),
            b"adrender" => Some(4),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "behalf", &self.behalf);
        to.string(2, "paid", &self.paid);
        to.messages(3, "transparency", &self.transparency);
        to.bool(4, "adrender", self.adrender);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.bool(4, "adrender", self.adrender);
        to.messages(3, "transparency", &self.transparency);
        to.string(2, "paid", &self.paid);
        to.string(1, "behalf", &self.behalf);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.behalf)?,
            2 => from.string(&mut self.paid)?,
            3 => from.messages(&mut self.transparency)?,
            4 => from.bool(&mut self.adrender)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A signature for one kind of attribution (extension skadn).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SKAdNetworkFidelity {
    pub fidelity: Option<i32>,
    pub nonce: Option<String>,
    pub timestamp: Option<String>,
    pub signature: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for SKAdNetworkFidelity {
    const INDEX: u16 = 52;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "fidelity", 4), (2, "nonce", 4), (3, "timestamp", 4), (4, "signature", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"fidelity" => Some(1),
            b"nonce" => Some(2),
            b"timestamp" => Some(3),
            b"signature" => Some(4),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "fidelity", self.fidelity);
        to.string(2, "nonce", &self.nonce);
        to.string(3, "timestamp", &self.timestamp);
        to.string(4, "signature", &self.signature);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(4, "signature", &self.signature);
        to.string(3, "timestamp", &self.timestamp);
        to.string(2, "nonce", &self.nonce);
        to.int(1, "fidelity", self.fidelity);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.fidelity)?,
            2 => from.string(&mut self.nonce)?,
            3 => from.string(&mut self.timestamp)?,
            4 => from.string(&mut self.signature)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A signed SKAdNetwork ad (extension skadn).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SKAdNetworkResponse {
    pub version: Option<String>,
    pub network: Option<String>,
    pub campaign: Option<String>,
    pub itunesitem: Option<String>,
    pub nonce: Option<String>,
    pub sourceapp: Option<String>,
    pub timestamp: Option<String>,
    pub signature: Option<String>,
    pub fidelities: Vec<SKAdNetworkFidelity>,
    pub sourceidentifier: Option<String>,
    pub productpageid: Option<String>,
    pub skoverlay: Option<Box<SKOverlay>>,
    pub ext: Option<Box<Ext>>,
}

impl Message for SKAdNetworkResponse {
    const INDEX: u16 = 53;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "version", 4), (2, "network", 4), (3, "campaign", 4), (4, "itunesitem", 4),
        (5, "nonce", 4), (6, "sourceapp", 4), (7, "timestamp", 4), (8, "signature", 4),
        (9, "fidelities", 4), (10, "sourceidentifier", 4), (11, "productpageid", 4),
        (12, "skoverlay", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"version" => Some(1),
            b"network" => Some(2),
            b"campaign" => Some(3),
            b"itunesitem" => Some(4),
            b"nonce" => Some(5),
            b"sourceapp" => Some(6),
            b"timestamp" => Some(7),
            b"signature" => Some(8),
            b"fidelities" => Some(9),
            b"sourceidentifier" => Some(10),
            b"productpageid" => Some(11),
            b"skoverlay" => Some(12),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "version", &self.version);
        to.string(2, "network", &self.network);
        to.string(3, "campaign", &self.campaign);
        to.string(4, "itunesitem", &self.itunesitem);
        to.string(5, "nonce", &self.nonce);
        to.string(6, "sourceapp", &self.sourceapp);
        to.string(7, "timestamp", &self.timestamp);
        to.string(8, "signature", &self.signature);
        to.messages(9, "fidelities", &self.fidelities);
        to.string(10, "sourceidentifier", &self.sourceidentifier);
        to.string(11, "productpageid", &self.productpageid);
        to.message(12, "skoverlay", &self.skoverlay);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.message(12, "skoverlay", &self.skoverlay);
        to.string(11, "productpageid", &self.productpageid);
        to.string(10, "sourceidentifier", &self.sourceidentifier);
        to.messages(9, "fidelities", &self.fidelities);
        to.string(8, "signature", &self.signature);
        to.string(7, "timestamp", &self.timestamp);
        to.string(6, "sourceapp", &self.sourceapp);
        to.string(5, "nonce", &self.nonce);
        to.string(4, "itunesitem", &self.itunesitem);
        to.string(3, "campaign", &self.campaign);
        to.string(2, "network", &self.network);
        to.string(1, "version", &self.version);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.version)?,
            2 => from.string(&mut self.network)?,
            3 => from.string(&mut self.campaign)?,
            4 => from.string(&mut self.itunesitem)?,
            5 => from.string(&mut self.nonce)?,
            6 => from.string(&mut self.sourceapp)?,
            7 => from.string(&mut self.timestamp)?,
            8 => from.string(&mut self.signature)?,
            9 => from.messages(&mut self.fidelities)?,
            10 => from.string(&mut self.sourceidentifier)?,
            11 => from.string(&mut self.productpageid)?,
            12 => from.message(&mut self.skoverlay)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The overlay over the app (extension skadn).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SKOverlay {
    pub delay: Option<i32>,
    pub endcarddelay: Option<i32>,
    pub dismissible: Option<bool>,
    pub pos: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for SKOverlay {
    const INDEX: u16 = 54;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "delay", 4), (2, "endcarddelay", 4), (3, "dismissible", 1), (4, "pos", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"delay" => Some(1),
            b"endcarddelay" => Some(2),
            b"dismissible" => Some(3),
            b"pos" => Some(4),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "delay", self.delay);
        to.int(2, "endcarddelay", self.endcarddelay);
        to.bool(3, "dismissible", self.dismissible);
        to.int(4, "pos", self.pos);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(4, "pos", self.pos);
        to.bool(3, "dismissible", self.dismissible);
        to.int(2, "endcarddelay", self.endcarddelay);
        to.int(1, "delay", self.delay);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.delay)?,
            2 => from.int(&mut self.endcarddelay)?,
            3 => from.bool(&mut self.dismissible)?,
            4 => from.int(&mut self.pos)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// What a seat did not bid on (extension seatnonbid).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeatNonBid {
    pub nonbid: Vec<NonBid>,
    pub seat: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for SeatNonBid {
    const INDEX: u16 = 55;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "nonbid", 4), (2, "seat", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"nonbid" => Some(1),
            b"seat" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.messages(1, "nonbid", &self.nonbid);
        to.string(2, "seat", &self.seat);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(2, "seat", &self.seat);
        to.messages(1, "nonbid", &self.nonbid);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.messages(&mut self.nonbid)?,
            2 => from.string(&mut self.seat)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// An impression without a bid, and why (extension seatnonbid).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NonBid {
    pub impid: Option<String>,
    pub statuscode: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NonBid {
    const INDEX: u16 = 56;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "impid", 4), (2, "statuscode", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"impid" => Some(1),
            b"statuscode" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "impid", &self.impid);
        to.int(2, "statuscode", self.statuscode);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(2, "statuscode", self.statuscode);
        to.string(1, "impid", &self.impid);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.impid)?,
            2 => from.int(&mut self.statuscode)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Who would take part in an interest group auction (extension igi).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterestGroupAuctionIntent {
    pub impid: Option<String>,
    pub igb: Vec<InterestGroupAuctionBuyer>,
    pub igs: Vec<InterestGroupAuctionSeller>,
}

impl Message for InterestGroupAuctionIntent {
    const INDEX: u16 = 57;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "impid", 4), (2, "igb", 4), (3, "igs", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"impid" => Some(1),
            b"igb" => Some(2),
            b"igs" => Some(3),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "impid", &self.impid);
        to.messages(2, "igb", &self.igb);
        to.messages(3, "igs", &self.igs);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.messages(3, "igs", &self.igs);
        to.messages(2, "igb", &self.igb);
        to.string(1, "impid", &self.impid);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.impid)?,
            2 => from.messages(&mut self.igb)?,
            3 => from.messages(&mut self.igs)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A buyer in it (extension igi).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterestGroupAuctionBuyer {
    pub origin: Option<String>,
    pub maxbid: Option<f64>,
    pub cur: Option<String>,
    pub pbs: Option<String>,
    pub ps: Vec<InterestGroupAuctionBuyerPsEntry>,
    pub begid: Option<i32>,
}

impl Message for InterestGroupAuctionBuyer {
    const INDEX: u16 = 58;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "origin", 4), (2, "maxbid", 8), (3, "cur", 4), (4, "pbs", 4), (5, "ps", 4),
        (6, "begid", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"origin" => Some(1),
            b"maxbid" => Some(2),
            b"cur" => Some(3),
            b"pbs" => Some(4),
            b"ps" => Some(5),
            b"begid" => Some(6),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "origin", &self.origin);
        to.double(2, "maxbid", self.maxbid);
        to.string(3, "cur", &self.cur);
        to.json(4, "pbs", &self.pbs);
        to.entries(5, "ps", &self.ps);
        to.int(6, "begid", self.begid);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.int(6, "begid", self.begid);
        to.entries(5, "ps", &self.ps);
        to.json(4, "pbs", &self.pbs);
        to.string(3, "cur", &self.cur);
        to.double(2, "maxbid", self.maxbid);
        to.string(1, "origin", &self.origin);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.origin)?,
            2 => from.double(&mut self.maxbid)?,
            3 => from.string(&mut self.cur)?,
            4 => from.json(&mut self.pbs)?,
            5 => from.entries(&mut self.ps)?,
            6 => from.int(&mut self.begid)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// An entry of a map of InterestGroupAuctionBuyer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterestGroupAuctionBuyerPsEntry {
    pub key: Option<String>,
    pub value: Option<f64>,
}

impl Message for InterestGroupAuctionBuyerPsEntry {
    const INDEX: u16 = 59;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "key", 4), (2, "value", 8),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"key" => Some(1),
            b"value" => Some(2),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "key", &self.key);
        to.double(2, "value", self.value);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.double(2, "value", self.value);
        to.string(1, "key", &self.key);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.key)?,
            2 => from.double(&mut self.value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Entry for InterestGroupAuctionBuyerPsEntry {
    fn new(key: String, value: f64) -> InterestGroupAuctionBuyerPsEntry {
        InterestGroupAuctionBuyerPsEntry {
            key: Some(key),
            value: Some(value),
        }
    }

    fn pair(&self) -> (&str, f64) {
        let key = self.key.as_deref();
        (key.unwrap_or_default(), self.value.unwrap_or_default())
    }
}

/// A seller in it (extension igi).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InterestGroupAuctionSeller {
    pub impid: Option<String>,
    pub config: Option<String>,
}

impl Message for InterestGroupAuctionSeller {
    const INDEX: u16 = 60;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "impid", 4), (2, "config", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"impid" => Some(1),
            b"config" => Some(2),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "impid", &self.impid);
        to.json(2, "config", &self.config);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.json(2, "config", &self.config);
        to.string(1, "impid", &self.impid);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.impid)?,
            2 => from.json(&mut self.config)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A party that took part, and the parameters it used (extension dsa).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transparency {
    pub domain: Option<String>,
    pub dsaparams: Vec<i32>,
}

impl Message for Transparency {
    const INDEX: u16 = 61;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "domain", 4), (2, "dsaparams", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"domain" => Some(1),
            b"dsaparams" => Some(2),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "domain", &self.domain);
        to.ints(2, "dsaparams", &self.dsaparams);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ints(2, "dsaparams", &self.dsaparams);
        to.string(1, "domain", &self.domain);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.domain)?,
            2 => from.ints(&mut self.dsaparams)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// What a native ad must look like (Native Ads 1.2, 4.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeRequest {
    pub ver: Option<String>,
    pub layout: Option<i32>,
    pub adunit: Option<i32>,
    pub plcmtcnt: Option<i32>,
    pub seq: Option<i32>,
    pub assets: Vec<NativeRequestAsset>,
    pub context: Option<i32>,
    pub contextsubtype: Option<i32>,
    pub plcmttype: Option<i32>,
    pub aurlsupport: Option<bool>,
    pub durlsupport: Option<bool>,
    pub eventtrackers: Vec<NativeRequestEventTrackers>,
    pub privacy: Option<bool>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeRequest {
    const INDEX: u16 = 62;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "ver", 4), (2, "layout", 4), (3, "adunit", 4), (4, "plcmtcnt", 4), (5, "seq", 4),
        (6, "assets", 4), (7, "context", 4), (8, "contextsubtype", 4), (9, "plcmttype", 4),
        (11, "aurlsupport", 1), (12, "durlsupport", 1), (13, "eventtrackers", 4),
        (14, "privacy", 1), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"ver" => Some(1),
            b"layout" => Some(2),
            b"adunit" => Some(3),
            b"plcmtcnt" => Some(4),
            b"seq" => Some(5),
            b"assets" => Some(6),
            b"context" => Some(7),
            b"contextsubtype" => Some(8),
            b"plcmttype" => Some(9),
            b"aurlsupport" => Some(11),
            b"durlsupport" => Some(12),
            b"eventtrackers" => Some(13),
            b"privacy" => Some(14),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "ver", &self.ver);
        to.int(2, "layout", self.layout);
        to.int(3, "adunit", self.adunit);
        to.int(4, "plcmtcnt", self.plcmtcnt);
        to.int(5, "seq", self.seq);
        to.messages(6, "assets", &self.assets);
        to.int(7, "context", self.context);
        to.int(8, "contextsubtype", self.contextsubtype);
        to.int(9, "plcmttype", self.plcmttype);
        to.bool(11, "aurlsupport", self.aurlsupport);
        to.bool(12, "durlsupport", self.durlsupport);
        to.messages(13, "eventtrackers", &self.eventtrackers);
        to.bool(14, "privacy", self.privacy);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.bool(14, "privacy", self.privacy);
        to.messages(13, "eventtrackers", &self.eventtrackers);
        to.bool(12, "durlsupport", self.durlsupport);
        to.bool(11, "aurlsupport", self.aurlsupport);
        to.int(9, "plcmttype", self.plcmttype);
        to.int(8, "contextsubtype", self.contextsubtype);
        to.int(7, "context", self.context);
        to.messages(6, "assets", &self.assets);
        to.int(5, "seq", self.seq);
        to.int(4, "plcmtcnt", self.plcmtcnt);
        to.int(3, "adunit", self.adunit);
        to.int(2, "layout", self.layout);
        to.string(1, "ver", &self.ver);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.ver)?,
            2 => from.int(&mut self.layout)?,
            3 => from.int(&mut self.adunit)?,
            4 => from.int(&mut self.plcmtcnt)?,
            5 => from.int(&mut self.seq)?,
            6 => from.messages(&mut self.assets)?,
            7 => from.int(&mut self.context)?,
            8 => from.int(&mut self.contextsubtype)?,
            9 => from.int(&mut self.plcmttype)?,
            11 => from.bool(&mut self.aurlsupport)?,
            12 => from.bool(&mut self.durlsupport)?,
            13 => from.messages(&mut self.eventtrackers)?,
            14 => from.bool(&mut self.privacy)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// One asset that is asked for (4.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeRequestAsset {
    pub id: Option<i32>,
    pub required: Option<bool>,
    pub title: Option<Box<NativeRequestTitle>>,
    pub img: Option<Box<NativeRequestImage>>,
    pub video: Option<Box<Video>>,
    pub data: Option<Box<NativeRequestData>>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeRequestAsset {
    const INDEX: u16 = 63;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "required", 1), (3, "title", 4), (4, "img", 4), (5, "video", 4),
        (6, "data", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"required" => Some(2),
            b"title" => Some(3),
            b"img" => Some(4),
            b"video" => Some(5),
            b"data" => Some(6),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "id", self.id);
        to.bool(2, "required", self.required);
        to.message(3, "title", &self.title);
        to.message(4, "img", &self.img);
        to.message(5, "video", &self.video);
        to.message(6, "data", &self.data);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.message(6, "data", &self.data);
        to.message(5, "video", &self.video);
        to.message(4, "img", &self.img);
        to.message(3, "title", &self.title);
        to.bool(2, "required", self.required);
        to.int(1, "id", self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.id)?,
            2 => from.bool(&mut self.required)?,
            3 => from.message(&mut self.title)?,
            4 => from.message(&mut self.img)?,
            5 => from.message(&mut self.video)?,
            6 => from.message(&mut self.data)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A title (4.3).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeRequestTitle {
    pub len: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeRequestTitle {
    const INDEX: u16 = 64;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "len", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"len" => Some(1),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "len", self.len);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(1, "len", self.len);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.len)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// An image (4.4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeRequestImage {
    pub r#type: Option<i32>,
    pub w: Option<i32>,
    pub h: Option<i32>,
    pub wmin: Option<i32>,
    pub hmin: Option<i32>,
    pub mimes: Vec<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeRequestImage {
    const INDEX: u16 = 65;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "type", 4), (2, "w", 4), (3, "h", 4), (4, "wmin", 4), (5, "hmin", 4), (6, "mimes", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"type" => Some(1),
            b"w" => Some(2),
            b"h" => Some(3),
            b"wmin" => Some(4),
            b"hmin" => Some(5),
            b"mimes" => Some(6),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "type", self.r#type);
        to.int(2, "w", self.w);
        to.int(3, "h", self.h);
        to.int(4, "wmin", self.wmin);
        to.int(5, "hmin", self.hmin);
        to.strings(6, "mimes", &self.mimes);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.strings(6, "mimes", &self.mimes);
        to.int(5, "hmin", self.hmin);
        to.int(4, "wmin", self.wmin);
        to.int(3, "h", self.h);
        to.int(2, "w", self.w);
        to.int(1, "type", self.r#type);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.r#type)?,
            2 => from.int(&mut self.w)?,
            3 => from.int(&mut self.h)?,
            4 => from.int(&mut self.wmin)?,
            5 => from.int(&mut self.hmin)?,
            6 => from.strings(&mut self.mimes)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A text of a kind, such as a rating (4.6).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeRequestData {
    pub r#type: Option<i32>,
    pub len: Option<i32>,
    pub ext: Option<Box<NativeRequestDataExt>>,
}

impl Message for NativeRequestData {
    const INDEX: u16 = 66;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "type", 4), (2, "len", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"type" => Some(1),
            b"len" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "type", self.r#type);
        to.int(2, "len", self.len);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(2, "len", self.len);
        to.int(1, "type", self.r#type);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.r#type)?,
            2 => from.int(&mut self.len)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Extensions of NativeRequestData.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeRequestDataExt {
    pub segtax: Option<i32>,
    pub json: Option<String>,
}

impl Message for NativeRequestDataExt {
    const INDEX: u16 = 67;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "segtax", 4), (20260, "json", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"segtax" => Some(1),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "segtax", self.segtax);
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
        to.int(1, "segtax", self.segtax);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.segtax)?,
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for NativeRequestDataExt {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}

/// Trackers that are supported (4.7).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeRequestEventTrackers {
    pub event: Option<i32>,
    pub methods: Vec<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeRequestEventTrackers {
    const INDEX: u16 = 68;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "event", 4), (2, "methods", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"event" => Some(1),
            b"methods" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "event", self.event);
        to.ints(2, "methods", &self.methods);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.ints(2, "methods", &self.methods);
        to.int(1, "event", self.event);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.event)?,
            2 => from.ints(&mut self.methods)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A native ad (Native Ads 1.2, 5.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeResponse {
    pub ver: Option<String>,
    pub assets: Vec<NativeResponseAsset>,
    pub link: Option<Box<NativeResponseLink>>,
    pub imptrackers: Vec<String>,
    pub jstracker: Option<String>,
    pub assetsurl: Option<String>,
    pub dcourl: Option<String>,
    pub eventtrackers: Vec<NativeResponseEventTracker>,
    pub privacy: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeResponse {
    const INDEX: u16 = 69;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "ver", 4), (2, "assets", 4), (3, "link", 4), (4, "imptrackers", 4), (5, "jstracker", 4),
        (6, "assetsurl", 4), (7, "dcourl", 4), (8, "eventtrackers", 4), (9, "privacy", 4),
        (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"ver" => Some(1),
            b"assets" => Some(2),
            b"link" => Some(3),
            b"imptrackers" => Some(4),
            b"jstracker" => Some(5),
            b"assetsurl" => Some(6),
            b"dcourl" => Some(7),
            b"eventtrackers" => Some(8),
            b"privacy" => Some(9),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "ver", &self.ver);
        to.messages(2, "assets", &self.assets);
        to.message(3, "link", &self.link);
        to.strings(4, "imptrackers", &self.imptrackers);
        to.string(5, "jstracker", &self.jstracker);
        to.string(6, "assetsurl", &self.assetsurl);
        to.string(7, "dcourl", &self.dcourl);
        to.messages(8, "eventtrackers", &self.eventtrackers);
        to.string(9, "privacy", &self.privacy);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(9, "privacy", &self.privacy);
        to.messages(8, "eventtrackers", &self.eventtrackers);
        to.string(7, "dcourl", &self.dcourl);
        to.string(6, "assetsurl", &self.assetsurl);
        to.string(5, "jstracker", &self.jstracker);
        to.strings(4, "imptrackers", &self.imptrackers);
        to.message(3, "link", &self.link);
        to.messages(2, "assets", &self.assets);
        to.string(1, "ver", &self.ver);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.ver)?,
            2 => from.messages(&mut self.assets)?,
            3 => from.message(&mut self.link)?,
            4 => from.strings(&mut self.imptrackers)?,
            5 => from.string(&mut self.jstracker)?,
            6 => from.string(&mut self.assetsurl)?,
            7 => from.string(&mut self.dcourl)?,
            8 => from.messages(&mut self.eventtrackers)?,
            9 => from.string(&mut self.privacy)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Where a click leads (5.7).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeResponseLink {
    pub url: Option<String>,
    pub clicktrackers: Vec<String>,
    pub fallback: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeResponseLink {
    const INDEX: u16 = 70;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "url", 4), (2, "clicktrackers", 4), (3, "fallback", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"url" => Some(1),
            b"clicktrackers" => Some(2),
            b"fallback" => Some(3),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "url", &self.url);
        to.strings(2, "clicktrackers", &self.clicktrackers);
        to.string(3, "fallback", &self.fallback);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(3, "fallback", &self.fallback);
        to.strings(2, "clicktrackers", &self.clicktrackers);
        to.string(1, "url", &self.url);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.url)?,
            2 => from.strings(&mut self.clicktrackers)?,
            3 => from.string(&mut self.fallback)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// One asset (5.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeResponseAsset {
    pub id: Option<i32>,
    pub required: Option<bool>,
    pub title: Option<Box<NativeResponseTitle>>,
    pub img: Option<Box<NativeResponseImage>>,
    pub video: Option<Box<NativeResponseVideo>>,
    pub data: Option<Box<NativeResponseData>>,
    pub link: Option<Box<NativeResponseLink>>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeResponseAsset {
    const INDEX: u16 = 71;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "id", 4), (2, "required", 1), (3, "title", 4), (4, "img", 4), (5, "video", 4),
        (6, "data", 4), (7, "link", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"id" => Some(1),
            b"required" => Some(2),
            b"title" => Some(3),
            b"img" => Some(4),
            b"video" => Some(5),
            b"data" => Some(6),
            b"link" => Some(7),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "id", self.id);
        to.bool(2, "required", self.required);
        to.message(3, "title", &self.title);
        to.message(4, "img", &self.img);
        to.message(5, "video", &self.video);
        to.message(6, "data", &self.data);
        to.message(7, "link", &self.link);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.message(7, "link", &self.link);
        to.message(6, "data", &self.data);
        to.message(5, "video", &self.video);
        to.message(4, "img", &self.img);
        to.message(3, "title", &self.title);
        to.bool(2, "required", self.required);
        to.int(1, "id", self.id);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.id)?,
            2 => from.bool(&mut self.required)?,
            3 => from.message(&mut self.title)?,
            4 => from.message(&mut self.img)?,
            5 => from.message(&mut self.video)?,
            6 => from.message(&mut self.data)?,
            7 => from.message(&mut self.link)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A title (5.3).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeResponseTitle {
    pub text: Option<String>,
    pub len: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeResponseTitle {
    const INDEX: u16 = 72;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "text", 4), (2, "len", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"text" => Some(1),
            b"len" => Some(2),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "text", &self.text);
        to.int(2, "len", self.len);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(2, "len", self.len);
        to.string(1, "text", &self.text);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.text)?,
            2 => from.int(&mut self.len)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// An image (5.4).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeResponseImage {
    pub url: Option<String>,
    pub w: Option<i32>,
    pub h: Option<i32>,
    pub r#type: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeResponseImage {
    const INDEX: u16 = 73;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "url", 4), (2, "w", 4), (3, "h", 4), (4, "type", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"url" => Some(1),
            b"w" => Some(2),
            b"h" => Some(3),
            b"type" => Some(4),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "url", &self.url);
        to.int(2, "w", self.w);
        to.int(3, "h", self.h);
        to.int(4, "type", self.r#type);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(4, "type", self.r#type);
        to.int(3, "h", self.h);
        to.int(2, "w", self.w);
        to.string(1, "url", &self.url);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.url)?,
            2 => from.int(&mut self.w)?,
            3 => from.int(&mut self.h)?,
            4 => from.int(&mut self.r#type)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A text of a kind (5.5).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeResponseData {
    pub label: Option<String>,
    pub value: Option<String>,
    pub r#type: Option<i32>,
    pub len: Option<i32>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeResponseData {
    const INDEX: u16 = 74;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "label", 4), (2, "value", 4), (3, "type", 4), (4, "len", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"label" => Some(1),
            b"value" => Some(2),
            b"type" => Some(3),
            b"len" => Some(4),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "label", &self.label);
        to.string(2, "value", &self.value);
        to.int(3, "type", self.r#type);
        to.int(4, "len", self.len);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.int(4, "len", self.len);
        to.int(3, "type", self.r#type);
        to.string(2, "value", &self.value);
        to.string(1, "label", &self.label);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.label)?,
            2 => from.string(&mut self.value)?,
            3 => from.int(&mut self.r#type)?,
            4 => from.int(&mut self.len)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A video (5.6).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeResponseVideo {
    pub vasttag: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeResponseVideo {
    const INDEX: u16 = 75;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "vasttag", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"vasttag" => Some(1),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.string(1, "vasttag", &self.vasttag);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(1, "vasttag", &self.vasttag);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.string(&mut self.vasttag)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A tracker of an event (5.8).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeResponseEventTracker {
    pub event: Option<i32>,
    pub method: Option<i32>,
    pub url: Option<String>,
    pub customdata: Option<String>,
    pub ext: Option<Box<Ext>>,
}

impl Message for NativeResponseEventTracker {
    const INDEX: u16 = 76;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (1, "event", 4), (2, "method", 4), (3, "url", 4), (4, "customdata", 4), (99, "ext", 4),
    ];

    fn number(key: &[u8]) -> Option<u32> {
        match key {
            b"event" => Some(1),
            b"method" => Some(2),
            b"url" => Some(3),
            b"customdata" => Some(4),
            b"ext" => Some(99),
            _ => None,
        }
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.int(1, "event", self.event);
        to.int(2, "method", self.method);
        to.string(3, "url", &self.url);
        to.string(4, "customdata", &self.customdata);
        to.ext(99, "ext", &self.ext);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.ext(99, "ext", &self.ext);
        to.string(4, "customdata", &self.customdata);
        to.string(3, "url", &self.url);
        to.int(2, "method", self.method);
        to.int(1, "event", self.event);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            1 => from.int(&mut self.event)?,
            2 => from.int(&mut self.method)?,
            3 => from.string(&mut self.url)?,
            4 => from.string(&mut self.customdata)?,
            99 => from.ext(&mut self.ext)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The extensions of a message that has none typed here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ext {
    pub json: Option<String>,
}

impl Message for Ext {
    const INDEX: u16 = 77;
    #[rustfmt::skip]
    const FIELDS: &'static [(u32, &'static str, u8)] = &[
        (20260, "json", 4),
    ];

    fn number(_: &[u8]) -> Option<u32> {
        None
    }

    fn write<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
    }

    fn write_rev<S: FieldSink>(&self, to: &mut S) {
        to.rest(20260, "json", &self.json);
    }

    fn read<S: FieldSource>(&mut self, number: u32, from: &mut S) -> Result<bool, S::Error> {
        match number {
            20260 => from.rest(&mut self.json)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Extension for Ext {
    fn rest(&self) -> Option<&str> {
        self.json.as_deref()
    }

    fn set_rest(&mut self, json: String) {
        self.json = Some(json);
    }
}
