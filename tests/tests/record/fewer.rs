//! Records the program of `whole.rs` twice in each form: with commands that spell out everything, and with commands
//! that take as much as possible from the program. Both ways give the same run, and the second needs half as many
//! commands.

use prosescope_test_support::{clock, needs};
use serde_json::Value;

use crate::project::{FORMS, Project, given, text};
use crate::whole::PROGRAM;

/// Returns the program of `whole.rs`, with a gate whose lines contain everything that creating the gate needs.
fn program() -> String {
    let prompt = "  prompt: \"Publish it?\"\n";
    let terms = "  allow: [\"legal\", \"raymond\"]\n  timeout: \"2h30m\"\n  on_reject: throw \"Not published\"\n";
    PROGRAM.replace(prompt, &format!("{prompt}{terms}"))
}

/// The most commands, and the most characters in them, that the short recording may take.
const MOST: (usize, usize) = (30, 1_150);

/// A recording in progress, with the commands and characters used so far.
struct Recording<'a> {
    project: &'a Project,
    run: String,
    commands: usize,
    characters: usize,
}

impl<'a> Recording<'a> {
    fn new(project: &'a Project, form: &str) -> Recording<'a> {
        let mut new = Recording {
            project,
            run: String::new(),
            commands: 0,
            characters: 0,
        };
        new.run = new.go(&["init", "p.prose", "--state", form], "");
        new
    }

    /// Runs a command, always at the same time; returns the first line of its output.
    fn go(&mut self, args: &[&str], input: &str) -> String {
        self.commands += 1;
        // The count uses the name `prose`, because the figures for comparison were counted with that name.
        self.characters += "prose".len() + args.iter().map(|arg| arg.len() + 1).sum::<usize>();
        let mut command = self.project.command(args);
        command.envs(clock::at("2026-01-15T14:30:52Z"));
        if !self.run.is_empty() {
            command.env("PROSE_RUN", &self.run);
        }
        let out = given(&mut command, input.as_bytes());
        let said = text(&out.stdout);
        assert!(
            out.status.success(),
            "{args:?}\n{said}{}",
            text(&out.stderr)
        );
        said.lines().next().unwrap_or_default().to_owned()
    }

    fn to_files(&self) {
        let path = self.project.path();
        std::fs::write(path.join("m.md"), "# Captain\n\nReviewed once.\n").expect("a memory");
        std::fs::write(path.join("s.md"), "- Reviewed: the synthesis\n").expect("a segment");
    }
}

/// Records with commands that take everything from the program. Returns the run's id, and the numbers of commands and
/// of characters.
fn briefly(project: &Project, form: &str) -> (String, usize, usize) {
    let mut r = Recording::new(project, form);
    r.to_files();
    r.go(&["import", "add", "research"], "");
    for (line, name, value) in [
        ("10", "findings", "three findings"),
        ("12", "draft", "It's `quoted` $(never run)\n"),
    ] {
        let id = r.go(&["exec", "run", "--line", line], "");
        r.go(&["put", name, "--execution", &id, "--done"], value);
    }
    let parallel: i64 = r
        .go(&["parallel", "run", "--line", "15"], "")
        .parse()
        .expect("an id");
    for (nth, name) in [(1, "a"), (2, "b")] {
        let id = (parallel + nth).to_string();
        r.go(&["put", name, "--execution", &id, "--done"], name);
    }
    for (round, how) in [
        ("round 1", ["--in", "19", "--close"].as_slice()),
        ("round 2", &["--round"]),
    ] {
        let id = r.go(&[&["exec", "run", "--line", "20"], how].concat(), "");
        r.go(&["put", "--anon", "--execution", &id, "--done"], round);
    }
    r.go(
        &["loop", "exit", "--round", "--reason", "condition_satisfied"],
        "",
    );
    for (depth, call) in [("one", "27"), ("two", "25"), ("three", "25")] {
        let id = r.go(&["exec", "run", "--line", "24", "--in", call], "");
        r.go(&["put", "result", "--execution", &id, "--done"], depth);
    }
    let id = r.go(&["exec", "run", "--line", "29", "--close"], "");
    let keeps = ["--memory", "m.md", "--segment", "s.md"];
    let put = ["put", "--anon", "--execution", &id, "--done"];
    r.go(&[put.as_slice(), &keeps].concat(), "reviewed");
    let id = r.go(&["exec", "run", "--line", "32"], "");
    r.go(
        &[
            "exec",
            "retry",
            &id,
            "--error",
            "Connection timeout after 30s",
        ],
        "",
    );
    r.go(&["put", "--anon", "--execution", &id, "--done"], "sent");
    r.go(&["gate", "create", "--line", "35"], "");
    let run = r.run.clone();
    r.go(&["approve", &run, "publish", "--as", "raymond"], "");
    let id = r.go(&["exec", "run", "--line", "41"], "");
    r.go(
        &["put", "report", "--execution", &id, "--done"],
        "The report\n",
    );
    r.go(&["finish", "--status", "completed"], "");
    (r.run, r.commands, r.characters)
}

/// Records with commands whose arguments spell out everything. Returns the same as [`briefly`].
fn at_length(project: &Project, form: &str) -> (String, usize, usize) {
    let mut r = Recording::new(project, form);
    r.to_files();
    let source = "https://p.prose.md/@alice/deep-research";
    r.go(&["import", "add", "research", source], "");
    let session =
        |r: &mut Recording<'_>, line: &str, parent: Option<&str>, name: &str, value: &str| {
            let mut begin = vec!["exec", "begin", "--line", line];
            begin.extend(parent.into_iter().flat_map(|id| ["--parent", id]));
            let id = r.go(&begin, "");
            ended(r, &id, name, value);
            id
        };
    fn ended(r: &mut Recording<'_>, id: &str, name: &str, value: &str) {
        if name == "anon" {
            r.go(&["brief", "--execution", id], "");
            // One command writes the value and ends the execution. In a folder, a separate `put` would be another
            // event, and change the ids of later events.
            r.go(&["put", "--anon", "--execution", id, "--done"], value);
            return;
        }
        r.go(&["brief", name, "--execution", id], "");
        let put = r.go(&["put", name, "--execution", id], value);
        let written = put.strip_prefix("Binding written: ").expect("a name");
        r.go(&["exec", "complete", id, "--binding", written], "");
    }
    session(&mut r, "10", None, "findings", "three findings");
    session(&mut r, "12", None, "draft", "It's `quoted` $(never run)\n");
    let parallel = r.go(
        &["parallel", "begin", "--line", "15", "--branches", "a,b"],
        "",
    );
    let branches = [("a", "16"), ("b", "17")];
    let ids = branches
        .map(|(name, line)| r.go(&["parallel", "branch", &parallel, name, "--line", line], ""));
    for ((name, _), id) in branches.iter().zip(&ids) {
        ended(&mut r, id, name, name);
    }
    r.go(&["parallel", "join", &parallel], "");
    let condition = "**analysis complete**";
    let a_loop = r.go(
        &[
            "loop",
            "begin",
            "--line",
            "19",
            "--max",
            "3",
            "--condition",
            condition,
        ],
        "",
    );
    for round in ["round 1", "round 2"] {
        session(&mut r, "20", Some(&a_loop), "anon", round);
        r.go(&["loop", "iterate", &a_loop], "");
    }
    r.go(
        &["loop", "exit", &a_loop, "--reason", "condition_satisfied"],
        "",
    );
    let mut frames: Vec<String> = Vec::new();
    for (depth, call) in [("one", "27"), ("two", "25"), ("three", "25")] {
        let mut begin = vec!["exec", "begin", "--line", call];
        let parent = frames.last().cloned();
        begin.extend(parent.iter().flat_map(|id| ["--parent", id.as_str()]));
        let frame = r.go(&begin, "");
        session(&mut r, "24", Some(&frame), "result", depth);
        frames.push(frame);
    }
    for frame in frames.iter().rev() {
        r.go(&["exec", "complete", frame], "");
    }
    let id = r.go(&["exec", "begin", "--line", "29"], "");
    r.go(&["brief", "--execution", &id], "");
    r.go(
        &["agent", "memory", "set", "captain"],
        "# Captain\n\nReviewed once.\n",
    );
    let asked = ["--prompt", "Review the synthesis"];
    let add = ["agent", "segment", "add", "captain"];
    r.go(
        &[add.as_slice(), &asked].concat(),
        "- Reviewed: the synthesis\n",
    );
    r.go(&["put", "--anon", "--execution", &id, "--done"], "reviewed");
    let id = r.go(&["exec", "begin", "--line", "32"], "");
    r.go(
        &[
            "exec",
            "fail",
            &id,
            "--error",
            "Connection timeout after 30s",
        ],
        "",
    );
    r.go(&["exec", "retry", &id, "--max", "3"], "");
    ended(&mut r, &id, "anon", "sent");
    let gate = [
        "gate",
        "create",
        "publish",
        "--line",
        "35",
        "--prompt",
        "Publish it?",
    ];
    let terms = [
        "--allow",
        "legal,raymond",
        "--timeout",
        "2h30m",
        "--on-reject",
        "throw \"Not published\"",
    ];
    r.go(&[gate.as_slice(), &terms].concat(), "");
    let run = r.run.clone();
    r.go(&["approve", &run, "publish", "--as", "raymond"], "");
    session(&mut r, "41", None, "report", "The report\n");
    r.go(&["finish", "--status", "completed"], "");
    (r.run, r.commands, r.characters)
}

