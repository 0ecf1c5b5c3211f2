//! Ties rows and annotations to statements.
//!
//! The text decides first: the same text, a name, a beginning, what it refers to, a quoted text, the kind,
//! common words. The index decides between equals, and alone only where the text says nothing: documents count
//! statements from 0 or from 1, with or without declarations, only the outer ones, or lines.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::keys::{Found, Keys};
use super::{LineRole, Listing, Tie};

/// A way to count, in which an index may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counting {
    what: What,
    /// The number of the first.
    from: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Lines,
    Statements,
    /// Without what only declares.
    Running,
    Outer,
    OuterRunning,
}

/// The likely ones first.
const COUNTINGS: [Counting; 9] = {
    const fn of(what: What, from: i64) -> Counting {
        Counting { what, from }
    }
    [
        of(What::Lines, 1),
        of(What::Statements, 1),
        of(What::Statements, 0),
        of(What::Running, 1),
        of(What::Running, 0),
        of(What::OuterRunning, 1),
        of(What::OuterRunning, 0),
        of(What::Outer, 1),
        of(What::Outer, 0),
    ]
};

/// A listing made ready for ties.
#[derive(Debug, Clone, Default)]
pub(super) struct Ready {
    keys: Keys,
    running: Vec<u32>,
    outer: Vec<u32>,
    outer_running: Vec<u32>,
}

impl Ready {
    fn new(listing: &Listing) -> Ready {
        let mut ready = Ready {
            keys: Keys::new(listing),
            ..Ready::default()
        };
        for (id, statement) in (0..).zip(&listing.statements) {
            let runs = !statement.kind.is_declaration();
            let outer = statement.depth == 0;
            if runs {
                ready.running.push(id);
            }
            if outer {
                ready.outer.push(id);
            }
            if runs && outer {
                ready.outer_running.push(id);
            }
        }
        ready
    }

    /// The statement with that index in a way of counting.
    fn at(&self, listing: &Listing, counting: Counting, index: i64) -> Option<u32> {
        let at = usize::try_from(index.checked_sub(counting.from)?).ok()?;
        match counting.what {
            What::Lines => listing
                .lines
                .get(at)
                .filter(|line| line.role == LineRole::Statement)
                .and_then(|line| line.statement),
            What::Statements => u32::try_from(at)
                .ok()
                .filter(|id| listing.get(*id).is_some()),
            What::Running => self.running.get(at).copied(),
            What::Outer => self.outer.get(at).copied(),
            What::OuterRunning => self.outer_running.get(at).copied(),
        }
    }

    /// The statement that an index is nearest to in a way of counting.
    fn near(&self, listing: &Listing, counting: Counting, index: i64) -> u32 {
        let most = match counting.what {
            What::Lines => listing.lines.len(),
            What::Statements => listing.statements.len(),
            What::Running => self.running.len(),
            What::Outer => self.outer.len(),
            What::OuterRunning => self.outer_running.len(),
        };
        let last = i64::try_from(most).unwrap_or(i64::MAX).saturating_sub(1);
        let index = index.clamp(counting.from, last.saturating_add(counting.from));
        match counting.what {
            What::Lines => {
                let line = u32::try_from(index).unwrap_or(u32::MAX);
                let after = listing.statements.partition_point(|s| s.line <= line);
                u32::try_from(after.saturating_sub(1)).unwrap_or(u32::MAX)
            }
            _ => self.at(listing, counting, index).unwrap_or_default(),
        }
    }
}

impl Listing {
    /// Ties a row to a statement: by its text first (texts are often shortened: a prefix will do), its index
    /// only deciding between equals and where the text says nothing (documents count statements or lines).
    ///
    /// For the rows of a whole run use [`Listing::ties`], which learns how they count.
    pub fn tie(&self, text: &str, index: Option<i64>) -> Option<Tie> {
        let found = self.ready().keys.find(self, text);
        choose(self, None, &found, index)
    }

    /// A tier for many rows: it remembers texts and learns how the indices count.
    pub fn ties(&self) -> Ties<'_> {
        Ties {
            listing: self,
            found: BTreeMap::new(),
            counting: None,
            ranks: BTreeMap::new(),
        }
    }

    /// What its statements can be found by.
    pub(super) fn keys(&self) -> &Keys {
        &self.ready().keys
    }

    fn ready(&self) -> &Ready {
        self.ready.get_or_init(|| Ready::new(self))
    }
}

/// Texts that a tier remembers: a loop repeats its few, and 100,000 that are all different are not worth their memory.
pub(crate) const REMEMBERED: usize = 4096;

