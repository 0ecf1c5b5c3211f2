//! Tests that opening and reading leaves every byte, time and listing unchanged: one test for each row of the table in
//! `store/src/database.rs` (errata R7).

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Instant, SystemTime};

use prosescope_core::model::Run;
use prosescope_core::model::database::Limits;
use prosescope_core::model::issue::Issue;
use prosescope_core::model::schema::STATE_SQL;
use prosescope_core::model::source::{Source, SourceError};
use prosescope_core::read::decode::rows;
use prosescope_store::Disk;
use prosescope_test_support::needs::skip;
use prosescope_test_support::work::PATIENCE;
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// Everything that a reader could change: names, bytes and times of all files, and the folder's own time.
type Trace = BTreeMap<String, (SystemTime, Option<Vec<u8>>)>;

fn trace(dir: &Path) -> Trace {
    let time = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let mut found = Trace::from([(".".to_owned(), (time(dir), None))]);
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let hash = Sha256::digest(fs::read(&path).unwrap()).to_vec();
        found.insert(name, (time(&path), Some(hash)));
    }
    found
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Opens the run as the commands do, reads all of the run, and closes it.
fn read(path: &Path) -> (Run, Vec<Issue>) {
    let disk = Disk::open(path).unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let db = disk.database(&name, &Limits::default()).unwrap();
    let db = db.as_ref();
    let run = rows::decode(db, &name, None).unwrap().run;
    for binding in &run.bindings {
        rows::value_bytes(db, "bindings", "value", &binding.value, 0, 1 << 20).unwrap();
        rows::binding_tail(db, binding).unwrap();
    }
    rows::table_rows(db, "execution", 0, 50, 200).unwrap();
    let notes = disk.notes(&name);
    (run, notes)
}

fn rules(notes: &[Issue]) -> Vec<&str> {
    notes.iter().map(|n| n.rule.as_str()).collect()
}

/// Opens and reads, and compares the folder before and after.
fn leaves_no_trace(dir: &Path, name: &str, rows: usize, expected: &[&str]) {
    let before = trace(dir);
    let (run, notes) = read(&dir.join(name));
    assert_eq!(run.executions.len(), rows, "rows of execution");
    assert_eq!(rules(&notes), expected);
    assert_eq!(trace(dir), before, "something was left behind");
}

fn make(path: &Path, pragma: &str) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch(pragma).unwrap();
    conn.execute_batch(STATE_SQL).unwrap();
    conn.execute_batch("INSERT INTO run(id) VALUES ('r1')")
        .unwrap();
    add(&conn, 3);
    conn
}

/// Adds rows to two tables in one transaction: in every snapshot both have the same number of rows.
fn add(conn: &Connection, rows: usize) {
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    for _ in 0..rows {
        conn.execute_batch(
            "INSERT INTO execution(statement_index, statement_text, status)
             VALUES (1, 'session \"a\"', 'completed');
             INSERT INTO bindings(name, kind, value)
             VALUES ('b' || (SELECT count(*) FROM bindings), 'let', hex(randomblob(3000)))",
        )
        .unwrap();
    }
    conn.execute_batch("COMMIT").unwrap();
}

fn copy(from: &Path, to: &Path, ends: &[&str]) {
    for end in ends {
        let beside = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
        fs::copy(beside(from), beside(to)).unwrap();
    }
}

