//! Parses the examples of the rules of `prosescope check`, as inputs for tests.

/// An input that triggers a rule.
#[derive(Debug, Default)]
pub struct Example {
    /// The SQL that fills a `state.db`.
    pub sql: Option<String>,
    /// Whether OpenProse's schema is created in the database before that SQL runs.
    pub schema: bool,
    /// The files of the example, with paths and texts. If some are below `runs/r1/`, only those form the run; otherwise
    /// all files do.
    pub files: Vec<(String, String)>,
    /// A name to resolve, and the execution in whose frame it is resolved (`None`: the root).
    pub asked: Option<(String, Option<i64>)>,
}

/// Parses the parts of an example, each with title, language and text; `None` if the example is prose.
pub fn example<'a>(
    parts: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
) -> Option<Example> {
    let mut example = Example::default();
    for (title, language, text) in parts {
        if language.is_empty() {
            return None;
        }
        if language == "sql" {
            example.sql = Some(text.to_owned());
            example.schema = title != "SQL, on an empty database";
        } else {
            let end = if text.is_empty() { "" } else { "\n" };
            let text = format!("{text}{end}");
            example.files.push((title.to_owned(), text));
        }
        if let Some((_, command)) = title.split_once("`prosescope get ") {
            let mut words = command.trim_end_matches('`').split(" --from ");
            let name = words.next().unwrap_or_default().to_owned();
            example.asked = Some((name, words.next().and_then(|id| id.parse().ok())));
        }
    }
    Some(example)
}
