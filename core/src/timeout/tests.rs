use super::*;

#[test]
fn durations_are_read_as_the_document_writes_them() {
    for (text, seconds, modifiers) in [
        ("30s", 30, &["+30 seconds"][..]),
        ("30m", 1800, &["+30 minutes"]),
        ("4h", 14_400, &["+4 hours"]),
        ("7d", 604_800, &["+7 days"]),
        // Each unit is a modifier of its own (errata G12).
        ("2h30m", 9000, &["+2 hours", "+30 minutes"]),
        (
            "1d2h3m4s",
            93_784,
            &["+1 days", "+2 hours", "+3 minutes", "+4 seconds"],
        ),
        (" \t90m\n", 5400, &["+90 minutes"]),
        ("\u{a0}1s\u{a0}", 1, &["+1 seconds"]),
        ("0d1s", 1, &["+1 seconds"]),
        ("007s", 7, &["+7 seconds"]),
    ] {
        let timeout = Timeout::parse(text).unwrap();
        assert_eq!(timeout.seconds(), seconds, "{text:?}");
        assert_eq!(timeout.sqlite_modifiers(), modifiers, "{text:?}");
        assert_eq!(timeout.as_str(), text, "the original is kept");
    }
}

#[test]
fn errors_point_at_the_character_and_say_what_was_expected() {
    for (text, message) in [
        (
            "",
            "the timeout is empty: write a number and a unit, such as `30s`, `4h`, or `2h30m`",
        ),
        (
            "  ",
            "the timeout is empty: write a number and a unit, such as `30s`, `4h`, or `2h30m`",
        ),
        ("h", "`h` at character 1: expected a whole number"),
        (
            "-4h",
            "`-` at character 1: expected a whole number (no sign)",
        ),
        (
            "+4h",
            "`+` at character 1: expected a whole number (no sign)",
        ),
        ("4hm", "`m` at character 3: expected a whole number"),
        (
            "2h 30m",
            "a blank at character 3: expected a whole number (no blanks inside)",
        ),
        (
            "  2 h",
            "a blank at character 4: expected a unit after `2`: d, h, m or s (no blanks inside)",
        ),
        (
            "30",
            "the end at character 3: expected a unit after `30`: d, h, m or s",
        ),
        (
            "1.5h",
            "`.` at character 2: expected a unit after `1`: d, h, m or s (no fractions: `1h30m`, not `1.5h`)",
        ),
        (
            "4H",
            "`H` at character 2: expected a unit after `4`: d, h, m or s (in small letters)",
        ),
        (
            "2w",
            "`w` at character 2: expected a unit after `2`: d, h, m or s (a week is `7d`)",
        ),
        (
            "4 hours",
            "a blank at character 2: expected a unit after `4`: d, h, m or s (no blanks inside)",
        ),
        ("4hours", "`o` at character 3: expected a whole number"),
        (
            "4\u{202e}h",
            "`\\u{202e}` at character 2: expected a unit after `4`: d, h, m or s",
        ),
        ("٣h", "`٣` at character 1: expected a whole number"),
        (
            "2h2h",
            "`h` at character 4 is repeated: give each unit once",
        ),
        (
            "30m2h",
            "`h` at character 5 comes after a smaller unit: write the largest first (d, h, m, s)",
        ),
        ("0s", "`0s` is not a duration: the sum must be above zero"),
        (
            " 0h0m ",
            "`0h0m` is not a duration: the sum must be above zero",
        ),
        (
            "1h99999999999999999999s",
            "the number at character 3 is too large: the deadline must be before the year 10000",
        ),
        (
            "9000000d",
            "the number at character 1 is too large: the deadline must be before the year 10000",
        ),
    ] {
        let error = Timeout::parse(text).unwrap_err();
        assert_eq!(error.to_string(), message, "{text:?}");
    }
}

#[test]
fn deadlines_end_before_the_year_10000() {
    let second = Timeout::parse("1s").unwrap();
    assert_eq!(second.deadline(1_500), Ok(2_500));
    assert_eq!(
        second.deadline(END_OF_TIME_MS - 1_001),
        Ok(END_OF_TIME_MS - 1)
    );
    for from in [END_OF_TIME_MS - 1_000, i64::MAX] {
        let error = second.deadline(from).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`1s` from now is beyond the year 9999, where no deadline can be kept: give a shorter timeout"
        );
    }
    let last = chrono::DateTime::from_timestamp_millis(END_OF_TIME_MS - 1).unwrap();
    assert_eq!(last.to_rfc3339(), "9999-12-31T23:59:59.999+00:00");
}

/// Errata G12: SQLite accepts one modifier for each unit, but not several units in one modifier.
#[test]
fn sqlite_comes_to_the_same_deadline_g12() {
    let db = rusqlite::Connection::open_in_memory().unwrap();
    let at = |modifiers: &str| -> Option<i64> {
        let sql = format!("SELECT unixepoch(datetime(0, 'unixepoch', {modifiers}))");
        db.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    for text in ["30s", "2h30m", "1d2h3m4s", "0d5m"] {
        let timeout = Timeout::parse(text).unwrap();
        let quoted: Vec<_> = timeout
            .sqlite_modifiers()
            .iter()
            .map(|modifier| format!("'{modifier}'"))
            .collect();
        let deadline = timeout.deadline(0).unwrap() / 1000;
        assert_eq!(at(&quoted.join(", ")), Some(deadline), "{text}");
    }
    assert_eq!(at("'+2 hours +30 minutes'"), None);
}

#[test]
fn time_left_reads_like_speech() {
    for (deadline, now, text) in [
        (11_520_000, 0, "expires in 3h 12m"),
        (0, 300_000, "expired 5m ago"),
        (5, 5, "expires now"),
        (500, 0, "expires in 500ms"),
        (i64::MAX, i64::MIN, "expires in 106751991167d 7h"),
        (i64::MIN, i64::MAX, "expired 106751991167d 7h ago"),
    ] {
        assert_eq!(expires_in(deadline, now), text);
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn any_text_is_read_or_refused(text in "[0-9dhms .]{0,12}") {
        if let Ok(timeout) = Timeout::parse(&text) {
            // The modifiers must add up to the parsed seconds.
            let unit = |modifier: &String| {
                let (count, word) = modifier[1..].split_once(' ').unwrap();
                let (.., length, _) = UNITS.iter().map(|(a, b, c)| (a, *b, c))
                    .find(|(.., name)| **name == word).unwrap();
                count.parse::<u64>().unwrap() * length
            };
            let sum: u64 = timeout.sqlite_modifiers().iter().map(unit).sum();
            proptest::prop_assert_eq!(sum, timeout.seconds());
            proptest::prop_assert!(sum > 0 && timeout.deadline(0).is_ok());
        }
    }

    #[test]
    fn whatever_is_written_by_the_grammar_is_read(d in 0..900_u64, h in 0..99_u64, m in 0..99_u64, s in 1..99_u64) {
        let timeout = Timeout::parse(&format!("{d}d{h}h{m}m{s}s")).unwrap();
        proptest::prop_assert_eq!(timeout.seconds(), d * 86_400 + h * 3_600 + m * 60 + s);
    }
}
