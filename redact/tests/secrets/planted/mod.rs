//! Secrets to plant in test texts: at least 100 kinds, each a shape from which the running test makes a secret.
//! `planted.toml` lists them.
//!
//! The list was written before the rules, from the formats that vendors publish, so that it measures the rules instead
//! of repeating them. If a vendor publishes no format, the source names another project's rule set. Kinds are shapes,
//! so that this repository does not contain a text that a secret scanner would report.
//!
//! The syntax of shapes is that of `prosescope_redact::shape`; the part between `⟦` and `⟧` is the secret, the rest
//! is typical context.

use std::sync::LazyLock;

use serde::Deserialize;

/// A kind of secret: its name, the source of its format, its shape.
pub(crate) type Kind = (String, String, String);

/// Every kind, in the order of `planted.toml`.
pub(crate) fn kinds() -> impl Iterator<Item = &'static Kind> {
    #[derive(Deserialize)]
    struct File {
        kinds: Vec<Kind>,
    }
    static FILE: LazyLock<File> = LazyLock::new(|| {
        toml::from_str(include_str!("../planted.toml")).expect("a list of three texts each")
    });
    FILE.kinds.iter()
}

/// A text with a secret in it.
pub(crate) struct Planted {
    /// The text with the secret, without the marks of the shape.
    pub(crate) text: String,
    /// The secret, which must not remain.
    pub(crate) secret: String,
}

/// Makes a secret of this kind; another `seed` makes another secret.
pub(crate) fn plant(kind: &Kind, seed: u64) -> Planted {
    let filled = prosescope_redact::shape::fill(&kind.2, seed);
    let (before, rest) = filled.split_once('⟦').expect("a shape marks its secret");
    let (secret, after) = rest
        .split_once('⟧')
        .expect("a shape marks its secret's end");
    Planted {
        text: format!("{before}{secret}{after}"),
        secret: secret.to_owned(),
    }
}
