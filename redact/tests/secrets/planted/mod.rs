//! Secrets to plant: at least 100 kinds, each a shape from which a secret is made when the test runs.
//!
//! The list was written before the rules, from what vendors publish about their formats, so that it measures the rules instead of
//! repeating them. Where a vendor publishes no format, the source is another project's rule set, by name. Shapes instead of
//! secrets: no file of this repository contains a text that a scanner takes for a secret.
//!
//! Shapes are those of `prosescope_redact::shape`; what is between `⟦` and `⟧` is the secret, the rest is where people write it.

mod cloud;
mod code;
mod forms;
mod models;
mod services;

/// A kind of secret: its name, where its format is published, its shape.
pub(crate) type Kind = (&'static str, &'static str, &'static str);

/// Every kind, in a fixed order.
pub(crate) fn kinds() -> impl Iterator<Item = &'static Kind> {
    [
        models::KINDS,
        code::KINDS,
        cloud::KINDS,
        services::KINDS,
        forms::KINDS,
    ]
    .into_iter()
    .flatten()
}

/// A text with a secret in it.
pub(crate) struct Planted {
    /// The text, without the marks.
    pub(crate) text: String,
    /// What may not remain.
    pub(crate) secret: String,
}

/// Makes a secret of this kind; another `seed` makes another one.
pub(crate) fn plant(kind: &Kind, seed: u64) -> Planted {
    let filled = prosescope_redact::shape::fill(kind.2, seed);
    let (before, rest) = filled.split_once('⟦').expect("a shape marks its secret");
    let (secret, after) = rest
        .split_once('⟧')
        .expect("a shape marks its secret's end");
    Planted {
        text: format!("{before}{secret}{after}"),
        secret: secret.to_owned(),
    }
}
