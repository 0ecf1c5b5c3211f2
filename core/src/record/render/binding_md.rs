//! Writes binding files in the form that [`crate::read::decode::binding_md`] reads (OpenProse's filesystem.md,
//! "bindings/{name}.md"; errata F2).

use crate::model::change::BindingRow;

/// Returns the file's name below `bindings/`: `result.md` at the root, `result__43.md` in frame 43.
pub fn file_name(name: &str, frame: Option<i64>) -> String {
    match frame {
        Some(id) => format!("{name}__{id}.md"),
        None => format!("{name}.md"),
    }
}

/// Returns a whole binding file: header, `---`, and the value byte for byte. `created` is the time of the first write;
/// `None` if the binding is new.
///
/// OpenProse's header has no times. Prosescope adds `created:` and `updated:`, because the times of a file are lost
/// when a run is copied. Line breaks at the end of the source are dropped.
pub fn write(row: &BindingRow, created: Option<&str>) -> String {
    let mut out = format!("# {}\n\n", on_one_line(&row.name));
    let mut field = |key: &str, value: Option<&str>| {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            out.push_str(&format!("{key}: {}\n", on_one_line(value)));
        }
    };
    let number = |id: Option<i64>| id.map(|id| id.to_string());
    field("kind", Some(&row.kind));
    field("execution_id", number(row.execution_id).as_deref());
    field(
        "parent_execution_id",
        number(row.parent_execution_id).as_deref(),
    );
    field("created", created);
    field("updated", Some(&row.at));
    field("attachment", row.attachment.as_deref());
    let source = row.source.as_deref().unwrap_or_default();
    let source = source.trim_end_matches(['\n', '\r']);
    if !source.trim().is_empty() {
        let ticks = ticks(source.lines());
        out.push_str(&format!("\nsource:\n{ticks}prose\n{source}\n{ticks}\n"));
    }
    out.push_str("\n---\n\n");
    out.push_str(&row.value);
    out
}

/// Returns a text without the characters that would end its line in a header.
fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Returns a fence of backticks that is longer than every fence in the lines, so that no line closes it.
pub(super) fn ticks<'t>(lines: impl Iterator<Item = &'t str>) -> String {
    let begin = |line: &str| line.trim_start().bytes().take_while(|&b| b == b'`').count();
    let longest = lines.map(begin).max().unwrap_or(0);
    "`".repeat(longest.saturating_add(1).max(3))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::time::Stamp;
    use crate::read::decode::binding_md::parse;

    fn row(name: &str, value: &str) -> BindingRow {
        BindingRow {
            name: name.into(),
            kind: "let".into(),
            value: value.into(),
            at: "2026-01-15T14:30:52Z".into(),
            ..BindingRow::default()
        }
    }

    #[test]
    fn a_binding_is_written_in_the_form_of_the_document() {
        let row = BindingRow {
            execution_id: Some(43),
            parent_execution_id: Some(42),
            source: Some("let result = session \"Process chunk\"".into()),
            ..row("result", "Processed chunk into 3 sub-parts...")
        };
        assert_eq!(
            write(&row, None),
            "# result\n\nkind: let\nexecution_id: 43\nparent_execution_id: 42\nupdated: 2026-01-15T14:30:52Z\n\n\
             source:\n```prose\nlet result = session \"Process chunk\"\n```\n\n---\n\n\
             Processed chunk into 3 sub-parts..."
        );
        assert_eq!(file_name("result", Some(43)), "result__43.md");
        assert_eq!(file_name("result", None), "result.md");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            name in "[a-zé_.-][a-z0-9_.-]{0,12}",
            frame in proptest::option::of(any::<i64>()),
            above in proptest::option::of(any::<i64>()),
            source in proptest::option::of("[a-z`~\\-\n #:\"]{0,40}"),
            value in "[a-z`~\\-\n\r #:\"\\\\]{0,60}",
            attachment in proptest::option::of("attachments/[a-z_@0-9]{1,8}\\.md"),
            created in proptest::option::of(Just("2026-01-14T10:00:00Z")),
        ) {
            let row = BindingRow {
                execution_id: frame,
                parent_execution_id: above,
                source: source.clone(),
                attachment: attachment.clone(),
                ..row(&name, &value)
            };
            let file = write(&row, created);
            let head = parse(file.as_bytes(), true, &name).unwrap();
            prop_assert_eq!(&head.issues, &[], "{}", file);
            prop_assert_eq!(head.name.as_deref(), Some(name.as_str()));
            prop_assert_eq!(head.kind.as_deref(), Some("let"));
            prop_assert_eq!((head.execution_id, head.parent_execution_id), (frame, above));
            let source = source.map(|s| s.trim_end_matches('\n').to_owned());
            prop_assert_eq!(head.source.as_deref(), source.as_deref().filter(|s| !s.trim().is_empty()));
            prop_assert_eq!(head.attachment.as_deref(), attachment.as_deref());
            let time = |at: Option<Stamp>| at.map(|at| at.to_string());
            prop_assert_eq!(time(head.updated), Some(row.at));
            prop_assert_eq!(time(head.created), created.map(str::to_owned));
            prop_assert_eq!(&file[head.start as usize..], value);
        }
    }
}
