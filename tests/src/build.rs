//! Builders of databases and folders, with the commands that the documents show: SQL through the `sqlite3`
//! program, files written one by one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Runs SQL in a database through the `sqlite3` program; the file is made when it is not there.
///
/// # Panics
/// When a statement fails: the message is SQLite's.
pub fn sql(database: &Path, script: &str) {
    sql_with(database, &[], script);
}

/// As [`sql`], with arguments for the program before the database.
pub fn sql_with(database: &Path, args: &[&str], script: &str) -> String {
    if let Some(folder) = database.parent() {
        fs::create_dir_all(folder).expect("a folder for the database");
    }
    let mut sqlite = Command::new("sqlite3")
        .args(["-batch", "-bail", "-init", "/dev/null"])
        .args(args)
        .arg(database)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sqlite3 starts");
    sqlite
        .stdin
        .take()
        .expect("a pipe")
        .write_all(script.as_bytes())
        .expect("sqlite3 reads");
    let out = sqlite.wait_with_output().expect("sqlite3 ends");
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(
        out.status.success() && said.is_empty(),
        "{}: {said}",
        database.display()
    );
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Writes files below a folder, making folders on the way, and returns the folder.
pub fn folder(folder: &Path, files: &[(&str, &str)]) -> PathBuf {
    for (path, content) in files {
        let file = folder.join(path);
        fs::create_dir_all(file.parent().expect("a file in a folder")).expect("a folder");
        fs::write(&file, content).expect("a file");
    }
    folder.to_path_buf()
}

/// A text as an SQL literal.
pub fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
