//! Finds values in tables by the heads of their columns: CSV, TSV, Markdown, the output of databases, rows of SQL.

use std::ops::Range;

use super::assignment::{capitals, code_of_digits, signs};
use crate::hit::floor;
use crate::plausible;
use crate::words::{Says, has, says};

/// The longest row that is read, in bytes.
const ROW: usize = 4 << 10;
/// The longest cell of a head, in bytes.
const CELL: usize = 48;
/// The most bytes between a statement and the values that a log shows for it.
const LOGGED: usize = 600;
/// The most columns of a table.
const COLUMNS: usize = 64;

/// Adds the values of the columns whose heads say that they are secret, if the keyword is in the head of a table.
/// Returns the position before which nothing is to be searched again: the end of the table.
pub(super) fn values(text: &str, keyword: Range<usize>, found: &mut Vec<Range<usize>>) -> usize {
    let around = keyword.start.saturating_sub(CELL)..text.len().min(keyword.end + CELL);
    let around = &text.as_bytes()[around];
    if !around.iter().any(|b| b"\t|;,(".contains(b)) && !around.windows(2).any(|two| two == b"  ") {
        return 0;
    }
    let from = floor(text, keyword.start.saturating_sub(ROW));
    let to = floor(text, keyword.end + ROW);
    let start = text[from..keyword.start]
        .rfind('\n')
        .map_or(from, |at| from + at + 1);
    let end = text[keyword.end..to]
        .find('\n')
        .map_or(to, |at| keyword.end + at);
    let line = &text[start..end];
    // The names of the columns of `INSERT INTO t (a, b) VALUES` and `COPY t (a, b) FROM stdin` are in parentheses.
    let lower = line[..keyword.start - start].to_ascii_lowercase();
    let sql = ["insert into ", "copy "]
        .iter()
        .find_map(|word| lower.rfind(word));
    let open = sql.and_then(|at| Some(start + at + lower[at..].find('(')? + 1));
    let close = open.and_then(|open| Some(open + text[open..to].find(')')?));
    if let (Some(open), Some(close)) = (open, close) {
        let head = cells(text, open..close, b',');
        let rest = text[close + 1..to].trim_start();
        let rows = to - rest.len();
        let first = rest.lines().next().unwrap_or_default().to_ascii_lowercase();
        return match &*first {
            first if first.starts_with("values") => below(text, &head, b'(', rows + 6, found),
            first if first.contains("stdin") => {
                let next = rest.find('\n').map_or(rest.len(), |at| at + 1);
                below(text, &head, b'\t', rows + next, found)
            }
            _ => end,
        };
    }
    let has = |sign: &u8| match sign {
        b' ' => line.trim().contains("  "),
        sign => line.as_bytes().contains(sign),
    };
    let Some(separator) = [b'\t', b'|', b';', b' ', b','].into_iter().find(has) else {
        return 0;
    };
    let head = cells(text, start..end, separator);
    // The cells of a head are short; a comma in a sentence separates no cells.
    let signs = ['=', '(', '{', '<', ':'];
    let short = |cell: &Range<usize>| {
        let name = &text[cell.clone()];
        name.len() <= CELL && !name.contains(signs) && !name.starts_with('-')
    };
    // Two words with a comma between them are a head only if they are all of the line.
    let row =
        !line.contains(", ") && !line.starts_with(' ') && head.iter().all(|cell| !cell.is_empty());
    let least = 2 + usize::from(separator == b',' && !row);
    if head.len() < least || !head.iter().all(short) {
        return end;
    }
    below(text, &head, separator, end + 1, found).max(end)
}

/// Adds the secret values of the rows below a head, up to the first row with another number of cells. A row is a line,
/// or in SQL, where commas separate the cells of a head in parentheses, a tuple.
fn below(
    text: &str,
    head: &[Range<usize>],
    separator: u8,
    from: usize,
    found: &mut Vec<Range<usize>>,
) -> usize {
    let columns = Columns::of(text, head);
    let sql = separator == b'(';
    let mut at = from;
    while columns.any()
        && let Some(row) = if sql { tuple(text, at) } else { line(text, at) }
    {
        let ruler = text[row.clone()]
            .bytes()
            .all(|b| b"-+|=: \t\r".contains(&b));
        let cells = cells(text, row.clone(), if sql { b',' } else { separator });
        // A log shows the values behind a statement that has only places for them: `VALUES (?, ?)`.
        let places = |cell: &Range<usize>| {
            ["?", "%", "$", ":", "@"]
                .iter()
                .any(|of| text[cell.clone()].starts_with(of))
        };
        if sql && cells.iter().all(places) && row.end < text.len() {
            let behind = &text[row.end..floor(text, row.end + LOGGED)];
            let mut opens = behind.match_indices(['(', '[']).map(|(at, _)| row.end + at);
            let logged = |at: usize| Some(self::cells(text, tuple(text, at)?, b','));
            if let Some(row) = opens.find_map(|at| logged(at).filter(|row| row.len() == head.len()))
            {
                columns.add(text, &row, found);
            }
            break;
        }
        if row.is_empty() || cells.len() != head.len() && !ruler {
            break;
        }
        if !ruler {
            columns.add(text, &cells, found);
        }
        at = row.end + 1;
    }
    at.min(text.len())
}

