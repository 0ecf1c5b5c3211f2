//! Tests that `prosescope convert` to the other form and back yields the same run.

use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_test_support::pages::without_form;
use prosescope_tests::needs;
use serde_json::Value;

use crate::project::{Project, text};

/// Converts a run to the other form and back, and compares all pages of the three runs.
pub(crate) fn there_and_back(project: &Project, form: &str, run: &str) {
    let other = match form {
        "sqlite" => "filesystem",
        _ => "sqlite",
    };
    let there = format!("{run}-{other}");
    let back = format!("{there}-{form}");
    let left = project.json(&["convert", run, "--to", other])["left"].to_string();
    let more = project.json(&["convert", &there, "--to", form])["left"].to_string();
    let left = left + &more;
    let traced = !left.contains("\"the status\"");
    // A copy has rows for what a hand-written state file tells, with other numbers.
    let by_hand = form == "filesystem" && !project.run_dir(run).join("x_events.jsonl").exists();
    let rows = list(&project.json(&["trace", &there]), "rows");
    let by_hand = by_hand && rows.iter().any(|row| !row["id"].is_null());
    if by_hand {
        assert_same(project, &there, &back, traced);
    } else {
        for copy in [&there, &back] {
            assert_same(project, run, copy, traced);
        }
        if traced {
            assert_back(project, run, &back);
        }
    }
    // The copy already exists and equals the run, so `convert` succeeds and copies nothing.
    let again = project.json(&["convert", run, "--to", other]);
    assert_eq!(again["already"], true, "{run}: {again}");
    // A conversion to the form that the run already has is refused.
    project.expect(4, &["convert", run, "--to", form], b"");
    if by_hand {
        assert_goes_on(project, run, &there);
    }
}

/// Returns the JSON of a command without the parts that depend on the form of the run: places, ages, and notes about
/// them.
fn page(project: &Project, run: &str, page: &str) -> Value {
    let mut said = project.json(&[page, run]);
    let page = match page {
        "show" => said["overview"].take(),
        _ => said,
    };
    without_form(page)
}

const PAGES: [&str; 7] = [
    "show", "trace", "bindings", "agents", "gates", "audit", "resume",
];

/// Asserts that a run converted back has the same pages and the same state file.
fn assert_back(project: &Project, run: &str, back: &str) {
    let named = |value: Value| -> Value {
        serde_json::from_str(&value.to_string().replace(back, run)).expect("still JSON")
    };
    // If a run's rows contain no times, its last sign of life is the date of a file. So all files get the same date.
    for run in [run, back] {
        dated(&project.run_dir(run));
    }
    for name in PAGES {
        let (ours, theirs) = (page(project, run, name), named(page(project, back, name)));
        // A folder cannot record the time of a memory, and `convert` reports that loss.
        let (ours, theirs) = match name {
            "agents" => (timeless(ours), timeless(theirs)),
            _ => (ours, theirs),
        };
        assert_eq!(ours, theirs, "{back}: {name}");
    }
    let state = |run: &str| project.expect(0, &["state", run], b"");
    assert_eq!(
        state(run),
        state(back).replace(back, run),
        "{back}: state.md"
    );
}

/// Sets the date of all files to one fixed time.
fn dated(folder: &Path) {
    let date = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_770_000_000);
    for entry in std::fs::read_dir(folder).expect("listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            dated(&path);
        } else {
            let file = std::fs::File::options().write(true).open(&path);
            file.and_then(|file| file.set_modified(date))
                .expect("dated");
        }
    }
}

