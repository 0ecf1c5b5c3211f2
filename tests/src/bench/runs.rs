//! Measures `prosescope runs` over many folders of different forms, copied from the examples.

use std::fs;
use std::path::Path;

use prosescope_tests::needs;

use crate::Effort;
use crate::figures::{Rival, in_turn};
use crate::get::{command, run};
use crate::table::{Table, time, times};

pub(crate) fn measure(effort: Effort) {
    let Some(prose) = needs::prose() else { return };
    let sizes: &[usize] = effort.pick(&[10, 100, 1_000], &[4, 12]);
    let folder = tempfile::tempdir().expect("a folder");
    for size in sizes {
        many(&folder.path().join(size.to_string()), *size);
    }
    println!(
        "A quarter each: three databases (one with its attachment), one folder of files with nested imports.\n"
    );
    let list = |size: &usize, more: &[&str]| {
        let place = folder.path().join(size.to_string());
        let mut list = command(&prose, &["runs".as_ref(), place.as_os_str()]);
        list.args(more);
        list
    };
    let failed = ["--status", "failed", "--limit", "10"];
    let mut rivals: Vec<Rival<'_>> = sizes
        .iter()
        .map(|size| Rival::whole(size.to_string(), move || run(list(size, &[]))))
        .collect();
    let largest = sizes.last().expect("there are sizes");
    rivals.push(Rival::whole(format!("{largest}, failed ones"), || {
        run(list(largest, &failed));
    }));
    rivals.push(Rival::whole("prosescope --version", || {
        run(command(&prose, &["--version".as_ref()]));
    }));
    let figures = in_turn(effort.pick(9, 2), &mut rivals);

    let mut table = Table::new(&[
        "runs",
        "min",
        "median",
        "max",
        "each",
        "for ten times the work",
    ]);
    for (n, (rival, own)) in rivals.iter().zip(&figures).enumerate() {
        let size = sizes.get(n);
        let growth = (n > 0 && size.is_some()).then(|| own.over(&figures[n - 1]).median());
        table.row(vec![
            rival.name.clone(),
            time(own.min()),
            time(own.median()),
            time(own.max()),
            size.map(|size| time(own.median() / *size as f64))
                .unwrap_or_default(),
            growth.map(times).unwrap_or_default(),
        ]);
    }
    table.print();
}

/// Copies this many run folders, from all examples in rotation, to `place/.prose/runs`.
fn many(place: &Path, count: usize) {
    let examples = needs::root().join("examples/.prose/runs");
    let mut runs: Vec<_> = fs::read_dir(examples)
        .expect("examples")
        .map(|entry| entry.expect("a run").path())
        .collect();
    runs.sort();
    for n in 0..count {
        let id = format!("202602{:02}-{:06}-{n:06x}", n % 28 + 1, n % 1000 * 10);
        copy(&runs[n % runs.len()], &place.join(".prose/runs").join(id));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("a file");
        let to = to.join(entry.file_name());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("copied");
        }
    }
}
