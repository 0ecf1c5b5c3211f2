//! Reads properties on lines of their own, and the lines below that continue their values.

use super::{OpenStatement, Scanner, number};
use crate::program::lex::{Logical, Tok};
use crate::program::line::LineTokens as Tokens;
use crate::program::properties::slice;
use crate::program::value::is_block_mark;
use crate::program::{LineRole, Property};

/// A property on a line of its own.
#[derive(Clone, Copy)]
pub(super) struct Below {
    pub(super) index: usize,
    /// The start and end of the value on the property's own line, as byte offsets.
    pub(super) value: (usize, usize),
    /// Whether the property has no text after its colon.
    pub(super) empty: bool,
    /// Whether `|` or `>` follows the colon, so that all deeper lines are text.
    pub(super) text: bool,
    /// Whether statements may follow below the property, as for `on_reject:`.
    pub(super) handler: bool,
}

impl Scanner<'_, '_> {
    /// Whether a line belongs to a text that `|` began.
    pub(super) fn is_text(&self, line: usize) -> bool {
        self.open.last().is_some_and(|top| {
            let text = top.property.is_some_and(|property| property.text);
            text && !self.source.is_blank(line) && self.source.indent(line) > top.indent
        })
    }

    pub(super) fn text(&mut self, line: usize) {
        self.go_on(&Logical {
            first: line,
            last: line,
            ..Logical::default()
        });
    }

    /// Parses a property again, together with the lines below that continue its value.
    pub(super) fn read_below(&mut self, closed: &OpenStatement) {
        let Some(below) = closed.property else { return };
        if closed.more.is_empty() {
            return;
        }
        let (from, to) = below.value;
        let mut raw = self
            .source
            .text
            .get(from..to)
            .unwrap_or_default()
            .to_owned();
        for (from, to) in &closed.more {
            raw.push('\n');
            raw.push_str(self.source.text.get(*from..*to).unwrap_or_default());
        }
        let property = self
            .statements
            .get_mut(closed.statement)
            .and_then(|s| s.properties.get_mut(below.index));
        if let Some(property) = property {
            *property = Property::read(&property.name, &raw, property.line);
        }
    }

    pub(super) fn key_of(&self, statement: usize, property: Below) -> String {
        self.statements
            .get(statement)
            .and_then(|s| s.properties.get(property.index))
            .map(|property| property.name.clone())
            .unwrap_or_default()
    }

    /// Adds a property to the open statement.
    pub(super) fn property(
        &mut self,
        logical: &Logical,
        indent: usize,
        key: &str,
        tokens: Tokens<'_>,
    ) {
        let Some(statement) = self.open.last().map(|open| open.statement) else {
            return;
        };
        let mut value = tokens.tokens.get(2..).unwrap_or_default();
        while let Some((comma, rest)) = value.split_last()
            && comma.tok == Tok::Comma
        {
            value = rest;
        }
        let raw = slice(tokens.text, value);
        let Some(properties) = self
            .statements
            .get_mut(statement)
            .map(|s| &mut s.properties)
        else {
            return;
        };
        let index = properties.len();
        properties.push(Property::read(key, raw, number(logical.first)));
        let ends = value.first().zip(value.last());
        self.open.push(OpenStatement {
            indent,
            statement,
            property: Some(Below {
                index,
                value: ends.map_or((0, 0), |(first, last)| (first.start, last.end)),
                empty: raw.is_empty(),
                text: is_block_mark(raw),
                handler: raw.is_empty() && key.starts_with("on"),
            }),
            more: Vec::new(),
            last: logical.last,
        });
        self.mark(logical, LineRole::Property, statement);
    }

    /// Adds a line to the value of the open property.
    pub(super) fn go_on(&mut self, logical: &Logical) {
        let Some(top) = self.open.last_mut() else {
            return;
        };
        let (start, end) = self.source.span(logical.first);
        let end = logical.tokens.last().map_or(end, |token| token.end);
        if top.property.is_some_and(|property| property.text) {
            // Blank lines separate paragraphs, so they are kept.
            let blanks = logical.first.saturating_sub(top.last + 1);
            top.more.extend(std::iter::repeat_n((0, 0), blanks));
        }
        top.more.push((start, end));
        let statement = top.statement;
        self.mark(logical, LineRole::Continuation, statement);
    }
}
