//! Tests of standard output and standard input. If a command cannot print its result, its exit code reports that.
//! Input is stored unchanged.
#![cfg(unix)]

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = "let plan = session \"Plan\"\n\nlet a = session \"A\"\n\nparallel:\n  b = session \"B\"\n  c = session \"C\"\n";

struct Project {
    dir: tempfile::TempDir,
    run: String,
}

impl Project {
    fn new(form: &str) -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(dir.path().join(".prose")).expect("made");
        fs::write(dir.path().join("p.prose"), PROGRAM).expect("written");
        let mut project = Project {
            dir,
            run: String::new(),
        };
        let id = project.shell(&format!("prosescope init p.prose --state {form}"));
        project.run = String::from_utf8_lossy(&id.stdout).trim().to_owned();
        project
    }

    /// Runs a line in the shell. In the line, `prosescope` means the tested binary, and `$RUN` the run.
    fn shell(&self, line: &str) -> Output {
        let prose = PathBuf::from(env!("CARGO_BIN_EXE_prosescope"));
        Command::new("bash")
            .args([
                "-c",
                &format!("prosescope() {{ {} \"$@\"; }}; {line}", prose.display()),
            ])
            .current_dir(self.dir.path())
            .env("HOME", self.dir.path().join("home"))
            .env("PROSE_RUN", &self.run)
            .env("RUN", &self.run)
            .stdin(Stdio::null())
            .output()
            .expect("a shell")
    }

    #[track_caller]
    fn check(&self, line: &str, code: i32, said: &str) {
        let out = self.shell(line);
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
        assert_eq!(out.status.code(), Some(code), "{line}\n{text}");
        assert!(text.contains(said), "{line}\n{text}");
        assert!(!text.contains("panicked"), "{line}\n{text}");
    }
}

const FORMS: [&str; 2] = ["sqlite", "filesystem"];

#[test]
fn what_is_recorded_and_cannot_be_printed_has_an_exit_code_of_its_own() {
    for form in FORMS {
        let project = Project::new(form);
        project.check("echo v | prosescope put x >/dev/full", 7, "do not repeat");
        project.check("prosescope get x", 0, "v");
        project.check("prosescope begin 1 >/dev/full", 7, "recorded");
        project.check("prosescope begin 1 --json >/dev/full", 4, "");
        project.check("prosescope init p.prose >/dev/full", 7, "recorded");
        for line in [
            "prosescope show $RUN >/dev/full",
            "prosescope get x >/dev/full",
            "prosescope get x --json >/dev/full",
            "prosescope --help >/dev/full",
        ] {
            project.check(line, 6, "");
        }
        for line in ["prosescope trace >&-", "prosescope trace --json >&-"] {
            project.check(line, 6, "cannot write to standard output: it is closed");
        }
        project.check("prosescope --help >&-", 6, "");
        project.check("echo v | prosescope put y >&-", 7, "do not repeat");
        // Python and Node open `/dev/null` for reading and writing to discard output. Such a stream is not treated as
        // closed.
        project.check("prosescope trace 1<>/dev/null", 0, "");
        project.check("prosescope put z 0<>/dev/null", 0, "Binding written: z");
        // A pipe whose reader has ended is not an error, because the reader has read enough.
        project.check("prosescope show $RUN | true; exit ${PIPESTATUS[0]}", 0, "");
    }
}

/// The limit of `ulimit -f` is large enough to record the end of the run. It is too small to vacuum, because vacuuming
/// writes a copy of the database.
#[test]
fn a_run_that_is_finished_and_cannot_be_vacuumed_has_the_same_exit_code() {
    let project = Project::new("sqlite");
    let value = "head -c 90000 /dev/zero | tr '\\0' 'x' >value";
    project.check(value, 0, "");
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        project.check(&format!("prosescope put {name} --file value"), 0, "");
    }
    let finish = "prosescope finish completed --vacuum";
    project.check(&format!("ulimit -f 300; {finish}"), 7, "recorded, but");
    project.check(
        "prosescope show $RUN --json",
        0,
        "\"status\": \"completed\"",
    );
    project.check(finish, 0, "completed");
}

