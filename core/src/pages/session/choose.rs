//! Finds the run that a user named: by `latest`, an id, the beginning of an id, or a place.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::list::Lists;
use super::{FoundKind, Options, SurveyPlace, filter, order, survey};
use crate::model::run_id::RunId;
use crate::model::source::Source;

/// The reason why a name does not identify a run of a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChooseError {
    /// The source has no runs.
    #[error("there are no runs in {label}")]
    Nothing {
        /// The label of the source.
        label: String,
    },
    /// None of the runs has this name.
    #[error("there is no run {name} in {label}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The label of the source.
        label: String,
        /// How many runs the source has.
        runs: usize,
        /// The names of up to three runs, taken from the end of the list.
        some: Vec<String>,
    },
    /// The name is the beginning of several runs' names.
    #[error("{name} matches {runs} runs: {}", .some.join(", "))]
    Several {
        /// The beginning of a name.
        name: String,
        /// How many runs match.
        runs: usize,
        /// The names of the first five runs that match.
        some: Vec<String>,
    },
}

/// Returns the place of the run that `name` identifies. `name` is `latest`, the run's id, a unique beginning of the id,
/// or the run's place, as in lists of runs and imports. Stores of agents are not runs.
///
/// # Errors
/// An error if no run matches, or more than one.
pub fn choose(
    source: &Rc<dyn Source>,
    name: &str,
    options: &Options,
) -> Result<String, ChooseError> {
    let mut found = survey(source.as_ref()).found;
    found.retain(|f| f.kind != FoundKind::Agents);
    if name == "latest" {
        return latest(source, &found, options);
    }
    if let Some(exact) = found.iter().find(|f| f.name == name) {
        return Ok(exact.place.clone());
    }
    if is_place(source.as_ref(), name) {
        return Ok(name.to_owned());
    }
    let one = by_beginning(&found, |f| &f.name, name, || source.label())?;
    Ok(one.place.clone())
}

/// Returns the id that `name` identifies among the ids of a database's runs. `name` is the id, or a unique beginning of
/// the id.
///
/// # Errors
/// An error if no id matches, or more than one.
pub(super) fn among(
    ids: &BTreeSet<&str>,
    name: &str,
    label: impl FnOnce() -> String,
) -> Result<String, ChooseError> {
    // No `name` can refer to a run without an id, so such a run is not a candidate.
    let ids: Vec<&str> = ids.iter().copied().filter(|id| !id.is_empty()).collect();
    let id = if ids.contains(&name) {
        name
    } else {
        *by_beginning(&ids, |id| id, name, label)?
    };
    Ok(id.to_owned())
}

/// Returns the only run whose name begins with `name`.
///
/// # Errors
/// An error if no run's name, or more than one, begins with `name`.
fn by_beginning<'r, R>(
    runs: &'r [R],
    name_of: impl Fn(&R) -> &str,
    name: &str,
    label: impl FnOnce() -> String,
) -> Result<&'r R, ChooseError> {
    let matching: Vec<&R> = runs
        .iter()
        .filter(|run| name_of(run).starts_with(name))
        .collect();
    // A copy has the name of its run with an ending: `RUN-fixed`, `RUN-sqlite`. The beginning of the name means the
    // original.
    let original = matching.iter().min_by_key(|run| name_of(run).len());
    let is_copy_of = |of: &str, other: &str| {
        let rest = other.strip_prefix(of);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    if let Some(original) = original.filter(|run| RunId::parse(name_of(run)).is_well_formed())
        && let of = name_of(original)
        && matching.iter().filter(|run| name_of(run) == of).count() == 1
        && matching.iter().all(|run| is_copy_of(of, name_of(run)))
    {
        return Ok(*original);
    }
    match matching.as_slice() {
        [one] => Ok(*one),
        [] => Err(ChooseError::Unknown {
            name: name.to_owned(),
            label: label(),
            runs: runs.len(),
            some: runs
                .iter()
                .rev()
                .take(3)
                .map(|run| name_of(run).to_owned())
                .collect(),
        }),
        many => Err(ChooseError::Several {
            name: name.to_owned(),
            runs: many.len(),
            some: many
                .iter()
                .take(5)
                .map(|run| name_of(run).to_owned())
                .collect(),
        }),
    }
}

/// Returns the place of the run that a list of runs shows first. A run whose name contains a time is not opened. Any
/// other run is opened to read its start or its last sign of life.
fn latest(
    source: &Rc<dyn Source>,
    found: &[SurveyPlace],
    options: &Options,
) -> Result<String, ChooseError> {
    let newest = match found {
        [one] => Some(one),
        many => {
            let lists = Lists::of(source, options);
            let times: Vec<_> = many.iter().map(|found| began(&lists, found)).collect();
            let last = times.iter().max();
            many.iter()
                .zip(&times)
                .filter(|(_, time)| Some(*time) == last)
                .map(|(found, _)| found)
                .min_by_key(|found| (order::tie(source.as_ref(), &found.place), &found.place))
        }
    };
    newest
        .map(|found| found.place.clone())
        .ok_or_else(|| ChooseError::Nothing {
            label: source.label(),
        })
}

