//! Tests the answers of a desk outside of a browser, with the example runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use prosescope_core::model::database::{Database, Limits};
use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::{FileEntry, Source, SourceError};
use prosescope_core::pages::session::ValueOf;
use prosescope_core::pages::session::pages::{Page, TraceChoice, TraceOrder};
use prosescope_core::pages::view::{
    BindingsPage, CompareView, ForModel, HitKind, ModelAbout, ModelSize, Overview, QueryTables,
    QueryView, SearchedRun, Timeline, TracePage, TreeRow,
};
use prosescope_desk::first::AnsweredRequest;
use prosescope_desk::protocol::{
    Folded, Folds, FollowAnswer, LookedThrough, OpenedSource, Request, RevealedNode, SharedRemarks,
    TraceWindow, Trouble,
};
use prosescope_desk::{Desk, DeskSource};
use prosescope_share::file::{Shareable, SharedForm};
use prosescope_share::pack::{Databases, ShareError};
use prosescope_share::wishes::Wishes;
use prosescope_store::Disk;
use prosescope_workflow::WorkflowRows;
use serde::de::DeserializeOwned;

const FOLDER: &str = "runs/20260115-083214-h5n2ye";
const FAILED: &str = "runs/20260118-201530-z4t9wa";

/// A source over a folder. It reports no versions, so a file counts as changed only if its length differs.
struct Folder(Disk, Option<SharedRemarks>);

impl Source for Folder {
    fn label(&self) -> String {
        self.0.label()
    }

    fn files(&self) -> &[FileEntry] {
        self.0.files()
    }

    fn read(&self, path: &str, offset: u64, len: usize) -> Result<Vec<u8>, SourceError> {
        self.0.read(path, offset, len)
    }

    fn database(&self, path: &str, limits: &Limits) -> Result<Box<dyn Database>, SourceError> {
        self.0.database(path, limits)
    }

    fn notes(&self, path: &str) -> Vec<Issue> {
        self.0.notes(path)
    }
}

impl Shareable for Folder {
    fn databases(&self) -> Result<Box<dyn Databases + '_>, ShareError> {
        self.0.databases()
    }

    fn unpacked(&self, zip: &[u8]) -> Result<Rc<dyn Shareable>, ShareError> {
        self.0.unpacked(zip)
    }
}

impl DeskSource for Folder {
    fn version(&self, _path: &str) -> &str {
        ""
    }

    fn workflows(&self, path: &str, limits: &Limits) -> Result<Box<dyn WorkflowRows>, SourceError> {
        Ok(Box::new(self.0.workflows(path, limits)?))
    }

    fn take_fault(&self) -> Option<SourceError> {
        None
    }

    fn shared(&self) -> Option<SharedRemarks> {
        self.1.clone()
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/.prose")
}

/// A desk, and the folder that it reads.
struct Asked {
    desk: Desk,
    folder: PathBuf,
}

impl Asked {
    fn open(folder: &Path) -> (Asked, OpenedSource) {
        let mut asked = Asked {
            desk: Desk::new(|| 0),
            folder: folder.to_owned(),
        };
        let opened = asked.ask(Request::OpenServed).unwrap();
        (asked, opened)
    }

    fn ask<T: DeserializeOwned>(&mut self, request: Request) -> Result<T, Trouble> {
        let folder = &self.folder;
        let json = self.desk.answer(request, &mut |request| {
            assert_eq!(*request, Request::OpenServed);
            Ok(Rc::new(Folder(Disk::open(folder).unwrap(), None)))
        })?;
        Ok(serde_json::from_str(&json).unwrap())
    }

    fn trace(&mut self, folded: &Folds) -> TracePage {
        let request = Request::Trace {
            place: FAILED.to_owned(),
            folded: folded.clone(),
            choice: TraceChoice::default(),
            timed: false,
            from: 0,
            len: 1000,
        };
        self.ask::<TraceWindow>(request).unwrap().page
    }

