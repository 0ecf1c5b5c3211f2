//! Determines which statement follows another, as far as the program alone decides it.

use super::{Listing, StatementKind as Kind};

impl Listing {
    /// Returns the first statement of a body (`None` is the program's top level) that runs. Declarations are skipped.
    pub fn first_in(&self, body: Option<u32>) -> Option<u32> {
        let first = match body {
            Some(body) => self.children(body).next(),
            None => self.get(0).map(|_| 0),
        };
        self.or_beside(first)
    }

    /// Returns the statement that follows a finished statement within `body`. After the last statement of an enclosing
    /// construct, continues after that construct. `None` at the body's end.
    pub fn after(&self, statement: u32, body: Option<u32>) -> Option<u32> {
        let mut at = statement;
        loop {
            if let Some(next) = self.beside(at) {
                return Some(next);
            }
            at = self
                .get(at)?
                .parent
                .filter(|parent| Some(*parent) != body)?;
        }
    }

    /// Returns the next statement in the same body that can still run: not another alternative of an `if`, the handler
    /// of a `try` that did not fail, another branch, or another option.
    fn beside(&self, statement: u32) -> Option<u32> {
        let kind = |at: u32| self.get(at).map(|s| s.kind);
        let parent = self.get(statement)?.parent;
        if let Some(Kind::Choice | Kind::Gate) = parent.and_then(kind) {
            return None;
        }
        if kind(parent.unwrap_or(u32::MAX)) == Some(Kind::Parallel)
            && !parent.is_some_and(|at| self.has_items(at))
        {
            // The next sibling is another branch, unless it is the `finally` of this branch.
            let next = self.next_sibling(statement)?;
            return (self.leader(next) == self.leader(statement))
                .then(|| self.or_beside(Some(next)))
                .flatten()
                .filter(|next| self.leader(*next) == self.leader(statement));
        }
        self.or_beside(self.next_sibling(statement))
    }

    /// Returns the statement itself if it can run next, otherwise the next sibling that can run.
    fn or_beside(&self, first: Option<u32>) -> Option<u32> {
        let mut at = first;
        while let Some(now) = at {
            let own = self.get(now)?;
            let passed = own.kind.is_declaration() && own.kind != Kind::Use
                || matches!(own.kind, Kind::Catch | Kind::Elif | Kind::Else);
            if !passed {
                return Some(now);
            }
            at = self.next_sibling(now);
        }
        None
    }

    /// Returns the `catch` that handles a failure of a statement: the `catch` of the statement itself if it is a `try`,
    /// otherwise of the innermost enclosing `try` that has a `catch`.
    pub fn handler(&self, statement: u32) -> Option<u32> {
        let mut around = std::iter::once(statement).chain(self.enclosing(statement));
        around.find_map(|at| self.catch_of(at))
    }

    /// Returns the next alternative of an `if`: its `elif` or `else`.
    pub fn next_way(&self, way: u32) -> Option<u32> {
        let next = self.next_sibling(way)?;
        let kind = self.get(next)?.kind;
        (matches!(kind, Kind::Elif | Kind::Else) && self.leader(next) == self.leader(way))
            .then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use crate::program::scan;

    /// Returns the lines that run when each statement succeeds and each first alternative is taken, without entering
    /// bodies.
    fn lines(program: &str, body: Option<u32>) -> Vec<u32> {
        let listing = scan(program);
        let body = body.and_then(|line| listing.statement_at(line));
        let first = listing.first_in(body);
        std::iter::successors(first, |at| listing.after(*at, body))
            .map(|at| listing.get(at).unwrap().line)
            .collect()
    }

    #[test]
    fn what_follows_is_neither_a_declaration_nor_a_way_not_taken_nor_a_handler() {
        let program = "agent a:\n  model: opus\nsession \"1\"\nif **x**:\n  session \"2\"\nelif **y**:\n  session \"3\"\nelse:\n  session \"4\"\ntry:\n  session \"5\"\ncatch:\n  session \"6\"\nfinally:\n  session \"7\"\nblock b:\n  session \"8\"\nsession \"9\"\n";
        assert_eq!(lines(program, None), [3, 4, 10, 14, 18]);
        assert_eq!(lines(program, Some(16)), [17]);
    }

    #[test]
    fn an_end_inside_of_what_is_not_recorded_goes_on_after_it() {
        let listing = scan(
            "loop:\n  if **x**:\n    session \"1\"\n  else:\n    session \"2\"\n  session \"3\"\n",
        );
        let at = |line| listing.statement_at(line).unwrap();
        assert_eq!(listing.after(at(3), Some(at(1))), Some(at(6)));
        assert_eq!(listing.after(at(3), Some(at(2))), None);
        assert_eq!(listing.after(at(6), Some(at(1))), None);
    }

    #[test]
    fn branches_and_options_do_not_follow_each_other() {
        let listing = scan(
            "parallel:\n  try:\n    session \"1\"\n  catch:\n    session \"2\"\n  finally:\n    session \"3\"\n  b = session \"4\"\nchoice **c**:\n  option \"x\":\n    session \"5\"\n  option \"y\":\n    session \"6\"\n",
        );
        let at = |line| listing.statement_at(line).unwrap();
        assert_eq!(listing.after(at(2), Some(at(1))), Some(at(6)));
        assert_eq!(listing.after(at(6), Some(at(1))), None);
        assert_eq!(listing.after(at(8), Some(at(1))), None);
        assert_eq!(listing.after(at(10), Some(at(9))), None);
        assert_eq!(listing.leader(at(6)), at(2));
    }

    #[test]
    fn a_failure_goes_to_the_nearest_try_that_has_a_handler() {
        let listing = scan(
            "try:\n  try:\n    session \"1\"\n  finally:\n    session \"2\"\ncatch:\n  session \"3\"\nsession \"4\"\n",
        );
        let at = |line| listing.statement_at(line).unwrap();
        let handler = |line| {
            listing
                .handler(at(line))
                .map(|at| listing.get(at).unwrap().line)
        };
        assert_eq!([1, 3, 5].map(handler), [Some(6); 3]);
        assert_eq!([6, 7, 8].map(handler), [None; 3]);
    }

    #[test]
    fn ways_belong_to_their_if_and_options_to_their_choice() {
        let listing = scan(
            "if **a**:\n  session \"1\"\nelif **b**:\n  session \"2\"\nelse:\n  session \"3\"\nfor x in xs:\n  session \"4\"\nelse:\n  session \"5\"\nchoice **c**:\n  option \"x\":\n    session \"6\"\n",
        );
        let choice = |line| listing.choice(listing.statement_at(line).unwrap());
        let of = |line| listing.statement_at(line);
        assert_eq!([1, 3, 5].map(choice), [of(1); 3]);
        assert_eq!([2, 7, 9, 11].map(choice), [None; 4]);
        assert_eq!(choice(12), of(11));
    }
}
