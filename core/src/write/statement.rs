//! Which statement a command speaks of.

use super::{Facts, WriteError};
use crate::program::{self, Listing};

/// A statement as it was named: by its line in the program, by its text, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// Its text, as far as the caller gave it.
    pub text: Option<String>,
    /// Its line in the program, from 1.
    pub line: Option<u32>,
}

impl Named {
    /// Its text and its line, looked up in the program where one of them is missing. A text that the program does
    /// not know has no line: models shorten and reword.
    pub(super) fn find(&self, facts: &dyn Facts) -> Result<(String, Option<i64>), WriteError> {
        if let (Some(text), Some(line)) = (&self.text, self.line) {
            return Ok((text.clone(), Some(line.into())));
        }
        let listing = facts.program()?.map(|source| program::scan(&source));
        match (&self.text, self.line) {
            (Some(text), _) => {
                let line = listing.as_ref().and_then(|listing| line_of(listing, text));
                Ok((text.clone(), line))
            }
            (None, Some(line)) => {
                let statement = listing
                    .as_ref()
                    .and_then(|listing| listing.statements.iter().find(|s| s.line == line));
                let Some(statement) = statement else {
                    return Err(WriteError::not_found(
                        match listing {
                            Some(_) => format!("no statement begins at line {line} of the program"),
                            None => "the run holds no program, so a line says nothing".to_owned(),
                        },
                        "give the statement's text",
                    ));
                };
                Ok((statement.text.clone(), Some(line.into())))
            }
            (None, None) => Err(WriteError::wrong(
                "no statement was named",
                "give its text, or --line with its line in the program",
            )),
        }
    }
}

/// The line of the one statement that has this text for sure.
fn line_of(listing: &Listing, text: &str) -> Option<i64> {
    let tie = listing.tie(text, None).filter(|tie| !tie.guessed)?;
    let statement = listing.statements.get(tie.statement as usize)?;
    Some(statement.line.into())
}
