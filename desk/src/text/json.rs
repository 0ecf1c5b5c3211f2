//! Formats JSON for people to read. Does not parse it into values: numbers, order and repeated keys stay as written.

/// The deepest level with an indentation of its own. Deeper levels are indented like this level, so that deeply nested
/// text does not grow with the square of its depth.
const DEEPEST: usize = 40;

/// Formats a JSON text: one member per line, two spaces per level. Text that is not JSON is accepted, too. Only white
/// space outside of strings changes.
pub fn laid_out(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 4);
    let mut depth = 0_usize;
    let mut chars = json.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                out.push(c);
                while let Some(inside) = chars.next() {
                    out.push(inside);
                    match inside {
                        '"' => break,
                        '\\' => out.extend(chars.next()),
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                out.push(c);
                while chars.next_if(|c| c.is_whitespace()).is_some() {}
                if let Some(close) = chars.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

fn line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth.min(DEEPEST) {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lays_out_and_keeps_what_is_written() {
        for (json, want) in [
            ("", ""),
            ("7.0e1", "7.0e1"),
            ("{ }", "{}"),
            (
                r#"{"b":1,"a":[1.50,{"x":null}]}"#,
                "{\n  \"b\": 1,\n  \"a\": [\n    1.50,\n    {\n      \"x\": null\n    }\n  ]\n}",
            ),
            (r#"["a,b\"{:","ü"]"#, "[\n  \"a,b\\\"{:\",\n  \"ü\"\n]"),
            ("]]", "\n]\n]"),
            ("\"open", "\"open"),
        ] {
            assert_eq!(laid_out(json), want, "{json}");
        }
    }

    #[test]
    fn depth_does_not_cost_more_than_length() {
        let deep = "[".repeat(100_000);
        assert!(laid_out(&deep).len() < 100 * deep.len());
    }
}