    fn follow(&mut self, place: &str, folded: BTreeMap<String, Folds>) -> Option<FollowAnswer> {
        let request = Request::Follow {
            place: Some(place.to_owned()),
            nodes: Vec::new(),
            bindings: vec![0],
            folded,
        };
        self.ask(request).unwrap()
    }
}

#[test]
fn the_runs_of_a_folder_are_listed_and_their_pages_answered() {
    let (mut asked, opened) = Asked::open(&examples());
    assert_eq!(opened.list.runs.len(), 4);
    for run in opened.list.runs {
        let page = Page::Overview;
        let place = run.place;
        let overview: Overview = asked.ask(Request::Page { place, page }).unwrap();
        assert_eq!(overview.run, run.id);
    }
    let page = Page::Overview;
    let place = "nowhere".to_owned();
    let refused = asked.ask::<Overview>(Request::Page { place, page });
    assert!(!refused.unwrap_err().next.is_empty());
}

#[test]
fn two_runs_are_compared_and_those_of_different_programs_refused() {
    let (mut asked, opened) = Asked::open(&examples());
    let compare = |a: &str, b: &str, anyway: bool| Request::Compare {
        a: a.to_owned(),
        b: b.to_owned(),
        all: false,
        anyway,
    };
    for run in &opened.list.runs {
        let view: CompareView = asked.ask(compare(&run.place, &run.place, false)).unwrap();
        assert!(view.equal && view.found == "no difference", "{view:?}");
    }
    let refused = asked.ask::<CompareView>(compare(FOLDER, FAILED, false));
    let refused = refused.unwrap_err();
    assert!(refused.cause.contains("different programs"), "{refused:?}");
    assert!(!refused.next.is_empty());
    let view: CompareView = asked.ask(compare(FOLDER, FAILED, true)).unwrap();
    assert!(view.a.run.starts_with("20260115") && view.b.run.starts_with("20260118"));
    assert!(!view.equal && view.counts.only_a > 0 && view.counts.only_b > 0);
    assert!(
        asked
            .ask::<CompareView>(compare(FOLDER, "nowhere", false))
            .is_err()
    );
}

#[test]
fn two_runs_of_one_program_are_compared_with_their_values() {
    let dir = tempfile::tempdir().unwrap();
    let from = examples().join(FOLDER);
    for name in ["one", "two"] {
        copy(&from, &dir.path().join("runs").join(name));
    }
    let budget = dir.path().join("runs/two/bindings/budget.md");
    let text = fs::read_to_string(&budget).unwrap();
    fs::write(&budget, text.replace("450,000", "500,000")).unwrap();
    let (mut asked, _) = Asked::open(dir.path());
    let request = Request::Compare {
        a: "runs/one".to_owned(),
        b: "runs/two".to_owned(),
        all: true,
        anyway: false,
    };
    let view: CompareView = asked.ask(request).unwrap();
    let lines = view.values.iter().flat_map(|value| &value.lines);
    let lines: Vec<String> = lines.map(|l| format!("{}{}", l.mark, l.text)).collect();
    assert_eq!(lines, ["-450,000", "+500,000"]);
    assert_eq!(view.rows.len() as u32, view.counts.paired);
}

#[test]
fn a_long_list_comes_in_pieces_and_every_run_once() {
    use std::sync::atomic::{AtomicI64, Ordering};
    // Each reading of this clock is 60 ms later than the previous one, so about two runs fit into one slice.
    static NOW: AtomicI64 = AtomicI64::new(0);
    let mut asked = Asked {
        desk: Desk::new(|| NOW.fetch_add(60, Ordering::Relaxed)),
        folder: examples(),
    };
    let opened: OpenedSource = asked.ask(Request::OpenServed).unwrap();
    let mut left = opened.left;
    let mut places: Vec<String> = Vec::new();
    places.extend(opened.list.runs.into_iter().map(|run| run.place));
    assert_eq!((places.len() as u32 + left, left > 0), (4, true));
    let mut pieces = 0;
    while left > 0 {
        let more: OpenedSource = asked.ask(Request::MoreRuns).unwrap();
        assert_eq!(more.list.runs.len() as u32 + more.left, left);
        left = more.left;
        places.extend(more.list.runs.into_iter().map(|run| run.place));
        pieces += 1;
    }
    assert!(pieces > 1, "{pieces}");
    assert!(
        places.is_sorted_by(|a, b| a > b),
        "newest first, each once: {places:?}"
    );
    let more: OpenedSource = asked.ask(Request::MoreRuns).unwrap();
    assert!(more.list.runs.is_empty());
}

#[test]
fn what_the_page_folded_is_left_out_and_unfolded_around_a_node() {
    let (mut asked, _) = Asked::open(&examples());
    let all = asked.trace(&Folds::default());
    let top = asked.trace(&Folds::of(Folded::All));
    assert!(top.total < all.total && top.rows.iter().all(|row| row.level == 0));
    let deep = all.rows.iter().find(|row| row.level > 0).unwrap();
    let around = &all.rows[..deep.node as usize];
    let above = around.iter().rev().find(|row| row.level < deep.level);
    let above = above.unwrap().node;
    // With successful nodes folded, failed nodes and all their ancestors are visible, with their arguments.
    let calm = asked.trace(&Folds::of(Folded::Well));
    let is_open = |row: &&TreeRow| row.status == "failed" || row.descendants == 0 || row.folded;
    assert!(calm.rows.iter().all(|row| is_open(&row)));
    assert!(calm.rows.iter().any(|row| row.first_cause));
    let folded_well = calm.rows.iter().filter(|row| row.folded);
    assert!(folded_well.count() > 1 && calm.total < all.total);
    let calls = calm.rows.iter().filter_map(|row| row.argument.as_deref());
    assert!(calls.eq([
        "docs/turbine-service-manual-de.md",
        "1 Safety",
        "4 Bolted joints",
        "4.1 Tools",
        "4.2 Torque tables"
    ]));
    let mut folded = Folds::default();
    folded.set(above, true);
    for folded in [&mut folded, &mut Folds::of(Folded::All)] {
        let hidden = asked.trace(folded);
        assert!(hidden.rows.iter().all(|row| row.node != deep.node));
        let request = Request::Reveal {
            place: FAILED.to_owned(),
            folded: folded.clone(),
            choice: TraceChoice::default(),
            node: deep.node,
        };
        let revealed: RevealedNode = asked.ask(request).unwrap();
        assert!(revealed.unfolded.contains(&above));
        for node in revealed.unfolded {
            folded.set(node, false);
        }
        let seen = asked.trace(folded);
        assert_eq!(seen.rows[revealed.row.unwrap() as usize].node, deep.node);
    }
}

#[test]
fn rows_of_the_trace_are_chosen_and_come_with_their_bars() {
    let (mut asked, _) = Asked::open(&examples());
    let longest = TraceChoice {
        order: TraceOrder::Longest,
        ..TraceChoice::default()
    };
    let place = FAILED.to_owned();
    let request = Request::Trace {
        place: place.clone(),
        folded: Folds::of(Folded::All),
        choice: longest.clone(),
        timed: true,
        from: 0,
        len: 1000,
    };
    let TraceWindow { page, bars } = asked.ask(request).unwrap();
    let all = asked.trace(&Folds::default()).total;
    assert_eq!(page.total, all, "nothing is folded among chosen rows");
    // Rows without children come first, then rows with children, whose times include those of the children. Rows
    // without a time come last.
    let key = |row: &TreeRow| {
        (
            row.duration_ms.is_none(),
            row.descendants > 0,
            -row.duration_ms.unwrap_or(0),
        )
    };
    let keys: Vec<_> = page.rows.iter().map(key).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    let axis: Timeline = asked
        .ask(Request::Timeline {
            place: place.clone(),
        })
        .unwrap();
    assert!(axis.len > 0 && axis.bars.is_empty());
    assert_eq!(bars.len() + axis.untimed as usize, all as usize);
    assert!(bars.iter().all(|bar| bar.until <= axis.len));
    let node = page.rows.last().unwrap().node;
    let mut reveal = |choice: TraceChoice| -> RevealedNode {
        let folded = Folds::default();
        let place = place.clone();
        let request = Request::Reveal {
            place,
            folded,
            choice,
            node,
        };
        asked.ask(request).unwrap()
    };
    assert_eq!(reveal(longest).row, Some(all - 1));
    let other = TraceChoice {
        text: "nothing has this text".to_owned(),
        ..TraceChoice::default()
    };
    assert_eq!(reveal(other).row, None);
}

#[test]
fn a_change_is_followed_with_what_is_folded_and_nothing_is_said_of_none() {
    let dir = tempfile::tempdir().unwrap();
    copy(&examples().join(FOLDER), &dir.path().join(FOLDER));
    let (mut asked, _) = Asked::open(dir.path());
    let bindings = |asked: &mut Asked| -> BindingsPage {
        let (place, from, len) = (FOLDER.to_owned(), 0, 100);
        let request = Request::Bindings { place, from, len };
        asked.ask(request).unwrap()
    };
    let before = bindings(&mut asked).total;
    let mut folds = Folds::default();
    folds.set(0, true);
    let folded = BTreeMap::from([
        (FOLDER.to_owned(), folds.clone()),
        ("runs/elsewhere".to_owned(), folds),
    ]);
    assert_eq!(asked.follow(FOLDER, folded.clone()), None);
    let text =
        "# a_new_one\n\nkind: let\n\nsource:\n```prose\nlet a_new_one = session\n```\n\n---\n\nx\n";
    fs::write(dir.path().join(FOLDER).join("bindings/a_new_one.md"), text).unwrap();
    let followed = asked.follow(FOLDER, folded.clone()).unwrap();
    assert!(followed.reread);
    assert_eq!(followed.folded, folded);
    assert_eq!(followed.new_bindings.len(), 1);
    assert!(followed.bindings[0].is_some());
    assert_eq!(bindings(&mut asked).total, before + 1);
    assert_eq!(asked.follow(FOLDER, folded), None);
}

#[test]
fn a_value_is_downloaded_byte_for_byte_and_can_be_stopped() {
    let (mut asked, _) = Asked::open(&examples());
    let of = ValueOf::File("program.prose".to_owned());
    let file = fs::read(examples().join(FAILED).join("program.prose")).unwrap();
    let mut whole = Vec::new();
    let mut take = |bytes: &[u8]| {
        whole.extend_from_slice(bytes);
        true
    };
    asked.desk.download(FAILED, &of, &mut take).unwrap();
    assert_eq!(whole, file);
    asked.desk.download(FAILED, &of, &mut |_| false).unwrap();
    let none = ValueOf::Binding(9999);
    let refused = asked.desk.download(FAILED, &none, &mut |_| true);
    assert!(refused.is_err());
}

#[test]
fn a_desk_depends_on_neither_a_browser_nor_a_system() {
    let manifest = include_str!("../Cargo.toml");
    let (_, rest) = manifest.split_once("[dependencies]\n").unwrap();
    let (own, _) = rest.split_once("\n[").unwrap();
    let own: Vec<&str> = own
        .lines()
        .filter_map(|line| line.split('.').next())
        .collect();
    // The desk may depend on these crates only. The first three, like the desk itself, do no I/O.
    let plain = [
        "prosescope-core",
        "prosescope-share",
        "prosescope-workflow",
        "serde",
        "serde_json",
    ];
    assert_eq!(own, plain);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            let _ = fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn a_single_run_comes_with_the_overview_that_is_asked_next() {
    let (mut asked, opened) = Asked::open(&examples().join(FAILED));
    let question = Request::Page {
        place: opened.list.runs[0].place.clone(),
        page: Page::Overview,
    };
    let overview: Overview = asked.ask(question).unwrap();
    let known: Overview = serde_json::from_str(opened.first[0].answer.get()).unwrap();
    assert_eq!(known, overview);
    // When a source with several runs is opened, none of them is shown yet.
    let (_, opened) = Asked::open(&examples());
    assert_eq!(opened.first, []);
}

#[test]
fn a_damaged_shared_file_is_the_reason_only_where_nothing_else_is_a_run() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("notes.md"), "no run").unwrap();
    let cut = Trouble {
        file: Some("cut.zip".to_owned()),
        ..Trouble::new("It is cut off.", "Ask for it again.")
    };
    let open = |path: &Path| {
        let shared = SharedRemarks {
            unopened: vec![cut.clone()],
            ..SharedRemarks::default()
        };
        let source = Folder(Disk::open(path).unwrap(), Some(shared));
        Desk::new(|| 0).open(Rc::new(source))
    };
    assert_eq!(open(dir.path()).unwrap_err(), cut);
    let opened = open(&examples().join(FAILED)).unwrap();
    assert_eq!(opened.shared.unwrap().unopened, vec![cut.clone()]);
}

