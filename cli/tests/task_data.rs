//! Tests of data that a command records for a later command: the execution that wrote a binding, and the brief of a
//! subagent.

use std::fs;
use std::process::Command;

use prosescope_test_support::run;
use serde_json::Value;

/// A folder with a program and a run of that program.
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

    /// Runs `prosescope` with this standard input. Returns its standard output.
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

    /// Returns the name and the writer of each binding, as `anon_001 by 2`. `?` marks a writer that was only
    /// inferred.
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

/// Runs a check on a run in a database and on a run in files.
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
        // All records have the same time in seconds, and the branches end in another order than they began. So the
        // recorded times do not show which execution wrote a value.
        project.does("begin 1");
        project.does("put --anon --into 1");
        let second = project.json("begin 2")["id"].to_string();
        project.does(&format!("put --anon --into {second}"));
        let parallel = project.json("begin 3");
        let branch = |at: usize| parallel["branches"][at]["id"].to_string();
        project.does(&format!("put d --into {}", branch(1)));
        project.does(&format!("put --anon --into {}", branch(0)));
        project.does("end");
        project.does("begin 6");
        let first = project.json("begin 7")["id"].to_string();
        project.does(&format!("put e --into {first}"));
        project.does("round");
        let again = project.json("begin 7")["id"].to_string();
        project.does("put e --not-done");
        project.does(&format!("end {again}"));
        project.does("end");
        let call = project.json("begin 10")["id"].to_string();
        let inner = project.json("begin 9")["id"].to_string();
        project.does(&format!("put --anon --into {inner}"));
        project.does(&format!("end {call}"));
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

/// Returns the state and note of each input of a task.
#[track_caller]
fn inputs(task: &Value) -> Vec<String> {
    let all = task["inputs"].as_array().expect("inputs");
    all.iter()
        .map(|input| {
            let text = |key: &str| input[key].as_str().map(str::to_owned);
            let known = text("get").or(text("value")).or(text("note"));
            let name = input["name"].as_str().expect("a name");
            let state = input["state"].as_str().expect("a state");
            format!("{name} {state} {}", known.unwrap_or_default())
        })
        .collect()
}

/// Runs the commands of a brief that print its inputs. Returns their output.
#[track_caller]
fn printed(project: &Project, task: &Value) -> Vec<String> {
    let all = task["inputs"].as_array().expect("inputs");
    let commands = all.iter().filter_map(|input| input["get"].as_str());
    commands
        .map(|command| {
            let words = command.strip_prefix("prosescope ").expect("our command");
            project.said(words, &[], "").trim().to_owned()
        })
        .collect()
}

#[test]
fn a_brief_lists_each_name_of_the_prompt_with_the_command_that_prints_it() {
    let program = "use \"./r.prose\" as research\ninput topic: \"what\"\nlet draft = session \"Write about {topic}\"\n\
        let never = session \"N\"\nlet skipped = session \"S\"\nconst style = \"short, on {topic}\"\n\
        session \"Use {draft.title}, {never}, {skipped}, {style}, {research.facts}, {version}\"\n  context: [draft, nobody]\n";
    in_both_forms(program, |project| {
        let early = project.json("begin 3");
        assert_eq!(
            inputs(&early["task"]),
            ["topic missing input of line 2: not given yet"]
        );
        project.said("put topic", &[], "cats");
        project.said("put draft --into 1", &[], "DRAFT");
        project.does("begin 5");
        project.does("skip 5");
        let begun = project.json("begin 7");
        let expected = [
            "draft bound prosescope get draft --run r",
            "draft.title part prosescope get draft --run r",
            "never missing line 4 makes this value: not written yet",
            "nobody missing no line of the program makes this value",
            "research.facts bound prosescope get research.facts --run r",
            "skipped missing line 5 makes this value: skipped",
            "style text short, on {topic}",
            "topic bound prosescope get topic --run r",
            "version unknown no line of the program makes this value: the name may be plain text",
        ];
        assert_eq!(inputs(&begun["task"]), expected);
        // `brief` returns the same text later, read from the records of the execution.
        let id = begun["id"].to_string();
        let brief = project.does(&format!("brief {id}"));
        let told = begun["task"]["brief"].as_str().expect("a brief");
        let given = |text: &str| {
            let from = text.find("You are given").expect("inputs");
            let to = text.find("Your output").expect("the output");
            text.get(from..to).map(str::to_owned)
        };
        assert_eq!(given(&brief), given(told));
        assert!(
            told.contains("- skipped: line 5 makes this value: skipped"),
            "{told}"
        );
    });
}