/// Returns a copy of a database in WAL mode whose last two rows are only in its `-wal`. `ends` lists the endings of the
/// copied files: `""`, `-wal`, `-shm`.
fn in_wal_mode(ends: &[&str]) -> TempDir {
    let (live, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = live.path().join("state.db");
    let conn = make(&path, "PRAGMA journal_mode=WAL");
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    add(&conn, 2);
    copy(&path, &dir.path().join("state.db"), ends);
    dir
}

#[test]
fn a_database_in_rollback_mode() {
    let dir = tempfile::tempdir().unwrap();
    drop(make(&dir.path().join("state.db"), ""));
    leaves_no_trace(dir.path(), "state.db", 3, &[]);
}

#[test]
fn wal_and_shared_memory_of_a_writer_that_crashed() {
    let dir = in_wal_mode(&["", "-wal", "-shm"]);
    leaves_no_trace(dir.path(), "state.db", 5, &[]);
}

#[test]
fn wal_without_shared_memory() {
    let dir = in_wal_mode(&["", "-wal"]);
    leaves_no_trace(dir.path(), "state.db", 5, &[]);
}

#[test]
fn a_wal_header_without_its_wal() {
    let dir = in_wal_mode(&[""]);
    leaves_no_trace(dir.path(), "state.db", 3, &["wal-missing"]);
    fs::write(dir.path().join("state.db-wal"), b"").unwrap();
    leaves_no_trace(dir.path(), "state.db", 3, &["wal-missing"]);
}

/// A writer that ends cleanly removes `-wal` and `-shm`: only a remaining `-shm` shows that rows are missing.
#[test]
fn a_wal_that_its_writer_removed_is_no_warning() {
    use prosescope_core::model::issue::Severity;
    for (parts, severity) in [
        (&[""][..], Severity::Note),
        (&["", "-shm"], Severity::Warning),
    ] {
        let dir = in_wal_mode(parts);
        let disk = Disk::open(&dir.path().join("state.db")).unwrap();
        disk.database("state.db", &Limits::default()).unwrap();
        let found: Vec<Severity> = disk.notes("state.db").iter().map(|i| i.severity).collect();
        assert_eq!(found, [severity], "{parts:?}");
    }
}

/// Returns a database with a hot journal: a transaction wrote to the database and was cut off.
fn with_hot_journal() -> TempDir {
    let (live, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = live.path().join("state.db");
    let conn = make(&path, "PRAGMA cache_size=2; PRAGMA cache_spill=1");
    conn.execute_batch("BEGIN IMMEDIATE; UPDATE bindings SET value = 'half done'")
        .unwrap();
    for _ in 0..50 {
        conn.execute_batch("INSERT INTO execution(statement_text) VALUES (hex(randomblob(3000)))")
            .unwrap();
    }
    copy(&path, &dir.path().join("state.db"), &["", "-journal"]);
    dir
}

#[test]
fn a_hot_journal_is_rolled_back_in_a_copy() {
    let dir = with_hot_journal();
    let path = dir.path().join("state.db");
    let refused = Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
        .unwrap()
        .query_row("SELECT count(*) FROM execution", [], |_| Ok(()));
    assert!(
        refused.is_err(),
        "the journal is not hot: this test shows nothing"
    );
    leaves_no_trace(dir.path(), "state.db", 3, &["hot-journal"]);

    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    leaves_no_trace(dir.path(), "state.db", 3, &["hot-journal"]);
}

/// The writer wrote the new length into the first page, and was killed before it wrote the pages that this length
/// counts.
#[test]
fn a_length_that_was_written_before_its_pages_is_undone_too() {
    use std::io::{Seek, SeekFrom, Write};
    let dir = with_hot_journal();
    let path = dir.path().join("state.db");
    let file = fs::OpenOptions::new().write(true).open(&path);
    let mut file = file.unwrap();
    let pages = u32::try_from(file.metadata().unwrap().len() / 1024).unwrap();
    file.seek(SeekFrom::Start(28)).unwrap();
    file.write_all(&(pages * 4).to_be_bytes()).unwrap();
    drop(file);
    leaves_no_trace(dir.path(), "state.db", 3, &["hot-journal"]);
}

#[test]
fn a_journal_that_is_not_hot_is_no_reason_to_copy() {
    let dir = tempfile::tempdir().unwrap();
    drop(make(
        &dir.path().join("state.db"),
        "PRAGMA journal_mode=PERSIST",
    ));
    assert_eq!(names(dir.path()), ["state.db", "state.db-journal"]);
    leaves_no_trace(dir.path(), "state.db", 3, &[]);
}

#[test]
fn names_that_mean_something_in_a_uri() {
    for name in [
        "100%.db",
        "what?.db",
        "a#b.db",
        "it's.db",
        "a b&mode=rw.db",
        "%41.db",
        "é~.db",
    ] {
        let dir = tempfile::tempdir().unwrap();
        drop(make(&dir.path().join(name), ""));
        leaves_no_trace(dir.path(), name, 3, &[]);
        let wal = in_wal_mode(&["", "-wal"]);
        copy(
            &wal.path().join("state.db"),
            &dir.path().join(name),
            &["", "-wal"],
        );
        leaves_no_trace(dir.path(), name, 5, &[]);
    }
    let outer = tempfile::tempdir().unwrap();
    let dir = outer.path().join("50% #done?");
    fs::create_dir(&dir).unwrap();
    drop(make(&dir.join("state.db"), ""));
    leaves_no_trace(&dir, "state.db", 3, &[]);
}

#[cfg(unix)]
#[test]
fn a_link_finds_the_wal_beside_the_database_itself() {
    let dir = in_wal_mode(&["", "-wal"]);
    let links = tempfile::tempdir().unwrap();
    let link = links.path().join("latest.db");
    std::os::unix::fs::symlink(dir.path().join("state.db"), &link).unwrap();
    let before = (trace(dir.path()), names(links.path()));
    assert_eq!(read(&link).0.executions.len(), 5);
    assert_eq!((trace(dir.path()), names(links.path())), before);
}

#[test]
fn somebody_who_writes_where_no_lock_tells_is_noticed() {
    let dir = in_wal_mode(&[""]);
    let path = dir.path().join("state.db");
    let disk = Disk::open(&path).unwrap();
    let conn = disk.database("state.db", &Limits::default()).unwrap();
    assert_eq!(rules(&disk.notes("state.db")), ["wal-missing"]);
    add(&Connection::open(&path).unwrap(), 1);
    let notes = disk.notes("state.db");
    assert_eq!(rules(&notes), ["wal-missing", "changed-while-reading"]);
    assert_eq!(notes[1].hint, "Open the database again.");
    drop(conn);
}

#[test]
fn what_cannot_be_opened_says_why_and_what_next() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole.db");
    drop(make(&whole, ""));
    let bytes = fs::read(&whole).unwrap();
    let cut = format!(
        "the database is cut off: its header announces {} KB, the file has 5000 bytes",
        (bytes.len() as f64 / 1e3).round()
    );
    for (name, bytes, cause, next) in [
        (
            "empty.db",
            &b""[..],
            "the file is empty (0 bytes)",
            "The file was never written",
        ),
        (
            "text.db",
            b"not a database",
            "this is not a SQLite database: 14 bytes of text, beginning with \"not a database\"",
            "Open the run's state.db",
        ),
        (
            "cut.db",
            &bytes[..5000],
            cut.as_str(),
            "Copy the file again",
        ),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let before = trace(dir.path());
        let error = Disk::open(&path)
            .unwrap()
            .database(name, &Limits::default())
            .map(drop)
            .unwrap_err();
        let SourceError::Database {
            path,
            cause: said,
            next: step,
            failed: false,
        } = error
        else {
            panic!("{error}");
        };
        assert_eq!((path.as_str(), said.as_str()), (name, cause));
        assert!(step.starts_with(next), "{step}");
        assert_eq!(trace(dir.path()), before);
    }
}

// The writer runs in another process, because SQLite's connections within one process share their locks and the mapping
// of the `-shm`.

const PLAY: &str = "PROSESCOPE_TEST_WRITER";

/// Starts this test binary again in a role; returns the child process when it is ready.
fn child(role: &str, path: &Path, prepare: impl FnOnce(&mut Command)) -> Option<Child> {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "in_a_process_of_its_own", "--nocapture"])
        .env(PLAY, role)
        .env("PROSESCOPE_TEST_PATH", path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    prepare(&mut command);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            skip(&format!(
                "needs a second process, which cannot be started: {error}"
            ));
            return None;
        }
    };
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let ready = lines.any(|line| line.contains("ready"));
    assert!(ready, "the other process did not come up");
    // Reads the rest of the output, so that the child's last write does not fail.
    std::thread::spawn(move || lines.count());
    Some(child)
}

