//! Tests of runs as models record them, with the expected interpretation of each. The runs in tests/fixtures/runs
//! imitate the style of real runs. The real runs are read in place if the project's corpus is present.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use prosescope_core::model::source::Source;
use prosescope_core::model::{Form, RunStatus};
use prosescope_core::pages::session::{FoundKind, Options, Session, pages, survey};
use prosescope_core::read::decode;
use prosescope_core::read::sqlite::MemorySource;
use prosescope_core::record::render;
use prosescope_core::trace::NodeStatus;
use prosescope_core::{program, trace};
use prosescope_test_support::{files, needs};

/// The facts about a run that a person finds by reading its files; the decoder must find the same.
struct Reading {
    run: &'static str,
    form: &'static str,
    /// The status that a person would believe; empty if the files do not show one.
    status: &'static str,
    /// Number of completed statements: a parallel block and each of its branches count, an approved gate does not.
    done: usize,
    /// The number of bindings of each kind; `-` stands for a file without a header.
    bindings: &'static str,
    /// The program lines at which the run continues.
    positions: &'static [u32],
    /// The rules of issues that a person would also notice.
    told: &'static [&'static str],
}

/// The runs in tests/fixtures/runs.
const OURS: &[Reading] = &[
    // The run: one session, `status: complete`, and an index of bindings with three columns.
    read("20260301-080000-one", "StateMd", "completed", 1, "1 let").told(&["index-without-frames"]),
    // The run: a parallel block with three branches, and the session that joins them.
    read("20260301-090000-join", "StateMd", "completed", 5, "4 let")
        .told(&["index-without-frames"]),
    // The run has no program, index or binding: a parallel block of four and an output, each with a file of the
    // project.
    read("20260301-100000-files", "StateMd", "completed", 6, "")
        .told(&["extra-section", "state-file-incomplete"]),
    // The state file ends at the first of seven statements, but the files of five exist, so the sixth comes next.
    read(
        "20260301-110000-behind",
        "StateMd",
        "running",
        5,
        "2 -, 3 let",
    )
    .positions(&[37])
    .told(&[
        "binding-not-indexed",
        "elided-trace",
        "marker-contradicts-disk",
        "state-file-behind",
    ]),
    // The run: two sessions, a parallel block of two, and an output; its agents have no folder.
    read(
        "20260301-120000-both",
        "StateMd",
        "completed",
        6,
        "4 let, 1 output",
    ),
    // The run: three receipts. One is that of a session, whose binding contains its statement.
    read(
        "20260301-130000-receipts",
        "Receipts",
        "completed",
        1,
        "1 session (anonymous)",
    )
    .told(&["unknown-kind"]),
    // The run: two sessions, known from receipts. The second receipt does not refer to the first as its predecessor.
    read("chain-that-broke", "Receipts", "completed", 2, "").told(&["receipt-chain"]),
    // The log has only a header: the run began, and everything else is unknown.
    read("20260301-140000-", "CompactLog", "", 0, ""),
    // The folder contains only a program.
    read("20260301-150000-alone", "Bare", "", 0, "").told(&["no-state-file"]),
    // The log: three numbered lines, the second without a name, and an end line.
    read(
        "20260301-160000-log",
        "CompactLog",
        "completed",
        3,
        "2 input, 1 let, 1 output",
    ),
    // The log: seven numbered lines. The third is a parallel block of three, the sixth an approved gate.
    read(
        "20260301-170000-gate",
        "CompactLog",
        "completed",
        9,
        "1 input, 7 let, 1 output",
    ),
    // All files of the run are encrypted in envelopes; only the names of the bindings are readable.
    read("20260301-180000-sealed", "Foreign", "", 0, "4 -").told(&[
        "encrypted-value",
        "program-encrypted",
        "state-file-encrypted",
    ]),
    // The log is an envelope too, but five readable lines and an end line follow the envelope.
    read(
        "20260301-190000-sealed-log",
        "CompactLog",
        "completed",
        5,
        "3 -",
    )
    .told(&["encrypted-value", "log-sealed", "program-encrypted"]),
];

