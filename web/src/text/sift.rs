//! What is typed to choose rows of a trace: words of the statement or its error, and `kind:loop`, `status:failed`, `>1m`.

use prosescope_core::session::pages::TraceChoice;

/// What is typed for a choice of rows; the order is none of it.
pub(crate) fn words(choice: &TraceChoice) -> String {
    let key = |key: &str, word: &str| match word {
        "" => String::new(),
        word => format!("{key}:{}", word.replace(' ', "-")),
    };
    let least = choice.at_least_ms.map_or_else(String::new, longer);
    let parts = [
        key("kind", &choice.kind),
        key("status", &choice.status),
        least,
        choice.text.clone(),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" ")
}

/// The choice that typed words mean, in the order of the one before.
pub(crate) fn choice(typed: &str, before: &TraceChoice) -> TraceChoice {
    let mut choice = TraceChoice {
        order: before.order,
        ..TraceChoice::default()
    };
    let mut text: Vec<&str> = Vec::new();
    for word in typed.split_whitespace() {
        let least = word.strip_prefix('>').and_then(millis);
        match word.split_once(':') {
            Some(("kind", kind)) if !kind.is_empty() => choice.kind = kind.to_lowercase(),
            Some(("status", status)) if !status.is_empty() => {
                choice.status = status.to_lowercase().replace('-', " ");
            }
            _ if least.is_some() => choice.at_least_ms = least,
            _ => text.push(word),
        }
    }
    choice.text = text.join(" ");
    choice
}

/// Units of time, the longest first, in milliseconds.
const UNITS: [(&str, i64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

fn millis(length: &str) -> Option<i64> {
    let digits = length.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = length.split_at(digits);
    let (_, of) = UNITS.iter().find(|(name, _)| *name == unit)?;
    number.parse::<i64>().ok()?.checked_mul(*of)
}

fn longer(millis: i64) -> String {
    let whole = UNITS
        .iter()
        .find(|(_, of)| millis % of == 0 && millis >= *of);
    let (unit, of) = whole.unwrap_or(&("ms", 1));
    format!(">{}{unit}", millis / of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_comes_back_as_it_was_meant() {
        let typed = "kind:loop status:was-executing >90s torque table";
        let chosen = choice(typed, &TraceChoice::default());
        assert_eq!(chosen.kind, "loop");
        assert_eq!(chosen.status, "was executing");
        assert_eq!(chosen.at_least_ms, Some(90_000));
        assert_eq!(chosen.text, "torque table");
        assert_eq!(words(&chosen), typed);
        assert_eq!(choice(&words(&chosen), &chosen), chosen);
        assert_eq!(longer(3_600_000), ">1h");
    }

    #[test]
    fn what_only_looks_like_a_key_is_looked_for() {
        let chosen = choice(
            "a:b >x kind: 99999999999999999999d",
            &TraceChoice::default(),
        );
        assert_eq!(chosen.text, "a:b >x kind: 99999999999999999999d");
        assert_eq!((chosen.kind.as_str(), chosen.at_least_ms), ("", None));
    }
}
