//! The rates file: one JSON object, `{"EUR": 1.08}`; base units for one unit of the other currency.

use std::path::Path;

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged;
use openrtb::{Currency, Micros};

use crate::fault::{self, Faults, Sink};
use crate::json::{Entry, Piece};

/// The longest rates file, in bytes.
pub const RATES_FILE_BYTES_MAX: u64 = 1 << 20;

const ALLOWED_RATE: &str = "a decimal above 0 with at most 6 decimals";

/// Reads the rates of a file.
///
/// # Errors
/// Every fault of the file, with its place.
pub fn read(file: &Path) -> Result<Vec<(Currency, Micros)>, Faults> {
    parse(file, &fault::read(file, RATES_FILE_BYTES_MAX)?)
}

/// Reads rates from text; `file` is for the faults.
///
/// # Errors
/// As [`read`].
pub fn parse(file: &Path, text: &str) -> Result<Vec<(Currency, Micros)>, Faults> {
    let sink = Sink::default();
    let rates = read_rates(&Entry::new(Piece::whole(text), &sink));
    sink.finish(file, rates)
}

fn read_rates(entry: &Entry<'_>) -> Vec<(Currency, Micros)> {
    let value = match entry.parse() {
        Some(Value::Object(object)) => object,
        Some(other) => {
            let problem = format!("is {}", entry.written(&other));
            entry.fault(other.start(), "", problem, "an object of currency and rate");
            return Vec::new();
        }
        None => return Vec::new(),
    };
    let mut rates: Vec<(Currency, Micros)> = Vec::with_capacity(value.properties.len());
    for property in &value.properties {
        let Some((currency, rate)) = read_rate(entry, property) else {
            continue;
        };
        if rates.iter().any(|(known, _)| *known == currency) {
            let problem = "is given twice".to_owned();
            entry.fault(
                property.start(),
                currency.code(),
                problem,
                "each currency once",
            );
        }
        rates.push((currency, rate));
    }
    rates
}

fn read_rate(entry: &Entry<'_>, property: &ObjectProp<'_>) -> Option<(Currency, Micros)> {
    let key = property.name.as_str();
    let currency = Currency::parse(key);
    if currency.is_none() {
        let problem = "is no currency".to_owned();
        entry.fault(property.start(), key, problem, "three letters of ISO 4217");
    }
    let number = property.value.as_number_lit();
    let rate = number
        .and_then(|number| Micros::parse(number.value).ok())
        .filter(|rate| *rate > Micros::ZERO);
    if rate.is_none() {
        let problem = format!("is {}", entry.written(&property.value));
        entry.fault(property.value.start(), key, problem, ALLOWED_RATE);
    }
    Some((currency?, rate?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let got = match parse(Path::new("rates.json"), text) {
            Ok(rates) => format!("{rates:?}"),
            Err(faults) => faults.to_string(),
        };
        assert_eq!(got, expect, "{text}");
    }

    #[test]
    fn rates_are_exact_decimals() {
        check("{}", "[]");
        check(
            r#"{"EUR": 1.08, "jpy": 0.0064}"#,
            "[(EUR, Micros(1080000)), (JPY, Micros(6400))]",
        );
    }

    #[test]
    fn every_fault_is_told_with_its_place() {
        check(
            "{\"EUR\": 1.0000001,\n \"Euro\": 1, \"GBP\": 0,\n \"CHF\": \"1\", \"chf\": -1, \"JPY\": 1, \"jpy\": 2}",
            "rates.json:1:9: EUR is 1.0000001; allowed: a decimal above 0 with at most 6 decimals\n\
             rates.json:2:2: Euro is no currency; allowed: three letters of ISO 4217\n\
             rates.json:2:20: GBP is 0; allowed: a decimal above 0 with at most 6 decimals\n\
             rates.json:3:9: CHF is \"1\"; allowed: a decimal above 0 with at most 6 decimals\n\
             rates.json:3:21: chf is -1; allowed: a decimal above 0 with at most 6 decimals\n\
             rates.json:3:35: JPY is given twice; allowed: each currency once",
        );
        check(
            "[1]",
            "rates.json:1:1: is [1]; allowed: an object of currency and rate",
        );
        check("{", "rates.json:1:1: not JSON: Unterminated object");
        check(
            "",
            "rates.json:1:1: a value is missing; allowed: a JSON value",
        );
        check(
            "{\"EUR\": 1,}",
            "rates.json:1:10: not JSON: Trailing commas are not allowed",
        );
    }
}