#[test]
fn a_text_is_found_in_a_run_and_the_same_when_it_is_asked_again() {
    let (mut asked, _) = Asked::open(&examples());
    let mut find = |text: &str| -> Result<SearchedRun, Trouble> {
        asked.ask(Request::Search {
            place: FAILED.to_owned(),
            text: text.to_owned(),
        })
    };
    let found = find("headings").unwrap();
    let kinds: Vec<HitKind> = found.groups.iter().map(|group| group.kind).collect();
    assert_eq!(kinds, [HitKind::Statements, HitKind::Values]);
    assert!(found.done && found.read == found.of && found.run == FAILED);
    assert_eq!(find("headings").unwrap(), found);
    assert!(find("no such words").unwrap().groups.is_empty());
    assert_eq!(find(" ").unwrap_err().cause, "The search text is empty.");
}

#[test]
fn a_run_is_asked_in_sql_whatever_its_form() {
    let (mut asked, _) = Asked::open(&examples());
    for place in [FAILED, FOLDER] {
        let query = |sql: &str| Request::Query {
            place: place.to_owned(),
            sql: sql.to_owned(),
            limit: 2,
        };
        let view: QueryView = asked.ask(query("SELECT node, kind FROM trace")).unwrap();
        assert_eq!((view.returned, view.more), (2, true), "{place}");
        assert_eq!(view.columns[1].name, "kind");
        let refused = asked
            .ask::<QueryView>(query("DELETE FROM trace"))
            .unwrap_err();
        assert!(refused.cause.starts_with("refused: "), "{refused:?}");
        let unknown = asked
            .ask::<QueryView>(query("SELECT stauts FROM trace"))
            .unwrap_err();
        assert!(unknown.next.contains("Did you mean status?"), "{unknown:?}");
        let tables = Request::QueryTables {
            place: place.to_owned(),
        };
        let tables: QueryTables = asked.ask(tables).unwrap();
        let own = tables.tables.iter().any(|table| table.own);
        assert_eq!((own, tables.questions.len()), (place == FAILED, 10));
    }
}