#[test]
fn a_parameter_is_told_with_the_argument_of_its_call() {
    let program = "input topic: \"what\"\nlet draft = session \"W\"\nblock inner(piece):\n  session \"I {piece}\"\n\
        block outer(part, how):\n  let draft = session \"Own\"\n  session \"O {part} {how}\"\n  do inner(part)\n  \
        do inner(draft)\ndo outer(draft, how: \"fast, on {topic}\")\n";
    in_both_forms(program, |project| {
        project.said("put topic", &[], "cats");
        project.said("put draft --source x", &[], "ROOT");
        let call = project.json("begin 10")["id"].to_string();
        let own = project.json("begin 6")["id"].to_string();
        project.said(&format!("put draft --into {own}"), &[], "OWN");
        // The argument `draft` is the caller's binding, not the binding of the same name in the frame.
        let begun = project.json("begin 7");
        assert_eq!(printed(project, &begun["task"]), ["cats", "ROOT"]);
        assert_eq!(inputs(&begun["task"])[0], "how text fast, on {topic}",);
        project.does("end");
        for (line, value) in [(8, "ROOT"), (9, "OWN")] {
            let inner = project.json(&format!("begin {line}"))["id"].to_string();
            let begun = project.json("begin 4");
            assert_eq!(printed(project, &begun["task"]), [value], "line {line}");
            let brief = begun["task"]["brief"].as_str().expect("a brief");
            let told = format!("piece: a parameter of block inner, called by execution {inner}");
            assert!(brief.contains(&told), "{brief}");
            project.does("end");
            project.does(&format!("end {inner}"));
        }
        project.does(&format!("end {call}"));
    });
}

#[test]
fn an_item_is_told_with_its_round_and_an_error_with_its_text() {
    let program = "let a = session \"A\"\nlet b = session \"B\"\nfor item in [a, b, \"c\"]:\n  session \"{item}\"\n\
        for x, i in a:\n  session \"{x} {i}\"\ntry:\n  session \"Risk\"\ncatch as err:\n  session \"Handle {err}\"\n\
        parallel for y in a:\n  session \"{y}\"\n";
    in_both_forms(program, |project| {
        project.said("put a", &[], "first");
        project.said("put b", &[], "second");
        project.does("begin 3");
        let mut begun = project.json("begin 4");
        assert_eq!(printed(project, &begun["task"]), ["first"]);
        project.does("end");
        project.does("round");
        begun = project.json("begin 4");
        assert_eq!(printed(project, &begun["task"]), ["second"]);
        project.does("end");
        project.does("round");
        begun = project.json("begin 4");
        assert_eq!(inputs(&begun["task"]), ["item text c"]);
        project.does("end");
        project.does("end");
        project.does("begin 5");
        begun = project.json("begin 6");
        assert_eq!(
            inputs(&begun["task"]),
            [
                "i told round 1 of the loop at line 5 counts it",
                "x part prosescope get a --run r"
            ]
        );
        project.does("end");
        project.does("end");
        let tried = project.json("begin 7")["id"].to_string();
        let risk = project.json("begin 8")["id"].to_string();
        project.said(&format!("fail {risk}"), &["it\nbroke"], "");
        project.does(&format!("end {tried}"));
        project.does("begin 9");
        begun = project.json("begin 10");
        assert_eq!(inputs(&begun["task"]), ["err text it\nbroke"]);
        let brief = begun["task"]["brief"].as_str().expect("a brief");
        assert!(brief.contains("\n\n> it\n> broke\n"), "{brief}");
    });
}

