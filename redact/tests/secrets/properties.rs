//! Property tests over arbitrary texts: line breaks stay, a second scan finds nothing, no byte of a secret remains.

use proptest::prelude::*;
use prosescope_redact::{
    Exact, Remains, Rules, SecretNames, Variable, hints, replace, surroundings, variables,
};
use prosescope_test_support::chance;

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

/// Encodes base64 independently of the crate, so that a fault of the crate's encoder cannot hide.
pub(crate) fn base64(bytes: &[u8]) -> String {
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
    #![proptest_config(chance::cases(150, 26))]

    #[test]
    fn replacing_keeps_lines_is_stable_and_leaves_no_secret(text in text(), value in "[a-zA-Z0-9 /+\"é]{8,30}") {
        let mut rules = Rules::new();
        let exact = rules.exact(Exact::secret("VALUE", &value)).is_ok();
        let text = format!("{text} {value}\n{value}");
        let mut names = SecretNames::new();
        let hits = rules.scan(&text, &mut names);
        prop_assert!(hits.windows(2).all(|two| two[0].range.end <= two[1].range.start));
        let once = replace(&text, &hits);
        prop_assert_eq!(text.matches('\n').count(), once.matches('\n').count());
        let again = rules.scan_again("", &once, &mut names.clone());
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
        // Scans again as for a file, now with the values from the first scan in every form.
        rules.learn(&mut names);
        let learned = replace(&text, &rules.scan(&text, &mut names));
        prop_assert_eq!(text.matches('\n').count(), learned.matches('\n').count());
        let place = Remains::of(&names).search(learned.as_bytes());
        prop_assert!(place.is_none(), "{:?} in {}", place, learned);
    }

    #[test]
    fn any_text_is_scanned(text in "\\PC{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut names = SecretNames::new();
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
        let mut names = SecretNames::new();
        let hits = rules.scan(&text, &mut names);
        let remains = Remains::new([(value.as_str(), "VALUE #1".to_owned())].into_iter());
        prop_assert!(remains.search(text.as_bytes()).is_some(), "{text}");
        let redacted = replace(&text, &hits);
        prop_assert!(remains.search(redacted.as_bytes()).is_none(), "{redacted}");
        prop_assert!(redacted.starts_with(&before) && redacted.ends_with(&behind), "{redacted}");
    }
}
