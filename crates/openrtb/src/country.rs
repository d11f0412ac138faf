//! Countries (ISO 3166-1): alpha-3 as it is, alpha-2 as its alpha-3, anything else unknown.

use crate::Text;

/// A country of ISO 3166-1, as its place in the list of alpha-3 codes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Country(u8);

impl Country {
    /// How many countries there are. [`Country::index`] is below it.
    pub const COUNT: usize = CODES.len();

    /// The country with this alpha-3 code, upper case.
    pub fn from_alpha3(code: &str) -> Option<Country> {
        let at = CODES
            .binary_search_by(|(alpha3, _)| (*alpha3).cmp(code))
            .ok()?;
        u8::try_from(at).ok().map(Country)
    }

    /// The country that a request names: alpha-3 or alpha-2, in any case, trimmed.
    #[inline]
    pub fn of(text: Text<'_>) -> Option<Country> {
        // White space is in no code, so what is one needs no trimming.
        let as_it_is = text.plain_bytes().and_then(Country::from_code);
        as_it_is.or_else(|| text.with(|code| Country::from_code(code.trim().as_bytes())))
    }

    #[inline]
    fn from_code(code: &[u8]) -> Option<Country> {
        match *code {
            [a, b, c] => BY_ALPHA3.get(slot(&[a, b, c])?),
            [a, b] => BY_ALPHA2.get(slot(&[a, b])?),
            _ => None,
        }
        .and_then(|at| at.checked_sub(1))
        .map(Country)
    }

    /// Its place among all countries, below [`Country::COUNT`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The alpha-3 code.
    pub fn alpha3(self) -> &'static str {
        CODES.get(self.index()).map_or("", |(alpha3, _)| alpha3)
    }
}

impl core::fmt::Debug for Country {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.alpha3())
    }
}

/// A code of letters as a number in base 26; `None` where a byte is no letter.
#[inline]
const fn slot(code: &[u8]) -> Option<usize> {
    let (mut number, mut rest) = (0, code);
    while let [byte, tail @ ..] = rest {
        let letter = byte.to_ascii_uppercase().wrapping_sub(b'A');
        if letter >= 26 {
            return None;
        }
        number = number * 26 + letter as usize;
        rest = tail;
    }
    Some(number)
}

/// Place plus one by code; 0 is no country.
static BY_ALPHA3: [u8; 26 * 26 * 26] = places::<{ 26 * 26 * 26 }>(true);
static BY_ALPHA2: [u8; 26 * 26] = places::<{ 26 * 26 }>(false);

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated by the compiler, over constants"
)]
const fn places<const N: usize>(alpha3: bool) -> [u8; N] {
    let mut places = [0; N];
    let mut at = 0;
    while at < CODES.len() {
        let code = if alpha3 { CODES[at].0 } else { CODES[at].1 };
        if let Some(slot) = slot(code.as_bytes()) {
            places[slot] = at as u8 + 1;
        }
        at += 1;
    }
    places
}

