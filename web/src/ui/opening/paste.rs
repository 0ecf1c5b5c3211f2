//! Opens what the user pastes: the text of a state file, or copied files.

use js_sys::Array;
use web_sys::{ClipboardEvent, File};

use crate::protocol::Missing;
use crate::ui::keys::is_typing;
use crate::ui::state::{App, OpeningSource};

/// The file name for a pasted text.
const NAME: &str = "state.md";

/// Returns whether a pasted text may be a state file. Any other text must not replace the open run.
fn is_state(text: &str) -> bool {
    let head: Vec<String> = text.lines().take(40).map(str::to_lowercase).collect();
    let says = |words: &str| head.iter().any(|line| line.contains(words));
    head.len() > 1 && (says("execution state") || says("run:") || says("run id"))
}

/// Opens pasted content, unless the user pastes into a text field. Returns whether something was opened.
pub(crate) fn on_paste(app: App, event: &ClipboardEvent) -> bool {
    if is_typing(event) {
        return false;
    }
    let Some(data) = event.clipboard_data() else {
        return false;
    };
    let copied = data.files().filter(|files| files.length() > 0);
    let files: Vec<(String, File)> = match copied {
        Some(files) => (0..files.length())
            .filter_map(|at| files.get(at))
            .map(|file| (file.name(), file))
            .collect(),
        None => {
            let text = data.get_data("text/plain").unwrap_or_default();
            if !is_state(&text) {
                app.say("The pasted text is not a state.md: it contains no run id");
                return false;
            }
            let file = File::new_with_str_sequence(&Array::of1(&text.into()), NAME);
            file.ok()
                .map(|file| (NAME.to_owned(), file))
                .into_iter()
                .collect()
        }
    };
    let Some((first, _)) = files.first() else {
        return false;
    };
    app.open(OpeningSource::Files {
        label: format!("{first}, pasted"),
        files,
        missing: Missing {
            loose: true,
            ..Missing::default()
        },
        handles: Vec::new(),
    });
    true
}
