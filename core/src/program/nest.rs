//! Finds statements by their nesting: the body of a statement, its enclosing constructs, the `catch` of a `try`, the
//! branches of a parallel block.
//!
//! [`crate::trace`] uses these functions to place rounds and to recognise recovered failures (errata T5, T9).

use super::value::same_name;
use super::{LineRole, Listing, Property, Statement, StatementKind, ValueType};

impl StatementKind {
    /// Whether the body of this kind of statement runs in rounds: `loop`, `repeat`, `for`. (A `parallel for` runs in
    /// branches.)
    pub fn is_loop(self) -> bool {
        matches!(
            self,
            StatementKind::Loop | StatementKind::Repeat | StatementKind::For
        )
    }

    /// Whether a statement of this kind is only a declaration, which does not run.
    pub fn is_declaration(self) -> bool {
        matches!(
            self,
            StatementKind::Use | StatementKind::Agent | StatementKind::Block | StatementKind::Label
        )
    }

    /// Whether the lines below a statement of this kind are statements rather than properties.
    pub fn has_body(self) -> bool {
        use StatementKind as K;
        self.is_loop()
            || matches!(
                self,
                K::Parallel
                    | K::Try
                    | K::Catch
                    | K::Finally
                    | K::Choice
                    | K::Option
                    | K::If
                    | K::Elif
                    | K::Else
                    | K::Block
                    | K::Do
                    | K::Pipe
            )
    }

    /// Whether a statement of this kind runs with the program: it is neither a declaration nor an input.
    pub fn runs(self) -> bool {
        !self.is_declaration() && self != StatementKind::Input
    }

    /// Whether a state file would mark a statement of this kind when it runs.
    pub fn is_work(self) -> bool {
        use StatementKind as K;
        !matches!(
            self,
            K::If
                | K::Elif
                | K::Else
                | K::Choice
                | K::Option
                | K::Try
                | K::Catch
                | K::Finally
                | K::Throw
                | K::Return
                | K::Assign
                | K::Other
        )
    }
}

impl Statement {
    /// Returns the name of a gate; for a gate without a name, its condition: `all tests pass` in `gate **all tests
    /// pass**:`.
    pub(crate) fn gate_name(&self) -> &str {
        let text = self.text.trim_end_matches(':');
        let condition = text.split_once("**").map_or(text, |(_, rest)| rest);
        let condition = condition.trim_end_matches('*').trim();
        self.name.as_deref().unwrap_or(condition)
    }

    /// Whether the lines below this statement are statements. The lines below a call, such as `do x(…)`, are not.
    pub(crate) fn has_body(&self) -> bool {
        self.kind.has_body() && !(self.kind == StatementKind::Do && self.target.is_some())
    }

    /// Returns the name that the statement binds when it runs.
    pub fn bound(&self) -> Option<&str> {
        let name = self.name.as_deref()?;
        let assigns = || {
            let rest = self.text.strip_prefix(name);
            rest.is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        (self.binds.is_some() || assigns()).then_some(name)
    }

    /// Returns the text of the first property with that name.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.find(name).map(|property| property.text.as_str())
    }

    /// Returns the first property with that name, if it is a non-negative whole number.
    pub fn number(&self, name: &str) -> Option<u32> {
        match self.find(name)?.value {
            ValueType::Number(number) if number.fract() == 0.0 && (0.0..1e9).contains(&number) => {
                Some(number as u32)
            }
            _ => None,
        }
    }

    /// Returns the first property with that name; `_` and `-` are equivalent, because programs use both.
    pub fn find(&self, name: &str) -> Option<&Property> {
        self.properties
            .iter()
            .find(|property| same_name(&property.name, name))
    }
}

impl Listing {
    /// Returns the statement with that index.
    pub fn get(&self, statement: u32) -> Option<&Statement> {
        self.statements.get(usize::try_from(statement).ok()?)
    }

    /// Returns whether any line is a statement. A contract (`*.prose.md`) without an Execution section has none.
    pub fn has_statements(&self) -> bool {
        let mut statements = self.statements.iter();
        statements.any(|statement| statement.kind != StatementKind::Other)
    }

    /// Returns the number of columns by which a line (from 1) is indented; a tab ends at the next multiple of four.
    pub fn indent(&self, line: u32) -> u32 {
        let at = line.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        let text = at.and_then(|at| self.lines.get(at)).map_or("", |l| &l.text);
        let blanks = text.chars().take_while(|c| matches!(c, ' ' | '\t'));
        blanks.fold(0, |columns: u32, c| match c {
            '\t' => (columns / 4 + 1).saturating_mul(4),
            _ => columns.saturating_add(1),
        })
    }

    /// Returns the innermost statement that the line (from 1) belongs to.
    pub fn statement_at(&self, line: u32) -> Option<u32> {
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        self.lines.get(at)?.statement
    }

    /// Returns the statement that begins on a line.
    pub(crate) fn begun_at(&self, line: u32) -> Option<u32> {
        let at = self.statements.partition_point(|s| s.line < line);
        let own = self.statements.get(at).filter(|s| s.line == line);
        own.and_then(|_| u32::try_from(at).ok())
    }

    /// Returns the statements that begin on these lines, counted from 0.
    pub(crate) fn begun_in(&self, lines: std::ops::Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let place = |line| self.statements.partition_point(|s| s.line <= line) as u32;
        place(lines.start)..place(lines.end)
    }

