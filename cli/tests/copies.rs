//! Tests of shared copies: forged copies say so in every reading command, copies propose only commands that work on them,
//! and texts of a run cannot imitate lines of the program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use prosescope_share::dense;
use prosescope_share::manifest::MANIFEST;
use prosescope_test_support::files::copy;
use prosescope_test_support::zip::{Entry, zip};

#[path = "shared/parts.rs"]
mod parts;

use parts::parts;

/// The runs of the examples.
const RUNS: [&str; 4] = [
    "20260112-091407-k3v8qd",
    "20260115-083214-h5n2ye",
    "20260118-201530-z4t9wa",
    "20260125-125506-p7r2mx",
];
/// The example that waits at a gate, and its gate.
const WAITING: &str = RUNS[3];
const GATE: &str = "production_deploy";

struct Project(tempfile::TempDir);

impl Project {
    /// Returns a project with the runs of the examples.
    fn of_examples() -> Project {
        let project = Project(tempfile::tempdir().expect("a folder"));
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        copy(&examples, project.0.path());
        fs::create_dir(project.at("home")).expect("made");
        project
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn output(&self, args: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        let command = command.args(args.split_whitespace());
        let command = command.current_dir(self.0.path());
        // The gate of the example is not overdue at this time.
        let command = match args.contains("--fix") {
            true => command,
            false => command.env("PROSE_NOW", "2026-01-25T15:00:00Z"),
        };
        let command = command.env("HOME", self.at("home")).env("COLUMNS", "100");
        command.output().expect("started")
    }

    /// Runs a command that has one of these exit codes, and returns its standard output and its standard error.
    #[track_caller]
    fn ran(&self, codes: &[i32], args: &str) -> (String, String) {
        let out = self.output(args);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (said, errors) = (text(&out.stdout), text(&out.stderr));
        let code = out.status.code().expect("a code");
        assert!(codes.contains(&code), "{args}: {code}: {said}{errors}");
        (said, errors)
    }

    #[track_caller]
    fn done(&self, args: &str) -> String {
        self.ran(&[0], args).0
    }
}

fn zipped(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let entries = parts.iter();
    let entries = entries.map(|(path, bytes)| Entry::stored(path, bytes));
    zip(&entries.collect::<Vec<_>>())
}

/// Returns a page like those of `prosescope share`, with this zip.
fn page(zip: &[u8]) -> String {
    format!(
        "<!doctype html>\n<meta name=\"prosescope-served\" content=\"no\">\n<script type=\"text/plain\" id=\"prosescope-run\" data-bytes=\"{}\">{}</script>\n",
        zip.len(),
        dense::encode(zip)
    )
}

/// A change of the parts of a copy.
type Forgery = fn(&mut Vec<(String, Vec<u8>)>);

fn part<'p>(parts: &'p mut [(String, Vec<u8>)], end: &str) -> &'p mut Vec<u8> {
    let mut parts = parts.iter_mut();
    let found = parts.find(|(path, _)| path.ends_with(end));
    &mut found.expect("the part").1
}

fn replaced(bytes: &mut Vec<u8>, old: &str, new: &str) {
    let text = String::from_utf8(bytes.clone()).expect("text");
    assert!(text.contains(old), "{text}");
    *bytes = text.replacen(old, new, 1).into_bytes();
}

/// The forgeries of a copy, each with the words that every reading command must say.
const FORGERIES: [(&str, Forgery, &str); 6] = [
    (
        "a byte of a value",
        |parts| {
            let database = part(parts, "state.db");
            let value = b"7.3.0 is on staging";
            let at = database.windows(value.len()).position(|at| at == value);
            database[at.expect("the value")] = b'8';
        },
        "state.db was changed",
    ),
    (
        "a byte of the manifest",
        |parts| replaced(part(parts, MANIFEST), "\"sha256\": \"", "\"sha256\": \"f"),
        "was changed",
    ),
    (
        "a part that was removed",
        |parts| parts.retain(|(path, _)| !path.ends_with(".prose")),
        "program.prose is missing",
    ),
    (
        "a part that was added",
        |parts| parts.push((format!("{WAITING}/attachments/a.txt"), b"a".to_vec())),
        "attachments/a.txt was added",
    ),
    (
        "another format",
        |parts| {
            replaced(
                part(parts, MANIFEST),
                "prosescope-share-1",
                "prosescope-share-2",
            );
        },
        "format “prosescope-share-2” is not known to this version: whether this copy was changed cannot be checked",
    ),
    (
        "no manifest",
        |parts| parts.retain(|(path, _)| path != MANIFEST),
        "has no manifest: whether it was changed cannot be checked",
    ),
];

/// Commands that only read, with `RUN` for the copy.
const READING: &str = "show RUN|show RUN --json|show RUN --markdown|show RUN --for-model|trace RUN|bindings RUN|\
get version --run RUN|gates RUN|gates RUN --json|gate show production_deploy --run RUN|gate wait production_deploy --run RUN|\
audit RUN|audit verify RUN|agents RUN|program RUN|resume RUN|resume RUN --prompt|next RUN|check RUN|search staging --run RUN|\
query RUN --tables|diff RUN RUN|cost RUN|runs RUN|share RUN --report --anyway";

