//! Explains why an input has no value.

use super::{Input, UsePlace, last_of, named, plain};
use crate::model::Status;
use crate::program::{Expression, StatementKind as Kind, names_in_text};
use crate::record::render::brief::{InputOfTask, InputState};
use crate::record::{Fault, StatementPlace};

impl<'a> UsePlace<'a> {
    /// Returns the input for a name without a binding in scope; `None` if the name is not the name of a value.
    pub(super) fn unbound(&self, name: &str, sure: bool) -> Result<Option<Input<'a>>, Fault> {
        let makers: Vec<u32> = self.makers(name).collect();
        let declared = [Kind::Agent, Kind::Block, Kind::Use];
        if makers.is_empty() && declared.iter().any(|kind| self.declares(name, *kind)) {
            return Ok(None);
        }
        if let [one] = makers.as_slice()
            && let Some(literal) = self.literal(*one)
        {
            return Ok(Some(literal.named(name)));
        }
        let mut reasons = Vec::new();
        for maker in &makers {
            reasons.extend(self.why(*maker)?);
        }
        let none = "no line of the program makes this value";
        let (state, note) = match reasons.as_slice() {
            [] if sure => (InputState::Missing, none.to_owned()),
            [] => (
                InputState::Unknown,
                format!("{none}: the name may be plain text"),
            ),
            reasons => (InputState::Missing, reasons.join("; ")),
        };
        Ok(Some(plain(InputOfTask {
            state,
            note: Some(note),
            ..named(name)
        })))
    }

    /// Returns the text that a statement assigns to its name, as in `let style = "plain"`. The program contains this
    /// value, but not every writer records it.
    fn literal(&self, maker: u32) -> Option<Input<'a>> {
        let statement = self.listing.get(maker)?;
        if statement.kind != Kind::Assign {
            return None;
        }
        let text = self.listing.own_text(maker);
        let (_, right) = text.split_once('=')?;
        let Expression::Text(text) = Expression::of(right) else {
            return None;
        };
        let names = names_in_text(&text);
        Some(Input {
            input: InputOfTask {
                state: InputState::Text,
                value: Some(text),
                note: Some(format!(
                    "as stated in line {} of the program",
                    statement.line
                )),
                ..InputOfTask::default()
            },
            names: Some((
                UsePlace {
                    statement: maker,
                    branch: None,
                    deep: self.deep + 1,
                    ..*self
                },
                names,
                false,
            )),
        })
    }

    /// Returns why a statement has not made its value, such as `line 7 makes this value: skipped`.
    fn why(&self, maker: u32) -> Result<Option<String>, Fault> {
        let Some(own) = self.listing.get(maker) else {
            return Ok(None);
        };
        let line = own.line;
        if own.kind == Kind::Input {
            let place = StatementPlace::of_statement(None, own);
            let last = last_of(self.run, &place)?;
            let skipped = last.is_some_and(|(_, last)| last.status == Status::Skipped);
            let when = if skipped {
                "not given"
            } else {
                "not given yet"
            };
            return Ok(Some(format!("input of line {line}: {when}")));
        }
        let around = super::chain(self.run, self.from)?.into_iter();
        let mut parents: Vec<Option<i64>> = around.map(|row| Some(row.id)).collect();
        parents.push(None);
        // The search begins with the outermost construct, because the statements in a construct run inside its
        // execution.
        let mut way: Vec<u32> = self.listing.enclosing(maker).collect();
        way.reverse();
        way.push(maker);
        for at in way {
            let Some(statement) = self.listing.get(at) else {
                continue;
            };
            for parent in parents.clone() {
                let place = StatementPlace::of_statement(parent, statement);
                let Some((id, last)) = last_of(self.run, &place)? else {
                    continue;
                };
                let ended = match last.status {
                    Status::Skipped => "skipped",
                    Status::Failed => "failed",
                    Status::Completed if at == maker => "completed without writing the value",
                    _ => {
                        parents.push(Some(id));
                        break;
                    }
                };
                let around = if at == maker {
                    String::new()
                } else {
                    format!(", like the construct around it (line {})", statement.line)
                };
                return Ok(Some(format!(
                    "line {line} makes this value: {ended}{around}"
                )));
            }
        }
        Ok(Some(format!(
            "line {line} makes this value: not written yet"
        )))
    }
}

impl Input<'_> {
    fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.input.name);
        self
    }
}