#[test]
fn what_is_open_is_shared_as_it_was_looked_through() {
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("runs");
    fs::create_dir_all(&runs).unwrap();
    let names = ["20260115-083214-h5n2ye", "20260118-201530-z4t9wa"];
    for name in names {
        let from = examples().join("runs").join(name);
        copy(&from, &runs.join(name));
    }
    fs::write(
        dir.path().join(".env"),
        "DEPLOY_TOKEN=a-word-in-the-program\n",
    )
    .unwrap();
    let program = runs.join(names[0]).join("program.prose");
    let text = fs::read_to_string(&program).unwrap();
    fs::write(&program, format!("# a-word-in-the-program\n{text}")).unwrap();
    let (mut asked, _) = Asked::open(dir.path());
    let places: Vec<String> = names.iter().map(|name| format!("runs/{name}")).collect();
    let wishes = Wishes::default();
    let looked: LookedThrough = asked
        .ask(Request::LookToShare {
            places: places.clone(),
            wishes: wishes.clone(),
        })
        .unwrap();
    assert!(
        looked
            .texts
            .iter()
            .any(|text| text == "a-word-in-the-program")
    );
    assert_eq!(looked.report.runs.len(), 2);
    // Two runs of one name would get the same folder in the shared file. The desk refuses that before it scans the
    // runs.
    copy(
        &runs.join(names[0]),
        &dir.path().join("other").join(names[0]),
    );
    let (mut asked_alike, _) = Asked::open(dir.path());
    let alike = ["runs", "other"].map(|folder| format!("{folder}/{}", names[0]));
    let refused: Result<LookedThrough, Trouble> = asked_alike.ask(Request::LookToShare {
        places: alike.into(),
        wishes: wishes.clone(),
    });
    let cause = refused.unwrap_err().cause;
    assert_eq!(cause, format!("Two of the runs are called {}.", names[0]));
    let seen = Rc::new(std::cell::Cell::new((0, 0)));
    let watch = Rc::clone(&seen);
    let zip = asked
        .desk
        .share(
            &places,
            &wishes,
            SharedForm::Zip,
            None,
            Box::new(move |at, of| watch.set((at, of))),
        )
        .unwrap();
    let file = dir.path().join("shared.zip");
    fs::write(&file, &zip).unwrap();
    let (mut again, opened) = Asked::open(&file);
    assert_eq!(opened.list.runs.len(), 2);
    let shared = again
        .desk
        .look_to_share(&[names[0].to_owned()], &wishes, Box::new(|_, _| {}));
    let report = shared.unwrap().report;
    assert!(
        report.replaced.iter().all(|of| of.kind != "secret"),
        "{report:?}"
    );
    let bare: LookedThrough = again
        .ask(Request::LookToShare {
            places: vec![names[0].to_owned()],
            wishes: Wishes {
                redact: vec!["/(/".to_owned()],
                ..Wishes::default()
            },
        })
        .unwrap_or_default();
    assert_eq!(bare, LookedThrough::default(), "a pattern that is none");
}

