//! The package's errors: subclasses of `Error` with a `code` for programs and a `hint` for people.

use prosescope_core::model::source::SourceError;
use prosescope_core::model::timeout::TimeoutError;
use prosescope_core::pages::session::{ChooseError, OpenError};
use prosescope_share::archive::ArchiveError;
use prosescope_share::pack::ShareError;
use prosescope_share::page::PageError;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(raw_module = "./problem.js")]
extern "C" {
    /// Creates a JavaScript error of the class with this name, such as `UsageError`.
    fn problem(
        class: &str,
        code: &str,
        message: &str,
        hint: &str,
        file: Option<String>,
        runs: Option<Vec<String>>,
    ) -> JsValue;
}

/// An error for the JavaScript caller: the reason why a call failed, and a hint.
pub(crate) struct Problem {
    class: &'static str,
    code: &'static str,
    message: String,
    hint: String,
    file: Option<String>,
    /// The runs from which the caller must choose one, as the option `run` takes them.
    runs: Option<Vec<String>>,
}

impl Problem {
    /// Creates an error for a call with invalid arguments.
    pub(crate) fn usage(code: &'static str, message: impl Into<String>, hint: &str) -> Problem {
        Problem {
            class: "UsageError",
            code,
            message: message.into(),
            hint: hint.to_owned(),
            file: None,
            runs: None,
        }
    }

    /// Creates an error for a shared file of several runs of which the caller named none.
    pub(crate) fn several_runs(label: &str, runs: Vec<String>) -> Problem {
        let message = format!("{label} holds {} runs: {}", runs.len(), runs.join(", "));
        Problem {
            runs: Some(runs),
            ..Problem::usage(
                "several-runs",
                message,
                "give one of them as the option run, or latest",
            )
        }
    }

    /// Creates an error for something that does not exist.
    pub(crate) fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem {
            class: "NotFoundError",
            code: "not-found",
            message: message.into(),
            hint: hint.into(),
            file: None,
            runs: None,
        }
    }

    /// Creates an error for a defect of the package.
    pub(crate) fn defect(what: &str) -> Problem {
        Problem {
            class: "DefectError",
            code: "defect",
            message: format!("this is a defect of Prosescope: {what}"),
            hint: "please report it, and describe the run that you opened".to_owned(),
            file: None,
            runs: None,
        }
    }

    /// Returns the message of an exception that a caller's function threw when it should have returned bytes.
    pub(crate) fn thrown(value: &JsValue) -> String {
        let message = js_sys::Reflect::get(value, &"message".into()).ok();
        let message = message.and_then(|message| message.as_string());
        message.unwrap_or_else(|| "reading it failed".to_owned())
    }

    fn open(code: &'static str, message: String, hint: impl Into<String>, file: String) -> Problem {
        Problem {
            class: "OpenError",
            code,
            message,
            hint: hint.into(),
            file: Some(file),
            runs: None,
        }
    }
}

impl Problem {
    /// Creates an error for a shared file that cannot be unpacked.
    pub(crate) fn packed(path: &str, error: &ArchiveError) -> Problem {
        let code = match error {
            ArchiveError::TooLarge(_) => "copy-too-large",
            ArchiveError::Failed(_) => "unreadable",
            _ => "damaged-copy",
        };
        let message = format!("{path}: {error}");
        Problem::open(code, message, error.next_step(), path.to_owned())
    }

    /// Creates an error for a page whose run cannot be unpacked.
    pub(crate) fn page(path: &str, error: &PageError) -> Problem {
        let code = match error {
            PageError::Failed(_) => "unreadable",
            _ => "damaged-copy",
        };
        let message = format!("{path}: {error}");
        Problem::open(code, message, error.next_step(), path.to_owned())
    }
}

impl From<Problem> for JsValue {
    fn from(p: Problem) -> JsValue {
        problem(p.class, p.code, &p.message, &p.hint, p.file, p.runs)
    }
}