/// Returns the content of a run, without the run's id and the hashes that depend on the id.
fn content_of(project: &Project, run: &str) -> Value {
    let pages = ["trace", "bindings", "agents", "gates", "audit"];
    let pages = pages.map(|page| {
        let mut view = project.json(&[page, run]);
        // Outside of the rows, the page contains the run's head, which also depends on the id.
        if page == "audit" {
            view = view["rows"].clone();
        }
        view.to_string()
    });
    let state = project.line(&["state", run]);
    let all = format!("{}\n{state}", pages.join("\n"));
    let hash = |word: &str| {
        let word = word.trim_end_matches('\\');
        word.len() == 64 && word.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let words = all
        .split('"')
        .map(|word| if hash(word) { "…" } else { word });
    let all: Vec<String> = words.map(|word| word.replace(run, "RUN")).collect();
    Value::from(all.join("\""))
}

#[test]
fn fewer_commands_record_the_same_run() {
    if needs::faketime().is_none() {
        return;
    }
    let Some(project) = Project::new(&program()) else {
        return;
    };
    for form in FORMS {
        let (one, commands, characters) = briefly(&project, form);
        let (other, more, longer) = at_length(&project, form);
        println!(
            "{form}: {commands} commands of {characters} characters, and {more} of {longer} by those that say everything"
        );
        assert!(
            (commands, characters) <= MOST && characters <= MOST.1,
            "{commands}, {characters}"
        );
        let told = [&one, &other].map(|run| content_of(&project, run));
        let lines = told
            .each_ref()
            .map(|told| told.as_str().unwrap_or_default().lines());
        let [mine, theirs] = lines;
        for (mine, theirs) in mine.zip(theirs) {
            assert_eq!(mine, theirs, "{form}");
        }
        for run in [&one, &other] {
            let checked = project.json(&["check", run, "--severity", "error"]);
            assert_eq!(
                checked["runs"][0]["issues"],
                serde_json::json!([]),
                "{form}: {checked}"
            );
        }
    }
}
