//! A rule: what it finds and how. The head of `rules.toml` describes the keys.

use std::sync::OnceLock;

use regex_lite::Regex;
use serde::Deserialize;

use crate::find::{CommandOption, Find};
use crate::pattern::{self, RejectedPattern};
use crate::plausible::PlausibilityCheck;

/// The kind of data that a rule finds. One option keeps all personal data; secrets are kept one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleKind {
    /// A secret, which grants access to something: a token, a key, a password.
    #[default]
    Secret,
    /// Personal data, which identifies a person or their workplace: a home directory, an e-mail address, a user name.
    Personal,
}

impl RuleKind {
    /// Returns the kind's name in reports: `secret` or `personal`.
    pub fn name(self) -> &'static str {
        match self {
            RuleKind::Secret => "secret",
            RuleKind::Personal => "personal",
        }
    }
}

/// One rule of `rules.toml`, or of a user's file.
///
/// The examples serve as the rule's tests and its documentation. They are shapes (see [`crate::shape`]), from which
/// [`Rule::examples`] makes texts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The rule's name in reports, and the first part of a replacement: `[github-token #1]`.
    pub id: String,
    /// A description for people: "GitHub: personal, OAuth, app and refresh tokens".
    pub title: String,
    /// Whether the rule finds secrets or personal data.
    #[serde(default)]
    pub kind: RuleKind,
    /// The rule applies only to a text that contains one of these keywords, in any case.
    pub keywords: Vec<String>,
    pub(crate) pattern: Option<String>,
    pub(crate) find: Option<Find>,
    /// The distances in bytes from the keyword back to where a match may begin, the largest first.
    #[serde(default = "at_keyword")]
    pub(crate) before: Vec<usize>,
    pub(crate) word: Option<WordEdge>,
    #[serde(default)]
    check: PlausibilityCheck,
    #[serde(default)]
    pub(crate) except: Vec<String>,
    /// The options of programs that take a password, for `find = "command"`.
    #[serde(default)]
    pub(crate) options: Vec<CommandOption>,
    /// The shapes of texts in which the rule finds something. The part between `⟦` and `⟧`, or else the whole text,
    /// is replaced.
    pub found: Vec<String>,
    /// The shapes of similar texts in which the rule finds nothing.
    pub kept: Vec<String>,
    #[serde(skip)]
    compiled: OnceLock<Option<CompiledRule>>,
}

/// Where a letter, digit or `_` may not adjoin a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WordEdge {
    /// Before the match.
    Start,
    /// Before and after the match.
    Whole,
}

fn at_keyword() -> Vec<usize> {
    vec![0]
}

/// The compiled expressions of a rule.
#[derive(Debug)]
pub(crate) struct CompiledRule {
    /// The pattern, anchored at the beginning of a text.
    pub(crate) pattern: Regex,
    except: Option<Regex>,
}

impl Rule {
    /// Returns texts in which the rule finds something, then texts in which it finds nothing. Each call returns the
    /// same texts.
    pub fn examples(&self) -> (Vec<String>, Vec<String>) {
        let plain = |shape: &String| crate::shape::fill(shape, 1).replace(['⟦', '⟧'], "");
        (
            self.found.iter().map(plain).collect(),
            self.kept.iter().map(plain).collect(),
        )
    }

    /// Compiles the expressions of a rule with a pattern.
    pub(crate) fn compile(&self, pattern: &str) -> Result<CompiledRule, RejectedPattern> {
        let any = self.except.iter().map(|except| format!("(?:{except})"));
        let any = any.collect::<Vec<_>>().join("|");
        Ok(CompiledRule {
            pattern: pattern::compile(&format!("^(?:{pattern})"), pattern::OF_RULE)?,
            except: if self.except.is_empty() {
                None
            } else {
                Some(pattern::compile(&any, pattern::OF_RULE)?)
            },
        })
    }

    /// Returns the expressions, compiled by the first call; `None` if the rule has no valid pattern.
    pub(crate) fn compiled(&self) -> Option<&CompiledRule> {
        let compile = || self.compile(self.pattern.as_deref()?).ok();
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Returns whether a match can be a secret, and is not a placeholder or another text.
    pub(crate) fn accepts(&self, value: &str) -> bool {
        let except = self.compiled().and_then(|of| of.except.as_ref());
        self.find.is_some()
            || self.check.accepts(value) && !except.is_some_and(|except| except.is_match(value))
    }

    /// Returns the rule's rank: of two hits of equal length, the one with the higher rank gives the name. A secret with
    /// a form of its own is preferred to a secret that its context reveals.
    pub(crate) fn rank(&self) -> u8 {
        match self.compiled() {
            _ if self.find == Some(Find::Told) => 0,
            None => 1,
            Some(of) if of.pattern.captures_len() > 1 => 2,
            Some(_) => 3,
        }
    }
}
