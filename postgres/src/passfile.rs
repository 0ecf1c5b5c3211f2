//! Reads passwords from the user's libpq password file (`~/.pgpass`). A line is `host:port:database:user:password`, in
//! which `*` matches any value.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the password in the user's file for a connection, if the file has one. `of` is the connection's host, port,
/// database and user. As in libpq, a file that other users may read is ignored.
pub(crate) fn password(env: &dyn Fn(&str) -> Option<String>, of: [&str; 4]) -> Option<String> {
    let named = env("PGPASSFILE").filter(|path| !path.is_empty());
    let path = match named {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env("HOME").filter(|home| !home.is_empty())?).join(".pgpass"),
    };
    if !is_own(&path) {
        return None;
    }
    let text = fs::read_to_string(&path).ok()?;
    text.lines().find_map(|line| of_line(line, of))
}

#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_own(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

fn of_line(line: &str, of: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = fields(line).into_iter();
    for wanted in of {
        let field = fields.next()?;
        if field != "*" && field != wanted {
            return None;
        }
    }
    fields.next().filter(|password| !password.is_empty())
}

/// Returns the fields of a line; `\:` and `\\` mean a colon and a backslash.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        let c = match c {
            ':' => {
                fields.push(String::new());
                continue;
            }
            '\\' => chars.next().unwrap_or('\\'),
            c => c,
        };
        if let Some(field) = fields.last_mut() {
            field.push(c);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_as_libpq_finds_it() {
        let of = ["db.example", "5432", "prose", "ann"];
        for (line, found) in [
            ("db.example:5432:prose:ann:s3cret", Some("s3cret")),
            ("*:*:*:ann:a\\:b\\\\c", Some("a:b\\c")),
            ("*:*:*:*:", None),
            ("other:5432:prose:ann:s3cret", None),
            ("# db.example:5432:prose:ann:s3cret", None),
            ("db.example:5432:prose", None),
        ] {
            assert_eq!(of_line(line, of).as_deref(), found, "{line}");
        }
    }
}