/// Asserts that the copy of a hand-written folder tells the same, and goes on where the run stood.
fn assert_goes_on(project: &Project, run: &str, copy: &str) {
    let of = |run: &str, page: &str| project.json(&[page, run]);
    let has_program = project.run_dir(run).join("program.prose").exists();
    let told = |run: &str| {
        // Without a program, only the state file itself says at which line a statement stands.
        let mut keys = vec!["level", "kind", "status", "text", "error"];
        if has_program {
            keys.push("line");
        }
        let rows = list(&of(run, "trace"), "rows").into_iter();
        // A statement that only the program tells to come next has no row.
        let rows = rows.filter(|row| row["status"] != "pending");
        let rows = rows.map(|row| pick(&row, &keys).replace("waiting", "executing"));
        rows.collect::<Vec<_>>()
    };
    assert_eq!(told(run), told(copy), "{copy}: trace");
    let stands = |run: &str| {
        let page = of(run, "resume");
        let ahead = list(&page, "ahead");
        let ahead = ahead.iter();
        let ahead = ahead.map(|row| pick(row, &["line", "text", "indent"]));
        (page["done"]["story"].clone(), ahead.collect::<Vec<_>>())
    };
    assert_eq!(stands(run), stands(copy), "{copy}: resume");
    let values = |run: &str| {
        let all = bindings(project, run).into_iter();
        let mut all: Vec<_> = all.map(|((name, _), (_, value))| (name, value)).collect();
        all.sort();
        all
    };
    assert_eq!(values(run), values(copy), "{copy}: values");
    let (a, b) = (of(run, "show"), of(copy, "show"));
    assert_eq!(a["overview"]["status"], b["overview"]["status"], "{copy}");
    assert_eq!(imports(&a), imports(&b), "{copy}");
    assert_eq!(segments(project, run), segments(project, copy), "{copy}");
    assert_eq!(gates(project, run), gates(project, copy), "{copy}");
    // The copy itself makes no issues but that the file has no times.
    let found = |run: &str| {
        let page = of(run, "check");
        let issues = list(&page["runs"][0], "issues");
        let rules = issues.iter().map(|issue| issue["rule"].to_string());
        rules.collect::<std::collections::BTreeSet<_>>()
    };
    let mut new: Vec<String> = found(copy).difference(&found(run)).cloned().collect();
    new.retain(|rule| rule != "\"times-not-recorded\"");
    assert!(new.is_empty(), "{copy}: {new:?}");
    // What comes next is the same but for the numbers of executions.
    let next = |of_run: &str| {
        let choices = list(&of(of_run, "next"), "choices");
        let lines = choices.iter().map(|choice| {
            let command = choice["command"].as_str().expect("a command");
            let words = command.replace(copy, run);
            let mut words: Vec<&str> = words.split(' ').collect();
            if let Some(at) = words
                .iter()
                .position(|word| *word == "--into" || *word == "--parent")
            {
                words[at + 1] = "ID";
            }
            if let ["prosescope", "end" | "round" | "fail" | "retry", id, ..] = words.as_mut_slice()
            {
                *id = "ID";
            }
            words.join(" ")
        });
        lines.collect::<Vec<_>>()
    };
    let stopped = a["overview"]["status"] != "running" && a["overview"]["status"] != "completed";
    for run in [run, copy].iter().filter(|_| stopped) {
        project.expect(0, &["resume", run, "--begin"], b"");
    }
    assert_eq!(next(run), next(copy), "{copy}: next");
}

fn timeless(mut page: Value) -> Value {
    let agents = page["agents"].as_array_mut().into_iter().flatten();
    for agent in agents {
        agent["created"].take();
        agent["updated"].take();
        // A folder does not keep white space at the ends of a summary, and `convert` reports that, too.
        for segment in agent["segments"].as_array_mut().into_iter().flatten() {
            let summary = segment["summary"]
                .as_str()
                .unwrap_or_default()
                .trim()
                .into();
            segment["summary"] = summary;
        }
    }
    page
}