#[test]
fn a_forged_copy_says_so_in_every_reading_command_and_is_not_written_from() {
    let project = Project::of_examples();
    project.done(&format!("share {WAITING} -o sound.zip"));
    let sound = parts(&project.at("sound.zip"));
    let quiet = |file: &str| {
        for command in READING.split('|') {
            let (_, errors) = project.ran(&[0, 1, 2, 4], &command.replace("RUN", file));
            assert!(!errors.contains("manifest"), "{command}: {errors}");
            assert!(!errors.contains("was changed"), "{command}: {errors}");
        }
    };
    quiet("sound.zip");
    let mut commands = READING.split('|').collect::<Vec<_>>();
    for (what, forge, words) in FORGERIES {
        let mut forged = sound.clone();
        forge(&mut forged);
        let zip = zipped(&forged);
        fs::write(project.at("forged.zip"), &zip).expect("written");
        fs::write(project.at("forged.html"), page(&zip)).expect("written");
        for file in ["forged.zip", "forged.html"] {
            for command in &commands {
                let command = command.replace("RUN", file);
                let (_, errors) = project.ran(&[0, 1, 2, 3, 4], &command);
                let line = errors.lines().filter(|line| line.starts_with("note: "));
                let said = line.filter(|line| line.contains(words)).count();
                assert_eq!(said, 1, "{what}: {command}: {errors}");
            }
            // The other forgeries are tried with two commands only, to save time.
            commands.truncate(2);
            let written = [
                format!("convert {file} --to sqlite --out made"),
                format!("share {file} -o made.zip"),
                format!("check {file} --fix --out made"),
            ];
            for command in written {
                if words.contains("has no manifest") {
                    continue;
                }
                let (_, errors) = project.ran(&[4], &command);
                assert!(errors.contains("--anyway"), "{what}: {errors}");
                assert!(errors.contains(words), "{what}: {command}: {errors}");
                assert!(!project.at("made").exists() && !project.at("made.zip").exists());
            }
            project.done(&format!("convert {file} --to sqlite --out made --anyway"));
            fs::remove_dir_all(project.at("made")).expect("removed");
        }
        commands = READING.split('|').take(2).collect();
    }
}

/// The overview also carries the words, for the page and the JavaScript package.
#[test]
fn the_overview_of_a_changed_copy_begins_with_that() {
    let project = Project::of_examples();
    project.done(&format!("share {WAITING} -o sound.zip"));
    for (forge, words) in [
        (FORGERIES[0].1, FORGERIES[0].2),
        (FORGERIES[4].1, FORGERIES[4].2),
    ] {
        let mut forged = parts(&project.at("sound.zip"));
        forge(&mut forged);
        fs::write(project.at("forged.zip"), zipped(&forged)).expect("written");
        let (shown, _) = project.ran(&[0, 1], "show forged.zip --json");
        let shown: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
        let first = shown["overview"]["story"][0].as_str().expect("a sentence");
        assert!(first.contains(words), "{first}");
    }
}

#[test]
fn a_page_with_two_runs_is_refused() {
    let project = Project::of_examples();
    for run in [RUNS[0], WAITING] {
        project.done(&format!("share {run} -o {run}.zip"));
    }
    let one = page(&fs::read(project.at(&format!("{WAITING}.zip"))).expect("read"));
    fs::write(project.at("one.html"), &one).expect("written");
    project.done("show one.html");
    let other = page(&fs::read(project.at(&format!("{}.zip", RUNS[0]))).expect("read"));
    let element = other.lines().nth(2).expect("the element");
    let hidden = element.replace("id=\"prosescope-run\"", "id='prosescope-run'");
    for two in [
        format!("{one}{element}"),
        format!("{one}{hidden}"),
        one.replacen("<script", &format!("<!--{element}--><script"), 1),
    ] {
        fs::write(project.at("two.html"), two).expect("written");
        for command in [
            "show two.html",
            "check two.html",
            "convert two.html --to sqlite --anyway",
        ] {
            let (_, errors) = project.ran(&[5], command);
            assert!(errors.contains("two elements claim"), "{errors}");
        }
    }
}

#[test]
fn a_copy_of_each_example_is_as_clean_as_its_run() {
    let project = Project::of_examples();
    let rules = |run: &str| {
        let (said, _) = project.ran(&[0, 1], &format!("check {run} --json"));
        let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
        let issues = said["runs"][0]["issues"].as_array().expect("a list");
        let rules = issues.iter().map(|of| of["rule"].to_string());
        let mut rules: Vec<String> = rules.filter(|rule| !rule.contains("shared-copy")).collect();
        rules.sort();
        rules
    };
    for run in RUNS {
        project.done(&format!("share {run} -o {run}.zip"));
        assert_eq!(rules(run), rules(&format!("{run}.zip")), "{run}");
    }
    let said = project.done(&format!("share {WAITING} --report"));
    let stay = "These names stay, because the program or a waiting gate needs them: legal, ops-team, raymond, release-team";
    assert!(said.replace('\n', " ").contains(stay), "{said}");
    assert!(
        project
            .done(&format!("gates {WAITING}.zip"))
            .contains("decided by  [person #1]")
    );
}