/// Returns the line that begins at a position, if the line is not too long.
fn line(text: &str, at: usize) -> Option<Range<usize>> {
    let window = text.get(at..floor(text, at + ROW))?;
    let length = window.find('\n');
    let last = (at + window.len() == text.len()).then_some(window.len());
    Some(at..at + length.or(last)?)
}

/// Returns the inside of the next tuple of SQL after blanks and a comma.
fn tuple(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text
        .get(at..)?
        .trim_start_matches([' ', '\n', '\r', '\t', ',']);
    let start = text.len() - rest.strip_prefix(['(', '['])?.len();
    let mut quoted = false;
    let length = text[start..floor(text, start + ROW)]
        .bytes()
        .position(|b| {
            quoted ^= b == b'\'';
            matches!(b, b')' | b']') && !quoted
        })?;
    Some(start..start + length)
}

/// The columns of a table that matter.
struct Columns {
    secret: Vec<(usize, Says)>,
    /// The column of names and that of their values.
    pair: Option<(usize, usize)>,
}

impl Columns {
    fn of(text: &str, head: &[Range<usize>]) -> Columns {
        let named = |list| head.iter().position(|cell| has(list, &text[cell.clone()]));
        let says = |(at, cell): (usize, &Range<usize>)| Some((at, says(&text[cell.clone()])?));
        Columns {
            secret: head.iter().enumerate().filter_map(says).collect(),
            pair: named("pair_name").zip(named("pair_value")),
        }
    }

    fn any(&self) -> bool {
        !self.secret.is_empty() || self.pair.is_some()
    }

    /// Adds the secret values of a row.
    fn add(&self, text: &str, row: &[Range<usize>], found: &mut Vec<Range<usize>>) {
        let mut add = |at: usize, says: Says| {
            let Some(cell) = row.get(at) else { return };
            let value = &text[cell.clone()];
            let dense = value.len() >= 4 && !value.contains(char::is_whitespace);
            let secret = match says {
                Says::Password => signs(value) || value.len() >= 8 && capitals(value, 2),
                Says::Code => code_of_digits(value),
                _ => value.len() >= 8 && plausible::random(value),
            };
            if dense && secret && !plausible::placeholder(value) {
                found.push(cell.clone());
            }
        };
        for (at, says) in &self.secret {
            add(*at, *says);
        }
        if let Some((name, value)) = self.pair
            && let Some(says) = row.get(name).and_then(|cell| says(&text[cell.clone()]))
        {
            add(value, says);
        }
    }
}

/// Splits a row into cells, without blanks, quotes and marks of code around them. A separator in quotes separates
/// nothing. As a separator, a blank stands for two or more, which align the columns.
fn cells(text: &str, row: Range<usize>, separator: u8) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut start, mut quote) = (row.start, None);
    for at in row.clone() {
        let byte = text.as_bytes()[at];
        match quote {
            Some(open) if byte == open => quote = None,
            None if matches!(byte, b'"' | b'\'') && text[start..at].trim().is_empty() => {
                quote = Some(byte);
            }
            None if byte == separator && found.len() < COLUMNS => {
                if separator != b' ' {
                    found.push(start..at);
                } else if text.as_bytes()[start..at]
                    .last()
                    .is_some_and(|b| *b != b' ')
                {
                    // The first of several blanks ends a cell, and the last begins the next.
                    if text.as_bytes().get(at + 1) != Some(&b' ') {
                        continue;
                    }
                    found.push(start..at);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    if separator != b' ' || !text[start..row.end].trim().is_empty() {
        found.push(start..row.end);
    }
    for cell in &mut found {
        let whole = &text[cell.clone()];
        let marks = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '*');
        let bare = whole.trim_start_matches(marks);
        cell.start += whole.len() - bare.len();
        cell.end = cell.start + bare.trim_end_matches(marks).len();
    }
    found
}
