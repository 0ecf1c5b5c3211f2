//! Tests with a database of more than 1 GB: lists read no overflow page of a value, so the size of values does not
//! matter.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use prosescope_core::session::{Options, Session, pages};
use prosescope_store::Disk;
use prosescope_tests::{build, needs};

/// Returns the bytes of a database without the pages that contain only parts of values.
fn without_values(database: &Path) -> u64 {
    let pages = "SELECT sum(pgsize) FROM dbstat WHERE pagetype <> 'overflow';";
    build::sql_with(database, &["-readonly"], pages)
        .trim()
        .parse()
        .unwrap()
}

/// Returns the bytes that this thread has read from the system so far.
fn read_so_far() -> u64 {
    let io = fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.unwrap().parse().unwrap()
}

#[test]
fn lists_read_no_page_of_a_value() {
    if needs::sqlite3().is_none() {
        return;
    }
    if !Path::new("/proc/thread-self/io").exists() {
        return needs::skip("counts what a thread reads, and this system does not");
    }
    let database = build::large();
    let size = fs::metadata(&database).unwrap().len();
    assert!(size > 1 << 30, "{size} bytes");
    let rest = without_values(&database);
    assert!(rest < size / 20, "{rest} of {size} bytes are no values");

    let start = read_so_far();
    let source = Disk::open(&database).unwrap();
    let session = Session::open(Rc::new(source), "state.db", &Options::default()).unwrap();
    assert_eq!(session.run().executions.len(), build::LARGE_EXECUTIONS);
    assert_eq!(session.run().bindings.len(), build::LARGE_BINDINGS);
    let opened = read_so_far() - start;
    assert!(
        opened <= 2 * rest,
        "opening read {opened} bytes; all but the values are {rest}"
    );

    let start = read_so_far();
    pages::overview(&session, None);
    pages::trace_page(&session, &Default::default(), 50_000, 100);
    pages::bindings_page(&session, 10_000, 100);
    pages::files(&session);
    let listed = read_so_far() - start;
    eprintln!("of {size} bytes {rest} are no values: opening read {opened}, the lists {listed}");
    assert!(
        listed <= rest / 4,
        "the lists read {listed} bytes; all but the values are {rest}"
    );
}
