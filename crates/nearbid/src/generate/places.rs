//! Where the generated traffic comes from: countries by their share, and a few cities of each.

use super::rng::Rng;

/// A country whose users are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place {
    /// ISO 3166-1 alpha-3, as OpenRTB wants it.
    pub alpha3: &'static str,
    /// ISO 3166-1 alpha-2, as some exchanges send it.
    pub alpha2: &'static str,
    /// Language most pages are in (ISO 639-1).
    pub language: &'static str,
    /// Currency its exchanges name floors in when it is not USD.
    pub currency: &'static str,
    /// What an impression costs here, in percent of what it costs in the USA.
    pub price_percent: i32,
    /// Which privacy law the request speaks of.
    pub law: Law,
    /// Mobile networks: name and MCC-MNC.
    pub carriers: &'static [(&'static str, &'static str)],
    /// Cities, the largest first.
    pub cities: &'static [City],
}

/// The privacy law of a country, which decides what consent a request carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// None that has a signal.
    #[default]
    None,
    /// GDPR and its like: a TCF consent string.
    Gdpr,
    /// US state laws: GPP sections.
    UsStates,
}

/// A city: name, region, Nielsen DMA (USA only), post code, latitude and longitude in
/// ten-thousandths of a degree, minutes from UTC.
#[derive(Clone, Copy, Debug, Default)]
pub struct City {
    /// Name, in UTF-8 as the locals write it.
    pub name: &'static str,
    /// ISO 3166-2 subdivision without the country.
    pub region: &'static str,
    /// Nielsen DMA; empty outside the USA.
    pub metro: &'static str,
    /// A post code.
    pub zip: &'static str,
    /// Latitude, 1/10,000 degree.
    pub lat: i32,
    /// Longitude, 1/10,000 degree.
    pub lon: i32,
    /// Minutes from UTC.
    pub utcoffset: i32,
}

/// A country by its share of traffic.
pub fn place(rng: &mut Rng) -> Place {
    rng.weighted(&PLACES)
}

/// A city of `place`; the first is the likeliest.
pub fn city(place: &Place, rng: &mut Rng) -> City {
    let first = rng.below(place.cities.len() as u64);
    let index = rng.below(first + 1) as usize;
    place.cities.get(index).copied().unwrap_or_default()
}

const fn city_of(
    name: &'static str,
    region: &'static str,
    metro: &'static str,
    zip: &'static str,
    (lat, lon): (i32, i32),
    utcoffset: i32,
) -> City {
    City {
        name,
        region,
        metro,
        zip,
        lat,
        lon,
        utcoffset,
    }
}

