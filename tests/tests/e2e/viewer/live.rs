//! Tests with a run that is written while it is open: the page shows each change, and readers keep their place.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use prosescope_tests::browser::Page;
use prosescope_tests::{build, needs};
use serde_json::json;

use super::opening::Served;
use super::screenshots::shoot;
use super::{Viewer, WAITING, example};

const PROGRAM: &str = r#"let findings = session "Find it"

parallel:
  a = session "A"
  b = session "B"

session "Write it up"
"#;

/// A project in which `prosescope` records runs.
pub(super) struct Project {
    pub(super) folder: tempfile::TempDir,
    prose: PathBuf,
}

impl Project {
    pub(super) fn new(prose: &Path) -> Project {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".prose")).unwrap();
        fs::write(folder.path().join("report.prose"), PROGRAM).unwrap();
        let prose = prose.to_owned();
        Project { folder, prose }
    }

    pub(super) fn runs(&self) -> PathBuf {
        self.folder.path().join(".prose")
    }

    /// Opens a run, and returns its id.
    pub(super) fn init(&self) -> String {
        self.prose("init report.prose --state sqlite", "")
    }

    /// Runs `prosescope` with these words, and returns its output.
    pub(super) fn prose(&self, words: &str, input: &str) -> String {
        let mut process = Command::new(&self.prose)
            .args(words.split(' '))
            .current_dir(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Writing fails if a command that reads no input has already ended.
        let _ = process.stdin.take().unwrap().write_all(input.as_bytes());
        let done = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "prosescope {words}: {said}");
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    }
}

/// Returns the first line of what `begin` printed: the number of the execution.
fn first_line(began: &str) -> &str {
    began.lines().next().unwrap_or_default()
}

/// JavaScript that sets a variable, which a reload would lose. Also collects the texts of all rows that are marked as
/// new, because a mark lasts only four seconds.
const ONCE: &str = "window.loaded_once = true; window.fresh = new Set();
    new MutationObserver(() => document.querySelectorAll('.row.fresh').forEach(row => fresh.add(row.innerText)))
        .observe(document, { subtree: true, childList: true, attributes: true, characterData: true })";

/// Opens a page with a run of a project. Tests never reload this page.
fn open(paths: impl Fn(&Project) -> PathBuf) -> Option<(Project, String, Served, Viewer)> {
    let prose = needs::prose()?;
    needs::viewer()?;
    let project = Project::new(&prose);
    let run = project.init();
    let served = Served::start(&prose, &[&paths(&project)]);
    let mut viewer = Viewer::served(&served.address)?;
    viewer.wait_follow("Following");
    viewer.eval(ONCE);
    Some((project, run, served, viewer))
}

/// A guard that sets a flag to false when the guard is dropped.
struct Unset<'a>(&'a AtomicBool);

impl Drop for Unset<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// JavaScript that returns the texts of the trace's rows.
const TEXTS: &str =
    "[...document.querySelectorAll('.trace-rows .row:not(.head) .text')].map(e => e.innerText)";

impl Viewer {
    fn wait_rows(&mut self, texts: &[&str]) {
        self.wait(&format!(
            "JSON.stringify({TEXTS}) === JSON.stringify({})",
            json!(texts)
        ));
    }

    /// Waits until the indicator that shows whether the page follows the run contains this text.
    fn wait_follow(&mut self, text: &str) {
        let text = json!(text);
        self.wait(&format!(
            "document.querySelector('.bar .follow').innerText.includes({text})"
        ));
    }

    /// Waits until the open value contains this text.
    fn wait_value(&mut self, text: &str) {
        let text = json!(text);
        self.wait(&format!(
            "document.querySelector('.detail .value').innerText.includes({text})"
        ));
    }

    /// Waits for as long as several checks for changes take.
    fn rest(&mut self) {
        self.eval("new Promise(done => setTimeout(done, 4500))");
    }

    /// Returns the number of requests so far, once no check for changes is running.
    fn requests_at_rest(&mut self) -> usize {
        loop {
            let before = self.requests().len();
            self.eval("new Promise(done => setTimeout(done, 1000))");
            if self.requests().len() == before {
                return before;
            }
        }
    }

    /// Waits until the page has read changes three more times.
    fn wait_looks(&mut self) {
        let looks = |page: &mut Page| {
            let requests = page.requests();
            requests.iter().filter(|url| url.contains("/desk/")).count()
        };
        let before = looks(self);
        self.wait_until("three looks", |page| looks(page) >= before + 3);
    }

    fn assert_same_page(&mut self) {
        assert_eq!(
            self.eval("window.loaded_once"),
            true,
            "the page was loaded again"
        );
        self.assert_own();
    }
}

