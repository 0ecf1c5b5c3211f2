//! Tests of names, exceptions, exact values, patterns and hints.

use prosescope_redact::{
    Exact, Remains, RuleKind, Rules, SecretNames, hints, replace, shape, variables,
};

use crate::properties::base64;

#[test]
fn wide_characters_are_searched_for_in_both_orders() {
    let secret = shape::fill("{A:20}", 3);
    let remains = Remains::new([(secret.as_str(), "x #1".to_owned())].into_iter());
    for bytes in [
        secret
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect::<Vec<_>>(),
        secret.encode_utf16().flat_map(u16::to_be_bytes).collect(),
    ] {
        let file = [b"\0\x01begin".as_slice(), &bytes, b"end"].concat();
        let place = remains.search(&file).expect("it is there");
        assert_eq!(
            (place.range, place.form, place.name.as_str()),
            (7..47, "UTF-16", "x #1")
        );
    }
}

#[test]
fn a_block_keeps_its_lines_and_their_indentation() {
    let text = shape::fill(
        "key: |\n  -----BEGIN RSA PRIVATE KEY-----\r\n  {b:64}\r\n  {b:64}\r\n  -----END RSA PRIVATE KEY-----\nnext: 1\n",
        1,
    );
    let redacted = replace(&text, &Rules::new().scan(&text, &mut SecretNames::new()));
    assert_eq!(
        redacted,
        "key: |\n  [private-key #1]\r\n  \r\n  \r\n  \nnext: 1\n"
    );
}

#[test]
fn equal_secrets_have_equal_names_in_all_texts_of_a_file() {
    let (one, other) = (shape::fill("ghp_{A:36}", 1), shape::fill("ghp_{A:36}", 2));
    let (rules, mut names) = (Rules::new(), SecretNames::new());
    let mut redacted = |text: String| replace(&text, &rules.scan(&text, &mut names));
    assert_eq!(
        redacted(format!("{one} {other} {one}")),
        "[github-token #1] [github-token #2] [github-token #1]"
    );
    assert_eq!(
        redacted(format!("TOKEN={other}")),
        "TOKEN=[github-token #2]"
    );
    assert_eq!(
        names.counts().into_iter().collect::<Vec<_>>(),
        [("github-token", 2)]
    );
    assert!(!format!("{names:?}").contains(&one));
}

#[test]
fn what_is_kept_stays_and_the_others_keep_their_names() {
    let (one, other) = (shape::fill("ghp_{A:36}", 1), shape::fill("ghp_{A:36}", 2));
    let text = format!("{one} {other}");
    let mut rules = Rules::new();
    rules.keep_name("[github-token #1]");
    let mut names = SecretNames::new();
    let redacted = replace(&text, &rules.scan(&text, &mut names));
    assert_eq!(redacted, format!("{one} [github-token #2]"));
    assert!(
        Remains::of(&names).search(redacted.as_bytes()).is_none(),
        "what is kept is not searched for"
    );
    let mut rules = Rules::new();
    rules.keep_secret(&other);
    assert_eq!(
        replace(&text, &rules.scan(&text, &mut SecretNames::new())),
        format!("[github-token #1] {other}")
    );
    let mut rules = Rules::new();
    rules.keep_place("github-token", "here");
    let mut names = SecretNames::new();
    assert_eq!(rules.scan_at("there", &text, &mut names).len(), 2);
    assert_eq!(
        Remains::of(&names)
            .search(one.as_bytes())
            .map(|place| place.name)
            .as_deref(),
        Some("github-token #1")
    );
    assert!(rules.scan_at("here", &one, &mut names).is_empty());
    assert_eq!(Remains::of(&names).search(one.as_bytes()), None);
    let mut rules = Rules::new();
    assert!(rules.without_rule("github-token") && !rules.without_rule("no-rule"));
    assert!(rules.scan(&text, &mut SecretNames::new()).is_empty());
}

#[test]
fn what_one_text_shows_by_its_form_is_found_encoded_in_another() {
    let token = shape::fill("ghp_{A:36}", 1);
    let (mut rules, mut names) = (Rules::new(), SecretNames::new());
    rules.scan(&token, &mut names);
    let text = format!("payload: {}", base64(format!("x:{token}").as_bytes()));
    assert!(Remains::of(&names).search(text.as_bytes()).is_some());
    rules.learn(&mut names);
    let redacted = replace(&text, &rules.scan(&text, &mut names));
    assert!(Remains::of(&names).search(redacted.as_bytes()).is_none());
    assert!(redacted.contains("[github-token #1]"), "{redacted}");
}

#[test]
fn a_pattern_is_limited_and_a_short_text_is_taken_where_it_was_asked_for() {
    let mut rules = Rules::new();
    assert!(
        rules
            .asked("/(a{1000}){1000}/")
            .is_err_and(|e| e.to_string().contains("too large"))
    );
    assert!(
        rules
            .asked("/(/")
            .is_err_and(|e| e.to_string().contains("not a regular expression"))
    );
    assert!(
        rules
            .asked("/x*/")
            .is_err_and(|e| e.to_string().contains("empty text"))
    );
    assert!(rules.exact(Exact::secret("USER", "mm")).is_err());
    rules.asked("/Project [A-Z][a-z]+/").expect("a pattern");
    rules.asked("mm").expect("a short text");
    let text = "mm works on Project Kestrel; Project Kestrel is late: 6d6d, m\nm";
    let redacted = replace(text, &rules.scan(text, &mut SecretNames::new()));
    assert_eq!(
        redacted,
        "[asked #1] works on [asked #2]; [asked #2] is late: 6d6d, m\nm"
    );
}