/// Alpha-3 and alpha-2 of every country, sorted by alpha-3.
#[rustfmt::skip]
const CODES: [(&str, &str); 249] = [
    ("ABW", "AW"), ("AFG", "AF"), ("AGO", "AO"), ("AIA", "AI"), ("ALA", "AX"), ("ALB", "AL"),
    ("AND", "AD"), ("ARE", "AE"), ("ARG", "AR"), ("ARM", "AM"), ("ASM", "AS"), ("ATA", "AQ"),
    ("ATF", "TF"), ("ATG", "AG"), ("AUS", "AU"), ("AUT", "AT"), ("AZE", "AZ"), ("BDI", "BI"),
    ("BEL", "BE"), ("BEN", "BJ"), ("BES", "BQ"), ("BFA", "BF"), ("BGD", "BD"), ("BGR", "BG"),
    ("BHR", "BH"), ("BHS", "BS"), ("BIH", "BA"), ("BLM", "BL"), ("BLR", "BY"), ("BLZ", "BZ"),
    ("BMU", "BM"), ("BOL", "BO"), ("BRA", "BR"), ("BRB", "BB"), ("BRN", "BN"), ("BTN", "BT"),
    ("BVT", "BV"), ("BWA", "BW"), ("CAF", "CF"), ("CAN", "CA"), ("CCK", "CC"), ("CHE", "CH"),
    ("CHL", "CL"), ("CHN", "CN"), ("CIV", "CI"), ("CMR", "CM"), ("COD", "CD"), ("COG", "CG"),
    ("COK", "CK"), ("COL", "CO"), ("COM", "KM"), ("CPV", "CV"), ("CRI", "CR"), ("CUB", "CU"),
    ("CUW", "CW"), ("CXR", "CX"), ("CYM", "KY"), ("CYP", "CY"), ("CZE", "CZ"), ("DEU", "DE"),
    ("DJI", "DJ"), ("DMA", "DM"), ("DNK", "DK"), ("DOM", "DO"), ("DZA", "DZ"), ("ECU", "EC"),
    ("EGY", "EG"), ("ERI", "ER"), ("ESH", "EH"), ("ESP", "ES"), ("EST", "EE"), ("ETH", "ET"),
    ("FIN", "FI"), ("FJI", "FJ"), ("FLK", "FK"), ("FRA", "FR"), ("FRO", "FO"), ("FSM", "FM"),
    ("GAB", "GA"), ("GBR", "GB"), ("GEO", "GE"), ("GGY", "GG"), ("GHA", "GH"), ("GIB", "GI"),
    ("GIN", "GN"), ("GLP", "GP"), ("GMB", "GM"), ("GNB", "GW"), ("GNQ", "GQ"), ("GRC", "GR"),
    ("GRD", "GD"), ("GRL", "GL"), ("GTM", "GT"), ("GUF", "GF"), ("GUM", "GU"), ("GUY", "GY"),
    ("HKG", "HK"), ("HMD", "HM"), ("HND", "HN"), ("HRV", "HR"), ("HTI", "HT"), ("HUN", "HU"),
    ("IDN", "ID"), ("IMN", "IM"), ("IND", "IN"), ("IOT", "IO"), ("IRL", "IE"), ("IRN", "IR"),
    ("IRQ", "IQ"), ("ISL", "IS"), ("ISR", "IL"), ("ITA", "IT"), ("JAM", "JM"), ("JEY", "JE"),
    ("JOR", "JO"), ("JPN", "JP"), ("KAZ", "KZ"), ("KEN", "KE"), ("KGZ", "KG"), ("KHM", "KH"),
    ("KIR", "KI"), ("KNA", "KN"), ("KOR", "KR"), ("KWT", "KW"), ("LAO", "LA"), ("LBN", "LB"),
    ("LBR", "LR"), ("LBY", "LY"), ("LCA", "LC"), ("LIE", "LI"), ("LKA", "LK"), ("LSO", "LS"),
    ("LTU", "LT"), ("LUX", "LU"), ("LVA", "LV"), ("MAC", "MO"), ("MAF", "MF"), ("MAR", "MA"),
    ("MCO", "MC"), ("MDA", "MD"), ("MDG", "MG"), ("MDV", "MV"), ("MEX", "MX"), ("MHL", "MH"),
    ("MKD", "MK"), ("MLI", "ML"), ("MLT", "MT"), ("MMR", "MM"), ("MNE", "ME"), ("MNG", "MN"),
    ("MNP", "MP"), ("MOZ", "MZ"), ("MRT", "MR"), ("MSR", "MS"), ("MTQ", "MQ"), ("MUS", "MU"),
    ("MWI", "MW"), ("MYS", "MY"), ("MYT", "YT"), ("NAM", "NA"), ("NCL", "NC"), ("NER", "NE"),
    ("NFK", "NF"), ("NGA", "NG"), ("NIC", "NI"), ("NIU", "NU"), ("NLD", "NL"), ("NOR", "NO"),
    ("NPL", "NP"), ("NRU", "NR"), ("NZL", "NZ"), ("OMN", "OM"), ("PAK", "PK"), ("PAN", "PA"),
    ("PCN", "PN"), ("PER", "PE"), ("PHL", "PH"), ("PLW", "PW"), ("PNG", "PG"), ("POL", "PL"),
    ("PRI", "PR"), ("PRK", "KP"), ("PRT", "PT"), ("PRY", "PY"), ("PSE", "PS"), ("PYF", "PF"),
    ("QAT", "QA"), ("REU", "RE"), ("ROU", "RO"), ("RUS", "RU"), ("RWA", "RW"), ("SAU", "SA"),
    ("SDN", "SD"), ("SEN", "SN"), ("SGP", "SG"), ("SGS", "GS"), ("SHN", "SH"), ("SJM", "SJ"),
    ("SLB", "SB"), ("SLE", "SL"), ("SLV", "SV"), ("SMR", "SM"), ("SOM", "SO"), ("SPM", "PM"),
    ("SRB", "RS"), ("SSD", "SS"), ("STP", "ST"), ("SUR", "SR"), ("SVK", "SK"), ("SVN", "SI"),
    ("SWE", "SE"), ("SWZ", "SZ"), ("SXM", "SX"), ("SYC", "SC"), ("SYR", "SY"), ("TCA", "TC"),
    ("TCD", "TD"), ("TGO", "TG"), ("THA", "TH"), ("TJK", "TJ"), ("TKL", "TK"), ("TKM", "TM"),
    ("TLS", "TL"), ("TON", "TO"), ("TTO", "TT"), ("TUN", "TN"), ("TUR", "TR"), ("TUV", "TV"),
    ("TWN", "TW"), ("TZA", "TZ"), ("UGA", "UG"), ("UKR", "UA"), ("UMI", "UM"), ("URY", "UY"),
    ("USA", "US"), ("UZB", "UZ"), ("VAT", "VA"), ("VCT", "VC"), ("VEN", "VE"), ("VGB", "VG"),
    ("VIR", "VI"), ("VNM", "VN"), ("VUT", "VU"), ("WLF", "WF"), ("WSM", "WS"), ("YEM", "YE"),
    ("ZAF", "ZA"), ("ZMB", "ZM"), ("ZWE", "ZW"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(
            Country::of(Text::Plain(text)).map(Country::alpha3),
            expect,
            "{text:?}"
        );
    }

    #[test]
    fn codes_of_two_and_three_letters() {
        check("USA", Some("USA"));
        check(" us ", Some("USA"));
        check("Fra", Some("FRA"));
        check("ZZ9", None);
        check("", None);
        check("ZZZ", None);
        check("USAX", None);
    }

    #[test]
    fn the_list_is_sorted_and_every_code_finds_itself() {
        assert!(CODES.is_sorted());
        for (at, (alpha3, alpha2)) in CODES.iter().enumerate() {
            assert_eq!(
                Country::of(Text::Plain(alpha2)),
                Country::from_alpha3(alpha3)
            );
            assert_eq!(Country::from_alpha3(alpha3).map(Country::index), Some(at));
        }
    }
}
