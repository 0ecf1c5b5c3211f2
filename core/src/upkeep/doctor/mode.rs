//! Recommends a state mode, such as `sqlite`, by OpenProse's decision tree (postgres.md, "Decision Tree" and the
//! "Comparison" tables). Questions without known facts stay open.

use serde::{Deserialize, Serialize};

use super::mounts::is_remote;
use super::{Facts, Tool};
use crate::program::{Listing, StatementKind};
use crate::text::counted;

/// Number of statements from which a program is too large to keep its state only in the conversation (sqlite.md,
/// "Complexity ceiling").
const SMALL: usize = 30;

/// Number of concurrently writing branches above which PostgreSQL helps (postgres.md).
const BRANCHES: usize = 5;

/// Size of one run in bytes above which PostgreSQL helps (postgres.md: "outputs exceeding 1GB").
const LARGE: u64 = 1_000_000_000;

/// The facts about a program that the recommendation uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFacts {
    /// The name of the program.
    pub name: String,
    /// The number of statements that are executed.
    pub statements: usize,
    /// The number of parallel blocks, and of pipes that run concurrently.
    pub parallels: usize,
    /// The largest number of branches of one block; `None` if known only at run time (`parallel for`, `pmap`).
    pub widest: Option<usize>,
}

impl ProgramFacts {
    /// Counts statements and branches of a scanned program.
    pub fn of(name: &str, listing: &Listing) -> ProgramFacts {
        let mut facts = ProgramFacts {
            name: name.to_owned(),
            widest: Some(0),
            ..ProgramFacts::default()
        };
        let mut branches = vec![0_usize; listing.statements.len()];
        for statement in &listing.statements {
            let declares = matches!(
                statement.kind,
                StatementKind::Use
                    | StatementKind::Input
                    | StatementKind::Agent
                    | StatementKind::Block
                    | StatementKind::Label
            );
            facts.statements += usize::from(!declares);
            let parent = statement.parent.and_then(|at| usize::try_from(at).ok());
            if let Some(count) = parent.and_then(|at| branches.get_mut(at)) {
                *count += 1;
            }
        }
        for (statement, branches) in listing.statements.iter().zip(branches) {
            let pmap = statement.kind == StatementKind::Pipe && statement.text.contains("pmap");
            if statement.kind != StatementKind::Parallel && !pmap {
                continue;
            }
            facts.parallels += 1;
            let at_run_time = pmap || statement.text.contains("parallel for");
            facts.widest = facts
                .widest
                .filter(|_| !at_run_time)
                .map(|n| n.max(branches));
        }
        facts
    }
}

/// The recommended state mode, with reasons.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Recommendation {
    /// The recommended mode: `in-context`, `filesystem`, `sqlite` or `postgres`.
    pub mode: String,
    /// The program for which the mode is recommended, if one was given.
    pub program: Option<String>,
    /// The reasons, each in a sentence.
    pub reasons: Vec<String>,
    /// The questions of the decision tree, in order.
    pub questions: Vec<Answer>,
}

/// An answer to a question of the decision tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Answer {
    /// The question.
    pub question: String,
    /// Yes or no; `None` if unknown.
    pub yes: Option<bool>,
    /// The state mode that is recommended if the answer is yes.
    pub then: String,
    /// The reason for the answer, or why the answer is unknown.
    pub because: String,
}

pub(super) fn recommend(facts: &Facts) -> Recommendation {
    let questions = questions(facts);
    let first = questions.iter().find(|answer| answer.yes == Some(true));
    let (mode, reasons) = match first {
        Some(answer) => (answer.then.clone(), vec![answer.because.clone()]),
        None => files_or_sqlite(facts),
    };
    Recommendation {
        mode,
        program: facts.program.as_ref().map(|program| program.name.clone()),
        reasons,
        questions,
    }
}

