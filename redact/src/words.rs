//! Decides from a name, such as `DB_PASSWORD`, whether the value of that name is a secret.

/// The kind of value that a name announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// A password, which can have any form.
    Password,
    /// A token, a key or a secret, which is random.
    Token,
}

/// Last words that do not change what a name is for, as in `api_key_prod`.
const SUFFIXES: &[&str] = &[
    "prod",
    "production",
    "dev",
    "staging",
    "test",
    "live",
    "old",
    "new",
    "current",
    "value",
    "base",
    "base64",
    "b64",
];

/// Words before `token` in names of tokens that are no secrets, as in `next_page_token`.
const HARMLESS_TOKENS: &[&str] = &[
    "page",
    "next",
    "prev",
    "previous",
    "sync",
    "resume",
    "continuation",
    "cursor",
    "idempotency",
    "per",
    "max",
    "start",
    "end",
    "first",
    "last",
    "pad",
    "eos",
    "bos",
    "unk",
    "sep",
    "cls",
    "mask",
    "stop",
    "special",
    "input",
    "output",
    "cancellation",
    "cancel",
    "by",
    "count",
];

/// Words before `key` in names of secret keys, as in `API_KEY`.
const SECRET_KEYS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "encryption",
    "master",
    "admin",
    "auth",
    "account",
    "license",
    "licence",
    "service",
    "app",
    "application",
    "client",
    "deploy",
    "ssh",
    "root",
    "server",
    "webhook",
    "fernet",
    "shared",
    "write",
    "ingest",
    "cipher",
    "aes",
    "hmac",
    "jwt",
    "session",
    "cookie",
    "rsa",
    "gpg",
    "storage",
    "subscription",
    "integration",
    "bot",
    "integrator",
];

/// Returns whether a name, such as that of an environment variable, is one for secrets: `GITHUB_TOKEN`, `dbPassword`,
/// `api-key`.
pub fn names_secret(name: &str) -> bool {
    says(name).is_some()
}

/// Returns the kind of value that the last words of a name announce; `None` if they do not announce a secret.
pub(crate) fn says(name: &str) -> Option<Says> {
    let words = words(name);
    let mut last: Vec<&str> = words.iter().map(String::as_str).collect();
    // Ignores the suffixes of names such as `TOKEN_2`, `api_key_prod`, `PASSWORD_OLD`.
    while last.len() > 1
        && last
            .last()
            .is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()) || SUFFIXES.contains(word))
    {
        last.pop();
    }
    let (word, before) = last.split_last()?;
    let prior = before.last().copied().unwrap_or_default();
    match *word {
        "password" | "passwd" | "passphrase" | "passcode" | "userpass" | "dbpass"
        | "pgpassword" | "masterpassword" | "userpassword" | "dbpassword" => Some(Says::Password),
        "pass"
            if !before.is_empty()
                && ![
                    "by", "first", "second", "one", "two", "single", "multi", "re",
                ]
                .contains(&prior) =>
        {
            Some(Says::Password)
        }
        "pwd" if prior != "old" => Some(Says::Password),
        "secret" | "secrets" if !["no", "is", "has", "not", "top"].contains(&prior) => {
            Some(Says::Token)
        }
        "token" | "authtoken" | "accesstoken" | "apitoken" | "refreshtoken" | "identitytoken"
        | "tok"
            if !HARMLESS_TOKENS.contains(&prior) =>
        {
            Some(Says::Token)
        }
        "key" | "keys" | "pem" | "data" if SECRET_KEYS.contains(&prior) && (*word != "data") => {
            Some(Says::Token)
        }
        "data" if prior == "key" && before.len() >= 2 => Some(Says::Token),
        "apikey" | "apikeys" | "secretkey" | "accesskey" | "privatekey" | "authkey" | "appkey"
        | "credential" | "credentials" | "creds" | "accountkey" | "sharedaccesskey"
        | "clientsecret" | "appsecret" | "apisecret" => Some(Says::Token),
        "signature" if prior == "webhook" => Some(Says::Token),
        "auth" if before.is_empty() || prior == "basic" || prior == "registry" => Some(Says::Token),
        _ => None,
    }
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
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }
}