fn began(lists: &Lists<'_>, found: &SurveyPlace) -> Option<i64> {
    let told = || filter::began(&lists.head(found)?.summary);
    RunId::parse(&found.name)
        .millis()
        .or_else(told)
        .or_else(|| filter::began(&lists.line(found, false).0))
}

/// Returns whether a name is the path of a file, or of a folder. A folder's name without `/` does not count as a path.
fn is_place(source: &dyn Source, name: &str) -> bool {
    let folder = format!("{}/", name.trim_end_matches('/'));
    source.file(name).is_some() || (name.contains('/') && !source.below(&folder).is_empty())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::model::database::{Database, Limits};
    use crate::model::source::{FileEntry, SourceError};
    use crate::read::sqlite::MemorySource;

    fn source(files: &[&str]) -> Rc<dyn Source> {
        let text = |path: &str| match path.ends_with("state.md") {
            true => "# Execution State\n",
            false => "# Memory\n",
        };
        let files = files
            .iter()
            .map(|path| ((*path).to_owned(), text(path).into()));
        Rc::new(MemorySource::new("dropped", files))
    }

    #[test]
    fn the_beginning_of_an_id_means_the_run_and_not_its_copies() {
        let run = "runs/20260115-083214-h5n2ye";
        let copies = ["", "-fixed", "-sqlite"].map(|end| format!("{run}{end}/state.md"));
        let named = |files: &[&str]| choose(&source(files), "20260115", &Options::default());
        let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
        assert_eq!(named(&copies).as_deref(), Ok(run));
        // The beginning is ambiguous for two runs of one day, and for two copies without their original.
        for several in [
            [
                "runs/20260115-083214-h5n2ye/state.md",
                "runs/20260115-093214-h5n2ye/state.md",
            ],
            [
                "runs/20260115-083214-h5n2ye-fixed/state.md",
                "runs/20260115-083214-h5n2ye-sqlite/state.md",
            ],
        ] {
            assert!(matches!(
                named(&several),
                Err(ChooseError::Several { runs: 2, .. })
            ));
        }
    }

    #[test]
    fn a_run_is_named_by_latest_its_id_a_beginning_of_it_or_its_place() {
        let source = source(&[
            "runs/20260112-091407-k3v8qd/state.md",
            "runs/20260115-083214-h5n2ye/imports/r--research/state.md",
            "runs/20260115-083214-h5n2ye/state.md",
            "agents/captain/memory.md",
        ]);
        let newest = "runs/20260115-083214-h5n2ye";
        for (name, place) in [
            ("latest", newest),
            ("20260115-083214-h5n2ye", newest),
            ("20260115", newest),
            ("20260112", "runs/20260112-091407-k3v8qd"),
            (newest, newest),
            (
                "runs/20260115-083214-h5n2ye/imports/r--research",
                "runs/20260115-083214-h5n2ye/imports/r--research",
            ),
        ] {
            let chosen = choose(&source, name, &Options::default());
            assert_eq!(chosen.as_deref(), Ok(place), "{name}");
        }
        for (name, message) in [
            ("2027", "there is no run 2027 in dropped"),
            ("agents", "there is no run agents in dropped"),
            ("/", "there is no run / in dropped"),
            (
                "2026",
                "2026 matches 2 runs: 20260112-091407-k3v8qd, 20260115-083214-h5n2ye",
            ),
            (
                "",
                " matches 2 runs: 20260112-091407-k3v8qd, 20260115-083214-h5n2ye",
            ),
        ] {
            let error = choose(&source, name, &Options::default()).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn a_run_of_a_database_is_named_by_its_id_or_a_beginning_of_it() {
        let ids = BTreeSet::from(["", "a", "ab", "b1", "b2"]);
        let chosen = |name: &str| among(&ids, name, || "state.db".to_owned());
        assert_eq!(chosen("a").as_deref(), Ok("a"));
        assert_eq!(chosen("b2").as_deref(), Ok("b2"));
        for (name, message) in [
            ("b", "b matches 2 runs: b1, b2"),
            ("c", "there is no run c in state.db"),
        ] {
            assert_eq!(chosen(name).unwrap_err().to_string(), message);
        }
        let none = among(&BTreeSet::from([""]), "c", || "state.db".to_owned());
        assert!(matches!(none, Err(ChooseError::Unknown { runs: 0, some, .. }) if some.is_empty()));
    }

    #[test]
    fn the_latest_is_known_by_its_name_and_only_nameless_runs_are_opened() {
        struct Watched(MemorySource, RefCell<Vec<String>>);
        impl Source for Watched {
            fn label(&self) -> String {
                self.0.label()
            }
            fn files(&self) -> &[FileEntry] {
                self.0.files()
            }
            fn read(&self, path: &str, from: u64, len: usize) -> Result<Vec<u8>, SourceError> {
                self.1.borrow_mut().push(path.to_owned());
                self.0.read(path, from, len)
            }
            fn database(
                &self,
                path: &str,
                limits: &Limits,
            ) -> Result<Box<dyn Database>, SourceError> {
                self.1.borrow_mut().push(path.to_owned());
                self.0.database(path, limits)
            }
        }
        let state = |id: &str| format!("# Execution State\n\nrun: {id}\n").into_bytes();
        let mut files = vec![
            ("runs/20260112-091407-k3v8qd/state.db".to_owned(), vec![]),
            ("runs/20260115-083214-h5n2ye/state.db".to_owned(), vec![]),
        ];
        let mut check = |more: &[(&str, &str)], latest: &str, opened: &[&str]| {
            let more = more
                .iter()
                .map(|(path, id)| ((*path).to_owned(), state(id)));
            files.extend(more);
            let watched = MemorySource::new("dropped", files.clone());
            let watched = Rc::new(Watched(watched, RefCell::default()));
            let source: Rc<dyn Source> = Rc::<Watched>::clone(&watched);
            let chosen = choose(&source, "latest", &Options::default());
            assert_eq!(chosen.as_deref(), Ok(latest));
            let mut read = watched.1.take();
            read.sort();
            read.dedup();
            assert_eq!(read, opened);
        };
        check(&[], "runs/20260115-083214-h5n2ye", &[]);
        let older = ("runs/first/state.md", "20250101-000000-aaaaaa");
        check(&[older], "runs/20260115-083214-h5n2ye", &[older.0]);
        let newer = ("runs/second/state.md", "20270101-000000-aaaaaa");
        check(&[newer], "runs/second", &[older.0, newer.0]);
    }

    /// A source of runs with the creation time of each run's folder.
    struct Made(MemorySource, Vec<(&'static str, Option<i128>)>);

    impl Source for Made {
        fn label(&self) -> String {
            self.0.label()
        }
        fn files(&self) -> &[FileEntry] {
            self.0.files()
        }
        fn read(&self, path: &str, from: u64, len: usize) -> Result<Vec<u8>, SourceError> {
            self.0.read(path, from, len)
        }
        fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
            self.0.database(path, limits)
        }
        fn made(&self, place: &str) -> Option<i128> {
            let name = place.rsplit('/').next();
            self.1.iter().find(|run| Some(run.0) == name)?.1
        }
    }

    #[test]
    fn of_runs_begun_in_one_second_the_one_that_was_made_last_is_the_newest() {
        const A: &str = "20260115-083214-aaaaaa";
        const Z: &str = "20260115-083214-zzzzzz";
        const COPY: &str = "20260115-083214-aaaaaa-sqlite";
        const NEXT: &str = "20260115-083215-bbbbbb";
        for (runs, newest_first) in [
            (&[(A, Some(1)), (Z, Some(2))][..], &[Z, A][..]),
            (&[(A, Some(2)), (Z, Some(1))], &[A, Z]),
            // Without creation times, runs that began in the same second are ordered by name.
            (&[(A, None), (Z, None)], &[A, Z]),
            (&[(A, None), (Z, Some(1))], &[Z, A]),
            // The time in the id takes precedence over the creation time of the folder.
            (
                &[(A, Some(3)), (Z, Some(2)), (NEXT, Some(1))],
                &[NEXT, A, Z],
            ),
            // A copy was created later than its run, but did not begin later.
            (&[(A, Some(1)), (COPY, Some(9))], &[A, COPY]),
        ] {
            let files = runs.iter().map(|(name, _)| {
                (
                    format!("runs/{name}/state.md"),
                    "# Execution State\n".into(),
                )
            });
            let made = Made(MemorySource::new("dropped", files), runs.to_vec());
            let source: Rc<dyn Source> = Rc::new(made);
            let listed = crate::pages::session::list(&source, &Options::default());
            let listed: Vec<String> = listed.runs.into_iter().map(|run| run.place).collect();
            let expected: Vec<String> = newest_first
                .iter()
                .map(|name| format!("runs/{name}"))
                .collect();
            assert_eq!(listed, expected, "{runs:?}");
            let chosen = choose(&source, "latest", &Options::default());
            assert_eq!(chosen.as_ref().ok(), expected.first(), "{runs:?}");
        }
    }

    #[test]
    fn without_runs_nothing_is_the_latest() {
        for files in [&[][..], &["agents/captain/memory.md"]] {
            let error = choose(&source(files), "latest", &Options::default()).unwrap_err();
            assert_eq!(error.to_string(), "there are no runs in dropped");
        }
    }
}
