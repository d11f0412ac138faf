//! A request in FlatBuffers, read in place: every answer follows the few offsets that lead to it.

use core::cell::OnceCell;

use openrtb::{
    CategoriesOf, Channel, ChannelText, Country, DealTexts, DealView, DeviceInt, DeviceText,
    DeviceType, ImpView, MediaInt, MediaInts, MediaType, MediaTypes, Read, RequestTexts,
    RequestView, Step, Text,
};

use super::cursor::{Table, Vector};
use crate::fields::{self, banner, deal, device, geo, imp, pmp, qty, request, video};
use crate::limits::Meter;

/// A bid request.
pub(crate) struct Request<'a> {
    table: Table<'a>,
    imps: Vector<'a>,
    /// Once it is asked for: nearly every decision asks twice.
    device: OnceCell<Option<Table<'a>>>,
    meter: &'a Meter,
}

impl<'a> Request<'a> {
    /// A view over a message that is not too long.
    #[inline]
    pub(crate) fn read(bytes: &'a [u8], meter: &'a Meter) -> Read<Request<'a>> {
        let table = Table::root(bytes)?;
        let imps = table.vector(request::IMP)?;
        meter.check_imps(imps.len())?;
        let device = OnceCell::new();
        Ok(Request {
            table,
            imps,
            device,
            meter,
        })
    }
}

/// A string field, as the decision sees it.
#[inline]
fn text<'a>(table: &Table<'a>, slot: u16, meter: &Meter) -> Read<Option<Text<'a>>> {
    match table.string(slot)? {
        Some(bytes) => meter.text(bytes),
        None => Ok(None),
    }
}

/// The entries of a list of strings that are known.
#[inline]
fn texts<'a>(
    table: &Table<'a>,
    slot: u16,
    meter: &Meter,
    mut each: impl FnMut(Text<'a>) -> Step,
) -> Read<()> {
    let strings = table.vector(slot)?;
    for index in 0..strings.len() {
        match meter.text(strings.string(index)?)? {
            Some(text) if each(text) == Step::Enough => break,
            Some(_) => {}
            // An empty string costs nothing to read, but still had to be looked at.
            None => meter.spend(0)?,
        }
    }
    Ok(())
}

/// The table at the end of a way, and the field there.
#[inline]
fn follow<'a>(table: Option<Table<'a>>, way: fields::Way) -> Read<Option<(Table<'a>, u16)>> {
    let (through, slot) = way;
    let table = match (table, through) {
        (Some(table), Some(through)) => table.table(through)?,
        (table, _) => table,
    };
    Ok(table.map(|table| (table, slot)))
}

impl<'a> Request<'a> {
    #[inline]
    fn device(&self) -> Read<Option<Table<'a>>> {
        match self.device.get() {
            Some(device) => Ok(*device),
            None => {
                let device = self.table.table(request::DEVICE)?;
                Ok(*self.device.get_or_init(|| device))
            }
        }
    }

    /// A field on a way from the channel, where that is there and has such a field.
    #[inline]
    fn in_channel(&self, of: Channel, way: Option<fields::Way>) -> Read<Option<(Table<'a>, u16)>> {
        match way {
            Some(way) => follow(self.table.table(fields::channel(of))?, way),
            None => Ok(None),
        }
    }
}