#[test]
fn another_attempt_is_told_why_the_one_before_failed() {
    in_both_forms("session \"Risk\"\n  retry: 3\n", |project| {
        project.does("begin 1");
        project.said("fail 1", &["no\nkey"], "");
        let why = "An earlier attempt failed:\n\n> no\n> key\n";
        let brief = project.said("brief 1", &[], "");
        assert!(brief.contains(why), "{brief}");
        let retried = project.said("retry 1", &[], "");
        assert_eq!(
            retried,
            "1 attempt 2/3\nSubagent: prosescope brief 1 --run r\n"
        );
        let brief = project.said("brief 1", &[], "");
        assert!(brief.contains(why), "{brief}");
        assert!(brief.contains("put --anon --into 1 --run r"), "{brief}");
        project.said("fail 1", &["late"], "");
        let task = project.json("retry 1")["task"].clone();
        assert_eq!(task["failed"], "late");
    });
}

#[test]
fn items_that_are_one_statement_are_told_apart_by_their_names() {
    let program = "let c = session \"C\"\nparallel for y in c:\n  session \"p {y}\"\n";
    in_both_forms(program, |project| {
        project.said("put c", &[], "C");
        project.does("begin 2");
        for item in ["u", "v"] {
            let begun = project.json(&format!("begin 3 --item {item}"));
            project.does(&format!("put --anon --into {}", begun["id"]));
        }
        let trace = project.said("trace", &[], "");
        assert!(
            trace.contains("item u") && trace.contains("item v"),
            "{trace}"
        );
    });
}

#[test]
fn an_item_of_a_parallel_is_told_with_its_branch_and_reads_its_own_values() {
    let program = "let c = session \"C\"\nparallel for y in c:\n  session \"p {y}\"\n\
        parallel for z in [c, \"b\"]:\n  let own = session \"q {z}\"\n  session \"r {z} {own}\"\n";
    in_both_forms(program, |project| {
        project.said("put c", &[], "C");
        project.does("begin 2");
        let begun = project.json("begin 3 --item u");
        let y = &begun["task"]["inputs"][0];
        assert_eq!(y["note"], "the item of branch u of line 2 in the list `c`");
        project.does(&format!("put --anon --into {}", begun["id"]));
        project.does("end");
        project.does("begin 4");
        for (item, known) in [("c", "z bound prosescope get c --run r"), ("b", "z text b")] {
            let begun = project.json(&format!("begin 5 --item {item}"));
            assert_eq!(inputs(&begun["task"]), [known]);
            project.said(&format!("put own --into {}", begun["id"]), &[], item);
        }
        let begun = project.json("begin 6 --item b");
        assert_eq!(printed(project, &begun["task"]), ["b"]);
        assert!(project.writers().iter().all(|by| !by.ends_with('?')));
    });
}

#[test]
fn the_memory_of_an_agent_with_a_path_is_named_by_commands_that_work() {
    let program =
        "agent captain:\n  persist: \"./keep it\"\nlet c = session: captain\n  prompt: \"Go\"\n";
    in_both_forms(program, |project| {
        let begun = project.json("begin 3");
        let brief = begun["task"]["brief"].as_str().expect("a brief");
        let options = "--path './keep it' --run r";
        for command in ["memory get captain", "memory set captain"] {
            let whole = format!("prosescope agent {command} {options}");
            assert!(brief.contains(&whole), "{brief}");
        }
        let agent = |words: &str| project.command(words, &["--path", "./keep it", "--run", "r"]);
        let none = run::said(3, &mut agent("agent memory get captain"));
        assert!(none.contains("has no memory"), "{none}");
        run::fed(&mut agent("agent memory set captain"), b"kept");
        assert!(run::said(0, &mut agent("agent memory get captain")).contains("kept"));
    });
}