/// This is not a test, but the code that the second process runs.
#[test]
fn in_a_process_of_its_own() {
    let Ok(role) = env::var(PLAY) else { return };
    let path = PathBuf::from(env::var_os("PROSESCOPE_TEST_PATH").unwrap());
    let wait = || {
        println!("\nready");
        let _ = std::io::stdin().read_line(&mut String::new());
    };
    match role.as_str() {
        "idle" => {
            let conn = Connection::open(&path).unwrap();
            add(&conn, 2);
            wait();
        }
        "busy" => {
            println!("\nready");
            let conn = Connection::open(&path).unwrap();
            conn.busy_timeout(PATIENCE).unwrap();
            conn.execute_batch("PRAGMA wal_autocheckpoint=20").unwrap();
            let told = std::thread::spawn(|| std::io::stdin().read_line(&mut String::new()));
            while !told.is_finished() {
                add(&conn, 4);
                // Without this pause, SQLite would starve every other connection, reader or not.
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        }
        "reader" => {
            let (run, notes) = read(&path);
            assert_eq!(rules(&notes), [] as [&str; 0]);
            println!("\nready {}", run.executions.len());
        }
        other => panic!("no role {other}"),
    }
}

#[test]
fn a_writer_that_lives_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    drop(make(&path, "PRAGMA journal_mode=WAL"));
    let Some(mut writer) = child("idle", &path, |_| ()) else {
        return;
    };
    assert_eq!(
        names(dir.path()),
        ["state.db", "state.db-shm", "state.db-wal"]
    );
    leaves_no_trace(dir.path(), "state.db", 5, &[]);
    drop(writer.stdin.take());
    assert!(writer.wait().unwrap().success());
    assert_eq!(names(dir.path()), ["state.db"], "nothing of ours stays");
}

