//! What lies in what: bodies, enclosing constructs, the `catch` of a `try`, the branches of a parallel.
//!
//! [`crate::trace`] asks these questions to place rounds and to tell recovered failures (errata T5, T9).

use super::value::same_name;
use super::{LineRole, Listing, Property, Statement, StatementKind, Value};

impl StatementKind {
    /// Whether its body runs in rounds: `loop`, `repeat`, `for`. (A `parallel for` runs in branches.)
    pub fn is_loop(self) -> bool {
        matches!(
            self,
            StatementKind::Loop | StatementKind::Repeat | StatementKind::For
        )
    }

    /// Whether it only declares something: running the program does not run it.
    pub fn is_declaration(self) -> bool {
        matches!(
            self,
            StatementKind::Use | StatementKind::Agent | StatementKind::Block | StatementKind::Label
        )
    }

    /// Whether the lines below it are statements rather than properties.
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

    /// Whether running the program runs it: it neither declares nor receives something.
    pub fn runs(self) -> bool {
        !self.is_declaration() && self != StatementKind::Input
    }

    /// Whether running it does something that a state file would mark.
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
    /// Whether the lines below it are statements: not those of `do x(…)`, which invokes a block.
    pub(crate) fn has_body(&self) -> bool {
        self.kind.has_body() && !(self.kind == StatementKind::Do && self.target.is_some())
    }

    /// The name that running it binds.
    pub fn bound(&self) -> Option<&str> {
        let name = self.name.as_deref()?;
        let assigns = || {
            let rest = self.text.strip_prefix(name);
            rest.is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        (self.binds.is_some() || assigns()).then_some(name)
    }

    /// What the first property of that name says.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.find(name).map(|property| property.text.as_str())
    }

    /// The first property of that name, when it is a whole number from 0 on.
    pub fn number(&self, name: &str) -> Option<u32> {
        match self.find(name)?.value {
            Value::Number(number) if number.fract() == 0.0 && (0.0..1e9).contains(&number) => {
                Some(number as u32)
            }
            _ => None,
        }
    }

    /// The first property of that name; `_` and `-` are the same, as programs write both.
    pub fn find(&self, name: &str) -> Option<&Property> {
        self.properties
            .iter()
            .find(|property| same_name(&property.name, name))
    }
}

impl Listing {
    /// The statement with that index.
    pub fn get(&self, statement: u32) -> Option<&Statement> {
        self.statements.get(usize::try_from(statement).ok()?)
    }

    /// How many columns a line (from 1) is indented; a tab ends at the next multiple of four.
    pub fn indent(&self, line: u32) -> u32 {
        let at = line.checked_sub(1).and_then(|at| usize::try_from(at).ok());
        let text = at.and_then(|at| self.lines.get(at)).map_or("", |l| &l.text);
        let blanks = text.chars().take_while(|c| matches!(c, ' ' | '\t'));
        blanks.fold(0, |columns: u32, c| match c {
            '\t' => (columns / 4 + 1).saturating_mul(4),
            _ => columns.saturating_add(1),
        })
    }

    /// The innermost statement that the line (from 1) belongs to.
    pub fn statement_at(&self, line: u32) -> Option<u32> {
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        self.lines.get(at)?.statement
    }

    /// The statement that begins at a line.
    pub(crate) fn begun_at(&self, line: u32) -> Option<u32> {
        let at = self.statements.partition_point(|s| s.line < line);
        let own = self.statements.get(at).filter(|s| s.line == line);
        own.and_then(|_| u32::try_from(at).ok())
    }

    /// The statements that begin on these lines, counted from 0.
    pub(crate) fn begun_in(&self, lines: std::ops::Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let place = |line| self.statements.partition_point(|s| s.line <= line) as u32;
        place(lines.start)..place(lines.end)
    }

    /// The one of some statements that a source quotes: of several that begin with its first line, the one that goes on as
    /// it does for most lines. `None` where that is none, or more than one.
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

    /// A statement's own lines: its head and what belongs to it, without its body and without comments.
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

    /// Whether `inner` lies in `outer`, at any depth. A statement does not lie in itself.
    pub fn contains(&self, outer: u32, inner: u32) -> bool {
        match (self.get(outer), self.get(inner)) {
            (Some(a), Some(b)) => inner > outer && b.line <= a.end,
            _ => false,
        }
    }

    /// The statements that it lies in, innermost first, without itself.
    pub fn enclosing(&self, statement: u32) -> impl Iterator<Item = u32> + '_ {
        let above = |of: u32| {
            self.get(of)
                .and_then(|s| s.parent)
                .filter(|parent| *parent < of)
        };
        std::iter::successors(above(statement), move |of| above(*of))
    }

    /// The statements directly inside of one, in order.
    pub fn children(&self, statement: u32) -> impl Iterator<Item = u32> + '_ {
        let first = statement
            .checked_add(1)
            .filter(|at| self.get(*at).and_then(|s| s.parent) == Some(statement));
        std::iter::successors(first, move |at| self.next_sibling(*at))
    }

    /// The statements of the body that it lies in, itself among them, in order.
    pub fn siblings(&self, statement: u32) -> impl Iterator<Item = u32> + '_ {
        let first = match self.get(statement).map(|own| own.parent) {
            Some(Some(parent)) => self.children(parent).next(),
            Some(None) => Some(0),
            None => None,
        };
        std::iter::successors(first, move |at| self.next_sibling(*at))
    }

    /// The statement after it in the same body.
    pub fn next_sibling(&self, statement: u32) -> Option<u32> {
        let this = self.get(statement)?;
        let next = self.statements.partition_point(|s| s.line <= this.end);
        let next = u32::try_from(next).ok()?.max(statement.checked_add(1)?);
        (self.get(next)?.parent == this.parent).then_some(next)
    }

    /// The innermost `loop`, `repeat` or `for` whose body it lies in.
    pub fn loop_of(&self, statement: u32) -> Option<u32> {
        self.around(statement, StatementKind::is_loop)
    }

    /// The innermost `try` whose body it lies in. What lies in its `catch` or `finally` does not.
    pub fn try_of(&self, statement: u32) -> Option<u32> {
        self.around(statement, |kind| kind == StatementKind::Try)
    }

    /// The innermost `block` whose body it lies in.
    pub fn block_of(&self, statement: u32) -> Option<u32> {
        self.around(statement, |kind| kind == StatementKind::Block)
    }

    /// The `catch` that belongs to a `try`: the next statement beside it.
    pub fn catch_of(&self, statement: u32) -> Option<u32> {
        let is = |at: &u32, kind| self.get(*at).is_some_and(|s| s.kind == kind);
        is(&statement, StatementKind::Try)
            .then(|| self.next_sibling(statement))?
            .filter(|at| is(at, StatementKind::Catch))
    }

    /// The branch of that name in a parallel.
    pub fn branch_of(&self, parallel: u32, name: &str) -> Option<u32> {
        let key = |at: &u32| self.get(*at).map(|s| (s.parent, s.name.as_deref()));
        let wanted = Some((Some(parallel), Some(name)));
        let by_name = self.by_name.get_or_init(|| {
            let mut all: Vec<u32> = (0..self.statements.len() as u32).collect();
            // Of one name the first statement stays first.
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