/// JavaScript that tests whether the trace has a running row, and whether the trace has a completed row.
const EXECUTING: &str = "!!document.querySelector('.trace-rows .glyph[title=executing]')";
const COMPLETED: &str = "!!document.querySelector('.trace-rows .glyph[title=completed]')";

#[test]
fn the_trace_follows_and_keeps_what_is_open_folded_and_current() {
    let Some((project, _, _served, mut viewer)) = open(Project::runs) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer.key("1");
    viewer.wait_main("No statement is recorded");
    project.prose("begin 1", "");
    viewer.wait_rows(&["let findings = session \"Find it\""]);
    viewer.wait("[...fresh].some(text => text.includes('Find it'))");
    project.prose("put findings --into 1", "42");
    viewer
        .wait("document.querySelector('.trace-rows .row:not(.head) .glyph').title === 'completed'");

    let began = project.prose("begin 3", "");
    let parallel = first_line(&began);
    // The branches begin with the parallel block.
    viewer.wait("document.querySelectorAll('.trace-rows .row:not(.head)').length === 4");
    // The parallel block is folded, and the first row is open.
    viewer.key("j");
    viewer.wait("document.querySelector('.trace-rows .row.current').innerText.includes('Find it')");
    viewer.key("j");
    viewer.wait("document.querySelector('.trace-rows .row.current').ariaExpanded === 'true'");
    viewer.key("ArrowLeft");
    viewer.wait("document.querySelector('.trace-rows .row.current').ariaExpanded === 'false'");
    viewer.key("k");
    viewer.key("Enter");
    viewer.wait("document.querySelector('.detail h2')");
    viewer.key("j");
    viewer.wait("document.querySelector('.trace-rows .row.selected').ariaExpanded === 'false'");
    let opened = viewer.eval("location.hash");

    viewer.wait("document.querySelector('nav.pages a[title^=Trace] .n').innerText === '4'");
    project.prose("put a", "A");
    project.prose("put b", "B");
    project.prose(&format!("end {parallel}"), "");
    project.prose("begin 7", "");
    viewer.wait("document.querySelectorAll('.trace-rows .row:not(.head)').length === 3");
    viewer.wait("document.querySelector('.trace-rows .row.selected .glyph').title === 'completed'");
    viewer.wait("document.querySelector('.detail').innerText.toLowerCase().includes('completed')");
    assert_eq!(viewer.eval("location.hash"), opened);
    assert_eq!(
        viewer.eval("document.querySelector('.trace-rows .row.current').ariaExpanded"),
        "false"
    );
    viewer.assert_same_page();
}

#[test]
fn pausing_stops_it_and_going_on_catches_up() {
    let Some((project, _, _served, mut viewer)) = open(Project::runs) else {
        return;
    };
    viewer.wait_page("Trace");
    project.prose("begin 1", "");
    viewer.wait(EXECUTING);
    viewer.key("w");
    viewer.wait_follow("Paused");
    let asked = viewer.requests_at_rest();
    project.prose("put findings --into 1", "42");
    viewer.rest();
    assert_eq!(
        viewer.requests().len(),
        asked,
        "a paused page asks for nothing"
    );
    assert_eq!(viewer.eval(COMPLETED), false);
    shoot(&mut viewer, "follow-paused");
    viewer.key("w");
    viewer.wait(COMPLETED);
    viewer.wait("document.querySelector('nav.pages a[title^=Values] .n').innerText === '1'");
    viewer.wait_follow("changed");
    // A dropped file is not followed.
    viewer.drop_run(&[&example(WAITING).join("state.db")]);
    viewer.wait("!document.querySelector('.bar .follow')");
    viewer.assert_same_page();
}

#[test]
fn a_hidden_page_asks_for_nothing_and_what_is_always_being_written_is_no_trouble() {
    let Some((project, run, _served, mut viewer)) = open(Project::runs) else {
        return;
    };
    viewer.wait_page("Trace");
    // The script makes the page look like a page in the background.
    viewer.eval(
        "Object.defineProperty(document, 'hidden', { configurable: true, get: () => true }); 0",
    );
    let asked = viewer.requests_at_rest();
    project.prose("begin 1", "");
    viewer.rest();
    assert_eq!(
        viewer.requests().len(),
        asked,
        "a hidden page asks for nothing"
    );
    assert_eq!(viewer.eval(EXECUTING), false);
    let seen = "new Event('visibilitychange', { bubbles: true })";
    viewer.eval(&format!(
        "delete document.hidden; document.dispatchEvent({seen})"
    ));
    viewer.wait(EXECUTING);

    // The database differs at each check. The page silently retries what it cannot read for the moment, and reports
    // it only after ten seconds, which never pass on this page.
    viewer.eval(
        "{ const now = Date.now(); Date.now = () => now }
         window.told = new Set();
         new MutationObserver(() => told.add(document.querySelector('.bar').innerText))
             .observe(document.querySelector('.bar'), { subtree: true, childList: true, characterData: true })",
    );
    let database = project.runs().join("runs").join(&run).join("state.db");
    let written = AtomicBool::new(true);
    thread::scope(|scope| {
        scope.spawn(|| {
            while written.load(Ordering::Relaxed) {
                let file = fs::File::options().write(true).open(&database).unwrap();
                file.set_modified(SystemTime::now()).unwrap();
                thread::sleep(Duration::from_millis(2));
            }
        });
        // If the test panics, the writer must end, too. Otherwise the scope would wait for the writer.
        let _ended = Unset(&written);
        project.prose("put findings --into 1", "42");
        viewer.wait_looks();
    });
    viewer.wait(COMPLETED);
    let told = viewer.eval("[...told].join(' ')");
    let told = told.as_str().unwrap();
    assert!(!told.contains("Not up to date"), "{told}");
    viewer.assert_same_page();
}

