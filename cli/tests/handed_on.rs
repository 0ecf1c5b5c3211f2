//! What a recording command hands on: which execution wrote which binding, and what a subagent is told.

use std::fs;
use std::process::Command;

use prosescope_test_support::run;
use serde_json::Value;

/// A folder with a program and a run of it.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new(form: &str, program: &str) -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("home")).expect("made");
        fs::write(dir.path().join("p.prose"), program).expect("written");
        let project = Project { dir };
        project.said("init p.prose --id r --state", &[form], "");
        project
    }

    fn command(&self, words: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command.args(words.split_whitespace()).args(more);
        command.env("HOME", self.dir.path().join("home"));
        command.env("PROSE_RUN", "r").current_dir(self.dir.path());
        command
    }

    /// Runs `prosescope` with this on standard input; gives its standard output.
    #[track_caller]
    fn said(&self, words: &str, more: &[&str], input: &str) -> String {
        let out = run::fed(&mut self.command(words, more), input.as_bytes());
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.success(), "{words} {more:?}: {error}");
        String::from_utf8(out.stdout).expect("text")
    }

    /// Runs a command, with the value `v` on standard input.
    #[track_caller]
    fn does(&self, words: &str) -> String {
        self.said(words, &[], "v\n")
    }

    #[track_caller]
    fn json(&self, words: &str) -> Value {
        serde_json::from_str(&self.said(words, &["--json"], "v\n")).expect("JSON")
    }

    /// Who wrote each binding: `anon_001 by 2`, with `?` where that is inferred.
    #[track_caller]
    fn writers(&self) -> Vec<String> {
        let rows = self.json("bindings");
        let rows = rows["rows"].as_array().expect("rows");
        rows.iter()
            .map(|row| {
                let by = row["written_by"]["id"].clone();
                let mark = if row["writer_inferred"] == true {
                    "?"
                } else {
                    ""
                };
                format!("{} by {by}{mark}", row["name"].as_str().expect("a name"))
            })
            .collect()
    }
}

/// Runs a check in both forms.
fn in_both_forms(program: &str, check: impl Fn(&Project)) {
    for form in ["sqlite", "filesystem"] {
        check(&Project::new(form, program));
    }
}

#[test]
fn a_completion_keeps_the_name_of_the_binding_that_it_wrote() {
    let program = "session \"A\"\nsession \"B\"\nparallel:\n  session \"C\"\n  d = session \"D\"\n\
        repeat 2:\n  let e = session \"E\"\nblock f(x):\n  session \"F\"\ndo f(1)\n";
    in_both_forms(program, |project| {
        // All within one second, and the branches end in another order than they began.
        project.does("exec run --line 1");
        project.does("put --anon --execution 1 --done");
        let second = project.json("exec run --line 2")["id"].to_string();
        project.does(&format!("put --anon --execution {second} --done"));
        let parallel = project.json("parallel run --line 3");
        let branch = |at: usize| parallel["branches"][at]["id"].to_string();
        project.does(&format!("put d --execution {} --done", branch(1)));
        project.does(&format!("put --anon --execution {} --done", branch(0)));
        project.does("parallel join");
        project.does("exec run --in 6 --line 7");
        let list = project.json("trace");
        let open = list["rows"].as_array().expect("rows").iter();
        let mut open = open.filter(|row| row["status"] == "executing" && row["line"] == 7);
        let first = open.next().expect("it is open")["id"].to_string();
        project.does(&format!("put e --execution {first} --done"));
        let again = project.json("exec run --round --line 7")["id"].to_string();
        project.does("put e");
        project.does(&format!("exec complete {again}"));
        project.does("loop exit");
        let call = project.json("exec begin --line 10")["id"].to_string();
        let inner = project.json("exec run --line 9")["id"].to_string();
        project.does(&format!("put --anon --execution {inner} --done"));
        project.does(&format!("exec complete {call}"));
        let mut writers = project.writers();
        writers.sort();
        let mut expected = [
            "anon_001 by 1".to_owned(),
            format!("anon_002 by {second}"),
            format!("anon_003 by {}", branch(0)),
            format!("anon_004 by {inner}"),
            format!("d by {}", branch(1)),
            format!("e by {again}"),
        ];
        expected.sort();
        assert_eq!(writers, expected);
        let trace = project.does("trace");
        assert!(trace.contains("session \"A\"  → anon_001 "), "{trace}");
        assert!(!trace.contains("inferred"), "{trace}");
        let check = project.does("check");
        assert!(!check.contains("completed-by-session"), "{check}");
    });
}
