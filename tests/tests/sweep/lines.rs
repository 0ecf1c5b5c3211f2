//! Reads a program by only two rules: the indentation, and the first words of lines.

/// A statement's line, with the lines indented below it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    pub(crate) no: u32,
    pub(crate) text: String,
    pub(crate) below: Vec<Line>,
}

/// Returns the statements of a program, nested by indentation.
pub(crate) fn read(program: &str) -> Vec<Line> {
    let mut plain: Vec<(usize, u32, String)> = Vec::new();
    let (mut quoted, mut condition, mut open) = (false, false, 0_i64);
    for (at, line) in program.lines().enumerate() {
        let inside = quoted || condition || open > 0;
        // A text in triple quotes, or a condition in asterisks, may continue on the next lines.
        if !condition && line.matches("\"\"\"").count() % 2 == 1 {
            quoted = !quoted;
        } else if !quoted && asterisks(line) % 2 == 1 {
            condition = !condition;
        }
        let text = line.trim();
        if !inside && (text.is_empty() || text.starts_with('#')) {
            continue;
        }
        if !quoted && !condition {
            open = (open + brackets(text)).max(0);
        }
        if !inside {
            let indent = line.len() - line.trim_start().len();
            let no = u32::try_from(at + 1).unwrap_or(u32::MAX);
            plain.push((indent, no, text.to_owned()));
        }
    }
    let mut at = 0;
    nested(&plain, &mut at, 0)
}

fn nested(plain: &[(usize, u32, String)], at: &mut usize, least: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    while let Some((indent, no, text)) = plain.get(*at) {
        if *indent < least {
            break;
        }
        *at += 1;
        let below = nested(plain, at, indent + 1);
        lines.push(Line {
            no: *no,
            text: text.clone(),
            below,
        });
    }
    lines
}

/// Counts pairs of asterisks outside of quotes.
fn asterisks(line: &str) -> usize {
    let plain = line.split('"').step_by(2);
    plain.map(|part| part.matches("**").count()).sum()
}

/// Returns how many brackets a line leaves open, outside of quotes.
fn brackets(text: &str) -> i64 {
    let (mut open, mut quoted) = (0, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => break,
            '(' | '[' | '{' if !quoted => open += 1,
            ')' | ']' | '}' if !quoted => open -= 1,
            _ => {}
        }
    }
    open
}

/// Returns the name to the left of `=`, and the statement to its right.
pub(crate) fn bound(text: &str) -> (Option<&str>, &str) {
    let rest = ["let ", "const ", "output "]
        .iter()
        .find_map(|word| text.strip_prefix(word))
        .unwrap_or(text);
    let plain = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_-".contains(c))
    };
    match rest.split_once('=') {
        Some((name, what)) if plain(name.trim()) && !what.starts_with('=') => {
            (Some(name.trim()), what.trim())
        }
        // `output x` returns a value under its own name.
        None if rest != text && plain(rest) => (Some(rest), rest),
        _ => (None, text),
    }
}

/// Returns the first word of a statement, without punctuation attached to it.
pub(crate) fn word(text: &str) -> &str {
    text.split(|c: char| c.is_whitespace() || ":(".contains(c))
        .next()
        .unwrap_or_default()
}

/// Returns the name of a block or import in a line such as `do work(x)`, `block work(a):`, `use "…" as h` or
/// `import "h" from …`.
pub(crate) fn names(text: &str) -> &str {
    let imports = matches!(word(text), "use" | "import");
    if imports && let Some((_, handle)) = text.rsplit_once(" as ") {
        return handle.trim();
    }
    let rest = text.split_once(' ').map_or("", |(_, rest)| rest);
    let rest = rest.trim_start_matches('"');
    let name = rest
        .split(|c: char| c.is_whitespace() || ":(\"".contains(c))
        .next()
        .unwrap_or_default();
    // Of a path such as `@harbour/soundings`, the name is the last part.
    name.rsplit('/').next().unwrap_or_default()
}
