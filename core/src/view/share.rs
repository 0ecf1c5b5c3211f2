//! What `prosescope share` prints.

use serde::{Deserialize, Serialize};

/// A shared file, or what it would hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunShared {
    /// The runs, by id.
    pub runs: Vec<String>,
    /// The file that was written; absent with `--report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub file: Option<String>,
    /// The key that it is signed with, by its fingerprint: `SHA256:…`; absent where it is not signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub signed: Option<String>,
    /// `html`, `zip`, `db` or `text`.
    #[cfg_attr(
        feature = "typescript",
        ts(type = "\"html\" | \"zip\" | \"db\" | \"text\"")
    )]
    pub format: String,
    /// Bytes of the file that was written, or of the runs' parts together.
    pub bytes: u64,
    /// Whether nothing was replaced.
    pub raw: bool,
    /// What is replaced, in order of place (the first 10,000); with `raw` what would be.
    pub found: Vec<SecretFound>,
    /// How often which rule replaced something, by place.
    pub replaced: Vec<SecretsReplaced>,
    /// What was left out.
    pub left_out: Vec<LeftOutOfShare>,
    /// The runs' parts, the largest first.
    pub parts: Vec<SharedPart>,
    /// Audit logs that were sealed anew, each with the head that it had.
    pub sealed_anew: Vec<LogSealedAnew>,
}

/// A place where something is replaced. Holds nothing of the secret.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SecretFound {
    /// What it is called in the shared file: `github-token #1`; `--keep` takes this name.
    pub name: String,
    /// The rule.
    pub rule: String,
    /// `secret` or `personal`.
    #[cfg_attr(feature = "typescript", ts(type = "\"secret\" | \"personal\""))]
    pub kind: String,
    /// The kind of place: `bindings.value`.
    pub place: String,
    /// The row or file, and the line in it.
    pub at: String,
    /// What stands before it on its line, without secrets.
    pub before: String,
    /// What stands behind it.
    pub after: String,
}

/// How often a rule replaced something in a kind of place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SecretsReplaced {
    /// The rule.
    pub rule: String,
    /// `secret` or `personal`.
    #[cfg_attr(feature = "typescript", ts(type = "\"secret\" | \"personal\""))]
    pub kind: String,
    /// The kind of place.
    pub place: String,
    /// How often.
    pub count: u64,
}

/// How much of a kind was left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LeftOutOfShare {
    /// What.
    pub what: String,
    /// How many.
    pub count: u64,
    /// Bytes together.
    pub bytes: u64,
}

/// A part of what is shared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SharedPart {
    /// Its path.
    pub path: String,
    /// Bytes.
    pub bytes: u64,
}

/// The head that an audit log had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LogSealedAnew {
    /// The run.
    pub run: String,
    /// How many sealed rows it had.
    pub count: u64,
    /// The hash of its last one.
    pub head: String,
}