/// Ties many rows to one program: see [`Listing::ties`].
#[derive(Debug, Clone)]
pub struct Ties<'a> {
    listing: &'a Listing,
    /// What texts speak of: of the first [`REMEMBERED`], the others are looked up again.
    found: BTreeMap<String, Rc<Found>>,
    counting: Option<Counting>,
    /// The different indices of a text that several statements have: as many as there are statements, in the
    /// same order, they tell which is which.
    ranks: BTreeMap<String, Vec<i64>>,
}

impl Ties<'_> {
    /// Learns from rows, given as text and index, how their indices count. Rows whose text is that of one
    /// statement alone teach it.
    pub fn learn<'r>(&mut self, rows: impl IntoIterator<Item = (&'r str, Option<i64>)>) {
        let mut votes = [0_usize; COUNTINGS.len()];
        let mut asked: BTreeMap<(&str, i64), ()> = BTreeMap::new();
        for (text, index) in rows {
            let Some(index) = index else { continue };
            if asked.insert((text, index), ()).is_some() {
                continue;
            }
            let ready = self.listing.ready();
            let found = self.find(text);
            let (exact, many) = (found.exact, found.statements.len() > 1);
            let only = found.statements.first().copied().filter(|_| exact && !many);
            if let Some(only) = only {
                for (vote, counting) in votes.iter_mut().zip(COUNTINGS) {
                    if ready.at(self.listing, counting, index) == Some(only) {
                        *vote += 1;
                    }
                }
            } else if many {
                let ranks = self.ranks.entry(text.to_owned()).or_default();
                if let Err(at) = ranks.binary_search(&index) {
                    ranks.insert(at, index);
                }
            }
        }
        let most = votes.iter().copied().max().filter(|most| *most > 0);
        self.counting = most
            .and_then(|most| votes.iter().position(|vote| *vote == most))
            .and_then(|at| COUNTINGS.get(at).copied());
    }

    /// Ties a row to a statement, as [`Listing::tie`] does, by the counting that was learned.
    pub fn tie(&mut self, text: &str, index: Option<i64>) -> Option<Tie> {
        let found = self.find(text);
        let tie = choose(self.listing, self.counting, &found, index)?;
        if tie.guessed
            && let (Some(index), Some(ranks)) = (index, self.ranks.get(text))
            && ranks.len() == found.statements.len()
            && let Ok(rank) = ranks.binary_search(&index)
            && let Some(statement) = found.statements.get(rank)
        {
            return Some(Tie {
                statement: *statement,
                guessed: true,
            });
        }
        Some(tie)
    }

    /// Ties the next of several texts that come in the order of the program, as the lines of a state.md do:
    /// of equals, the first after the statement `after`.
    pub fn tie_after(&mut self, text: &str, after: Option<u32>) -> Option<Tie> {
        let found = self.find(text);
        let later = found
            .statements
            .iter()
            .find(|id| after.is_none_or(|after| **id > after));
        let statement = *later.or(found.statements.first())?;
        Some(Tie {
            statement,
            guessed: !found.exact || found.statements.len() > 1,
        })
    }

    fn find(&mut self, text: &str) -> Rc<Found> {
        if let Some(found) = self.found.get(text) {
            return Rc::clone(found);
        }
        let found = Rc::new(self.listing.ready().keys.find(self.listing, text));
        if self.found.len() < REMEMBERED {
            self.found.insert(text.to_owned(), Rc::clone(&found));
        }
        found
    }
}

