//! The functions that find what a regular expression cannot describe. `rules.toml` names them.

mod assignment;
mod block;
mod columns;
mod command;
mod email;
mod named;
mod next_line;
mod told;
mod url;

use std::ops::Range;

use serde::Deserialize;

pub(crate) use command::CommandOption;
pub(crate) use email::person;

use crate::rule::Rule;

/// A function that finds the hit at a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Find {
    AssignedValue,
    Columns,
    Command,
    Email,
    KeyBlock,
    NamedValue,
    NextLine,
    PuttyKey,
    Told,
    UrlPassword,
}

impl Find {
    /// Returns whether the function reads a part of the text around the keyword, which can end within a value.
    pub(crate) fn reads_a_part(self) -> bool {
        matches!(self, Find::Command | Find::NextLine | Find::Told)
    }

    /// Adds the hits at the keyword's position. Returns the position before which the rule need not search again.
    pub(crate) fn at(
        self,
        rule: &Rule,
        text: &str,
        keyword: Range<usize>,
        found: &mut Vec<Range<usize>>,
    ) -> usize {
        let one = match self {
            Find::AssignedValue => return assignment::value(text, keyword, found),
            Find::Columns => return columns::values(text, keyword, found),
            Find::Command => return command::values(&rule.options, text, keyword, found),
            Find::NamedValue => named::value(text, keyword),
            Find::NextLine => next_line::value(text, keyword),
            Find::Told => told::value(text, keyword),
            Find::Email => email::address(text, keyword),
            Find::KeyBlock => block::key(text, keyword),
            Find::PuttyKey => block::putty(text, keyword),
            Find::UrlPassword => url::password(text, keyword.end),
        };
        let end = one.as_ref().map_or(0, |range| range.end);
        found.extend(one);
        end
    }
}