/// When an execution begins, the output contains the command that ends it, not only its number.
#[test]
fn whatever_begins_is_told_how_it_ends() {
    let program = "use \"./r.prose\" as research\nlet chain = session \"a\" -> session \"b\"\nlet f = research(topic: \"x\")\n\
        const lit = \"x\"\nthrow \"it's over\"\nif **x**:\n  session \"in\"\ntry:\n  session \"t\"\nchoice **y**:\n  \
        option \"one\":\n    session \"o\"\nlet out = items | map:\n  session \"{item}\"\nblock b(x):\n  return x\n\
        let d = do b(1)\ndo:\n  session \"s\"\noutput o = lit\nexec \"make\"\n";
    in_both_forms(program, |project| {
        for (line, ends) in [
            (2, "put chain --into ID"),
            (3, "put f --into ID"),
            (4, "put lit --into ID"),
            (5, "fail ID 'it'\\''s over'"),
            (6, "end ID"),
            (8, "end ID"),
            (10, "end ID"),
            (13, "put out --into ID"),
            (17, "put d --into ID"),
            (16, "end ID"),
            (18, "end ID"),
            (20, "put o --into ID"),
            (21, "put --anon --into ID"),
        ] {
            let said = project.does(&format!("begin {line}"));
            let id = said.lines().next().expect("an id").to_owned();
            let ends = format!(": prosescope {} --run r", ends.replace("ID", &id));
            let told = said.lines().nth(1).unwrap_or_default();
            assert!(told.ends_with(&ends), "line {line}: {said}");
            // The call stays open for the statement in its block.
            if line != 17 {
                project.does(&format!("skip {line}"));
            }
            if line == 16 {
                project.does("skip 17");
            }
        }
    });
}

#[test]
fn the_names_in_a_gates_prompt_are_filled_or_said_to_be_open() {
    let program = "let version = session \"V\"\nlet notes = session \"N\"\nblock ship(target):\n  approve deploy:\n    \
        prompt: \"Deploy {version} to {target}: {notes}, {ticket}, \\{raw}?\"\ndo ship(\"{region} live\")\n";
    in_both_forms(program, |project| {
        project.said("put version", &[], "1.2 {notes}\n");
        project.said("put notes", &[], &"long ".repeat(200));
        project.does("begin 6");
        let mut command = project.command("gate create --line 4 --json", &[]);
        let out = run::fed(&mut command, b"");
        let made: Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let prompt = "Deploy 1.2 {notes} to {target}: {notes}, {ticket}, {raw}?";
        assert_eq!(made["prompt"], prompt);
        assert_eq!(
            made["open_names"],
            serde_json::json!(["notes", "target", "ticket"])
        );
        let note = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(note.contains("{notes}, {target}, {ticket}"), "{note}");
        let shown = project.json("gate show r deploy");
        assert_eq!(shown["prompt"], prompt, "{shown}");
    });
}

