//! Measures sharing: `prosescope share` compared with `zip -6` and with `sqlite3 .backup`, and opening the shared
//! page compared with dropping the run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use prosescope_test_support::run::most_memory;
use prosescope_tests::browser::{Page, file_url};
use prosescope_tests::{build, needs};

use crate::Effort;
use crate::figures::{Rival, in_turn};
use crate::open::passed;
use crate::table::{Table, beside, time, times};

pub(crate) fn measure(effort: Effort) {
    let Some(prose) = needs::prose() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    written(&prose, folder.path(), effort);
    found(&prose, folder.path(), effort);
    paged(&prose, folder.path(), effort);
}

/// Measures sharing a large run as a zip and as a database.
fn written(prose: &Path, folder: &Path, effort: Effort) {
    if needs::sqlite3().is_none() || Command::new("zip").arg("-v").output().is_err() {
        println!("skipped: no sqlite3, or no zip");
        return;
    }
    let run = build::sized(effort.pick(build::LARGE, build::SMALL));
    println!("A run of {} MB; whole processes:\n", size(&run) / 1_000_000);
    let mut table = Table::new(&["", "", "other", "ratio", "bytes", "memory"]);
    let sqlite3 = |out: &Path| {
        let mut command = Command::new("sqlite3");
        command.arg(&run).arg(format!(".backup {}", out.display()));
        command
    };
    let zip = |out: &Path| {
        let mut command = Command::new("zip");
        command.args(["-6", "-q", "-j"]).arg(out).arg(&run);
        command
    };
    type Made<'a> = &'a dyn Fn(&Path) -> Command;
    let cases: [(&str, &str, Made<'_>); 2] =
        [("zip", "zip -6", &zip), ("db", "sqlite3 .backup", &sqlite3)];
    for (form, theirs, made) in cases {
        let [our_file, their_file] =
            ["ours", "theirs"].map(|name| folder.join(name).with_extension(form));
        let mut rivals = [
            Rival::whole("share", || {
                fresh(&our_file, &mut share(prose, &run, &our_file));
            }),
            Rival::whole(theirs, || {
                fresh(&their_file, &mut made(&their_file));
            }),
        ];
        let figures = in_turn(effort.pick(2, 1), &mut rivals);
        fs::remove_file(&our_file).expect("it was written");
        let most = most_memory(&mut share(prose, &run, &our_file));
        table.row(vec![
            format!("share to {form}"),
            time(figures[0].median()),
            format!("{theirs}: {}", time(figures[1].median())),
            times(figures[0].over(&figures[1]).median()),
            format!("{} beside {}", size(&our_file), size(&their_file)),
            format!("{} MB", most >> 20),
        ]);
    }
    table.print();
}

/// Measures sharing runs of one text with many secrets or addresses: time and memory grow with the text.
fn found(prose: &Path, folder: &Path, effort: Effort) {
    println!("\nA run in files with one text of many findings, into a zip:\n");
    let mut table = Table::new(&["", "text", "time", "memory"]);
    type Made = fn(&mut dyn FnMut() -> char) -> String;
    let token: Made = |letter| format!("ghp_{}", (0..36).map(|_| letter()).collect::<String>());
    let mail: Made = |letter| format!("{}@firma.ch", (0..9).map(|_| letter()).collect::<String>());
    for (what, made) in [("tokens", token), ("e-mail addresses", mail)] {
        for count in [10_000, effort.pick(50_000, 20_000)] {
            let run = folder.join(format!("20260101-100000-{what:.1}{count}"));
            let text: String = (0..count).map(|n| made(&mut letters(n)) + "\n").collect();
            fs::create_dir_all(run.join("bindings")).expect("a folder");
            fs::write(run.join("state.md"), "# Execution State\n").expect("a file");
            fs::write(run.join("bindings/found.md"), &text).expect("a file");
            let out = folder.join("found.zip");
            let sharing = || fresh(&out, &mut share(prose, &run, &out));
            let figures = in_turn(effort.pick(5, 1), &mut [Rival::whole("share", sharing)]);
            let most = most_memory(&mut share(prose, &run, &out));
            table.row(vec![
                format!("{count} {what}"),
                format!("{} KB", text.len() / 1000),
                time(figures[0].median()),
                format!("{} MB", most >> 20),
            ]);
        }
    }
    table.print();
}

/// Returns a source of letters and digits that are as good as random.
fn letters(seed: u64) -> impl FnMut() -> char {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let of = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        char::from(of[usize::try_from((state >> 33) % 62).unwrap_or(0)])
    }
}

/// Measures sharing a run of 10 MB as a page, and opening the page.
fn paged(prose: &Path, folder: &Path, effort: Effort) {
    let run = build::sized(effort.pick(build::SMALL, build::TINY));
    let (page, zip) = (folder.join("page.html"), folder.join("page.zip"));
    fresh(&zip, &mut share(prose, &run, &zip));
    let mut rivals = [Rival::whole("share to html", || {
        fresh(&page, &mut share(prose, &run, &page));
    })];
    let figures = in_turn(effort.pick(5, 1), &mut rivals);
    println!(
        "\nA run of {} bytes into a page of {} bytes, and into a zip of {}:\n",
        size(&run),
        size(&page),
        size(&zip)
    );
    beside(&rivals, &figures).print();
    let (Some(chromium), Some(viewer)) = (needs::chromium(), needs::viewer()) else {
        return;
    };
    let mut rivals = [
        Rival::new("drop the run", || {
            from_start(&chromium, &viewer, Some(&run))
        }),
        Rival::new("drop the shared page", || {
            from_start(&chromium, &viewer, Some(&page))
        }),
        Rival::new("open the shared page", || {
            from_start(&chromium, &page, None)
        }),
    ];
    let figures = in_turn(effort.pick(7, 1), &mut rivals);
    println!(
        "\nFrom the navigation, or the drop, until counts and last rows are shown; the page's own start is in each:\n"
    );
    beside(&rivals, &figures).print();
}

/// Opens a page and returns the seconds until its overview is visible. If there is a file to drop, drops the file as
/// soon as the page is ready.
fn from_start(chromium: &Path, html: &Path, dropped: Option<&PathBuf>) -> f64 {
    let mut page = Page::alone(chromium, &file_url(html));
    let mut before = 0.0;
    if let Some(file) = dropped {
        page.wait("globalThis.prosescope?.stats");
        before = passed(&mut page);
        page.drop_files(&[file]);
    }
    let shown: Duration = page.wait("document.querySelector('.band .meta button')");
    match dropped {
        Some(_) => before + shown.as_secs_f64(),
        None => passed(&mut page),
    }
}

fn share(prose: &Path, run: &Path, out: &Path) -> Command {
    let mut command = Command::new(prose);
    command
        .arg("share")
        .arg(run)
        .arg("--yes")
        .arg("-o")
        .arg(out);
    command
}

/// Runs a command that writes a file, after removing the file.
fn fresh(file: &Path, command: &mut Command) {
    let _ = fs::remove_file(file);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.expect("it starts").success(), "{command:?}");
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |meta| meta.len())
}
