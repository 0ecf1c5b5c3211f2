//! Tests that time grows in proportion to a text's length, whatever the text repeats.

use std::time::Duration;

use prosescope_redact::{Exact, Rules, SecretNames, rules, shape};
use prosescope_test_support::work::{pace, spent};

/// Scans a text and checks the processor time; the limits suit a test build.
fn check(what: &str, rules: &Rules, text: &str, limit: Duration) {
    let (hits, spent) = spent(|| rules.scan(text, &mut SecretNames::new()));
    let limit = limit.mul_f64(pace());
    assert!(
        spent < limit,
        "{what}: {spent:?} of {limit:?} for {} bytes, {} hits",
        text.len(),
        hits.len()
    );
}

#[test]
fn ordinary_text_takes_no_more_than_a_second_a_megabyte() {
    let line = "- the token of line 12 of run 20260301-100000-abcdef: `docs/plan.md` says https://example.com/a?key=b and password rules\n";
    let text = line.repeat(1_000_000 / line.len());
    check("ordinary", &Rules::new(), &text, Duration::from_secs(1));
    let mut exact = Rules::new();
    for seed in 0..50 {
        exact
            .exact(Exact::secret("A", &shape::fill("{A:40}", seed)))
            .expect("it is long");
    }
    check("with values", &exact, &text, Duration::from_secs(2));
}

#[test]
fn what_is_repeated_over_and_over_takes_no_more_than_two_seconds_for_50_kb() {
    let all = Rules::new();
    let (_, begun) = spent(|| {
        all.scan(
            &rules()
                .flat_map(|rule| rule.examples().0)
                .collect::<String>(),
            &mut SecretNames::new(),
        )
    });
    assert!(
        begun < Duration::from_secs(5).mul_f64(pace()),
        "{begun:?} to compile all patterns"
    );
    let repeated = [
        "@",
        "://",
        ":AA",
        "/home/",
        "glpat-",
        "sk-",
        "eyJ",
        "password=",
        "token=\"",
        "token='\\\"",
        "-----BEGIN PRIVATE KEY-----\n",
        "PRIVATE KEY",
        "Private-Lines: 1000\n",
        "Cookie: a=",
        "authorization: ",
        "AZDO",
        "otpauth://totp/x:me",
        "machine a login ",
        "[x #1]",
        "A",
        "\n",
        "\\n",
        "é@é.",
    ];
    for text in repeated {
        check(
            text,
            &all,
            &text.repeat(50_000 / text.len()),
            Duration::from_secs(2),
        );
    }
}