#[test]
fn a_value_without_a_name_that_was_put_first_is_that_of_the_completion() {
    let program = "session \"A\"\nsession \"A\"\nparallel:\n  session \"A\"\n  session \"A\"\nlet n = session \"N\"\n";
    in_both_forms(program, |project| {
        // The first value is put without a number, while only its execution is open. The second value is put with the
        // number of its execution. Later, the two branches end in another order than they began.
        let first = project.json("begin 1")["id"].to_string();
        project.does("put --anon --not-done");
        project.does(&format!("end {first}"));
        assert_eq!(project.writers(), [format!("anon_001 by {first}")]);
        let second = project.json("begin 2")["id"].to_string();
        project.does(&format!("put --anon --into {second} --not-done"));
        // A failed execution is retried, and writes another value.
        project.does(&format!("fail {second} boom"));
        assert!(project.does("next").contains(&format!("retry {second}")));
        project.does(&format!("retry {second}"));
        project.does("put --anon --not-done");
        project.does("end");
        let parallel = project.json("begin 3");
        let [left, right] = [0, 1].map(|at| parallel["branches"][at]["id"].to_string());
        project.does(&format!("put --anon --into {right} --not-done"));
        project.does(&format!("put --anon --into {left} --not-done"));
        // With two open executions, the writer of a value is unknown.
        project.does("put --anon --not-done");
        project.does(&format!("end {left}"));
        project.does(&format!("end {right}"));
        project.does("end");
        let own = project.json("begin 6")["id"].to_string();
        // An anonymous value is not taken for the result of a statement that binds a name.
        project.does("put --anon --not-done");
        project.does("put n");
        let writers = project.writers();
        for wrote in [
            format!("anon_001 by {first}"),
            format!("anon_003 by {second}"),
            format!("anon_004 by {right}"),
            format!("anon_005 by {left}"),
            format!("n by {own}"),
        ] {
            assert!(writers.contains(&wrote), "{wrote}: {writers:?}");
        }
        assert!(
            !writers.contains(&format!("anon_007 by {own}")),
            "{writers:?}"
        );
    });
}

#[test]
fn an_item_of_a_later_operation_is_what_the_one_before_gave() {
    let program = "let items = [\"a\", \"b\"]\nlet more = session \"List\"\n\
        let out = items | map:\n  session \"Draft {item}\"\n| filter:\n  session \"Keep {item}?\"\n| map:\n  session \"Do {item}\"\n\
        let rest = more | filter:\n  session \"Good {item}?\"\n| map:\n  session \"Polish {item}\"\n";
    in_both_forms(program, |project| {
        project.does("begin 2");
        project.does("put more");
        project.does("begin 3");
        let brief = |begin: &str| {
            let begun = project.json(begin);
            begun["task"]["brief"].as_str().expect("a brief").to_owned()
        };
        let said = brief("begin 4 --item a");
        assert!(
            said.contains("the item of branch a of line 3 in the list `items`"),
            "{said}"
        );
        project.does("put --anon");
        for line in [6, 8] {
            let said = brief(&format!("begin {line} --item a"));
            assert!(said.contains("prosescope get anon_001"), "{said}");
            assert!(
                said.contains("the result of `map` in line 3 for the item of branch a"),
                "{said}"
            );
            assert!(!said.contains("list `items`"), "{said}");
            project.does("put --anon");
        }
        project.does("end");
        // This item is completed, but its value was not recorded.
        project.does("begin 4 --item b");
        project.does("end");
        let said = brief("begin 6 --item b");
        assert!(
            said.contains("the result of `map` in line 3 for the item of branch b"),
            "{said}"
        );
        assert!(!said.contains("prosescope get anon_"), "{said}");
        project.does("put --anon");
        project.does("end");
        project.does("put out");
        project.does("begin 9");
        let said = brief("begin 10 --item x");
        assert!(
            said.contains("the item of branch x of line 9 in the list `more`"),
            "{said}"
        );
        project.does("put --anon");
        let said = brief("begin 12 --item x");
        assert!(
            said.contains("that the filter of line 9 kept of the list `more`"),
            "{said}"
        );
    });
}

#[test]
fn agents_names_a_memory_that_the_program_keeps_at_a_path() {
    let program = "agent captain:\n  persist: \"./keep\"\nresume: captain\n  prompt: \"Go\"\n";
    in_both_forms(program, |project| {
        project.does("agent memory set captain --path ./keep");
        let said = project.does("agents");
        assert!(said.contains("captain"), "{said}");
        assert!(said.contains("./keep"), "{said}");
        let command = said
            .lines()
            .find_map(|line| line.trim().strip_prefix("prosescope "));
        assert_eq!(project.does(command.expect("a command")), "v\n");
        let list = project.json("agents");
        assert_eq!(list["elsewhere"][0]["path"], "./keep");
    });
}