/// The runs of the corpus.
const READ: &[Reading] = &[
    // The run: one session, `status: complete`, and an index of bindings with three columns.
    read("20260119-204900-a7b3c9", "StateMd", "completed", 1, "1 let")
        .told(&["index-without-frames"]),
    // The run: a parallel block with three branches, and the session that joins them.
    read("20260119-205230-b8c4d2", "StateMd", "completed", 5, "4 let")
        .told(&["index-without-frames"]),
    // The run has no program, index or binding: a parallel block of four and an output, each with a file of the
    // project.
    read("20260119-212315-f8g2h4", "StateMd", "completed", 6, "")
        .told(&["extra-section", "state-file-incomplete"]),
    // The state file ends at the first of eleven statements, but the files of eight exist, so the ninth comes next.
    read(
        "20260119-215202-51e737",
        "StateMd",
        "running",
        8,
        "4 -, 4 let",
    )
    .positions(&[185])
    .told(&[
        "binding-not-indexed",
        "elided-trace",
        "marker-contradicts-disk",
        "state-file-behind",
    ]),
    // The run: two sessions, a parallel block of two, and an output; its agents have no folder.
    read(
        "20260120-090541-thermo",
        "StateMd",
        "completed",
        6,
        "4 let, 1 output",
    ),
    // The run: three receipts. One is that of a session, whose binding contains its statement.
    read(
        "20260716-082519-hak1oi",
        "Receipts",
        "completed",
        1,
        "1 session (anonymous)",
    )
    .told(&["unknown-kind"]),
    // The run: two sessions, known from a table of receipts; neither a program nor a binding shows their statements.
    // The second receipt does not refer to the first as its predecessor.
    read("broken-chain", "Receipts", "completed", 2, "").told(&["receipt-chain"]),
    // The log has only a header: the run began, and everything else is unknown.
    read("20260213-064959-", "CompactLog", "", 0, ""),
    read("20260213-105319-63068c", "CompactLog", "", 0, ""),
    // The folder contains only a program.
    read("20260213-102121-d28237", "Bare", "", 0, "").told(&["no-state-file"]),
    // The log: three numbered lines, the second without a name, and an end line.
    read(
        "20260213-105500-96b3cb",
        "CompactLog",
        "completed",
        3,
        "2 input, 1 let, 1 output",
    ),
    // The log: seven numbered lines. The third is a parallel block of three, the sixth an approved gate.
    read(
        "20260213-113205-0fbf7c",
        "CompactLog",
        "completed",
        9,
        "1 input, 7 let, 1 output",
    ),
    // All files of the run are encrypted in envelopes; only the names of the bindings are readable.
    read("20260213-121934-2a6fd3", "Foreign", "", 0, "8 -").told(&[
        "encrypted-value",
        "program-encrypted",
        "state-file-encrypted",
    ]),
    // The log is an envelope too, but five readable lines and an end line follow the envelope.
    read(
        "20260215-065027-48dfb7",
        "CompactLog",
        "completed",
        5,
        "9 -",
    )
    .told(&["encrypted-value", "log-sealed", "program-encrypted"]),
];

const fn read(
    run: &'static str,
    form: &'static str,
    status: &'static str,
    done: usize,
    bindings: &'static str,
) -> Reading {
    Reading {
        run,
        form,
        status,
        done,
        bindings,
        positions: &[],
        told: &[],
    }
}

impl Reading {
    const fn positions(self, positions: &'static [u32]) -> Reading {
        Reading { positions, ..self }
    }

    const fn told(self, told: &'static [&'static str]) -> Reading {
        Reading { told, ..self }
    }

    fn says(&self) -> String {
        format!(
            "{} {:?}, {} done, bindings: {}; stands at {:?}; told: {:?}",
            self.form, self.status, self.done, self.bindings, self.positions, self.told
        )
    }
}

#[test]
fn runs_are_understood() {
    let runs = understood(&needs::fixtures("runs"), OURS);
    assert_eq!(runs, OURS.len(), "each is read by a person too");
}

#[test]
fn real_runs_are_understood() {
    let Some(dir) = needs::shared("corpus/runs") else {
        return;
    };
    let runs = understood(&dir, READ);
    assert!(runs >= READ.len(), "{runs} runs");
}

