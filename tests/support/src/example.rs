//! The examples of the page of rules, as inputs.

/// An input that yields a rule.
#[derive(Debug, Default)]
pub struct Example {
    /// What fills a `state.db`.
    pub sql: Option<String>,
    /// Whether that database has the documents' schema before.
    pub schema: bool,
    /// Paths and texts. Where some lie below `runs/r1/`, that is the run; else all of it is.
    pub files: Vec<(String, String)>,
    /// A name that is then resolved, and from which frame.
    pub asked: Option<(String, Option<i64>)>,
}

/// Reads the parts of an example, each as title, language and text; `None` where it is told in words.
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
