//! Tests a run that is shared raw, opened, and converted to its original form: the result is the original run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::project::{Project, page_parts, parts};
use crate::runs::{alone, ours, theirs, told};
use crate::same::compare;
use prosescope_share::manifest::MANIFEST;
use prosescope_tests::needs;
use rusqlite::{Connection, OpenFlags};

#[test]
fn a_raw_copy_is_the_run_again() {
    let Some(project) = Project::new() else {
        return;
    };
    let mut runs = ours();
    runs.extend(theirs());
    let mut wrong = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let name = alone(&project, run);
        let Some(before) = told(&project, &name, &name) else {
            continue;
        };
        let (zip, page) = (format!("{number}.zip"), format!("{number}.html"));
        project.done(&["share", &name, "--raw", "-o", &zip]);
        same_files(&project, run, &parts(&project.read(&zip)), &mut wrong);
        let mut shared = vec![zip];
        if needs::viewer().is_some() {
            project.done(&["share", &name, "--raw", "-o", &page]);
            same_files(&project, run, &page_parts(&project.read(&page)), &mut wrong);
            shared.push(page);
        }
        let form = if run.join("state.db").is_file() {
            "sqlite"
        } else {
            "filesystem"
        };
        for file in shared {
            let opened = told(&project, &file, &name);
            let again = format!("again/{file}/{name}");
            let convert = ["convert", &file, "--to", form, "--out", &again];
            let out = project.command(&convert).output().expect("it runs");
            if !out.status.success() {
                let said = String::from_utf8_lossy(&out.stderr);
                // `convert` may refuse the shared copy only if it also refuses the original.
                let original = ["convert", &name, "--to", form, "--out", "original"];
                let original = project.command(&original).output().expect("it runs");
                if original.status.success() {
                    wrong.push(format!("{name}, {file}: {said}"));
                }
            }
            let again = if out.status.success() {
                told(&project, &again, &name)
            } else {
                None
            };
            for after in [opened, again].into_iter().flatten() {
                for ((view, before), (_, after)) in before.iter().zip(&after) {
                    compare(
                        &format!("{name}, {file}: {view}"),
                        before,
                        after,
                        true,
                        &mut wrong,
                    );
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Asserts that the files equal those of the run: byte by byte, and databases row by row.
fn same_files(
    project: &Project,
    run: &Path,
    shared: &[(String, Vec<u8>)],
    wrong: &mut Vec<String>,
) {
    let mut files = BTreeMap::new();
    walk(run, "", &mut files);
    for (path, bytes) in shared {
        if path == MANIFEST {
            continue;
        }
        let inside = path.split_once('/').map_or("", |(_, inside)| inside);
        let Some(original) = files.remove(inside) else {
            wrong.push(format!("{}: {path} is none of the run's", run.display()));
            continue;
        };
        if path.ends_with(".db") {
            fs::write(project.at("of-zip.db"), bytes).expect("written");
            fs::write(project.at("original.db"), original).expect("written");
            if rows(&project.at("original.db")) != rows(&project.at("of-zip.db")) {
                wrong.push(format!("{}: other rows in {path}", run.display()));
            }
        } else if *bytes != original {
            wrong.push(format!("{}: {path} differs", run.display()));
        }
    }
    if !files.is_empty() {
        let paths: Vec<_> = files.keys().collect();
        wrong.push(format!("{}: missing {paths:?}", run.display()));
    }
}

fn walk(folder: &Path, inside: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{inside}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            walk(&entry.path(), &format!("{name}/"), files);
        } else {
            drop(files.insert(name, fs::read(entry.path()).expect("a file")));
        }
    }
}

/// Returns every row of every table, and the SQL that created the tables.
fn rows(path: &Path) -> Vec<String> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("open");
    let texts = |sql: &str| -> Vec<String> {
        let mut list = conn.prepare(sql).expect("SQL");
        let columns = list.column_count();
        let mut read = list.query([]).expect("rows");
        let mut texts = Vec::new();
        while let Some(row) = read.next().expect("a row") {
            let cells = (0..columns).map(|at| format!("{:?}", row.get_ref(at).expect("a cell")));
            texts.push(cells.collect::<Vec<_>>().join("|"));
        }
        texts
    };
    let schema = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    let mut all = texts(schema);
    let tables = conn
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .expect("SQL")
        .query_map([], |row| row.get::<_, String>(0))
        .expect("rows")
        .collect::<Result<Vec<_>, _>>()
        .expect("names");
    for table in tables {
        all.extend(texts(&format!("SELECT * FROM \"{table}\"")));
    }
    all
}