#[test]
fn a_standard_error_that_cannot_be_written_changes_no_exit_code() {
    let project = Project::new("sqlite");
    for (line, code) in [
        ("prosescope get nothing 2>/dev/full", 3),
        ("prosescope get nothing --json 2>/dev/full", 3),
        ("prosescope frobnicate 2>/dev/full", 2),
        ("prosescope show $RUN --json --frobnicate 2>/dev/full", 2),
        ("echo v | prosescope put x 2>/dev/full", 0),
        ("echo v | prosescope put y >/dev/full 2>/dev/full", 7),
        ("prosescope get nothing 2>&-", 3),
    ] {
        project.check(line, code, "");
    }
}

#[test]
fn a_closed_standard_input_is_an_error_and_an_empty_one_an_empty_value() {
    for form in FORMS {
        let project = Project::new(form);
        project.check("prosescope put x <&-", 6, "standard input is closed");
        project.check("prosescope get x", 3, "no binding");
        project.check("prosescope put x </dev/null", 0, "Binding written: x");
        project.check("printf '' | prosescope put y", 0, "Binding written: y");
        project.check("prosescope put z < .", 6, "cannot read standard input");
        project.check("prosescope put z < .", 6, "→ give the path of a file");
    }
}

/// A write beyond `ulimit -f` (in KB) is reported as an error, and the earlier contents stay.
#[test]
fn a_limit_of_file_size_is_told_and_leaves_what_was_there() {
    for form in FORMS {
        let project = Project::new(form);
        project.check("echo v | prosescope put x", 0, "Binding written");
        let big = "head -c 3000000 /dev/zero | tr '\\0' 'x' > big";
        project.check(big, 0, "");
        project.check("ulimit -f 200; prosescope put x --file big", 6, "→");
        project.check("prosescope get x", 0, "v\n");
        project.check("prosescope check $RUN", 0, "");
    }
}

#[test]
fn a_value_of_a_file_that_is_a_folder_is_an_error() {
    let project = Project::new("sqlite");
    File::create(project.dir.path().join("empty")).expect("made");
    for command in [
        "put x --file .",
        "put x --file empty --memory . --agent a",
        "init .",
        "begin --text 'use \"./x.prose\"' --program .",
    ] {
        let line = format!("prosescope {command}");
        project.check(&line, 6, "cannot read .");
        project.check(&line, 6, "→ give the path of a file in this directory");
    }
    project.check("prosescope put x --file empty", 0, "Binding written");
}

/// The value has 60 MB, and `ulimit -v`, which counts in KB, limits the memory to about 60 MB. So the value does not
/// fit into memory beside the program.
#[test]
fn a_long_value_is_not_held_in_memory() {
    for form in FORMS {
        let project = Project::new(form);
        project.check("head -c 60000000 /dev/zero | tr '\\0' x > big", 0, "");
        for put in [
            "prosescope put a < big",
            "prosescope put b --file big",
            "prosescope put c --file <(cat big)",
        ] {
            project.check(&format!("ulimit -v 70000; {put}"), 0, "Summary: xxx");
        }
        for name in ["a", "b", "c"] {
            let get = format!("ulimit -v 70000; prosescope get {name} | cmp - big");
            project.check(&get, 0, "");
        }
        // JSON contains only the beginning of a long value, with a note.
        project.check(
            "ulimit -v 200000; prosescope get a --json | tail -c 2000",
            0,
            "only the first 16777216 of the 60000000 bytes",
        );
    }
}

