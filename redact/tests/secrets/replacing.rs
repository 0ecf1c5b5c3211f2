//! What holds of every text: lines stay, a second scan finds nothing, no byte of a secret remains.

use proptest::prelude::*;
use prosescope_redact::{
    Exact, Names, Remains, Rules, Variable, hints, replace, shape, surroundings, variables,
};

use crate::planted;

fn encoded(secret: &str, how: usize) -> String {
    let bytes = secret.as_bytes();
    match how {
        0 => secret.to_owned(),
        1 => base64(bytes),
        2 => base64(&[b"x", bytes].concat()),
        3 => base64(&[b"xy", bytes, b"tail"].concat()),
        4 => bytes.iter().map(|b| format!("%{b:02X}")).collect(),
        5 => secret
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect(),
        6 => serde(secret),
        7 => split(secret, "\n    "),
        8 => split(&base64(bytes), "\r\n"),
        _ => split(secret, "\\n"),
    }
}

fn serde(secret: &str) -> String {
    secret
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\t', "\\t")
}

fn split(text: &str, by: &str) -> String {
    let at = text
        .char_indices()
        .nth(text.chars().count() / 2)
        .map_or(0, |(at, _)| at);
    format!("{}{by}{}", &text[..at], &text[at..])
}

/// Base64 written anew, so that the crate's own is not measured by itself.
fn base64(bytes: &[u8]) -> String {
    const OF: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let value = three
            .iter()
            .chain([0, 0].iter())
            .take(3)
            .fold(0usize, |sum, b| sum << 8 | usize::from(*b));
        for n in 0..4 {
            out.push(if n <= three.len() {
                OF[value >> (18 - 6 * n) & 63] as char
            } else {
                '='
            });
        }
    }
    out
}

fn piece() -> impl Strategy<Value = String> {
    let kinds: Vec<_> = planted::kinds().collect();
    let secret = (0..kinds.len(), 0..3u64)
        .prop_map(move |(kind, seed)| planted::plant(kinds[kind], seed).text);
    let words = prop::sample::select(vec![
        "the ",
        "\n",
        "\r\n",
        "  ",
        "\"",
        "'",
        ": ",
        "=",
        "password",
        "TOKEN=",
        "é",
        "[",
        "]",
        " #1]",
        "[github-token #1]",
        "Bearer ",
        "://",
        "@",
        "\\n",
        "%3D",
        "-----BEGIN PRIVATE KEY-----",
        "eyJ",
        "/home/",
        "x",
        "0",
        "{",
        "}",
        ",",
        "Cookie: ",
        "日本",
    ]);
    prop_oneof![2 => secret, 5 => words.prop_map(str::to_owned), 1 => "\\PC{0,12}"]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn replacing_keeps_lines_is_stable_and_leaves_no_secret(text in text(), value in "[a-zA-Z0-9 /+\"é]{8,30}") {
        let mut rules = Rules::new();
        let exact = rules.exact(Exact::secret("VALUE", &value)).is_ok();
        let text = format!("{text} {value}\n{value}");
        let mut names = Names::new();
        let hits = rules.scan(&text, &mut names);
        prop_assert!(hits.windows(2).all(|two| two[0].range.end <= two[1].range.start));
        let once = replace(&text, &hits);
        prop_assert_eq!(text.matches('\n').count(), once.matches('\n').count());
        let again = rules.scan(&once, &mut names.clone());
        let twice = replace(&once, &again);
        prop_assert_eq!(&once, &twice, "{:?}", again);
        for index in 0..hits.len() {
            let (before, behind) = surroundings(&text, &hits, index, 30);
            for (secret, name) in names.replacements().filter(|(secret, _)| secret.len() >= 16) {
                prop_assert!(!before.contains(secret) && !behind.contains(secret), "{}", name);
            }
        }
        if exact {
            prop_assert!(!once.contains(value.trim()) || value.trim().len() < value.len());
        }
        let _ = hints(&text, &hits, 10);
    }

    #[test]
    fn any_text_is_scanned(text in "\\PC{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut names = Names::new();
        let hits = Rules::new().scan(&text, &mut names);
        let _ = replace(&text, &hits);
        let _ = replace(&String::from_utf8_lossy(&bytes), &hits);
        let _ = Remains::of(&names).search(&bytes);
        let _: Vec<Variable> = variables(&text);
    }

    #[test]
    fn an_exact_value_is_found_in_each_form(
        value in "[a-zA-Z0-9_\\-./+=!#%*é]{8,40}", how in 0..10usize, before in "[a-z ]{0,5}", behind in "[a-z ]{0,5}",
    ) {
        prop_assume!(!value.contains("\\n"));
        let mut rules = Rules::new();
        rules.exact(Exact::secret("VALUE", &value)).expect("it is long enough");
        let text = format!("{before} {} {behind}", encoded(&value, how));
        let mut names = Names::new();
        let hits = rules.scan(&text, &mut names);
        let remains = Remains::new([(value.as_str(), "VALUE #1".to_owned())].into_iter());
        prop_assert!(remains.search(text.as_bytes()).is_some(), "{text}");
        let redacted = replace(&text, &hits);
        prop_assert!(remains.search(redacted.as_bytes()).is_none(), "{redacted}");
        prop_assert!(redacted.starts_with(&before) && redacted.ends_with(&behind), "{redacted}");
    }
}

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
    let redacted = replace(&text, &Rules::new().scan(&text, &mut Names::new()));
    assert_eq!(
        redacted,
        "key: |\n  [private-key #1]\r\n  \r\n  \r\n  \nnext: 1\n"
    );
}