#[test]
fn bindings_appear_and_an_open_value_is_read_again_when_its_row_changed() {
    let Some((project, _, _served, mut viewer)) = open(Project::runs) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer.key("3");
    viewer.wait_main("No values");
    project.prose("put findings", "the first text");
    viewer.wait_main("findings");
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_value("the first text");
    project.prose("put findings", "another text");
    viewer.wait_value("another text");
    project.prose("put other", "x");
    viewer.wait("document.querySelectorAll('.binding-rows .row:not(.head)').length === 2");
    let open = viewer.eval("document.querySelector('.detail h2').innerText");
    assert_eq!(open, "findings");
    viewer.assert_same_page();
}

/// JavaScript that returns the name in the current row of the bindings, and whether it is visible.
const CURRENT: &str = "(() => {
    const list = document.querySelector('.binding-rows'), row = list.querySelector('.row.current');
    const [seen, at] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
    return [row.querySelector('.mono').innerText, at.top >= seen.top && at.bottom <= seen.bottom + 1];
})()";

#[test]
fn an_answer_in_sql_says_that_the_run_changed_since() {
    let Some((project, _, _served, mut viewer)) = open(Project::runs) else {
        return;
    };
    project.prose("begin 1", "");
    viewer.key("q");
    viewer.wait_page("SQL");
    viewer.key("q");
    viewer.type_text("SELECT status FROM execution");
    viewer.key("Ctrl+Enter");
    let answer = |viewer: &mut Viewer, text: &str| {
        let text = json!(text);
        viewer.wait(&format!(
            "document.querySelector('.sql-rows')?.innerText.includes({text})"
        ));
    };
    answer(&mut viewer, "executing");
    project.prose("put findings --into 1", "42");
    viewer.wait("document.querySelector('.sql-answer .wait-words')");
    // The page keeps the answer until the query is run again.
    answer(&mut viewer, "executing");
    viewer.key("Ctrl+Enter");
    answer(&mut viewer, "completed");
    let is_old = viewer.eval("!!document.querySelector('.sql-answer .wait-words')");
    assert_eq!(is_old, false);
}

