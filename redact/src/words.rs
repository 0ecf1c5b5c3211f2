//! Decides from a name, such as `DB_PASSWORD`, whether the value of that name is a secret. `words.toml` lists the words.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The lists of `words.toml`, which describes them, by their names.
pub(crate) static WORDS: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    // `build.rs` writes this file from `words.toml`.
    let text = include_str!(concat!(env!("OUT_DIR"), "/words.json"));
    serde_json::from_str(text).expect("the tests parse this file")
});

/// The kind of value that a name announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// A password, which can have any form.
    Password,
    /// A token, a key or a secret, which is random.
    Token,
    /// Perhaps a key, as `OPENAI_KEY`, but also the name of many ids: the value must be long and random.
    Key,
    /// Perhaps a password: `pass` alone, which also counts tests.
    Pass,
    /// A PIN or another code of a few digits or groups.
    Code,
}

/// Returns whether a name, such as that of an environment variable, is one for secrets: `GITHUB_TOKEN`, `dbPassword`,
/// `api-key`, `OPENAI_KEY`.
pub fn names_secret(name: &str) -> bool {
    says(name).is_some_and(|says| !matches!(says, Says::Pass | Says::Code) || name.contains('_'))
}

/// Returns the kind of value that the last words of a name announce; `None` if they do not announce a secret.
pub(crate) fn says(name: &str) -> Option<Says> {
    let lower = name.to_lowercase();
    if ending("foreign", &lower).is_some() {
        return Some(Says::Password);
    }
    let shout = name.bytes().all(|b| !b.is_ascii_lowercase());
    let words = words(name);
    let mut last: Vec<&str> = words.iter().map(String::as_str).collect();
    // Ignores the suffixes of names such as `TOKEN_2`, `api_key_prod`, `PASSWORD_OLD`.
    while let [_, .., word] = last[..]
        && (word.bytes().all(|b| b.is_ascii_digit()) || has("suffix", word))
    {
        last.pop();
    }
    let (word, before) = last.split_last()?;
    let word = &word.trim_end_matches(|c: char| c.is_ascii_digit());
    let prior = before.last().copied().unwrap_or_default();
    // The part before a known end is a word of its own, as `next` in `nexttoken`.
    let ends = |list: &str| {
        ending(list, word).is_some_and(|prior| {
            (prior.len() > 1 || prior == "d")
                && !has("harmless_token", prior)
                && !has("harmless_pass", prior)
        })
    };
    match *word {
        "pass" if before.is_empty() => Some(Says::Pass),
        word if word == "pass" || has("password", word) => {
            (!has("harmless_pass", prior)).then_some(Says::Password)
        }
        "secret" | "token" if has("harmless_token", prior) => None,
        "token" if before.contains(&"public") => None,
        "pin" | "puk" | "otp" => (!has("harmless_pin", prior)).then_some(Says::Code),
        "code" | "codes" if has("secret_code", prior) => Some(Says::Code),
        word if has("token", word) => Some(Says::Token),
        _ if ends("password_end") => Some(Says::Password),
        _ if ends("token_end") => Some(Says::Token),
        word if !before.is_empty() && has("token_after", word) => Some(Says::Token),
        "key" | "keys" | "pem" if has("secret_key", prior) => Some(Says::Token),
        "key" if shout && !before.is_empty() && !has("harmless_key", prior) => Some(Says::Key),
        "auth" if shout && before.len() == 1 => Some(Says::Key),
        "data" if prior == "key" && before.len() >= 2 => Some(Says::Token),
        "signature" if prior == "webhook" => Some(Says::Token),
        "auth" if before.is_empty() || ["basic", "registry", "x"].contains(&prior) => {
            Some(Says::Token)
        }
        word if before.is_empty() && has("key_alone", word) => Some(Says::Key),
        // Any part of a variable's name can say it: `PW_ADMIN`, `SLACK_SIGNING`.
        _ if shout && (!before.is_empty() || ["jwt", "aes"].contains(word)) => {
            let any = |list| words.iter().any(|word| has(list, word));
            match any("password") {
                true => Some(Says::Pass),
                false => (any("variable_part") && !any("harmless_key")).then_some(Says::Key),
            }
        }
        _ => None,
    }
}

/// Returns whether a list of `words.toml` has this word, in any case.
pub(crate) fn has(list: &str, word: &str) -> bool {
    WORDS[list].iter().any(|of| of.eq_ignore_ascii_case(word))
}

/// Returns the part of a word before the first ending of a list that the word has.
fn ending<'a>(list: &str, word: &'a str) -> Option<&'a str> {
    WORDS[list]
        .iter()
        .find_map(|of| word.strip_suffix(of.as_str()))
}

/// Splits a name into words in small letters, at signs and between a small letter and a capital.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = at
            .checked_sub(1)
            .and_then(|at| chars.get(at))
            .copied()
            .unwrap_or(' ');
        let behind = chars.get(at + 1).copied().unwrap_or(' ');
        let hump = c.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || before.is_ascii_uppercase() && behind.is_ascii_lowercase());
        if hump {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_secret_by_its_last_words() {
        for name in [
            "GITHUB_TOKEN",
            "dbPassword",
            "api-key",
            "apiKey",
            "AWS_SECRET_ACCESS_KEY",
            "client_secret",
            "PGPASSWORD",
            "SharedAccessKey",
            "APIKey",
            "DB_PASS",
            "token",
            "_authToken",
            "ALGOLIA_ADMIN_KEY",
            "client-key-data",
            "AccountKey",
            "OPENAI_API_KEY_PROD",
            "TOKEN_2",
            "CO_API_KEY",
            "SESSION_SECRET",
            "SECRET_KEY_BASE",
            "auth",
            "RAILS_MASTER_KEY",
            "GITHUB_PAT",
            "OPENAI_KEY",
            "DB_PW",
            "MAIL_PWD",
            "STRIPE_SK",
            "PW_ADMIN",
            "SLACK_SIGNING",
            "SMTP_CRED",
            "rootpw",
            "Admin password",
            "Secret access key",
            "FTP-Passwort",
            "contraseña",
            "mot de passe",
            "PSK",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in [
            "max_tokens",
            "token_count",
            "next_page_token",
            "key",
            "primary_key",
            "cache_key",
            "tokenizer",
            "password_file",
            "secretary",
            "public_key",
            "OLDPWD",
            "compass",
            "bypass",
            "token_type",
            "author",
            "keyboard",
            "data",
            "",
            "é",
            "foreign_key",
            "CACHE_KEY",
            "slack_signing",
            "SIGNING",
            "openai_key",
            "pass",
            "sk",
            "pat",
            "first_pass",
            "Access key ID",
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }
}