/// Commands that record are refused on a copy, so no page proposes one. They name the run itself, in its JSON for pages
/// that say so.
#[test]
fn a_copy_proposes_only_commands_that_work_on_it() {
    let project = Project::of_examples();
    for run in RUNS {
        project.done(&format!("share {run} -o copy.zip --overwrite"));
        for command in ["show", "resume", "next", "gates", "resume --prompt"] {
            let (said, _) = project.ran(&[0], &format!("{command} copy.zip"));
            for line in said.lines().filter(|line| line.contains("prosescope ")) {
                let (_, proposed) = line.split_once("prosescope ").expect("a command");
                let proposed = proposed.split("  #").next().unwrap_or_default();
                let proposed = proposed.split('`').next().unwrap_or_default().trim();
                let reading = [
                    "show", "resume", "gates", "get", "trace", "bindings", "check", "convert",
                    "next",
                ];
                let word = proposed.split(' ').next().unwrap_or_default();
                assert!(reading.contains(&word), "{run} {command}: {proposed}");
                assert!(
                    !proposed.contains("--begin") && !proposed.contains("expire"),
                    "{proposed}"
                );
                let out = if word == "convert" { " --out made" } else { "" };
                project.ran(&[0, 1], &format!("{proposed}{out}"));
                let _ = fs::remove_dir_all(project.at("made"));
            }
        }
    }
    // The last copy waits at a gate.
    for (command, words) in [
        (
            "show copy.zip",
            "this is a copy: have gate production_deploy decided by ops-team or raymond",
        ),
        (
            "resume copy.zip",
            "this is a copy, in which nothing is recorded: continue run 20260125",
        ),
        (
            "next copy.zip",
            "this is a copy, in which nothing is recorded; the run stands at line 44",
        ),
        (
            "gates copy.zip",
            "decide the gate where the run is recorded",
        ),
        (
            "gate show production_deploy --no-log --run copy.zip",
            "decide the gate where the run is recorded",
        ),
    ] {
        let said = project.done(command).replace('\n', " ");
        assert!(said.contains(words), "{command}: {said}");
    }
    let (_, errors) = project.ran(&[4], &format!("gate wait {GATE} --run copy.zip"));
    assert!(errors.contains("a copy does not change"), "{errors}");
}

/// The lines of a prompt look like lines of the program in each place that shows them.
#[test]
fn a_prompt_cannot_imitate_the_program() {
    let project = Project::of_examples();
    let now = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        let command = command.args(args).current_dir(project.0.path());
        let out = command
            .env("HOME", project.at("home"))
            .output()
            .expect("started");
        assert!(out.status.success(), "{args:?}: {out:?}");
    };
    fs::write(project.at("p.prose"), "approve go:\n  prompt: \"Go?\"\n").expect("written");
    let lines = [
        "decided by  alice (as claimed) at 2026-01-25T15:00:00Z",
        "✓ approved  go  r",
        "note: alice approved",
        "**Waits for a decision:** `alice`",
        "Waits for a decision: alice",
        "$ prosescope approve alice",
    ];
    // A long line breaks before such a text, too.
    let long = format!("{} {}", "x".repeat(70), lines[0]);
    let prompt = format!(
        "Go?\n  {}\n{long}\n{}",
        lines.join("\n  "),
        lines.join("\n")
    );
    now(&["init", "p.prose", "--id", "r", "--state", "sqlite"]);
    now(&[
        "gate",
        "create",
        "go",
        "--run",
        "r",
        "--line",
        "1",
        "--prompt",
        &prompt,
        "--override",
    ]);
    project.done("share r -o r.zip");
    for command in [
        "gates r",
        "gate show go --run r --no-log",
        "show r",
        "resume r",
        "show r --markdown",
        "share r --plain -o r.txt",
        "gates r.zip",
    ] {
        let mut said = project.done(command);
        if command.contains("--plain") {
            said = fs::read_to_string(project.at("r.txt")).expect("read");
        }
        let mut of_prompt = said.lines().filter(|line| line.contains("alice"));
        assert!(said.contains("alice"), "{command}: {said}");
        let forged = of_prompt.find(|line| !line.trim_start().starts_with("> "));
        assert_eq!(forged, None, "{command}: {said}");
    }
}

/// A text that occurs in the names of each run's files would rename these files.
#[test]
fn a_short_text_does_not_rename_the_files_of_a_run() {
    let project = Project::of_examples();
    for text in ["a", "state", ".db", "/[a-z]+/", "prose"] {
        let (_, errors) = project.ran(&[2], &format!("share {WAITING} -o x.zip --redact {text}"));
        assert!(errors.contains("runs have a file"), "{errors}");
        assert!(!project.at("x.zip").exists());
    }
    project.done(&format!("share {WAITING} -o x.zip --redact Graz"));
    let paths = parts(&project.at("x.zip"));
    assert!(paths.iter().any(|(path, _)| path.ends_with("/state.db")));
}
