//! Asks a view everything there is to ask, and writes the answers down.

use std::fmt::{Debug, Write};

use openrtb::{
    CategoriesOf, Channel, ChannelText, DealTexts, DealView, DeviceInt, DeviceText, ImpView,
    MediaInt, MediaInts, MediaType, Read, RequestTexts, RequestView, Step, Text,
};
use wire::{Format, Reader, Visit};

/// Every answer that says something, one a line: `cur USD`, ` video.size 640x480`. An impression's
/// lines are indented by one space, a deal's by two.
pub fn answers(reader: &mut Reader, format: Format, bytes: &[u8]) -> Read<String> {
    reader.read(format, bytes, AskAll)?
}

pub struct AskAll;

impl Visit for AskAll {
    type Out = Read<String>;

    fn visit<'a, V: RequestView<'a>>(self, view: &V) -> Read<String> {
        let mut lines = Lines::default();
        ask(view, &mut lines)?;
        Ok(lines.0)
    }
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, indent: usize, name: &str, value: impl Debug) {
        let _ = writeln!(self.0, "{:indent$}{name} {value:?}", "");
    }

    fn text(&mut self, indent: usize, name: &str, text: Option<Text<'_>>) {
        if let Some(text) = text {
            let text = text.into_string();
            assert!(!text.is_empty(), "{name} is empty, which is unknown");
            let _ = writeln!(self.0, "{:indent$}{name} {text}", "");
        }
    }

    fn some(&mut self, indent: usize, name: &str, value: Option<impl Debug>) {
        if let Some(value) = value {
            self.line(indent, name, value);
        }
    }
}

fn ask<'a>(view: &impl RequestView<'a>, lines: &mut Lines) -> Read<()> {
    lines.text(0, "id", view.id()?);
    lines.some(0, "device_type", view.device_type()?.map(|d| d.number()));
    lines.some(0, "country", view.country()?);
    for field in [
        DeviceText::Os,
        DeviceText::Osv,
        DeviceText::Region,
        DeviceText::Metro,
        DeviceText::City,
    ] {
        let name = format!("{field:?}").to_lowercase();
        lines.text(0, &name, view.device_text(field)?);
    }
    for field in [DeviceInt::Connectiontype, DeviceInt::Utcoffset] {
        let name = format!("{field:?}").to_lowercase();
        lines.some(0, &name, view.device_int(field)?);
    }
    if let Some(channel) = view.channel()? {
        let _ = writeln!(lines.0, "{}", channel.name());
    }
    for channel in Channel::ALL {
        ask_channel(view, channel, lines)?;
    }
    lines.some(0, "test", view.test()?.then_some(true));
    lines.some(0, "tmax", view.tmax_ms()?);
    lines.some(0, "cattax", Some(view.cattax()?).filter(|&c| c != 1));
    for list in [
        RequestTexts::Cur,
        RequestTexts::Bcat,
        RequestTexts::Acat,
        RequestTexts::Badv,
        RequestTexts::Bapp,
        RequestTexts::Wseat,
        RequestTexts::Bseat,
    ] {
        let name = format!("{list:?}").to_lowercase();
        view.texts(list, |text| {
            lines.text(0, &name, Some(text));
            Step::On
        })?;
    }
    for index in 0..view.imps()? {
        let _ = writeln!(lines.0, "imp");
        ask_imp(&view.imp(index)?, lines)?;
    }
    assert!(view.imp(view.imps()?).is_err(), "past the last impression");
    Ok(())
}