    /// Returns the statement in `among` that the text `source` quotes. The first lines must be equal; of several such
    /// statements, the one with the most equal lines after the first is returned. Returns `None` if no statement
    /// matches, or if several match equally.
    pub fn quoted(&self, among: impl IntoIterator<Item = u32>, source: &str) -> Option<u32> {
        let mut lines = source.trim().lines().map(str::trim);
        let first = lines.next()?;
        let agrees = |at: &u32| {
            let from = self.get(*at).map_or(0, |s| s.line as usize);
            let own = self.lines.get(from..).unwrap_or_default();
            let same = lines
                .clone()
                .zip(own)
                .take_while(|(said, own)| *said == own.text.trim());
            same.count()
        };
        let begins = |at: &u32| self.get(*at).is_some_and(|s| s.text == first);
        let found: Vec<u32> = among.into_iter().filter(begins).collect();
        let most = found.iter().map(agrees).max()?;
        let mut found = found.iter().filter(|at| agrees(at) == most);
        found.next().copied().filter(|_| found.next().is_none())
    }

    /// Returns a statement's own lines: its head and properties, without its body and comments.
    pub fn own_text(&self, statement: u32) -> String {
        let Some(own) = self.get(statement) else {
            return String::new();
        };
        let mut text = own.text.clone();
        let below = self.lines.get(own.line as usize..own.end as usize);
        let below = below.unwrap_or_default().iter();
        let more = below
            .take_while(|line| line.role != LineRole::Statement)
            .filter(|line| line.statement == Some(statement))
            .filter(|line| matches!(line.role, LineRole::Property | LineRole::Continuation));
        for line in more {
            text.push('\n');
            text.push_str(&line.text);
        }
        text
    }

    /// Whether `inner` is inside `outer`, at any depth. A statement is not inside itself.
    pub fn contains(&self, outer: u32, inner: u32) -> bool {
        match (self.get(outer), self.get(inner)) {
            (Some(a), Some(b)) => inner > outer && b.line <= a.end,
            _ => false,
        }
    }

    /// Returns the enclosing statements, innermost first, without the statement itself.
    pub fn enclosing(&self, statement: u32) -> impl Iterator<Item = u32> + '_ {
        let above = |of: u32| {
            self.get(of)
                .and_then(|s| s.parent)
                .filter(|parent| *parent < of)
        };
        std::iter::successors(above(statement), move |of| above(*of))
    }

    /// Returns the statements directly inside a statement, in order.
    pub fn children(&self, statement: u32) -> impl Iterator<Item = u32> + '_ {
        let first = statement
            .checked_add(1)
            .filter(|at| self.get(*at).and_then(|s| s.parent) == Some(statement));
        std::iter::successors(first, move |at| self.next_sibling(*at))
    }

    /// Returns all statements of the body that contains the given statement, including that statement, in order.
    pub fn siblings(&self, statement: u32) -> impl Iterator<Item = u32> + '_ {
        let first = match self.get(statement).map(|own| own.parent) {
            Some(Some(parent)) => self.children(parent).next(),
            Some(None) => Some(0),
            None => None,
        };
        std::iter::successors(first, move |at| self.next_sibling(*at))
    }

    /// Returns the next statement in the same body.
    pub fn next_sibling(&self, statement: u32) -> Option<u32> {
        let this = self.get(statement)?;
        let next = self.statements.partition_point(|s| s.line <= this.end);
        let next = u32::try_from(next).ok()?.max(statement.checked_add(1)?);
        (self.get(next)?.parent == this.parent).then_some(next)
    }

    /// Returns the innermost `loop`, `repeat` or `for` whose body contains the statement.
    pub fn loop_of(&self, statement: u32) -> Option<u32> {
        self.around(statement, StatementKind::is_loop)
    }

    /// Returns the innermost `try` whose body contains the statement; its `catch` and `finally` are not part of that
    /// body.
    pub fn try_of(&self, statement: u32) -> Option<u32> {
        self.around(statement, |kind| kind == StatementKind::Try)
    }

    /// Returns the innermost `block` whose body contains the statement.
    pub fn block_of(&self, statement: u32) -> Option<u32> {
        self.around(statement, |kind| kind == StatementKind::Block)
    }

    /// Returns the `catch` that belongs to a `try`: the next statement in the same body.
    pub fn catch_of(&self, statement: u32) -> Option<u32> {
        let is = |at: &u32, kind| self.get(*at).is_some_and(|s| s.kind == kind);
        is(&statement, StatementKind::Try)
            .then(|| self.next_sibling(statement))?
            .filter(|at| is(at, StatementKind::Catch))
    }

    /// Returns the branch with that name in a parallel block.
    pub fn branch_of(&self, parallel: u32, name: &str) -> Option<u32> {
        let key = |at: &u32| self.get(*at).map(|s| (s.parent, s.name.as_deref()));
        let wanted = Some((Some(parallel), Some(name)));
        let by_name = self.by_name.get_or_init(|| {
            let mut all: Vec<u32> = (0..self.statements.len() as u32).collect();
            // The sort is stable, so the first statement with a name stays first.
            all.sort_by_key(|at| key(at));
            all
        });
        let at = by_name.partition_point(|at| key(at) < wanted);
        by_name.get(at).copied().filter(|at| key(at) == wanted)
    }

    fn around(&self, statement: u32, is: impl Fn(StatementKind) -> bool) -> Option<u32> {
        self.enclosing(statement)
            .find(|at| self.get(*at).is_some_and(|s| is(s.kind)))
    }
}