/// Asserts that a run's copy in the other form has the same content.
fn assert_same(project: &Project, run: &str, copy: &str, traced: bool) {
    let of = |run: &str, page: &str| project.json(&[page, run]);
    let (a, b) = (of(run, "show"), of(copy, "show"));
    for key in ["started", "updated", "program", "id"] {
        let at = |page: &Value| page["overview"][key].clone();
        assert_eq!(at(&a), at(&b), "{copy}: {key}");
    }
    let status = |page: &Value| page["overview"]["status"].clone();
    assert!(
        !traced || status(&a) == status(&b),
        "{copy}: {}",
        status(&b)
    );
    if traced {
        assert_eq!(rows(&of(run, "trace")), rows(&of(copy, "trace")), "{copy}");
    }
    assert_eq!(imports(&a), imports(&b), "{copy}");
    let (mut ours, mut theirs) = (bindings(project, run), bindings(project, copy));
    if !traced {
        ours.sort();
        theirs.sort();
    }
    let keys = |of: &Bindings| of.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    assert_eq!(
        keys(&ours),
        keys(&theirs),
        "{copy}: names and frames, in order"
    );
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs, "{copy}");
    }
    assert_eq!(segments(project, run), segments(project, copy), "{copy}");
    assert_eq!(gates(project, run), gates(project, copy), "{copy}");
    let (ours, theirs) = (of(run, "audit"), of(copy, "audit"));
    for key in ["chain", "chain_reason", "head", "rows", "issues"] {
        assert_eq!(ours[key], theirs[key], "{copy}: audit {key}");
    }
}

fn list(page: &Value, key: &str) -> Vec<Value> {
    page[key].as_array().cloned().unwrap_or_default()
}

fn pick(row: &Value, keys: &[&str]) -> String {
    let said: Vec<String> = keys
        .iter()
        .map(|key| format!("{key}={}", row[*key]))
        .collect();
    said.join(" ")
}

fn imports(show: &Value) -> Vec<String> {
    let keys = [
        "alias",
        "source_url",
        "fetched",
        "inputs_schema",
        "outputs_schema",
        "nested_status",
    ];
    let imports = list(&show["imports"], "imports");
    imports.iter().map(|row| pick(row, &keys)).collect()
}

fn rows(trace: &Value) -> Vec<String> {
    let keys = [
        "level", "kind", "status", "text", "line", "started", "ended", "took_ms", "error",
    ];
    list(trace, "rows")
        .iter()
        .map(|row| pick(row, &keys))
        .collect()
}

type Bindings = Vec<((String, String), (String, Vec<u8>))>;

/// Returns the facts of each binding, with its printed value.
fn bindings(project: &Project, run: &str) -> Bindings {
    let page = project.json(&["bindings", run]);
    let rows = list(&page, "rows").into_iter().map(|row| {
        let name = row["name"].as_str().expect("a name").to_owned();
        let frame = row["execution_id"].to_string();
        let mut args = vec!["get", &name, "--run", run];
        if frame != "null" {
            args.extend(["--from", &frame]);
        }
        let out = project.give(&args, b"");
        let usage = out.status.code() == Some(2);
        assert!(!usage, "get {name}: {}", text(&out.stderr));
        let value = out.stdout;
        let keys = [
            "kind",
            "source",
            "created",
            "updated",
            "attachment",
            "len",
            "versions",
        ];
        ((name, frame), (pick(&row, &keys), value))
    });
    rows.collect()
}

fn segments(project: &Project, run: &str) -> Vec<String> {
    let page = project.json(&["agents", run]);
    let agents = list(&page, "agents");
    let own = agents.iter().filter(|agent| agent["scope"] == "execution");
    own.flat_map(|agent| {
        let keys = ["number", "timestamp", "prompt", "summary"];
        let segments = list(agent, "segments");
        // The file of a segment does not keep line breaks at the end of its summary, and `convert` reports that.
        let said = segments
            .iter()
            .map(|segment| pick(segment, &keys).replace("\\n\"", "\""));
        let mut said: Vec<String> = said.collect();
        said.push(pick(agent, &["name", "memory_len", "preview"]));
        said
    })
    .collect()
}

