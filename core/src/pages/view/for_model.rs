//! Defines the text about a run for a language model (`prosescope show --for-model`), and adds its closing sentence on
//! replaced secrets.

use serde::{Deserialize, Serialize};

use super::{NodeRef, words};
use crate::model::text::counted;

words! {
    /// The size limit of a copy for a model, in thousands of bytes.
    ModelSize {
        /// The text has at most 8,000 bytes.
        Small = "8",
        /// The text has at most 32,000 bytes.
        #[default]
        Medium = "32",
        /// The text has at most 128,000 bytes.
        Large = "128",
    }
}

impl ModelSize {
    /// Returns the limit in bytes.
    pub fn bytes(self) -> usize {
        match self {
            ModelSize::Small => 8_000,
            ModelSize::Medium => 32_000,
            ModelSize::Large => 128_000,
        }
    }
}

words! {
    /// The subject of a copy for a model.
    ModelAbout {
        /// The whole run.
        #[default]
        Run = "run",
        /// The first cause of the run's failure.
        Failure = "failure",
        /// A gate that waits for a decision.
        Gate = "gate",
        /// A row of the trace.
        Row = "row",
    }
}

/// A run, its failure or one row of its trace as Markdown, for a person to paste into a language model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ForModel {
    /// The id of the run that the text is about; for a store of agents, the name of its file.
    pub run: String,
    /// The subject of the text.
    pub about: ModelAbout,
    /// The row that the text is about; `None` for a whole run.
    pub node: Option<NodeRef>,
    /// The requested limit for the size of `text`.
    pub size: ModelSize,
    /// The text, in Markdown, at most as long as `size` allows. Everything that comes from the run is inside of fences.
    pub text: String,
    /// Bytes of `text`.
    pub bytes: u64,
    /// The estimated number of tokens: a quarter of the bytes.
    pub tokens: u64,
    /// Parts that were left out or shortened to fit the size: `the program: all but lines 12 to 40 of 210`.
    pub left_out: Vec<String>,
    /// Whether no secrets were replaced, so that the text may contain secrets.
    pub raw: bool,
    /// The secrets and personal details that were replaced in the text, by name.
    pub replaced: Vec<ReplacedInText>,
}

/// A secret or personal detail that was replaced by a name in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ReplacedInText {
    /// The name that replaces the secret or detail in the text, in brackets: `github-token #1`.
    pub name: String,
    /// The kind: `secret` or `personal`.
    pub kind: String,
    /// How often the text contains the name.
    pub count: u64,
}

impl ForModel {
    /// Bytes that are reserved for the sentence that [`ForModel::set_replaced`] appends.
    pub(crate) const ROOM: usize = 200;

    /// Stores the secrets and details that were replaced in the text, and appends a sentence about them to the text.
    pub fn set_replaced(&mut self, replaced: Vec<ReplacedInText>) {
        self.raw = false;
        self.replaced = replaced;
        let words = self.replaced_words();
        self.set_end(&if self.replaced.is_empty() {
            "Nothing in this copy looked like a secret.\n".to_owned()
        } else {
            format!("{words} before this copy was made, each by a name in brackets.\n")
        });
    }

    /// Records that nothing was replaced, and appends a sentence which warns that the text may contain secrets.
    pub fn set_raw(&mut self) {
        self.raw = true;
        self.set_end("Nothing was replaced in this copy: secrets of the run may be in it.\n");
    }

    /// Returns how much was replaced in the text, in words: `3 secrets replaced`.
    pub fn replaced_words(&self) -> String {
        let many = |kind: &str| {
            let of = self.replaced.iter().filter(|of| of.kind == kind);
            of.map(|of| of.count).sum::<u64>()
        };
        let words = [
            (many("secret"), "secret", "secrets"),
            (many("personal"), "personal detail", "personal details"),
        ];
        let words = words.into_iter().filter(|(n, ..)| *n > 0);
        let words: Vec<String> = words.map(|(n, one, all)| counted(n, one, all)).collect();
        match (self.raw, words.is_empty()) {
            (true, _) => "nothing replaced (raw)".to_owned(),
            (false, true) => "0 secrets replaced".to_owned(),
            (false, false) => format!("{} replaced", words.join(" and ")),
        }
    }

    fn set_end(&mut self, sentence: &str) {
        self.text.push('\n');
        self.text.push_str(sentence);
        self.measure();
    }

    /// Updates `bytes` and `tokens` after a change of the text.
    pub(crate) fn measure(&mut self) {
        self.bytes = self.text.len() as u64;
        self.tokens = self.bytes.div_ceil(4);
    }
}