#[test]
fn a_name_of_a_person_is_replaced_as_a_word() {
    let mut rules = Rules::new();
    rules
        .exact(Exact::personal("user", "mira").asked())
        .expect("it was asked for");
    let text = "mira admires miracles; -mira- /home/mira/x";
    let redacted = replace(text, &rules.scan(text, &mut SecretNames::new()));
    assert_eq!(
        redacted,
        "[user #1] admires miracles; -[user #1]- [home #1]/x"
    );
}

#[test]
fn the_name_in_an_address_is_replaced_where_it_stands_alone() {
    let (mut rules, mut names) = (Rules::new(), SecretNames::new());
    let (mail, call) = (
        "Ask anna.meier@firma.ch, or alice in /home/alice/x.",
        "Call Anna Meier.",
    );
    rules.scan(mail, &mut names);
    rules.learn(&mut names);
    let mut redacted = |text| replace(text, &rules.scan(text, &mut names));
    assert_eq!(redacted(mail), "Ask [email #1], or alice in [home #1]/x.");
    assert_eq!(redacted(call), "Call [person #1].");
    let (mut rules, mut names) = (Rules::new().without(RuleKind::Personal), SecretNames::new());
    rules.scan(mail, &mut names);
    rules.learn(&mut names);
    assert_eq!(replace(call, &rules.scan(call, &mut names)), call);
}

#[test]
fn variables_of_an_env_file_are_read() {
    let text = "# c\nexport A_TOKEN=\"va lue\" # c\nB='x y' \nC=plain # c\nNODE_ENV=production\nKEY=\"one\ntwo\"\n\nD=\n";
    let read = variables(text);
    let read: Vec<_> = read
        .iter()
        .map(|v| (v.name.as_str(), v.value.as_str(), v.is_secret()))
        .collect();
    assert_eq!(
        read,
        [
            ("A_TOKEN", "va lue", true),
            ("B", "x y", false),
            ("C", "plain", false),
            ("NODE_ENV", "production", false),
            ("KEY", "one\ntwo", true)
        ]
    );
}

#[test]
fn hints_are_random_and_no_ids() {
    let text = shape::fill(
        "a {A:40} b {h:40} {uuid:1} 2026-01-01T00:00:00Z the-name-of-a-long-branch-or-file TheNameOfAVeryLongClassName {d:30}",
        1,
    );
    let found = hints(&text, &[], 10);
    assert_eq!((found.len(), &found[0]), (1, &(2..42)));
}

#[test]
fn a_text_that_looks_like_a_mark_switches_nothing_off() {
    let token = shape::fill("ghp_{A:36}", 1);
    let password = shape::fill("{A:12}", 2);
    let text = format!(
        "[{token} #1]\nDB_PASSPHRASE=\"aaa[x #1]{password}\"\nearlier: [github-token #1], [x #2b]\nTOKEN=[github-token #1]\n"
    );
    let (mut rules, mut names) = (Rules::new(), SecretNames::new());
    rules.scan(&text, &mut names);
    rules.learn(&mut names);
    let redacted = replace(&text, &rules.scan(&text, &mut names));
    // The letter is the first that no text has behind such a number.
    assert_eq!(
        redacted,
        "[[github-token #1c] #1]\nDB_PASSPHRASE=\"[secret #1c]\"\nearlier: [github-token #1], [x #2b]\nTOKEN=[github-token #1]\n"
    );
    assert_eq!(rules.scan(&redacted, &mut names), []);
    // What is in a mark of this file is not searched for; what is in a text like it is.
    let forged = redacted.replace("#1c]\"", &format!("#1c] [{password} #1]\""));
    let remains = Remains::new([(password.as_str(), "x #1".to_owned())].into_iter());
    assert!(remains.search(forged.as_bytes()).is_some());
    // Another share of the copy replaces nothing.
    assert_eq!(Rules::new().scan(&redacted, &mut SecretNames::new()), []);
}

/// Checks that rules find what stands nowhere in plain text.
#[test]
fn a_secret_is_found_in_whatever_a_text_encodes() {
    let token = shape::fill("ghp_{A:36}", 1);
    let (head, tail) = token.split_at(20);
    let hex = |text: &str| text.bytes().map(|b| format!("{b:02x}")).collect::<String>();
    for (text, rest) in [
        (format!("a \x1b[31m{head}\x1b[0m{tail} b"), "a \x1b[31m@ b"),
        (format!("a {head}\\u001b[1m{tail} b"), "a @ b"),
        (format!("?t={}&x=1", token.replace('_', "%5F")), "?t=@&x=1"),
        (format!("\"\\u0067{}\"", &token[1..]), "\"@\""),
        (format!("x={} y", hex(&token)), "x=@ y"),
        (
            format!(
                "data: {}",
                base64(format!("{{\"k\": \"{token}\"}}").as_bytes())
            ),
            "data: @",
        ),
        (format!("pass%77ord=%22{head}%22"), "pass%77ord=%22@%22"),
    ] {
        let redacted = replace(&text, &Rules::new().scan(&text, &mut SecretNames::new()));
        let (before, behind) = rest.split_once('@').expect("a place");
        let middle = redacted
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(behind));
        let middle = middle.unwrap_or_else(|| panic!("{redacted:?} for {text:?}"));
        assert!(middle.contains(" #1]") && middle.len() < 50, "{redacted:?}");
    }
}