fn questions(facts: &Facts) -> Vec<Answer> {
    let program = facts.program.as_ref();
    let small = program.map(|p| p.statements < SMALL && p.parallels == 0);
    let size = program.map(|p| {
        let parallels = match p.parallels {
            0 => "nothing in parallel".to_owned(),
            n => counted(n as u64, "parallel", "parallels"),
        };
        format!("{} has {} statements and {parallels}", p.name, p.statements)
    });
    let wide = program.and_then(|p| p.widest).map(|n| n > BRANCHES);
    let width = program.map(|p| match p.widest {
        None => "the number of branches is only known when the program runs".to_owned(),
        Some(n) => format!("{} has {n} branches at most", p.name),
    });
    let largest = facts.stores.iter().max_by_key(|store| store.bytes);
    let large = largest.filter(|store| store.bytes > LARGE);
    let held = large.map(|store| {
        let megabytes = store.bytes / 1_000_000;
        format!("{} holds {megabytes} MB already", store.name)
    });
    let ask = |question: &str, yes, then: &str, because: Option<String>, unless: &str| Answer {
        question: question.to_owned(),
        yes,
        then: then.to_owned(),
        because: because.unwrap_or_else(|| unless.to_owned()),
    };
    let unlooked = "no program was given (--program FILE)";
    let unknown = "not recorded here; only you know";
    let unlarge = "no run here is that large; the rate of writes is not recorded";
    let few = "fewer than 30 statements and nothing in parallel?";
    let network = "do dashboards or other tools query the state over the network?";
    let shared = "do several machines or people share one run?";
    let branches = "do more than 5 branches write at once?";
    let outputs = "do outputs exceed 1 GB, or are there more than 100 writes a minute?";
    vec![
        ask(few, small, "in-context", size, unlooked),
        ask(network, None, "postgres", None, unknown),
        ask(shared, None, "postgres", None, unknown),
        ask(branches, wide, "postgres", width, unlooked),
        ask(outputs, large.map(|_| true), "postgres", held, unlarge),
    ]
}

fn files_or_sqlite(facts: &Facts) -> (String, Vec<String>) {
    let mut reasons =
        vec!["files are the default: stable, nothing to install, readable as they are".to_owned()];
    match &facts.file_system {
        Some(kind) if is_remote(kind) => reasons.push(format!(
            "this folder is on {kind}, where a database may not be locked safely"
        )),
        _ if facts.sqlite3 == Tool::Missing => reasons.push(
            "`sqlite` is useful if you want SQL and one file, but OpenProse needs `sqlite3` in PATH, and `sqlite3` is missing"
                .to_owned(),
        ),
        _ => reasons.push(
            "choose `sqlite` if you want SQL, transactions over several writers, or one file to hand on"
                .to_owned(),
        ),
    }
    ("filesystem".to_owned(), reasons)
}

#[cfg(test)]
mod tests {
    use super::super::StoreFacts;
    use super::*;
    use crate::program::scan;

    fn of(source: &str) -> Recommendation {
        recommend(&Facts {
            program: Some(ProgramFacts::of("p.prose", &scan(source))),
            ..Facts::default()
        })
    }

    #[test]
    fn a_program_is_counted_as_the_tree_asks() {
        let many = "session \"x\"\n".repeat(40);
        let branches: String = (0..6)
            .map(|n| format!("  b{n} = session \"x\"\n"))
            .collect();
        for (source, mode) in [
            ("agent a:\n  model: opus\nsession \"x\"\n", "in-context"),
            (many.as_str(), "filesystem"),
            (
                "parallel:\n  a = session \"x\"\n  b = session \"y\"\n",
                "filesystem",
            ),
            (&format!("parallel:\n{branches}"), "postgres"),
            ("parallel for x in xs:\n  session \"x\"\n", "filesystem"),
        ] {
            let said = of(source);
            assert_eq!(said.mode, mode, "{source}: {said:?}");
            assert!(!said.reasons.is_empty() && said.questions.len() == 5);
        }
    }

    #[test]
    fn what_nothing_says_is_left_open() {
        let said = recommend(&Facts::default());
        assert_eq!(said.mode, "filesystem");
        assert!(said.questions.iter().all(|answer| answer.yes.is_none()));
        let large = recommend(&Facts {
            stores: vec![StoreFacts {
                bytes: 2 * LARGE,
                ..StoreFacts::default()
            }],
            ..Facts::default()
        });
        assert_eq!(large.mode, "postgres");
    }
}