impl<'a> RequestView<'a> for Request<'a> {
    type Imp = Imp<'a>;

    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        text(&self.table, request::ID, self.meter)
    }

    #[inline]
    fn imps(&self) -> Read<usize> {
        Ok(self.imps.len())
    }

    #[inline]
    fn imp(&self, index: usize) -> Read<Imp<'a>> {
        Ok(Imp {
            table: self.imps.table(index)?,
            meter: self.meter,
        })
    }

    #[inline]
    fn device_type(&self) -> Read<Option<DeviceType>> {
        let Some(device) = self.device()? else {
            return Ok(None);
        };
        let number = device.i32(device::DEVICETYPE)?;
        Ok(number.and_then(|number| DeviceType::new(number.into())))
    }

    #[inline]
    fn country(&self) -> Read<Option<Country>> {
        let Some(device) = self.device()? else {
            return Ok(None);
        };
        let Some(geo) = device.table(device::GEO)? else {
            return Ok(None);
        };
        Ok(text(&geo, geo::COUNTRY, self.meter)?.and_then(Country::of))
    }

    #[inline]
    fn test(&self) -> Read<bool> {
        Ok(self.table.bool(request::TEST)?.unwrap_or(false))
    }

    #[inline]
    fn tmax_ms(&self) -> Read<Option<i32>> {
        self.table.i32(request::TMAX)
    }

    #[inline]
    fn cattax(&self) -> Read<i32> {
        Ok(self.table.i32(request::CATTAX)?.unwrap_or(1))
    }

    #[inline]
    fn texts(&self, list: RequestTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        texts(&self.table, fields::request_texts(list), self.meter, each)
    }

    fn device_text(&self, field: DeviceText) -> Read<Option<Text<'a>>> {
        let device = self.device()?;
        match follow(device, fields::device_text(field))? {
            Some((table, slot)) => text(&table, slot, self.meter),
            None => Ok(None),
        }
    }

    fn device_int(&self, field: DeviceInt) -> Read<Option<i32>> {
        let device = self.device()?;
        match follow(device, fields::device_int(field))? {
            Some((table, slot)) => table.i32(slot),
            None => Ok(None),
        }
    }

    fn channel(&self) -> Read<Option<Channel>> {
        let is_set = |of: &Channel| self.table.has(fields::channel(*of));
        Ok(Channel::ALL.into_iter().find(is_set))
    }

    fn channel_text(&self, of: Channel, field: ChannelText) -> Read<Option<Text<'a>>> {
        match self.in_channel(of, fields::channel_text(of, field))? {
            Some((table, slot)) => text(&table, slot, self.meter),
            None => Ok(None),
        }
    }

    fn categories(
        &self,
        of: Channel,
        whose: CategoriesOf,
        each: impl FnMut(Text<'a>) -> Step,
    ) -> Read<()> {
        let way = fields::categories(of, whose).map(|(cat, _)| cat);
        match self.in_channel(of, way)? {
            Some((table, slot)) => texts(&table, slot, self.meter, each),
            None => Ok(()),
        }
    }

    fn categories_tax(&self, of: Channel, whose: CategoriesOf) -> Read<i32> {
        let way = fields::categories(of, whose).map(|(_, cattax)| cattax);
        let cattax = match self.in_channel(of, way)? {
            Some((table, slot)) => table.i32(slot)?,
            None => None,
        };
        Ok(cattax.unwrap_or(1))
    }
}

/// An impression.
pub(crate) struct Imp<'a> {
    table: Table<'a>,
    meter: &'a Meter,
}

impl<'a> Imp<'a> {
    #[inline]
    fn medium(&self, of: MediaType) -> Read<Option<Table<'a>>> {
        self.table.table(fields::medium(of))
    }

    /// The medium and a field of it, where it is there and has such a field.
    #[inline]
    fn field(&self, of: MediaType, slot: Option<u16>) -> Read<Option<(Table<'a>, u16)>> {
        match slot {
            Some(slot) => Ok(self.medium(of)?.map(|medium| (medium, slot))),
            None => Ok(None),
        }
    }
}

