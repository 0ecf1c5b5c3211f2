use super::Session;
use crate::decode::state_md;
use crate::model::FolderForm;
use crate::render::state_md as render;
use crate::view::{StateLine, StateMdView};

/// How much of a state file is compared and shown.
const OWN: usize = 1 << 20;

impl Session {
    /// state.md rendered from the data; `whole` writes the whole program, not only what ran and what is next.
    pub fn state_md(&self, whole: bool) -> String {
        let options = render::RenderOptions {
            whole_program: whole,
        };
        render::from_run(&self.run, &self.trace, self.listing.as_ref(), &options)
    }

    /// Both state files: rendered from the data, and the folder's own, with their differences.
    pub fn state_page(&self, whole: bool) -> StateMdView {
        let rendered = self.state_md(whole);
        let Some((own, cut)) = self.own_state_file() else {
            return StateMdView {
                rendered,
                ..StateMdView::default()
            };
        };
        let form = state_md::form(&own);
        let mut view = StateMdView {
            rendered,
            own: Some(own),
            ..StateMdView::default()
        };
        view.note = match form {
            FolderForm::StateMd if cut => {
                Some("the file is longer than 1 MiB and shown in part".to_owned())
            }
            FolderForm::StateMd => None,
            FolderForm::CompactLog => Some(
                "the file is a compact log: what it tells is rendered, but its form cannot be compared line by line".to_owned(),
            ),
            FolderForm::Receipts => {
                Some("the file is of a form that points to receipts: shown as text".to_owned())
            }
            _ => Some(
                "the file is of a form that is not known here (it may be encrypted): shown as text"
                    .to_owned(),
            ),
        };
        if form == FolderForm::StateMd {
            let (theirs, _) = state_md::parse(view.own.as_deref().unwrap_or_default());
            let (ours, _) = state_md::parse(&view.rendered);
            view.differs = !carries_the_same(&theirs, &ours);
            if view.own.as_deref() != Some(view.rendered.as_str()) {
                view.lines = compare(view.own.as_deref().unwrap_or_default(), &view.rendered);
            }
        }
        view
    }

    fn own_state_file(&self) -> Option<(String, bool)> {
        let path = if self.source.file(&self.place).is_some()
            && matches!(self.run.form, crate::model::Form::Folder { .. })
        {
            self.place.clone()
        } else {
            format!("{}state.md", self.root)
        };
        let file = self.source.file(&path)?;
        let bytes = self.source.read(&path, 0, OWN).ok()?;
        Some((
            String::from_utf8_lossy(&bytes).into_owned(),
            file.len > OWN as u64,
        ))
    }
}

/// Whether two state files say the same, as far as a state file carries it (state-md.md, "Carried"); the window of
/// source lines may differ.
fn carries_the_same(a: &crate::model::StateFile, b: &crate::model::StateFile) -> bool {
    let marks = |f: &crate::model::StateFile| {
        f.trace
            .iter()
            .filter_map(|line| {
                let annotation = line
                    .annotation
                    .as_ref()
                    .filter(|a| !a.ahead && !a.declared)?;
                let status = annotation.status.as_ref().map(|s| s.word().to_owned());
                Some((line.text.trim().to_owned(), status, annotation.attempt))
            })
            .collect::<Vec<_>>()
    };
    a.run == b.run
        && a.status == b.status
        && marks(a) == marks(b)
        && a.bindings == b.bindings
        && a.call_stack == b.call_stack
        && a.parallels == b.parallels
        && a.loops == b.loops
}

/// A line diff: `-` only in the file, `+` only rendered.
fn compare(own: &str, rendered: &str) -> Vec<StateLine> {
    let diff = similar::TextDiff::configure()
        .algorithm(similar::Algorithm::Patience)
        .diff_lines(own, rendered);
    diff.iter_all_changes()
        .map(|change| StateLine {
            mark: match change.tag() {
                similar::ChangeTag::Equal => '=',
                similar::ChangeTag::Insert => '+',
                similar::ChangeTag::Delete => '-',
            },
            text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
        })
        .collect()
}
