//! Tests the package in Node: every call with valid and invalid input, a comparison with sql.js on the same databases,
//! and the examples of the README.

use std::fs;
use std::path::Path;

use prosescope_tests::{build, needs};

use super::{Project, files, readme};

#[test]
fn its_pages_are_what_prose_prints() {
    let Some(project) = Project::new() else {
        return;
    };
    if needs::prose().is_some() {
        project.must(&["same-as-prose.test.mjs"]);
    }
}

#[test]
fn any_input_is_opened_or_refused() {
    let Some(project) = Project::new() else {
        return;
    };
    project.must(&["input.test.mjs"]);
}

#[test]
fn runs_are_opened_by_their_paths() {
    let Some(project) = Project::new() else {
        return;
    };
    project.must(&["node.test.mjs"]);
}

#[test]
fn shared_files_are_opened() {
    let Some(project) = Project::new() else {
        return;
    };
    if needs::prose().is_some() && needs::viewer().is_some() {
        project.must(&["shared.test.mjs"]);
    }
}

#[test]
fn runs_are_shared_without_their_secrets() {
    let Some(project) = Project::new() else {
        return;
    };
    if needs::prose().is_some() && needs::viewer().is_some() {
        project.must(&["share.test.mjs"]);
    }
}

#[test]
fn runs_are_recorded_by_the_program() {
    let Some(project) = Project::new() else {
        return;
    };
    if needs::prose().is_some() {
        project.must(&["record.test.mjs"]);
    }
}

#[test]
fn memory_is_given_back_and_a_trap_is_no_end() {
    let Some(project) = Project::new() else {
        return;
    };
    project.must(&["memory.test.mjs"]);
}

#[test]
fn databases_go_to_sql_js_and_come_from_it() {
    let Some(project) = Project::new() else {
        return;
    };
    project.must(&["sqljs.test.mjs"]);
}

#[test]
fn a_database_is_read_with_its_wal() {
    let (Some(project), Some(_)) = (Project::new(), needs::sqlite3()) else {
        return;
    };
    let run = "INSERT INTO run (id, program_path, status) VALUES ('20260120-080000-wal123', 'wal.prose', 'running');
        INSERT INTO execution (statement_index, statement_text, status) VALUES (1, 'session \"Old\"', 'completed');";
    build::wal(
        &project.path().join("state.db"),
        &format!("{}{run}", build::state_schema()),
        "INSERT INTO execution (statement_index, statement_text, status) VALUES (2, 'session \"Newest\"', 'failed');
         UPDATE run SET status = 'failed';",
    );
    let with = "failed 2 false\n";
    let without = "running 1 true\n";
    assert_eq!(
        project.must(&["wal.mjs"]),
        format!("{with}{with}{without}{without}")
    );
}

#[test]
fn the_readme_s_examples_print_what_the_readme_says() {
    let Some(project) = Project::new() else {
        return;
    };
    let database = "examples/.prose/runs/20260118-201530-z4t9wa/state.db";
    fs::copy(
        needs::root().join(database),
        project.path().join("state.db"),
    )
    .unwrap();
    fs::write(project.path().join("readme.mjs"), readme("In Node", "js")).unwrap();
    assert_eq!(project.must(&["readme.mjs"]), readme("In Node", "text"));
    fs::write(project.path().join("sharing.mjs"), readme("Sharing", "js")).unwrap();
    assert_eq!(project.must(&["sharing.mjs"]), readme("Sharing", "text"));
    assert!(project.path().join("run.html").is_file());
    let Some(prose) = needs::prose() else {
        return;
    };
    // The example finds the program on the PATH, in which the test puts it.
    let bin = project.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let name = format!("prosescope{}", std::env::consts::EXE_SUFFIX);
    fs::copy(prose, bin.join(name)).unwrap();
    let program = readme("Recording", "prose");
    fs::write(project.path().join("letter.prose"), program).unwrap();
    fs::write(
        project.path().join("recording.mjs"),
        readme("Recording", "js"),
    )
    .unwrap();
    let path = [bin.as_path(), Path::new("node_modules/.bin")];
    let path = std::env::join_paths(path).unwrap();
    let out = project
        .command(&["recording.mjs"])
        .env("PATH", path)
        .output();
    assert_eq!(
        String::from_utf8_lossy(&out.unwrap().stdout),
        readme("Recording", "text")
    );
}

/// Checks that the package is fit to be published: its files contain no path of the build machine, and every file in
/// its manifest exists.
#[test]
fn it_is_whole_and_holds_no_path_of_this_machine() {
    let Some(package) = needs::package() else {
        return;
    };
    let home = std::env::home_dir().unwrap_or_default();
    let paths = [needs::root(), home.as_path()].map(|path| path.display().to_string());
    for file in files(&package) {
        let bytes = fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for path in paths.iter().filter(|path| path.len() > 1) {
            assert!(!text.contains(path.as_str()), "{}: {path}", file.display());
        }
    }
    let readme = fs::read_to_string(package.join("README.md")).unwrap();
    assert!(!readme.contains("](../"), "a link out of the package");
    assert!(readme.contains("/docs/reference/sharing.md)"));
    let text = fs::read_to_string(package.join("package.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["repository"]["directory"], "pkg");
    let mut names = vec![&manifest["main"], &manifest["module"], &manifest["types"]];
    for entry in manifest["exports"].as_object().unwrap().values() {
        match entry.as_object() {
            Some(each) => names.extend(each.values()),
            None => names.push(entry),
        }
    }
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let file = package.join(name.as_str().unwrap());
        assert!(file.is_file(), "there is no {}", file.display());
    }
}