fn ask_channel<'a>(view: &impl RequestView<'a>, channel: Channel, lines: &mut Lines) -> Read<()> {
    for field in [
        ChannelText::Domain,
        ChannelText::Bundle,
        ChannelText::Publisher,
        ChannelText::Language,
        ChannelText::Langb,
    ] {
        let name = format!("{}.{field:?}", channel.name()).to_lowercase();
        lines.text(0, &name, view.channel_text(channel, field)?);
    }
    for whose in [CategoriesOf::Channel, CategoriesOf::Content] {
        let of = match whose {
            CategoriesOf::Channel => channel.name().to_owned(),
            CategoriesOf::Content => format!("{}.content", channel.name()),
        };
        let cattax = view.categories_tax(channel, whose)?;
        lines.some(0, &format!("{of}.cattax"), Some(cattax).filter(|&c| c != 1));
        view.categories(channel, whose, |text| {
            lines.text(0, &format!("{of}.cat"), Some(text));
            Step::On
        })?;
    }
    Ok(())
}

fn ask_imp<'a>(imp: &impl ImpView<'a>, lines: &mut Lines) -> Read<()> {
    lines.text(1, "id", imp.id()?);
    lines.some(1, "bidfloor", imp.bidfloor()?);
    lines.text(1, "bidfloorcur", imp.bidfloorcur()?);
    lines.some(1, "secure", imp.secure()?.then_some(true));
    lines.some(1, "instl", imp.instl()?.then_some(true));
    lines.some(1, "rwdd", imp.rwdd()?.then_some(true));
    if let Some(multiplier) = imp.qty_multiplier()? {
        assert!(multiplier.is_finite());
        lines.line(1, "multiplier", multiplier);
    }
    let media = imp.media_types()?;
    for of in MediaType::ALL {
        if media.contains(of) {
            let _ = writeln!(lines.0, " {}", of.name());
        }
        ask_medium(imp, of, lines)?;
    }
    if let Some((w, h)) = imp.video_size()? {
        assert!(w >= 1 && h >= 1);
        let _ = writeln!(lines.0, " video.size {w}x{h}");
    }
    imp.banner_sizes(|w, h| {
        assert!(w >= 1 && h >= 1);
        let _ = writeln!(lines.0, " banner.size {w}x{h}");
        Step::On
    })?;
    lines.some(1, "private_auction", imp.private_auction()?.then_some(true));
    imp.deals(|deal| {
        let _ = writeln!(lines.0, " deal");
        ask_deal(&deal, lines)?;
        Ok(Step::On)
    })
}

fn ask_medium<'a>(imp: &impl ImpView<'a>, of: MediaType, lines: &mut Lines) -> Read<()> {
    let name = |field: &str| format!("{}.{field}", of.name());
    imp.mimes(of, |text| {
        lines.text(1, &name("mimes"), Some(text));
        Step::On
    })?;
    for list in [
        MediaInts::Battr,
        MediaInts::Api,
        MediaInts::Protocols,
        MediaInts::Rqddurs,
    ] {
        imp.ints(of, list, |value| {
            lines.line(1, &name(&format!("{list:?}").to_lowercase()), value);
            Step::On
        })?;
    }
    for field in [
        MediaInt::Minduration,
        MediaInt::Maxduration,
        MediaInt::Pos,
        MediaInt::Plcmt,
    ] {
        let value = imp.int(of, field)?;
        assert!(value.is_none_or(|value| value >= 0));
        lines.some(1, &name(&format!("{field:?}").to_lowercase()), value);
    }
    let priced = imp.priced_by_second(of)?;
    lines.some(1, &name("priced_by_second"), priced.then_some(true));
    Ok(())
}

fn ask_deal<'a>(deal: &impl DealView<'a>, lines: &mut Lines) -> Read<()> {
    lines.text(2, "id", deal.id()?);
    lines.some(2, "bidfloor", deal.bidfloor()?);
    lines.text(2, "bidfloorcur", deal.bidfloorcur()?);
    lines.some(2, "at", deal.at()?);
    for list in [DealTexts::Wseat, DealTexts::Wadomain] {
        let name = format!("{list:?}").to_lowercase();
        deal.texts(list, |text| {
            lines.text(2, &name, Some(text));
            Step::On
        })?;
    }
    Ok(())
}