fn gates(project: &Project, run: &str) -> Vec<String> {
    let page = project.json(&["gates", run]);
    let keys = [
        "id",
        "status",
        "prompt",
        "allow",
        "timeout",
        "deadline",
        "on_reject",
        "created",
        "resolved",
        "resolved_by",
        "comment",
    ];
    // `gates` prints either a list of all gates, or an object with the gates of one run.
    let gates = page
        .as_array()
        .cloned()
        .unwrap_or_else(|| list(&page, "gates"));
    gates.iter().map(|gate| pick(gate, &keys)).collect()
}

/// Copies all runs of a folder into the project; returns their ids.
fn copied(project: &Project, runs: &Path) -> Vec<String> {
    let to = project.path().join(".prose/runs");
    std::fs::create_dir_all(&to).expect("a folder");
    let mut names = Vec::new();
    for run in std::fs::read_dir(runs).expect("runs").flatten() {
        let copied = Command::new("cp")
            .arg("-r")
            .arg(run.path())
            .arg(&to)
            .status();
        assert!(copied.expect("cp runs").success());
        names.push(run.file_name().to_string_lossy().into_owned());
    }
    let writable = Command::new("chmod").args(["-R", "u+w"]).arg(&to).status();
    assert!(writable.expect("chmod runs").success());
    names.sort();
    names
}

#[test]
fn every_example_there_and_back_is_the_same_run() {
    let Some(project) = Project::new("session \"none\"\n") else {
        return;
    };
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/.prose");
    // Agents of the project do not belong to a run, so they are copied beside the runs.
    let wider = Command::new("cp")
        .arg("-r")
        .args([examples.join("agents"), examples.join("agents.db")])
        .arg(project.path().join(".prose"))
        .status();
    assert!(wider.expect("cp runs").success());
    for run in copied(&project, &examples.join("runs")) {
        let form = if project.run_dir(&run).join("state.db").is_file() {
            "sqlite"
        } else {
            "filesystem"
        };
        there_and_back(&project, form, &run);
    }
}

fn runs_below(dir: &Path, deep: usize, found: &mut Vec<PathBuf>) {
    let listed = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for path in listed.map(|at| at.path()).filter(|at| at.is_dir()) {
        match path.ends_with(".prose/runs") {
            true => found.push(path),
            false if deep > 0 => runs_below(&path, deep - 1, found),
            false => {}
        }
    }
    found.sort();
}

#[test]
fn every_run_as_models_keep_it_there_and_back_is_the_same_run() {
    let converted = there_and_back_all(&[needs::fixtures("runs")]);
    // Runs in other forms (logs, receipts and sealed runs) are read-only, so they are not converted.
    assert!(converted.is_none_or(|runs| runs == 6), "{converted:?}");
}

#[test]
fn every_real_run_there_and_back_is_the_same_run() {
    let Some(corpus) = needs::shared("corpus/runs") else {
        return;
    };
    let mut places = Vec::new();
    runs_below(&corpus, 5, &mut places);
    let converted = there_and_back_all(&places);
    assert!(converted.is_none_or(|runs| runs > 3), "{converted:?}");
}

/// Converts all convertible runs in some folders to the other form and back; returns their number, or `None` if a
/// required program is missing.
fn there_and_back_all(places: &[PathBuf]) -> Option<usize> {
    let project = Project::new("session \"none\"\n")?;
    let mut converted = 0;
    for run in places.iter().flat_map(|place| copied(&project, place)) {
        let out = project.give(
            &["convert", &run, "--to", "sqlite", "--out", ".prose/tried"],
            b"",
        );
        match out.status.code() {
            Some(0) => {}
            // Code 4: the run is a log or a table of receipts, which can only be read.
            Some(4) => continue,
            code => panic!("{run}: {code:?} {}", text(&out.stderr)),
        }
        std::fs::remove_dir_all(project.path().join(".prose/tried")).expect("removed");
        there_and_back(&project, "filesystem", &run);
        converted += 1;
    }
    Some(converted)
}