impl<'a> ImpView<'a> for Imp<'a> {
    type Deal = Deal<'a>;

    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        text(&self.table, imp::ID, self.meter)
    }

    #[inline]
    fn media_types(&self) -> Read<MediaTypes> {
        let mut media = MediaTypes::NONE;
        for of in MediaType::ALL {
            if self.table.has(fields::medium(of)) {
                media = media.with(of);
            }
        }
        Ok(media)
    }

    #[inline]
    fn video_size(&self) -> Read<Option<(i32, i32)>> {
        match self.table.table(imp::VIDEO)? {
            Some(table) => Ok(fields::size(table.i32(video::W)?, table.i32(video::H)?)),
            None => Ok(None),
        }
    }

    #[inline]
    fn banner_sizes(&self, mut each: impl FnMut(i32, i32) -> Step) -> Read<()> {
        let Some(banner) = self.table.table(imp::BANNER)? else {
            return Ok(());
        };
        let formats = banner.vector(banner::FORMAT)?;
        if formats.len() == 0 {
            if let Some((w, h)) = fields::size(banner.i32(banner::W)?, banner.i32(banner::H)?) {
                each(w, h);
            }
            return Ok(());
        }
        for index in 0..formats.len() {
            self.meter.spend(0)?;
            let format = formats.table(index)?;
            match fields::size(format.i32(banner::W)?, format.i32(banner::H)?) {
                Some((w, h)) if each(w, h) == Step::Enough => break,
                _ => {}
            }
        }
        Ok(())
    }

    #[inline]
    fn bidfloor(&self) -> Read<Option<f64>> {
        self.table.f64(imp::BIDFLOOR)
    }

    #[inline]
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        text(&self.table, imp::BIDFLOORCUR, self.meter)
    }

    #[inline]
    fn private_auction(&self) -> Read<bool> {
        match self.table.table(imp::PMP)? {
            Some(pmp) => Ok(pmp.bool(pmp::PRIVATE_AUCTION)?.unwrap_or(false)),
            None => Ok(false),
        }
    }

    #[inline]
    fn deals(&self, mut each: impl FnMut(Deal<'a>) -> Read<Step>) -> Read<()> {
        let Some(pmp) = self.table.table(imp::PMP)? else {
            return Ok(());
        };
        let deals = pmp.vector(pmp::DEALS)?;
        self.meter.check_deals(deals.len())?;
        for index in 0..deals.len() {
            self.meter.spend(0)?;
            let table = deals.table(index)?;
            let meter = self.meter;
            if each(Deal { table, meter })? == Step::Enough {
                break;
            }
        }
        Ok(())
    }

    #[inline]
    fn secure(&self) -> Read<bool> {
        Ok(self.table.bool(imp::SECURE)?.unwrap_or(false))
    }

    #[inline]
    fn qty_multiplier(&self) -> Read<Option<f64>> {
        match self.table.table(imp::QTY)? {
            Some(qty) => Ok(qty.f64(qty::MULTIPLIER)?.filter(|value| value.is_finite())),
            None => Ok(None),
        }
    }

    #[inline]
    fn mimes(&self, of: MediaType, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        match self.field(of, fields::mimes(of))? {
            Some((medium, slot)) => texts(&medium, slot, self.meter, each),
            None => Ok(()),
        }
    }

    #[inline]
    fn ints(&self, of: MediaType, list: MediaInts, mut each: impl FnMut(i32) -> Step) -> Read<()> {
        let Some((medium, slot)) = self.field(of, fields::media_ints(of, list))? else {
            return Ok(());
        };
        let ints = medium.vector(slot)?;
        for index in 0..ints.len() {
            self.meter.spend(0)?;
            let value = ints.i32(index)?;
            if fields::in_range(list, value) && each(value) == Step::Enough {
                break;
            }
        }
        Ok(())
    }

    #[inline]
    fn int(&self, of: MediaType, field: MediaInt) -> Read<Option<i32>> {
        match self.field(of, fields::media_int(of, field))? {
            Some((medium, slot)) => Ok(medium.i32(slot)?.filter(|&seconds| seconds >= 0)),
            None => Ok(None),
        }
    }

    #[inline]
    fn priced_by_second(&self, of: MediaType) -> Read<bool> {
        let (Some((mincpmpersec, durfloors)), Some(medium)) =
            (fields::second_prices(of), self.medium(of)?)
        else {
            return Ok(false);
        };
        let price = medium.f64(mincpmpersec)?;
        Ok(price.is_some_and(f64::is_finite) || medium.vector(durfloors)?.len() > 0)
    }

    fn instl(&self) -> Read<bool> {
        Ok(self.table.bool(imp::INSTL)?.unwrap_or(false))
    }

    fn rwdd(&self) -> Read<bool> {
        Ok(self.table.bool(imp::RWDD)?.unwrap_or(false))
    }
}

/// A deal of an impression.
pub(crate) struct Deal<'a> {
    table: Table<'a>,
    meter: &'a Meter,
}

impl<'a> DealView<'a> for Deal<'a> {
    #[inline]
    fn id(&self) -> Read<Option<Text<'a>>> {
        text(&self.table, deal::ID, self.meter)
    }

    #[inline]
    fn bidfloor(&self) -> Read<Option<f64>> {
        self.table.f64(deal::BIDFLOOR)
    }

    #[inline]
    fn bidfloorcur(&self) -> Read<Option<Text<'a>>> {
        text(&self.table, deal::BIDFLOORCUR, self.meter)
    }

    #[inline]
    fn at(&self) -> Read<Option<i32>> {
        self.table.i32(deal::AT)
    }

    #[inline]
    fn texts(&self, list: DealTexts, each: impl FnMut(Text<'a>) -> Step) -> Read<()> {
        texts(&self.table, fields::deal_texts(list), self.meter, each)
    }
}