/// A long value is read in parts. The end of a part may split a character, and the value still counts as text. If the
/// value itself ends inside of a character, it is not text.
#[test]
fn a_long_value_is_text_or_not_wherever_it_is_read_apart() {
    let project = Project::new("sqlite");
    for before in 0..4 {
        let text = format!("{}{}", "x".repeat(before), "\u{1F600}".repeat(60_000));
        for (bytes, end) in [
            (text.as_bytes(), "md"),
            (&text.as_bytes()[..text.len() - 1], "bin"),
            (&[text.as_bytes(), b"\xff"].concat(), "bin"),
            (
                &[&text.as_bytes()[..150_000], b"\xff", text.as_bytes()].concat(),
                "bin",
            ),
        ] {
            fs::write(project.dir.path().join("long"), bytes).expect("written");
            project.check("prosescope put v < long", 0, &format!(".{end}\n"));
            project.check("prosescope get v | cmp - long", 0, "");
        }
    }
}

#[test]
fn a_file_in_another_encoding_is_told_with_its_line_and_how_to_convert_it() {
    let project = Project::new("sqlite");
    project.check(
        "printf 'a\\nb\\344\\n' > latin; printf '\\377\\376a' > wide",
        0,
        "",
    );
    for (command, name, line, encoding) in [
        (
            "init latin",
            "latin",
            "line 2 has the byte 0xe4",
            "WINDOWS-1252",
        ),
        ("init wide", "wide", "line 1 has the byte 0xff", "UTF-16"),
        (
            "put x --file p.prose --agent a --memory latin",
            "latin",
            "line 2",
            "WINDOWS-1252",
        ),
    ] {
        let line_of = format!("{name} is not UTF-8 text: {line}");
        let command = format!("prosescope {command}");
        project.check(&command, 5, &line_of);
        project.check(
            &command,
            5,
            &format!("`iconv -f {encoding} -t UTF-8 {name} > NEW`"),
        );
    }
}

#[test]
fn text_is_as_wide_as_columns_says_where_there_is_no_terminal() {
    let project = Project::new("sqlite");
    let long = "word ".repeat(60);
    let begin = format!("prosescope begin --text 'session \"{long}\"'");
    project.check(&begin, 0, "1");
    let widest = |columns: &str| {
        let line = format!("COLUMNS={columns} prosescope trace");
        let out = project.shell(&line);
        let text = String::from_utf8(out.stdout).expect("UTF-8");
        let widths = text.lines().map(|line| line.chars().count());
        widths.max().unwrap_or_default()
    };
    let usual = widest("");
    assert!((90..=100).contains(&usual), "{usual}");
    for (columns, least, most) in [
        ("60", 50, 60),
        ("200", 150, 200),
        // These widths are below the minimum width of a text.
        ("1", 30, 40),
        ("0", usual, usual),
        ("-3", usual, usual),
        ("many", usual, usual),
    ] {
        let wide = widest(columns);
        assert!((least..=most).contains(&wide), "COLUMNS={columns}: {wide}");
    }
}

#[test]
fn a_number_says_on_a_terminal_what_it_is_and_stands_alone_in_a_pipe() {
    if prosescope_test_support::needs::script().is_none() {
        return;
    }
    let project = Project::new("sqlite");
    let own = env!("CARGO_BIN_EXE_prosescope");
    for (nth, (command, terminal)) in [
        ("begin 1", "execution 1\r\n"),
        ("skip 1", "execution 1 skipped\r\n"),
        ("begin 5", "execution 3\r\nexecution 4 b: Subagent:"),
        ("skip 6", "execution 4 skipped\r\n"),
        ("end 3 --force", "execution 3 joined:"),
    ]
    .into_iter()
    .enumerate()
    {
        let out = project.shell(&format!("script -qec '{own} {command}' /dev/null"));
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(said.contains(terminal), "{nth}: {command}: {said}");
    }
    let out = project.shell("prosescope begin 3");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    let first = said.lines().next().unwrap_or_default();
    assert!(first.parse::<i64>().is_ok(), "{said}");
}