#[test]
fn rows_that_come_before_move_neither_the_cursor_nor_what_is_seen() {
    if needs::sqlite3().is_none() || needs::viewer().is_none() {
        return;
    }
    let Some(prose) = needs::prose() else { return };
    let run = tempfile::tempdir().unwrap();
    let database = run.path().join("state.db");
    let bindings = |names: &str, frame: &str, from: u32, to: u32| {
        format!(
            "WITH RECURSIVE n(i) AS (SELECT {from} UNION ALL SELECT i + 1 FROM n WHERE i < {to})
             INSERT INTO bindings (name, execution_id, kind, value) SELECT printf('{names}%03d', i), {frame}, 'let', 'x' FROM n;"
        )
    };
    let script = format!(
        "{}INSERT INTO run (id, program_path, status) VALUES ('20260120-080000-many12', 'm.prose', 'running');{}{}",
        build::state_schema(),
        bindings("root", "NULL", 1, 60),
        bindings("frame", "7", 1, 60),
    );
    build::sql(&database, &script);
    let served = Served::start(&prose, &[run.path()]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer.key("3");
    viewer.wait_page("Values");
    viewer.key("j");
    viewer.key("End");
    viewer.key("k");
    viewer.wait(&format!(
        "JSON.stringify({CURRENT}) === '[\"frame059\",true]'"
    ));
    // The root's bindings come first in the list: three screens full.
    build::sql(&database, &bindings("late", "NULL", 1, 90));
    viewer.wait("document.querySelector('[data-list]').getAttribute('aria-rowcount') === '211'");
    viewer.wait(&format!(
        "JSON.stringify({CURRENT}) === '[\"frame059\",true]'"
    ));
}

#[test]
fn what_the_address_names_by_number_stays_open_when_its_number_changes() {
    if needs::viewer().is_none() {
        return;
    }
    let Some(prose) = needs::prose() else { return };
    let run = tempfile::tempdir().unwrap();
    fs::create_dir(run.path().join("bindings")).unwrap();
    fs::write(run.path().join("state.md"), "# Execution State\n\nrun: r\n").unwrap();
    let write = |name: &str, value: &str| {
        let text = format!(
            "# {name}\n\nkind: let\n\nsource:\n```prose\nlet {name} = session\n```\n\n---\n\n{value}\n"
        );
        fs::write(run.path().join(format!("bindings/{name}.md")), text).unwrap();
    };
    write("m", "the value of m");
    let served = Served::start(&prose, &[run.path()]);
    let Some(mut viewer) = Viewer::served(&served.address) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer.key("3");
    viewer.wait_page("Values");
    viewer.key("j");
    viewer.key("Enter");
    viewer.wait_value("the value of m");
    assert!(
        viewer
            .eval("location.hash")
            .as_str()
            .unwrap()
            .ends_with("/bindings/0")
    );
    write("a", "the value of a");
    viewer.wait("location.hash.endsWith('/bindings/1')");
    viewer.wait_value("the value of m");
    viewer.wait("document.querySelector('.row.selected .mono').innerText === 'm'");
    write("m", "another value");
    viewer.wait_value("another value");
}

#[test]
fn a_run_that_begins_comes_into_the_list() {
    let Some((project, first, _served, mut viewer)) = open(Project::runs) else {
        return;
    };
    viewer.wait_page("Trace");
    viewer.key("g");
    viewer.wait_text("1 run");
    let second = project.init();
    viewer.wait_text("2 runs");
    for run in [&first, &second] {
        viewer.wait_main(run);
    }
    viewer.wait(&format!(
        "[...fresh].some(text => text.includes({}))",
        json!(second)
    ));
    assert_eq!(
        viewer.eval(&format!(
            "[...fresh].some(text => text.includes({}))",
            json!(first)
        )),
        false
    );
    project.prose(&format!("finish failed --run {first}"), "");
    viewer.wait_main("failed");
    viewer.assert_same_page();
}

#[test]
fn a_single_run_is_followed_and_a_server_that_ended_is_said() {
    let run = |project: &Project| {
        let mut runs = project.runs().join("runs").read_dir().unwrap();
        runs.next().unwrap().unwrap().path()
    };
    let Some((project, _, served, mut viewer)) = open(run) else {
        return;
    };
    viewer.wait_page("Trace");
    project.prose("begin 1", "");
    viewer.wait(EXECUTING);
    shoot(&mut viewer, "follow");
    project.prose("finish interrupted", "");
    viewer.wait_main("interrupted");
    drop(served);
    viewer.wait_follow("Not up to date");
    viewer.wait_main("interrupted");
    viewer.assert_same_page();
}

#[test]
fn a_run_folder_is_followed_too() {
    let Some((project, _, _served, mut viewer)) = open(Project::runs) else {
        return;
    };
    viewer.wait_page("Trace");
    let run = project.prose("init report.prose --state filesystem", "");
    viewer.key("g");
    viewer.wait_text("2 runs");
    viewer.eval(&format!("location.hash = '#/run/{run}/trace'"));
    viewer.wait_page("Trace");
    let of_run = |words: &str| format!("{words} --run {run}");
    project.prose(&of_run("begin 1"), "");
    viewer.wait_rows(&["let findings = session \"Find it\""]);
    project.prose(&of_run("put findings"), "42");
    project.prose(&of_run("begin 7"), "");
    viewer.wait_rows(&[
        "let findings = session \"Find it\"",
        "session \"Write it up\"",
    ]);
    viewer.wait("document.querySelector('nav.pages a[title^=Values] .n').innerText === '1'");
    viewer.assert_same_page();
}

#[test]
fn a_dropped_database_that_changed_is_said_and_opened_again() {
    if needs::sqlite3().is_none() {
        return;
    }
    let Some(mut viewer) = Viewer::from_disk() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("state.db");
    let script = "INSERT INTO run (id, program_path, status) VALUES ('20260120-080000-change', 'c.prose', 'running');";
    build::sql(&database, &format!("{}{script}", build::state_schema()));
    viewer.drop_run(&[&database]);
    viewer.wait_main("Running");
    build::sql(&database, "UPDATE run SET status = 'failed';");
    viewer.wait_follow("Reload");
    assert!(viewer.main_text().to_lowercase().contains("running"));
    shoot(&mut viewer, "follow-outdated");
    viewer.key("w");
    viewer.wait_main("failed");
    viewer.wait("!document.querySelector('.bar .follow')");
}
