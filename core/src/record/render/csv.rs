//! Writes the result of an SQL query as CSV, for other programs.

use crate::model::database::query::QueryView;

/// Returns the rows as RFC 4180 with a header. NULL is an empty field, an empty text is `""`, and bytes are
/// hexadecimal.
pub fn csv(view: &QueryView) -> String {
    let mut out = String::new();
    let header = view.columns.iter().map(|column| quoted(&column.name));
    line(&mut out, header);
    for row in &view.rows {
        let cells = row.iter().map(|cell| match cell.stored.as_str() {
            "null" => String::new(),
            _ => quoted(&cell.text),
        });
        line(&mut out, cells);
    }
    out
}

fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    out.push_str(&cells.collect::<Vec<_>>().join(","));
    out.push_str("\r\n");
}

fn quoted(text: &str) -> String {
    let plain = !text.is_empty() && !text.contains(['"', ',', '\r', '\n', ' ']);
    if plain {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ShownCell;
    use crate::model::database::query::QueryColumn;

    #[test]
    fn csv_quotes_what_would_end_a_field() {
        let cell = |stored: &str, text: &str| ShownCell {
            stored: stored.to_owned(),
            text: text.to_owned(),
            len: text.len() as u64,
            cut: false,
        };
        let column = |name: &str| QueryColumn {
            name: name.to_owned(),
            declared: None,
        };
        let view = QueryView {
            columns: ["x y", "n", "e", "i"].map(column).to_vec(),
            rows: vec![vec![
                cell("text", "a,\"b\"\nc"),
                cell("null", ""),
                cell("text", ""),
                cell("integer", "7"),
            ]],
            ..QueryView::default()
        };
        assert_eq!(
            csv(&view),
            "\"x y\",n,e,i\r\n\"a,\"\"b\"\"\nc\",,\"\",7\r\n"
        );
    }
}
