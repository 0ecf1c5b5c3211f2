//! Defines the JSON of `prosescope share`: the file, and the secrets that were replaced.

use serde::{Deserialize, Serialize};

/// A shared file, or with `--report` the description of such a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunShared {
    /// The ids of the shared runs.
    pub runs: Vec<String>,
    /// The file that was written; absent with `--report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub file: Option<String>,
    /// The format of the file: `html`, `zip`, `db` or `text`.
    #[cfg_attr(
        feature = "typescript",
        ts(type = "\"html\" | \"zip\" | \"db\" | \"text\"")
    )]
    pub format: String,
    /// Bytes of the file; with `--report`, of the runs' parts together.
    pub bytes: u64,
    /// Whether secrets were left as they are (`--raw`).
    pub raw: bool,
    /// The replaced secrets, in order of place (the first 10,000); with `raw`, the secrets that would be replaced.
    pub found: Vec<SecretFound>,
    /// How often each rule replaced a secret, by kind of place.
    pub replaced: Vec<SecretsReplaced>,
    /// The parts of the runs that were left out.
    pub left_out: Vec<LeftOutOfShare>,
    /// The parts of the runs, the largest first.
    pub parts: Vec<SharedPart>,
    /// Audit logs whose seals were computed anew, each with its former head.
    pub sealed_anew: Vec<LogSealedAnew>,
    /// How many secrets are replaced where the rules find them, and not searched for in other forms or in the written
    /// file, because all together have more than 4 MB. The runs are shared only with `--anyway`.
    #[serde(default)]
    pub unsearched: u64,
    /// The names in gates and their log that stay: those who may decide a waiting gate, and the teams, people and agents
    /// that the program names.
    #[serde(default)]
    pub staying: Vec<String>,
}

/// A place at which a secret is replaced. No field contains any part of the secret.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SecretFound {
    /// The name that replaces the secret in the shared file: `github-token #1`. `--keep` takes this name.
    pub name: String,
    /// The rule that found the secret.
    pub rule: String,
    /// The kind of secret: `secret` or `personal`.
    #[cfg_attr(feature = "typescript", ts(type = "\"secret\" | \"personal\""))]
    pub kind: String,
    /// The kind of place: `bindings.value`.
    pub place: String,
    /// The row or file that contains the secret, and the line inside of that row or file.
    pub at: String,
    /// The text before the secret on its line, without secrets.
    pub before: String,
    /// The text after the secret on its line.
    pub after: String,
}

/// How often a rule replaced a secret in one kind of place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SecretsReplaced {
    /// The rule that found the secrets.
    pub rule: String,
    /// The kind of secret: `secret` or `personal`.
    #[cfg_attr(feature = "typescript", ts(type = "\"secret\" | \"personal\""))]
    pub kind: String,
    /// The kind of place: `bindings.value`.
    pub place: String,
    /// How many secrets were replaced.
    pub count: u64,
}

/// The size of one kind of data that was left out of the shared file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LeftOutOfShare {
    /// The kind of data that was left out.
    pub what: String,
    /// How many items were left out.
    pub count: u64,
    /// Bytes of all items that were left out.
    pub bytes: u64,
}

/// A part of the shared runs, such as a file or a table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SharedPart {
    /// The path of the part.
    pub path: String,
    /// Bytes of the part.
    pub bytes: u64,
}

/// The former head of an audit log whose seals were computed anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LogSealedAnew {
    /// The id that the shared copy gives the run of this log.
    pub run: String,
    /// How many sealed rows the log had.
    pub count: u64,
    /// The hash of the log's last sealed row.
    pub head: String,
}
