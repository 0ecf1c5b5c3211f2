use std::rc::Rc;

use super::{Found, FoundKind, Options, Session, survey};
use crate::source::Source;

/// Why a name means no run of a source.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChooseError {
    /// There are no runs at all.
    #[error("there are no runs in {label}")]
    Nothing {
        /// The source.
        label: String,
    },
    /// No run is called that.
    #[error("there is no run {name} in {label}")]
    Unknown {
        /// The name.
        name: String,
        /// The source.
        label: String,
        /// How many runs there are.
        runs: usize,
        /// Some of their names, the last ones by name first.
        some: Vec<String>,
    },
    /// Several runs begin like that.
    #[error("{name} begins {runs} runs: {}", .some.join(", "))]
    Several {
        /// The name.
        name: String,
        /// How many runs begin like that.
        runs: usize,
        /// The names of the first ones.
        some: Vec<String>,
    },
}

/// The place of the run that `name` means: `latest`, its id, a unique beginning of it, or the place itself (as lists of
/// runs and of imports give it). Stores of agents are no runs.
///
/// # Errors
/// When it means none, or more than one.
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
    let matching: Vec<&Found> = found.iter().filter(|f| f.name.starts_with(name)).collect();
    match matching.as_slice() {
        [one] => Ok(one.place.clone()),
        [] => Err(ChooseError::Unknown {
            name: name.to_owned(),
            label: source.label(),
            runs: found.len(),
            some: found.iter().rev().take(3).map(|f| f.name.clone()).collect(),
        }),
        many => Err(ChooseError::Several {
            name: name.to_owned(),
            runs: many.len(),
            some: many.iter().take(5).map(|f| f.name.clone()).collect(),
        }),
    }
}

fn latest(
    source: &Rc<dyn Source>,
    found: &[Found],
    options: &Options,
) -> Result<String, ChooseError> {
    let newest = match found {
        [] => None,
        [one] => Some(one.place.clone()),
        // The list is in the order that "latest" means; an unreadable run may still be the latest.
        _ => Session::list(source, options)
            .runs
            .into_iter()
            .map(|run| run.place)
            .find(|place| found.iter().any(|f| f.place == *place)),
    };
    newest.ok_or_else(|| ChooseError::Nothing {
        label: source.label(),
    })
}

/// Whether a file is called that, or a folder by its path: a bare word is a name.
fn is_place(source: &dyn Source, name: &str) -> bool {
    let folder = format!("{}/", name.trim_end_matches('/'));
    source.file(name).is_some() || (name.contains('/') && !source.below(&folder).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::MemorySource;

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
                "2026 begins 2 runs: 20260112-091407-k3v8qd, 20260115-083214-h5n2ye",
            ),
            (
                "",
                " begins 2 runs: 20260112-091407-k3v8qd, 20260115-083214-h5n2ye",
            ),
        ] {
            let error = choose(&source, name, &Options::default()).unwrap_err();
            assert_eq!(error.to_string(), message);
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