/// One of the statements that a text speaks of.
fn choose(
    listing: &Listing,
    learned: Option<Counting>,
    found: &Found,
    index: Option<i64>,
) -> Option<Tie> {
    let ready = listing.ready();
    let fits = |id: u32| match found.statements.as_slice() {
        [] => match (found.kind, listing.get(id)) {
            (Some(kind), Some(statement)) => kind == statement.kind,
            _ => true,
        },
        some => some.binary_search(&id).is_ok(),
    };
    if let [only] = found.statements.as_slice() {
        return Some(Tie {
            statement: *only,
            guessed: !found.exact,
        });
    }
    let guess = |statement| Tie {
        statement,
        guessed: true,
    };
    let hit = |counting| {
        ready
            .at(listing, counting, index?)
            .filter(|statement| fits(*statement))
    };
    if let Some(learned) = learned {
        if let Some(statement) = hit(learned) {
            return Some(Tie {
                statement,
                guessed: !found.exact,
            });
        }
        let near = index.map(|index| ready.near(listing, learned, index));
        let nearest = |near: u32| found.statements.iter().min_by_key(|id| id.abs_diff(near));
        if let Some(statement) = near.and_then(nearest) {
            return Some(guess(*statement));
        }
    } else {
        let hits: Vec<u32> = COUNTINGS.into_iter().filter_map(hit).collect();
        if let Some(first) = hits.first() {
            let agree = hits.iter().all(|hit| hit == first);
            return Some(Tie {
                statement: *first,
                guessed: !found.exact || !agree,
            });
        }
    }
    found.statements.first().copied().map(guess)
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;

    const PROGRAM: &str = r#"# A program
agent captain:
  model: opus
agent writer:

input topic: "What to write on"

let research = session: writer
  prompt: "Research AI safety"

parallel ("first"):
  a = session "Analyze risk A"
  b = session "Analyze risk B of {topic}"

loop until **the draft is good** (max: 3):
  draft = session: writer
    prompt: "Write"
  draft = session: writer
    prompt: "Improve"
  resume: captain
    prompt: "Review the draft"

block process(data, depth):
  session "Process chunk"
  let rest = do process(half, depth - 1)
  do process_all(data)

do process(topic, 3)
try:
  session "Risky operation"
catch as err:
  session "Analyze the failure of {topic} in depth"

approve production_deploy:
  prompt: "Go?"

session "Report"
session "Report"
"#;

    /// The line of the statement, negative when guessed; 0 when there is none.
    fn line(listing: &Listing, tie: Option<Tie>) -> i64 {
        tie.map_or(0, |tie| {
            let line = i64::from(listing.statements[tie.statement as usize].line);
            if tie.guessed { -line } else { line }
        })
    }

    #[test]
    fn texts_of_rows_find_their_statement() {
        let listing = scan(PROGRAM);
        for (text, index, expected) in [
            // The same text, but for blanks, case, quotes, comments, and the colon.
            ("session \"Process chunk\"", None, 24),
            (
                "  session   \"process  chunk\"  # --> bindings/x.md",
                None,
                24,
            ),
            ("session \"\"\"Process chunk\"\"\"", None, 24),
            ("approve production_deploy:", Some(99), 34),
            ("approve production_deploy", None, 34),
            ("try:", None, 29),
            // Without, or with, the name that it is bound to.
            ("session \"Analyze risk A\"", None, 12),
            ("let a = session \"Analyze risk A\"", None, 12),
            ("do process(half, depth - 1)", None, 25),
            // Shortened.
            ("let research = session", None, 8),
            ("research", None, -8),
            (
                "let research = session: writer\n  prompt: \"Research AI safety\"",
                None,
                8,
            ),
            ("session \"Analyze risk", None, -12),
            ("session \"Analyze risk...\"", None, -12),
            ("session \"Risky\"", None, -30),
            ("session \"Proc...", None, -24),
            ("session \"Proc…\"", None, -24),
            ("session \"Proc", None, -24),
            ("loop", None, -15),
            ("loop until", None, -15),
            ("parallel:", None, -11),
            ("approve", None, -34),
            ("do process_all", None, -26),
            ("Risky operation", None, -30),
            // Branches.
            ("parallel:a", None, 12),
            ("parallel: b", None, 13),
            ("branch a", None, 12),
            ("parallel:z", None, -11),
            // What it refers to.
            ("do process(topic, 3)", None, 28),
            ("process(topic, 3)", None, -28),
            ("resume captain", None, -20),
            ("do process", Some(25), -25),
            ("do process", Some(28), -28),
            ("do process(half)", Some(25), -25),
            // Names filled in.
            ("session \"Analyze risk B of whales\"", None, -13),
            (
                "session \"Analyze the failure of whales in depth\"",
                None,
                -32,
            ),
            // Reworded.
            ("session: captain reviews the draft", None, -20),
            ("loop until the draft is good enough", None, -15),
            ("Research of AI safety", None, -8),
            // Nothing like it: nothing, unless the index says something.
            ("buy milk", None, 0),
            ("buy milk", Some(28), -28),
            ("", None, 0),
            ("", Some(11), -11),
            ("parallel:", Some(4), -11),
            ("throw \"x\"", Some(11), 0),
        ] {
            let tie = listing.tie(text, index);
            assert_eq!(line(&listing, tie), expected, "{text:?} {index:?}");
        }
    }

    #[test]
    fn the_index_decides_between_equals_only() {
        let listing = scan(PROGRAM);
        for (text, index, expected) in [
            ("draft = session: writer", Some(16), 16),
            ("draft = session: writer", Some(18), 18),
            ("draft = session: writer\n  prompt: \"Improve\"", None, 18),
            ("draft = session: writer", None, -16),
            ("session \"Report\"", Some(37), 37),
            ("session \"Report\"", Some(38), 38),
            // Statements, from 0.
            ("session \"Report\"", Some(21), 37),
            // Counts that say different things, or nothing.
            ("session \"Report\"", Some(22), -37),
            ("session \"Report\"", Some(777), -37),
            ("session \"Report\"", Some(-1), -37),
            ("session \"Report\"", Some(i64::MIN), -37),
            ("session \"Report\"", Some(i64::MAX), -37),
            // Text first.
            ("session \"Risky operation\"", Some(8), 30),
        ] {
            let tie = listing.tie(text, index);
            assert_eq!(line(&listing, tie), expected, "{text:?} {index:?}");
        }
    }

    /// Documents count statements from 0 or 1, all or those that run, or lines: rows that are sure teach it.
    #[test]
    fn many_rows_teach_how_they_count() {
        let listing = scan(PROGRAM);
        let sure = [
            "let research = session: writer",
            "try:",
            "approve production_deploy:",
        ];
        for (indices, report) in [
            ([8, 29, 34], [37, 38]), // lines
            ([4, 17, 21], [22, 23]), // statements from 1
            ([3, 16, 20], [21, 22]), // statements from 0
            ([2, 14, 18], [19, 20]), // without declarations, from 1
            ([1, 13, 17], [18, 19]), // the same, from 0
            ([2, 6, 8], [9, 10]),    // outer ones without declarations, from 1
            ([4, 9, 11], [12, 13]),  // outer ones, from 1
            ([3, 8, 10], [11, 12]),  // the same, from 0
        ] {
            let mut ties = listing.ties();
            ties.learn(sure.iter().copied().zip(indices.map(Some)));
            for (index, expected) in report.into_iter().zip([37, 38]) {
                let tie = ties.tie("session \"Report\"", Some(index));
                assert_eq!(line(&listing, tie), expected, "{indices:?} {index}");
            }
        }
    }

    #[test]
    fn as_many_indices_as_equals_are_in_the_same_order() {
        let listing = scan(PROGRAM);
        let mut ties = listing.ties();
        ties.learn([
            ("let research = session: writer", Some(100)),
            ("session \"Report\"", Some(900)),
            ("session \"Report\"", Some(950)),
            ("session \"Report\"", Some(900)),
        ]);
        let tie = ties.tie("session \"Report\"", Some(950));
        assert_eq!(line(&listing, tie), -38);
        let tie = ties.tie("session \"Report\"", Some(900));
        assert_eq!(line(&listing, tie), -37);
    }

    #[test]
    fn texts_in_the_order_of_the_program_go_on_from_the_last() {
        let listing = scan(PROGRAM);
        let mut ties = listing.ties();
        let mut after = None;
        let mut lines = Vec::new();
        for text in [
            "draft = session: writer",
            "draft = session: writer",
            "try:",
            "session \"Report\"",
            "session \"Report\"",
            "try:",
        ] {
            let tie = ties.tie_after(text, after);
            after = tie.map(|tie| tie.statement);
            lines.push(line(&listing, tie));
        }
        assert_eq!(lines, [-16, -18, 29, -37, -38, 29]);
    }

    #[test]
    fn a_shortened_text_ends_with_a_word_if_it_can() {
        let listing = scan("note the jobs\nnote the job 1\nnote the job 2\n");
        assert_eq!(line(&listing, listing.tie("note the job", None)), -2);
        assert_eq!(line(&listing, listing.tie("note the job…", None)), -1);
    }

    #[test]
    fn a_loop_may_be_any_maker_of_rounds() {
        let listing = scan("repeat 3:\n  session \"x\"\n");
        assert_eq!(line(&listing, listing.tie("loop", Some(10))), -1);
    }

    #[test]
    fn nothing_ties_to_an_empty_program() {
        for text in ["session \"x\"", "loop", "", "parallel:a"] {
            assert_eq!(scan("").tie(text, Some(1)), None);
        }
    }

    /// 100,000 rows, all of them different or all the same, against 2,000 statements.
    #[test]
    fn many_rows_tie_in_no_time() {
        let source: String = (0..500)
            .map(|n| format!("session \"Work {n} on {{x}}\"\nlet v{n} = do f({n})\nresume: captain\nif **ok**:\n  throw\n"))
            .collect();
        let listing = scan(&source);
        let mut ties = listing.ties();
        for n in 0_i64..100_000 {
            let text = format!("session \"Work {} on {n}\"", n % 500);
            let tie = ties.tie(&text, Some(n)).unwrap();
            assert_eq!(i64::from(tie.statement), n % 500 * 5, "{text}");
            if n % 100 == 0 {
                assert!(ties.tie("resume: captain", Some(n)).is_some());
                assert!(
                    listing
                        .tie("session \"Something else entirely\"", None)
                        .is_none()
                );
            }
        }
    }
}
