//! The functions that find what a regular expression cannot describe. `rules.toml` names them.

mod assignment;
mod block;
mod email;
mod url;

use std::ops::Range;

use serde::Deserialize;

/// A function that finds the hit at a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Find {
    AssignedValue,
    Email,
    KeyBlock,
    PuttyKey,
    UrlPassword,
}

impl Find {
    /// Returns the hit at the keyword's position. The error is a position before which the rule need not search again.
    pub(crate) fn at(
        self,
        text: &str,
        keyword: Range<usize>,
    ) -> Result<Option<Range<usize>>, usize> {
        match self {
            Find::AssignedValue => assignment::value(text, keyword),
            Find::Email => Ok(email::address(text, keyword)),
            Find::KeyBlock => Ok(block::key(text, keyword)),
            Find::PuttyKey => Ok(block::putty(text, keyword)),
            Find::UrlPassword => Ok(url::password(text, keyword.end)),
        }
    }
}