impl From<OpenError> for Problem {
    fn from(error: OpenError) -> Problem {
        let message = error.to_string();
        match error {
            OpenError::Source(error) => error.into(),
            OpenError::Run(ChooseError::Unknown { some, runs, .. }) => {
                let more = match runs.saturating_sub(some.len()) {
                    0 => String::new(),
                    more => format!(" and {more} more (overview().other_runs)"),
                };
                let hint = match some.as_slice() {
                    [] => "leave out runId: no run here has an id".to_owned(),
                    some => format!("give one of {}{more}", some.join(", ")),
                };
                Problem::not_found(message, hint)
            }
            OpenError::Run(error) => error.into(),
            OpenError::NoRun { place, next, .. } => Problem::open("no-run", message, next, place),
        }
    }
}

impl From<SourceError> for Problem {
    fn from(error: SourceError) -> Problem {
        let message = error.to_string();
        match error {
            SourceError::NotFound(path) => Problem {
                file: Some(path),
                ..Problem::not_found(
                    message,
                    "give the whole folder, with all the files that it refers to",
                )
            },
            SourceError::Changed(path) => Problem::open(
                "changed",
                message,
                "open it again: files and bytes are read in place, so they must stay as they are until free()",
                path,
            ),
            SourceError::Unreadable { path, .. } => {
                let hint = "check that the file was copied whole";
                Problem::open("unreadable", message, hint, path)
            }
            SourceError::Database { path, next, .. } => {
                Problem::open("unreadable-database", message, next, path)
            }
        }
    }
}

impl From<ChooseError> for Problem {
    fn from(error: ChooseError) -> Problem {
        let message = error.to_string();
        match error {
            ChooseError::Nothing { label } => Problem::open(
                "no-run",
                message,
                "give a state.db, a run folder, or the .prose folder that holds the runs",
                label,
            ),
            ChooseError::Unknown { some, .. } => {
                let hint = match some.as_slice() {
                    [] => "there are no runs to choose from".to_owned(),
                    some => format!("give one of {}; list() returns all", some.join(", ")),
                };
                Problem::not_found(message, hint)
            }
            ChooseError::Several { some, .. } => Problem {
                runs: Some(some),
                ..Problem::usage("ambiguous", message, "give more of the id")
            },
        }
    }
}

impl From<ShareError> for Problem {
    fn from(error: ShareError) -> Problem {
        let code = match &error {
            ShareError::Alike(_) => {
                return Problem::usage("bad-argument", error.to_string(), &error.next_step());
            }
            ShareError::Read { .. } => "unreadable",
            ShareError::Write(_) | ShareError::Written(_) => "not-written",
            ShareError::TooLarge(_) => "page-too-large",
            ShareError::NotOneDatabase => "no-one-database",
            ShareError::Page(_) => "bad-viewer",
            ShareError::Changed(_) => "share-changed",
            ShareError::TooManySecrets(_) => "too-many-secrets",
            ShareError::Remains { .. } => "secret-remains",
        };
        // The first hints are written for JavaScript, because those of `next_step` refer to options of the
        // command line.
        let hint = match &error {
            ShareError::Read { .. } => "check() of the run shows what is wrong".to_owned(),
            ShareError::Write(_) | ShareError::Written(_) => {
                "memory may have run out: share fewer runs, or leave out long values with maxValue"
                    .to_owned()
            }
            ShareError::Remains { name, .. } => format!(
                "leave out the content that contains the secret (without, maxValue), or keep the secret deliberately: keep: ['{name}']"
            ),
            ShareError::TooManySecrets(_) => {
                "leave out the content with most of them (without: ['values']), or set anyway"
                    .to_owned()
            }
            ShareError::Changed(_) => "ask the sender for the file again".to_owned(),
            ShareError::Alike(_)
            | ShareError::TooLarge(_)
            | ShareError::NotOneDatabase
            | ShareError::Page(_) => error.next_step(),
        };
        let message = format!("nothing was shared: {error}");
        let file = match error {
            ShareError::Read { path, .. } => Some(path),
            _ => None,
        };
        Problem {
            class: "ShareError",
            code,
            message,
            hint,
            file,
            runs: None,
        }
    }
}

impl From<TimeoutError> for Problem {
    fn from(error: TimeoutError) -> Problem {
        Problem {
            class: "DurationError",
            code: "bad-timeout",
            message: error.to_string(),
            hint: "give whole numbers with the units d, h, m and s, the largest unit first: 2h30m"
                .to_owned(),
            file: None,
            runs: None,
        }
    }
}