/// Countries with their shares in parts of 1,000.
#[rustfmt::skip]
const PLACES: [(u32, Place); 25] = [
    (370, Place {
        alpha3: "USA", alpha2: "US", language: "en", currency: "USD", price_percent: 100, law: Law::UsStates,
        carriers: &[("Verizon", "311-480"), ("T-Mobile", "310-260"), ("AT&T", "310-410")],
        cities: &[
            city_of("New York", "NY", "501", "10013", (407_128, -740_060), -300),
            city_of("Los Angeles", "CA", "803", "90015", (340_522, -1_182_437), -480),
            city_of("Chicago", "IL", "602", "60611", (418_781, -876_298), -360),
            city_of("Dallas", "TX", "623", "75201", (327_767, -967_970), -360),
            city_of("Atlanta", "GA", "524", "30303", (337_490, -843_880), -300),
            city_of("Phoenix", "AZ", "753", "85004", (334_484, -1_120_740), -420),
            city_of("Seattle", "WA", "819", "98101", (476_062, -1_223_321), -480),
        ],
    }),
    (75, Place {
        alpha3: "GBR", alpha2: "GB", language: "en", currency: "GBP", price_percent: 85, law: Law::Gdpr,
        carriers: &[("EE", "234-30"), ("O2 - UK", "234-10"), ("Vodafone", "234-15")],
        cities: &[
            city_of("London", "LND", "", "EC1A", (515_074, -1_278), 0),
            city_of("Manchester", "MAN", "", "M1", (534_808, -22_426), 0),
            city_of("Glasgow", "GLG", "", "G2", (558_642, -42_518), 0),
        ],
    }),
    (70, Place {
        alpha3: "DEU", alpha2: "DE", language: "de", currency: "EUR", price_percent: 80, law: Law::Gdpr,
        carriers: &[("Telekom", "262-01"), ("Vodafone", "262-02"), ("O2", "262-03")],
        cities: &[
            city_of("Berlin", "BE", "", "10115", (525_200, 134_050), 60),
            city_of("München", "BY", "", "80331", (481_351, 115_820), 60),
            city_of("Köln", "NW", "", "50667", (509_375, 69_603), 60),
            city_of("Hamburg", "HH", "", "20095", (535_511, 99_937), 60),
        ],
    }),
    (55, Place {
        alpha3: "FRA", alpha2: "FR", language: "fr", currency: "EUR", price_percent: 65, law: Law::Gdpr,
        carriers: &[("Orange", "208-01"), ("SFR", "208-10"), ("Bouygues Telecom", "208-20")],
        cities: &[
            city_of("Paris", "IDF", "", "75001", (488_566, 23_522), 60),
            city_of("Lyon", "ARA", "", "69001", (457_640, 48_357), 60),
            city_of("Marseille", "PAC", "", "13001", (432_965, 53_698), 60),
        ],
    }),
    (55, Place {
        alpha3: "BRA", alpha2: "BR", language: "pt", currency: "USD", price_percent: 22, law: Law::None,
        carriers: &[("Vivo", "724-06"), ("Claro", "724-05"), ("TIM", "724-03")],
        cities: &[
            city_of("São Paulo", "SP", "", "01310", (-235_505, -466_333), -180),
            city_of("Rio de Janeiro", "RJ", "", "20040", (-229_068, -431_729), -180),
            city_of("Brasília", "DF", "", "70040", (-157_939, -478_828), -180),
        ],
    }),
    (50, Place {
        alpha3: "IND", alpha2: "IN", language: "en", currency: "USD", price_percent: 15, law: Law::None,
        carriers: &[("Jio", "405-857"), ("Airtel", "404-45"), ("Vi India", "404-20")],
        cities: &[
            city_of("Mumbai", "MH", "", "400001", (190_760, 728_777), 330),
            city_of("Delhi", "DL", "", "110001", (287_041, 771_025), 330),
            city_of("Bengaluru", "KA", "", "560001", (129_716, 775_946), 330),
        ],
    }),
    (45, Place {
        alpha3: "JPN", alpha2: "JP", language: "ja", currency: "JPY", price_percent: 60, law: Law::None,
        carriers: &[("NTT DOCOMO", "440-10"), ("SoftBank", "440-20"), ("au", "440-51")],
        cities: &[
            city_of("東京", "13", "", "100-0001", (356_895, 1_396_917), 540),
            city_of("大阪", "27", "", "530-0001", (346_937, 1_355_023), 540),
        ],
    }),
    (42, Place {
        alpha3: "CAN", alpha2: "CA", language: "en", currency: "USD", price_percent: 75, law: Law::None,
        carriers: &[("Rogers", "302-720"), ("Bell", "302-610"), ("TELUS", "302-220")],
        cities: &[
            city_of("Toronto", "ON", "", "M5H", (436_532, -793_832), -300),
            city_of("Montréal", "QC", "", "H2Y", (455_017, -735_673), -300),
            city_of("Vancouver", "BC", "", "V6B", (492_827, -1_231_207), -480),
        ],
    }),
    (30, Place {
        alpha3: "ITA", alpha2: "IT", language: "it", currency: "EUR", price_percent: 50, law: Law::Gdpr,
        carriers: &[("TIM", "222-01"), ("Vodafone", "222-10"), ("WINDTRE", "222-88")],
        cities: &[
            city_of("Milano", "25", "", "20121", (454_642, 91_900), 60),
            city_of("Roma", "62", "", "00184", (419_028, 124_964), 60),
        ],
    }),
    (28, Place {
        alpha3: "ESP", alpha2: "ES", language: "es", currency: "EUR", price_percent: 48, law: Law::Gdpr,
        carriers: &[("Movistar", "214-07"), ("Orange", "214-03"), ("Vodafone", "214-01")],
        cities: &[
            city_of("Madrid", "MD", "", "28001", (404_168, -37_038), 60),
            city_of("Barcelona", "CT", "", "08001", (413_851, 21_734), 60),
        ],
    }),
    (28, Place {
        alpha3: "AUS", alpha2: "AU", language: "en", currency: "USD", price_percent: 82, law: Law::None,
        carriers: &[("Telstra", "505-01"), ("Optus", "505-02")],
        cities: &[
            city_of("Sydney", "NSW", "", "2000", (-338_688, 1_512_093), 600),
            city_of("Melbourne", "VIC", "", "3000", (-378_136, 1_449_631), 600),
        ],
    }),
    (25, Place {
        alpha3: "MEX", alpha2: "MX", language: "es", currency: "USD", price_percent: 25, law: Law::None,
        carriers: &[("Telcel", "334-020"), ("AT&T", "334-050")],
        cities: &[
            city_of("Ciudad de México", "CMX", "", "06000", (194_326, -991_332), -360),
            city_of("Guadalajara", "JAL", "", "44100", (206_597, -1_033_496), -360),
        ],
    }),
    (20, Place {
        alpha3: "NLD", alpha2: "NL", language: "nl", currency: "EUR", price_percent: 75, law: Law::Gdpr,
        carriers: &[("KPN", "204-08"), ("Odido", "204-16")],
        cities: &[city_of("Amsterdam", "NH", "", "1012", (523_676, 49_041), 60)],
    }),
    (18, Place {
        alpha3: "POL", alpha2: "PL", language: "pl", currency: "EUR", price_percent: 30, law: Law::Gdpr,
        carriers: &[("Play", "260-06"), ("Orange", "260-03")],
        cities: &[
            city_of("Warszawa", "14", "", "00-001", (522_297, 210_122), 60),
            city_of("Kraków", "12", "", "30-001", (500_647, 199_450), 60),
        ],
    }),
    (17, Place {
        alpha3: "IDN", alpha2: "ID", language: "id", currency: "USD", price_percent: 12, law: Law::None,
        carriers: &[("Telkomsel", "510-10"), ("XL Axiata", "510-11")],
        cities: &[city_of("Jakarta", "JK", "", "10110", (-62_088, 1_068_456), 420)],
    }),
    (12, Place {
        alpha3: "TUR", alpha2: "TR", language: "tr", currency: "USD", price_percent: 14, law: Law::None,
        carriers: &[("Turkcell", "286-01"), ("Vodafone TR", "286-02")],
        cities: &[city_of("İstanbul", "34", "", "34000", (410_082, 289_784), 180)],
    }),
    (11, Place {
        alpha3: "SWE", alpha2: "SE", language: "sv", currency: "EUR", price_percent: 78, law: Law::Gdpr,
        carriers: &[("Telia", "240-01"), ("Tele2", "240-07")],
        cities: &[
            city_of("Stockholm", "AB", "", "111 20", (593_293, 180_686), 60),
            city_of("Göteborg", "O", "", "411 03", (577_089, 119_746), 60),
        ],
    }),
    (10, Place {
        alpha3: "KOR", alpha2: "KR", language: "ko", currency: "USD", price_percent: 45, law: Law::None,
        carriers: &[("SK Telecom", "450-05"), ("KT", "450-08")],
        cities: &[city_of("서울", "11", "", "04524", (375_665, 1_269_780), 540)],
    }),
    (8, Place {
        alpha3: "ARG", alpha2: "AR", language: "es", currency: "USD", price_percent: 16, law: Law::None,
        carriers: &[("Claro", "722-310"), ("Personal", "722-341")],
        cities: &[city_of("Buenos Aires", "C", "", "C1002", (-346_037, -583_816), -180)],
    }),
    (7, Place {
        alpha3: "ZAF", alpha2: "ZA", language: "en", currency: "USD", price_percent: 20, law: Law::None,
        carriers: &[("Vodacom", "655-01"), ("MTN", "655-10")],
        cities: &[city_of("Johannesburg", "GP", "", "2001", (-262_041, 280_473), 120)],
    }),
    (6, Place {
        alpha3: "PHL", alpha2: "PH", language: "en", currency: "USD", price_percent: 10, law: Law::None,
        carriers: &[("Globe", "515-02"), ("Smart", "515-03")],
        cities: &[city_of("Manila", "00", "", "1000", (145_995, 1_209_842), 480)],
    }),
    (6, Place {
        alpha3: "BEL", alpha2: "BE", language: "nl", currency: "EUR", price_percent: 62, law: Law::Gdpr,
        carriers: &[("Proximus", "206-01"), ("Orange", "206-10")],
        cities: &[city_of("Bruxelles", "BRU", "", "1000", (508_503, 43_517), 60)],
    }),
    (5, Place {
        alpha3: "CHE", alpha2: "CH", language: "de", currency: "EUR", price_percent: 95, law: Law::None,
        carriers: &[("Swisscom", "228-01"), ("Sunrise", "228-02")],
        cities: &[city_of("Zürich", "ZH", "", "8001", (473_769, 85_417), 60)],
    }),
    (4, Place {
        alpha3: "NGA", alpha2: "NG", language: "en", currency: "USD", price_percent: 8, law: Law::None,
        carriers: &[("MTN", "621-30"), ("Glo", "621-50")],
        cities: &[city_of("Lagos", "LA", "", "100001", (65_244, 33_792), 60)],
    }),
    (3, Place {
        alpha3: "NZL", alpha2: "NZ", language: "en", currency: "USD", price_percent: 70, law: Law::None,
        carriers: &[("Spark", "530-05"), ("One NZ", "530-01")],
        cities: &[city_of("Auckland", "AUK", "", "1010", (-368_485, 1_747_633), 720)],
    }),
];