/// Fails if a run below a folder is not interpreted as a person reads it, or is not rendered as interpreted; returns
/// the number of runs.
fn understood(dir: &Path, readings: &[Reading]) -> usize {
    let all = files::below(dir);
    let source = MemorySource::new("corpus", all);
    let mut roots: Vec<String> = source
        .files()
        .iter()
        .filter(|f| {
            ["state.md", "run.json", "program.prose"]
                .iter()
                .any(|n| f.path.ends_with(&format!("/{n}")))
        })
        .filter_map(|f| Some(f.path.rsplit_once('/')?.0.to_owned()))
        .collect();
    roots.dedup();
    let mut wrong = Vec::new();
    for root in &roots {
        let run = decode::folder::decode(&source, root);
        let listing = run.program.source.as_deref().map(program::scan);
        let folded = trace::fold(&run, listing.as_ref(), None);
        let done = folded
            .nodes
            .iter()
            .filter(|n| n.status == NodeStatus::Completed)
            .count();
        let form = match run.form {
            Form::Folder { form } => format!("{form:?}"),
            _ => "?".to_owned(),
        };
        let rules: Vec<&str> = run
            .issues
            .iter()
            .chain(&folded.issues)
            .map(|i| i.rule.as_str())
            .collect();
        let name = root.rsplit('/').next().unwrap_or(root);
        let status = folded.verdict.status.clone();
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for binding in &run.bindings {
            *kinds.entry(binding.kind.word()).or_default() += 1;
        }
        let kinds: Vec<String> = kinds
            .iter()
            .map(|(kind, n)| format!("{n} {}", if kind.is_empty() { "-" } else { kind }))
            .collect();
        let positions: Vec<Option<u32>> = folded
            .positions
            .iter()
            .map(|at| folded.nodes[*at].line)
            .collect();
        let positions: Vec<u32> = positions.into_iter().flatten().collect();
        let told: BTreeSet<&str> = rules.iter().copied().collect();
        let told: Vec<&str> = told.into_iter().collect();
        let found = format!(
            "{form} {status:?}, {done} done, bindings: {}; stands at {positions:?}; told: {told:?}",
            kinds.join(", ")
        );
        println!("{name}: {found}");
        // Finds the expectation by the run's name, or by its place if two runs share the name. A run may have none.
        let known = readings.iter().find(|reading| reading.run == name);
        if let Some(known) = known.filter(|known| known.says() != found) {
            wrong.push(format!("{name}: {found}\n  wanted {}", known.says()));
        }

        // The rendered state file contains a status only if the run records one.
        let text = render::state_md::from_run(
            &run,
            &folded,
            listing.as_ref(),
            &render::state_md::RenderOptions::default(),
        );
        let (read, _) = decode::state_md::parse(&text);
        let file_says = run.state_file.as_ref().is_some_and(|f| f.status.is_some());
        let says = file_says || run.status.is_some() || !run.recorded.is_empty();
        assert_eq!(
            read.status.as_ref().map_or("", RunStatus::word),
            if says { &*status } else { "" },
            "{name}"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    roots.len()
}

/// Checks that a program in a folder of `.prose/runs/` is listed as a run, and that programs in other folders are not.
#[test]
fn a_program_in_a_run_folder_is_a_run_of_which_nobody_knows_more() {
    let program = |path: &str| (path.to_owned(), b"session \"Sail\"\n".to_vec());
    lone_programs_are_runs(
        vec![
            program("harbour/.prose/runs/20260301-101500-lone01/program.prose"),
            program("harbour/.prose/programs/sail.prose"),
            program("harbour/.prose/sail.prose"),
            program("harbour/examples/sail.prose"),
            program("_old/0a1b2c3d/quay/.prose/runs/20260301-101500-lone02/program.prose"),
            program("_old/4e5f6a7b/examples/01-sail.prose"),
        ],
        2,
    );
}

/// Checks that the four run folders of the corpus that contain only a program are runs of unknown status.
#[test]
fn a_real_program_in_a_run_folder_is_a_run_of_which_nobody_knows_more() {
    let Some(dir) = needs::shared("corpus/programs") else {
        return;
    };
    let all = files::below(&dir);
    lone_programs_are_runs(all, 4);
}

fn lone_programs_are_runs(files: Vec<(String, Vec<u8>)>, count: usize) {
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("corpus", files));
    let found = survey(&*source).found;
    assert_eq!(found.len(), count, "{found:?}");
    for place in found {
        assert_eq!(place.kind, FoundKind::RunFolder);
        let session = Session::open(Rc::clone(&source), &place.place, &Options::default()).unwrap();
        let view = pages::overview(&session, None);
        let rules: Vec<&str> = session.issues().map(|i| i.rule.as_str()).collect();
        assert_eq!(
            (view.status.as_str(), rules.as_slice()),
            ("unknown", &["no-state-file"][..]),
            "{}",
            place.place
        );
        assert_eq!(
            pages::trace_page(&session, &Default::default(), 0, 9)
                .rows
                .len(),
            0
        );
    }
}

/// Checks that the state files of the example's nested runs equal the output of Prosescope. Of the example itself, a
/// state file does not tell in which of two frames of one block a loop is open.
#[test]
fn the_folder_example_is_what_we_write() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let all = files::below(&examples);
    let source: Rc<dyn Source> = Rc::new(MemorySource::new("examples", all));
    let places: Vec<String> = source
        .files()
        .iter()
        .filter_map(|f| Some(f.path.strip_suffix("state.md")?.to_owned()))
        .filter(|place| place.contains("imports/"))
        .collect();
    assert_eq!(places.len(), 2, "{places:?}");
    for place in places {
        let session = Session::open(Rc::clone(&source), &place, &Options::default()).unwrap();
        let page = pages::state_page(&session, false);
        assert_eq!(page.own.as_deref(), Some(page.rendered.as_str()), "{place}");
        assert!(!page.differs);
    }
}
