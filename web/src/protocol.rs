//! What the page asks the worker, and how the worker says no.
//!
//! A question goes as `{ id, body, files }`: `body` is a [`Request`] as JSON, `files` pairs of path and browser
//! file where the request opens some. The answer is `{ id, ok }` or `{ id, error }`, JSON of the view struct that
//! the request names, or of a [`Trouble`].

#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

use serde::{Deserialize, Serialize};

/// A question to the worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Opens the files that come with it.
    OpenFiles {
        /// What to call them to a person.
        label: String,
    },
    /// Opens what the local server offers.
    OpenServed {
        /// The page's own address, ending in `/`.
        base: String,
    },
    /// Names of the tables of the first database (a stand-in until there is more to ask).
    Tables,
    /// What was read so far: [`Stats`].
    Stats,
}

/// What was read so far, and at what cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stats {
    /// Reads, fetches and their bytes.
    #[serde(flatten)]
    pub(crate) counters: crate::bytes::Counters,
    /// Bytes of the worker's wasm memory.
    pub(crate) memory: u64,
}

/// Why something could not be done, for a person: what was found, why it is refused, what to do next.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trouble {
    /// The file that it is about.
    pub(crate) file: Option<String>,
    /// What was found, in a sentence or less: `report.pdf, 12 KB, begins with %PDF`.
    pub(crate) found: String,
    /// Why that cannot be shown.
    pub(crate) cause: String,
    /// What to do next.
    pub(crate) next: String,
}

impl Trouble {
    /// A trouble that is no file's.
    pub(crate) fn new(cause: impl Into<String>, next: impl Into<String>) -> Trouble {
        Trouble {
            cause: cause.into(),
            next: next.into(),
            ..Trouble::default()
        }
    }
}

impl From<prosescope_core::source::SourceError> for Trouble {
    fn from(error: prosescope_core::source::SourceError) -> Trouble {
        use prosescope_core::source::SourceError;

        let (file, cause, next) = match error {
            SourceError::NotFound(path) => (
                path,
                "It is not among the files that were opened.".to_owned(),
                "Open the whole folder, so that everything it names is there.".to_owned(),
            ),
            SourceError::Changed(path) => (
                path,
                "It changed on disk since it was opened.".to_owned(),
                "Open it again to see its present state.".to_owned(),
            ),
            SourceError::Unreadable { path, cause } => (
                path,
                format!("It cannot be read: {cause}."),
                "Check that it is still there and that you may read it, then open it again."
                    .to_owned(),
            ),
            SourceError::Database { path, cause, next } => (path, cause, next),
        };
        Trouble {
            file: Some(file),
            cause,
            next,
            ..Trouble::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prosescope_core::source::SourceError;

    #[test]
    fn a_request_survives_the_way_to_the_worker() {
        let request = Request::OpenFiles {
            label: "a \"b\"\n".into(),
        };
        let body = serde_json::to_string(&request).unwrap();
        assert_eq!(body, r#"{"ask":"open_files","label":"a \"b\"\n"}"#);
        assert_eq!(serde_json::from_str::<Request>(&body).unwrap(), request);
    }

    #[test]
    fn every_trouble_names_the_file_and_the_next_step() {
        for error in [
            SourceError::NotFound("a.md".into()),
            SourceError::Changed("a.md".into()),
            SourceError::Unreadable {
                path: "a.md".into(),
                cause: "not allowed".into(),
            },
        ] {
            let trouble = Trouble::from(error);
            assert_eq!(trouble.file.as_deref(), Some("a.md"));
            assert!(trouble.cause.ends_with('.') && trouble.next.ends_with('.'));
        }
    }
}