#[test]
fn a_run_is_written_for_a_model_without_its_secrets() {
    let dir = tempfile::tempdir().unwrap();
    copy(&examples().join(FAILED), &dir.path().join(FAILED));
    let secret = "Mend these terms and nothing else";
    fs::write(
        dir.path().join(".env"),
        format!("DEPLOY_TOKEN=\"{secret}\"\n"),
    )
    .unwrap();
    let (mut asked, _) = Asked::open(dir.path());
    let mut ask = |node, size, raw| {
        let request = Request::ForModel {
            place: FAILED.to_owned(),
            node,
            size,
            wishes: Wishes {
                raw,
                ..Wishes::default()
            },
        };
        let of: Result<ForModel, Trouble> = asked.ask(request);
        of.unwrap()
    };
    let of = ask(None, ModelSize::Large, false);
    assert_eq!(of.about, ModelAbout::Failure);
    assert!(of.text.contains("[DEPLOY_TOKEN #1]"), "{}", of.text);
    assert!(!of.text.contains(secret));
    assert!(of.replaced.iter().any(|of| of.kind == "secret"));
    assert!(of.replaced_words().contains("secret"), "{of:?}");
    // A row keeps its id in the redacted copy.
    let row = ask(Some(3), ModelSize::Small, false);
    let raw = ask(Some(3), ModelSize::Small, true);
    assert!(raw.raw && raw.replaced.is_empty());
    assert_eq!(row.node.map(|at| at.id), raw.node.map(|at| at.id));
    assert!(row.bytes <= 8_000 && raw.bytes <= 8_000);
}

#[test]
fn what_comes_first_is_what_the_requests_would_answer() {
    for run in std::fs::read_dir(examples().join("runs")).unwrap() {
        let (mut asked, opened) = Asked::open(&run.unwrap().path());
        let place = opened.list.runs[0].place.clone();
        let first: Vec<AnsweredRequest> = asked.ask(Request::First { place }).unwrap();
        assert!(first.len() >= 2, "{first:?}");
        assert_eq!(opened.first.len(), first.len());
        for AnsweredRequest { request, answer } in opened.first {
            let alone: serde_json::Value = asked.ask(request.clone()).unwrap();
            let together: serde_json::Value = serde_json::from_str(answer.get()).unwrap();
            assert_eq!(together, alone, "{request:?}");
        }
    }
}