#[test]
fn equal_secrets_have_equal_names_in_all_texts_of_a_file() {
    let (one, other) = (shape::fill("ghp_{A:36}", 1), shape::fill("ghp_{A:36}", 2));
    let (rules, mut names) = (Rules::new(), Names::new());
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
    let mut names = Names::new();
    let redacted = replace(&text, &rules.scan(&text, &mut names));
    assert_eq!(redacted, format!("{one} [github-token #2]"));
    assert!(
        Remains::of(&names).search(redacted.as_bytes()).is_none(),
        "what is kept is not searched for"
    );
    let mut rules = Rules::new();
    rules.keep_secret(&other);
    assert_eq!(
        replace(&text, &rules.scan(&text, &mut Names::new())),
        format!("[github-token #1] {other}")
    );
    let mut rules = Rules::new();
    assert!(rules.without_rule("github-token") && !rules.without_rule("no-rule"));
    assert!(rules.scan(&text, &mut Names::new()).is_empty());
}

#[test]
fn what_one_text_shows_by_its_form_is_found_encoded_in_another() {
    let token = shape::fill("ghp_{A:36}", 1);
    let (mut rules, mut names) = (Rules::new(), Names::new());
    rules.scan(&token, &mut names);
    let text = format!("payload: {}", base64(format!("x:{token}").as_bytes()));
    assert!(Remains::of(&names).search(text.as_bytes()).is_some());
    rules.learn(&names);
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
    let text = "mm works on Project Kestrel; Project Kestrel is late";
    let redacted = replace(text, &rules.scan(text, &mut Names::new()));
    assert_eq!(
        redacted,
        "[asked #1] works on [asked #2]; [asked #2] is late"
    );
}

#[test]
fn a_name_of_a_person_is_replaced_as_a_word() {
    let mut rules = Rules::new();
    rules
        .exact(Exact::personal("user", "mira").asked())
        .expect("it was asked for");
    let text = "mira admires miracles; -mira- /home/mira/x";
    let redacted = replace(text, &rules.scan(text, &mut Names::new()));
    assert_eq!(
        redacted,
        "[user #1] admires miracles; -[user #1]- [home #1]/x"
    );
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
    assert_eq!(found, [2..42]);
}