#[test]
fn a_busy_writer_beside_it() {
    for pragma in ["PRAGMA journal_mode=WAL", "PRAGMA journal_mode=DELETE"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.db");
        let keep = make(&path, pragma);
        let Some(mut writer) = child("busy", &path, |_| ()) else {
            return;
        };
        // In WAL mode, a connection that stays open keeps the -shm from the first read to the last; the -shm belongs to
        // the writer.
        let (mut seen, mut moments) = (Vec::new(), BTreeSet::new());
        let begun = Instant::now();
        // Continues until the reader has seen many states of the file, whatever the speed of the two.
        while moments.len() < 12 {
            assert!(
                begun.elapsed() < PATIENCE,
                "{pragma}: the writer is not busy: {seen:?}"
            );
            let (run, notes) = read(&path);
            let broken: Vec<&Issue> = run
                .issues
                .iter()
                .chain(&notes)
                .filter(|i| i.severity == prosescope_core::model::issue::Severity::Error)
                .collect();
            assert_eq!(broken, [] as [&Issue; 0], "{pragma}");
            assert_eq!(
                run.executions.len(),
                run.bindings.len(),
                "{pragma}: two moments mixed"
            );
            seen.push(run.executions.len());
            moments.insert(run.executions.len());
        }
        drop(writer.stdin.take());
        assert!(writer.wait().unwrap().success());
        assert!(seen.is_sorted(), "{pragma}: {seen:?}");
        let all = read(&path).0.executions.len();
        assert!(all >= seen[seen.len() - 1], "{pragma}: {seen:?}, {all}");
        drop(keep);
        assert_eq!(names(dir.path()), ["state.db"], "{pragma}");
        leaves_no_trace(
            dir.path(),
            "state.db",
            all,
            if pragma.ends_with("WAL") {
                &["wal-missing"]
            } else {
                &[]
            },
        );
    }
}

/// A user without write permission for the folder can read. Root may write everywhere, so the reader is a process of
/// another user.
#[cfg(unix)]
#[test]
fn a_folder_that_may_only_be_read() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    let sources = [
        (in_wal_mode(&["", "-wal"]), 5),
        (in_wal_mode(&["", "-wal", "-shm"]), 5),
        (
            {
                let dir = tempfile::tempdir().unwrap();
                drop(make(&dir.path().join("state.db"), ""));
                dir
            },
            3,
        ),
    ];
    for (dir, rows) in sources {
        for name in names(dir.path()) {
            fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(0o444)).unwrap();
        }
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let before = trace(dir.path());
        let root = Command::new("id")
            .arg("-u")
            .output()
            .is_ok_and(|o| o.stdout == b"0\n");
        let reader = child("reader", &dir.path().join("state.db"), |command| {
            if root {
                command.uid(65_534).gid(65_534);
            }
        });
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let Some(mut reader) = reader else { return };
        drop(reader.stdin.take());
        assert!(
            reader.wait().unwrap().success(),
            "{rows} rows were expected"
        );
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
        assert_eq!(trace(dir.path()), before);
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn pipes_and_links_beside_a_database_are_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.db");
    drop(make(&path, "PRAGMA journal_mode=DELETE"));
    let pipe = dir.path().join("state.db-wal");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", dir.path().join("state.db-journal")).unwrap();
    let (run, notes) = read(&path);
    assert_eq!(run.executions.len(), 3);
    assert_eq!(rules(&notes), ["beside-no-file"]);
    assert!(notes[0].message.ends_with("state.db-wal, state.db-journal"));
}
