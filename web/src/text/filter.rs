//! Parses the filter that a user types on the trace page. A filter contains words of a statement or its error, and
//! conditions such as `kind:loop`, `status:failed` or `>1m`.

use prosescope_core::model::timeout::Timeout;
use prosescope_core::pages::session::pages::TraceChoice;

/// Writes a filter as text, so that parsing the text returns the same filter. The order of rows is not part of the
/// text.
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

/// Parses a typed filter. The order of rows, which is not typed, is copied from `before`.
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

/// Parses a duration as on the command line: `90s`, `1h30m`.
fn millis(length: &str) -> Option<i64> {
    let seconds = Timeout::parse(length).ok()?.seconds();
    i64::try_from(seconds).ok()?.checked_mul(1_000)
}

fn longer(millis: i64) -> String {
    const UNITS: [(&str, i64); 3] = [("d", 86_400), ("h", 3_600), ("m", 60)];
    let seconds = millis.div_euclid(1_000);
    let whole = UNITS
        .iter()
        .find(|(_, of)| seconds > 0 && seconds % of == 0);
    let (unit, of) = whole.unwrap_or(&("s", 1));
    format!(">{}{unit}", seconds / of)
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
        let both = choice(">1h30m", &TraceChoice::default());
        assert_eq!(both.at_least_ms, Some(5_400_000));
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
