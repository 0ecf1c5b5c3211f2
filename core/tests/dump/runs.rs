//! Collects all runs available to the tests: this repository's files, generated runs, and the corpus.

use std::path::Path;
use std::rc::Rc;

use prosescope_core::model::Run;
use prosescope_core::model::source::Source;
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::session::{Options, Session, survey};
use prosescope_core::program;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_core::trace;
use prosescope_damage::Case;
use prosescope_test_support::{files, needs};
use serde_json::Value;

use crate::make::run_of;
use crate::text::{Dumped, of_trace};

/// The time at which runs are opened: 2026-03-01 12:00:00 UTC, in milliseconds since 1970.
pub(crate) const NOW: i64 = 1_772_366_400_000;

/// Limit for the runs of one source.
const PLACES: usize = 200;

type Files = Vec<(String, Vec<u8>)>;

/// Returns the runs that `trace.json` and `trace-more.json` list as rows.
pub(crate) fn golden_rows() -> Vec<Dumped> {
    let texts = [
        include_str!("../fixtures/trace.json"),
        include_str!("../fixtures/trace-more.json"),
    ];
    let of_case = |case: &Value| {
        let now = case["now"].as_str().map(Stamp::parse);
        let now = now.and_then(|now| now.millis());
        folded(case["name"].as_str().unwrap_or("?"), &run_of(case), now)
    };
    let cases = texts.iter().flat_map(|text| cases(text));
    cases.map(|case| of_case(&case)).collect()
}

/// Returns the run folders that `real.json` lists as files.
pub(crate) fn habits() -> Vec<Dumped> {
    let mut runs = Vec::new();
    for case in cases(include_str!("../fixtures/real.json")) {
        let files = case["files"].as_object().expect("paths and texts").iter();
        let files = files.map(|(path, text)| {
            let path = format!("20260104-101500-case01/{path}");
            let text = text.as_str().expect("a text");
            (path, text.as_bytes().to_vec())
        });
        runs.extend(opened(
            case["name"].as_str().unwrap_or("?"),
            files.collect(),
        ));
    }
    runs
}

fn cases(text: &str) -> Vec<Value> {
    let mut file: Value = serde_json::from_str(text).expect("the fixture is JSON");
    serde_json::from_value(file["cases"].take()).expect("it lists cases")
}

/// Returns all runs below a folder on disk.
pub(crate) fn below(dir: &Path, name: &str) -> Vec<Dumped> {
    opened(name, files::below(dir))
}

/// Dumps the run that each seed of the fuzzer gives, with and without a program.
pub(crate) fn fuzz_seeds() -> Vec<Dumped> {
    let mut seeds = files::below(&needs::root().join("fuzz/seeds"));
    seeds.sort();
    let program = "let plan = session \"Plan\"\nparallel:\n  a = session \"A\"\n  b = session \"B\"\nloop until **ok** (max: 5):\n  block implement(task):\n    session \"Impl\"\n";
    let file = |path: &str, bytes: &[u8]| (path.to_owned(), bytes.to_vec());
    let mut runs = Vec::new();
    for (path, bytes) in seeds {
        let (target, seed) = path.split_once('/').unwrap_or_default();
        let with_head = |head: &str| [head.as_bytes(), &bytes].concat();
        let files = match target {
            "binding" => vec![file(&format!("bindings/{seed}"), &bytes)],
            "compact_log" => vec![file(
                "state.md",
                &with_head("# run:20260213-113205-0fbf7c a.prose\n"),
            )],
            "program" => vec![
                file("program.prose", &bytes),
                file("bindings/tide.md", b"# tide\n\nkind: let\n\n---\n\nlow\n"),
            ],
            "sqlite" => vec![file("state.db", &bytes)],
            "state_md" => vec![file("state.md", &with_head("# Execution State\n"))],
            // The seeds of other targets, such as scripts of commands or durations, are not files of a run.
            _ => continue,
        };
        let with_program = |files: &Files| files.iter().all(|(path, _)| path != "program.prose");
        if with_program(&files) && target != "sqlite" {
            let more = [
                files.clone(),
                vec![file("program.prose", program.as_bytes())],
            ]
            .concat();
            runs.extend(opened(&format!("{path}, with a program"), more));
        }
        runs.extend(opened(&path, files));
    }
    runs
}

/// Dumps the runs of these cases of the damage generator.
pub(crate) fn of_cases(cases: impl Iterator<Item = Case>) -> Vec<Dumped> {
    let source =
        |case: Case| -> (String, Rc<dyn Source>) { (case.name.clone(), Rc::new(case.in_memory())) };
    cases
        .map(source)
        .flat_map(|(name, source)| in_source(&name, &source))
        .collect()
}

/// Dumps a run given as rows.
pub(crate) fn folded(name: &str, run: &Run, now: Option<i64>) -> Dumped {
    let listing = run.program.source.as_deref().map(program::scan);
    let trace = trace::fold(run, listing.as_ref(), now);
    Dumped {
        name: name.to_owned(),
        text: of_trace(&trace, trace.issues.iter()),
    }
}

/// Dumps all runs among these files.
pub(crate) fn opened(name: &str, files: Files) -> Vec<Dumped> {
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("dumped", files));
    in_source(name, &source)
}

fn in_source(name: &str, source: &Rc<dyn Source>) -> Vec<Dumped> {
    let dump = |(place, session): (String, Option<Session>)| {
        let text = session.map(|session| of_trace(session.trace(), session.issues()));
        let name = format!("{name} {}", place.escape_debug());
        Dumped {
            name: name.trim_end().to_owned(),
            text: text.unwrap_or_else(|| "refused\n".to_owned()),
        }
    };
    sessions(source).map(dump).collect()
}

/// Opens the readable runs of a folder on disk.
pub(crate) fn sessions_below(dir: &Path) -> Vec<Session> {
    let all = files::below(dir);
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("counted", all));
    sessions(&source)
        .filter_map(|(_, session)| session)
        .collect()
}

/// Opens the places of a source, or the source itself if it has none; a refused place has no session.
fn sessions(source: &Rc<dyn Source>) -> impl Iterator<Item = (String, Option<Session>)> {
    let options = Options {
        now: Some(NOW),
        ..Options::default()
    };
    let found = survey(source.as_ref()).found;
    let mut places: Vec<String> = found.into_iter().map(|found| found.place).collect();
    if places.is_empty() {
        let lone = match source.files() {
            [file] => file.path.clone(),
            _ => String::new(),
        };
        places.push(lone);
    }
    places.truncate(PLACES);
    places.into_iter().map(move |place| {
        let session = Session::open(Rc::clone(source), &place, &options);
        (place, session.ok())
    })
}
