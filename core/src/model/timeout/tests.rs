use super::*;

#[test]
fn durations_are_read_as_the_document_writes_them() {
    for (text, seconds) in [
        ("30s", 30),
        ("30m", 1800),
        ("4h", 14_400),
        ("7d", 604_800),
        ("2h30m", 9000),
        ("1d2h3m4s", 93_784),
        (" \t90m\n", 5400),
        ("\u{a0}1s\u{a0}", 1),
        ("0d1s", 1),
        ("007s", 7),
    ] {
        let timeout = Timeout::parse(text).unwrap();
        assert_eq!(timeout.seconds(), seconds, "{text:?}");
        assert_eq!(timeout.as_str(), text, "the original is kept");
    }
}

#[test]
fn errors_say_what_was_found_and_which_form_is_right() {
    for text in [
        "h", "-4h", "+4h", "4hm", "2h 30m", "2 h", "30", "1.5h", "4H", "2w", "4 hours", "4hours",
        "٣h", "2h2h", "30m2h",
    ] {
        let error = Timeout::parse(text).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "`{text}` is not of the form `30m`, `24h`, `7d` or `2h30m`: a whole number before each unit, the units in the order d, h, m, s"
            )
        );
    }
    let error = Timeout::parse("4\u{202e}h").unwrap_err().to_string();
    assert!(error.starts_with("`4\\u{202e}h` is not"), "{error}");
    for (text, message) in [
        (
            "",
            "the timeout is empty: write a number and a unit, such as `30s`, `4h`, or `2h30m`",
        ),
        (
            "  ",
            "the timeout is empty: write a number and a unit, such as `30s`, `4h`, or `2h30m`",
        ),
        ("0s", "`0s` is not a duration: the sum must be above zero"),
        (
            " 0h0m ",
            "`0h0m` is not a duration: the sum must be above zero",
        ),
        (
            "1h99999999999999999999s",
            "`1h99999999999999999999s` is too long: the deadline must be before the year 10000",
        ),
        (
            "9000000d",
            "`9000000d` is too long: the deadline must be before the year 10000",
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
            proptest::prop_assert!(timeout.seconds() > 0 && timeout.deadline(0).is_ok());
        }
    }

    #[test]
    fn whatever_is_written_by_the_grammar_is_read(d in 0..900_u64, h in 0..99_u64, m in 0..99_u64, s in 1..99_u64) {
        let timeout = Timeout::parse(&format!("{d}d{h}h{m}m{s}s")).unwrap();
        proptest::prop_assert_eq!(timeout.seconds(), d * 86_400 + h * 3_600 + m * 60 + s);
    }
}
