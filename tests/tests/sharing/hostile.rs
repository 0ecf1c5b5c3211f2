//! Opens malicious and damaged shared files with the `prosescope` binary. The binary must take at most 2 s of processor
//! time and 256 MB, report the reason of an error, and write nothing outside of the folder for unpacking.

use std::fs;
use std::io::Write;
use std::process::{Command, Output};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use prosescope_share::dense;
use prosescope_share::manifest::MANIFEST;
use prosescope_test_support::work::pace;
use prosescope_test_support::zip::{Entry, zip, zip_long};

use crate::project::Project;

/// The required result of opening a file.
enum Comes {
    /// The file is refused with these words.
    Refused(&'static str),
    /// The file is opened or refused.
    Either,
}
use Comes::{Either, Refused};

const STATE: &[u8] =
    b"# run:20260301-100000-abcdef p.prose\n1\xe2\x86\x92 a \xe2\x9c\x93\n---end\n";

/// Returns an entry with compressed bytes.
fn packed(name: &str, bytes: &[u8]) -> Entry {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("packed");
    Entry {
        bytes: encoder.finish().expect("packed"),
        method: 8,
        crc: sum(bytes),
        len: bytes.len() as u32,
        ..Entry::stored(name, b"")
    }
}

fn sum(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

/// Returns a compressed entry with a repeated text, of this many bytes in all.
fn repeated(name: &str, text: &str, len: usize) -> Entry {
    packed(name, &text.as_bytes().repeat(len / text.len()))
}

fn sound() -> Vec<Entry> {
    vec![
        Entry::stored("r/state.md", STATE),
        Entry::stored("r/bindings/a.md", b"# a\n\nkind: let\n\n---\n\nA\n"),
    ]
}

fn with(more: Entry) -> Vec<u8> {
    zip(&[sound(), vec![more]].concat())
}

/// Returns a page like those of `prosescope share`, with this text instead of its run.
fn page(len: &str, text: &str) -> Vec<u8> {
    format!(
        "<!doctype html>\n<meta name=\"prosescope-served\" content=\"\">\n<script type=\"text/plain\" id=\"prosescope-run\" data-bytes=\"{len}\">{text}</script>\n"
    )
    .into_bytes()
}

fn page_of(zip: &[u8]) -> Vec<u8> {
    page(&zip.len().to_string(), &dense::encode(zip))
}

const MB: usize = 1 << 20;

/// Returns the zips to open: name, bytes, and required result.
fn zips() -> Vec<(String, Vec<u8>, Comes)> {
    let mut cases = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>, comes| cases.push((name.to_owned(), bytes, comes));
    // These are the largest files that are unpacked from a small zip and read. Files that take more memory than their
    // length are smaller in this list.
    for (file, text, size) in [
        ("r/state.md", "\0", 60),
        ("r/state.md", "1→ a ✓\n", 60),
        ("r/state.md", "- [x] `a` (id: 1)\n", 60),
        ("r/program.prose", "let a = session \"x\"\n", 60),
        ("r/program.prose", "if **x**:\n ", 60),
        ("r/program.prose", "\n", 60),
        ("r/bindings/b.md", "---\n", 60),
        ("r/gates/audit.jsonl", "{\"id\":1}\n", 60),
        ("r/gates/audit.jsonl", "{\"a\":{\"b\":[1,2,3,4,5]}}\n", 60),
        ("r/x_events.jsonl", "{}\n", 60),
        ("r/run.json", "[", 60),
        ("r/receipts.jsonl", "{}\n", 60),
        ("r/state.db", "SQLite format 3\0", 60),
        ("r/attachments/x", "x", 60),
        ("workflows.db", "\0", 60),
        (MANIFEST, "[", 60),
        (MANIFEST, "{\"runs\":[],", 60),
    ] {
        let name = format!("{size} MB of {text:?} as {file}");
        add(&name, with(repeated(file, text, size * MB)), Either);
    }
    let part = "{\"path\":\"\",\"bytes\":0,\"sha256\":\"\"},";
    let parts = format!(
        "{{\"format\":\"prosescope-share-1\",\"made_by\":\"\",\"made_at\":\"\",\"raw\":false,\"runs\":[],\"redactions\":[],\"left_out\":[],\"sealed_anew\":[],\"parts\":[{}{{\"path\":\"\",\"bytes\":0,\"sha256\":\"\"}}]}}",
        part.repeat(60 * MB / part.len())
    );
    add(
        "a manifest of two million parts",
        with(packed(MANIFEST, parts.as_bytes())),
        Either,
    );
    add(
        "a ratio",
        with(repeated("r/x", "\0", 100 * MB)),
        Refused("that ratio is not plausible for a run"),
    );
    let bomb = Entry {
        bytes: repeated("r/x", "\0", 100 * MB).bytes,
        ..packed("r/x", &[0; 1000])
    };
    add(
        "a length that is too small",
        with(bomb),
        Refused("is damaged"),
    );
    let many = |count: usize, name: &dyn Fn(usize) -> String| -> Vec<Entry> {
        (0..count).map(|n| Entry::stored(&name(n), b"")).collect()
    };
    add(
        "more entries than are read",
        zip_long(&many(200_001, &|n| format!("r/{n}"))),
        Refused("at most 200000 are read"),
    );
    add(
        "2,000 entries",
        zip_long(&many(2_000, &|n| format!("r/{n}"))),
        Either,
    );
    add(
        "2,000 folders",
        zip_long(&many(2_000, &|n| format!("{n}/state.md"))),
        Either,
    );
    let deep = "a/".repeat(120);
    add(
        "200 deep entries",
        zip_long(&many(200, &|n| format!("{deep}{n}"))),
        Either,
    );
    let long = "a".repeat(256);
    add(
        "long paths",
        zip_long(&many(200, &|n| format!("r/{long}{n}"))),
        Refused("plain path"),
    );
    // A shared file within a shared file is not opened.
    let inner = zip(&sound());
    add(
        "a zip in a zip",
        zip(&[Entry::stored("r/run.zip", &inner)]),
        Refused("no state.db"),
    );
    let sound = zip(&sound());
    for n in 0..20 {
        let at = n * sound.len() / 20;
        let mut altered = sound.clone();
        altered[at] ^= 1 << (n % 8);
        cases.push((format!("bit {} of byte {at}", n % 8), altered, Either));
        let why = if at < 4 { "" } else { "not a readable zip" };
        cases.push((
            format!("cut at byte {at}"),
            sound[..at].to_vec(),
            Refused(why),
        ));
    }
    cases
}

/// Returns the pages to open: name, bytes, and required result.
fn pages() -> Vec<(String, Vec<u8>, Comes)> {
    let sound = zip(&sound());
    let whole = page_of(&sound);
    let text = dense::encode(&sound);
    let len = sound.len().to_string();
    let head = r#"<script type="text/plain" id="prosescope-run" data-bytes=""#;
    let mut cases: Vec<(String, Vec<u8>, Comes)> = [
        (
            "a page without a run",
            page("0", ""),
            Refused("without a run"),
        ),
        (
            "a length that is no number",
            page("x", &text),
            Refused("not a number"),
        ),
        (
            "a length without an end",
            page(&"1".repeat(MB), &text),
            Refused("length"),
        ),
        (
            "a huge length",
            page("18446744073709551615", &text),
            Refused("shorter or longer"),
        ),
        ("too short", page("3", &text), Refused("")),
        (
            "what a page does not hold",
            page(&len, &"\u{fff}".repeat(MB)),
            Refused("the run's encoding is invalid"),
        ),
        (
            "text without an end",
            page(&len, &"a".repeat(40 * MB)),
            Refused(""),
        ),
        (
            "many beginnings",
            page(&len, &head.repeat(100_000)),
            Refused(""),
        ),
        (
            "a long page",
            [b"<!doctype html>".to_vec(), b" ".repeat(60 * MB)].concat(),
            Refused(""),
        ),
        (
            "no zip in it",
            page_of(&b"PK\x03\x04".repeat(MB)),
            Refused("not a readable zip"),
        ),
        (
            "a bomb in it",
            page_of(&with(repeated("r/x", "\0", 100 * MB))),
            Refused("that ratio is not plausible for a run"),
        ),
        (
            "a path in it",
            page_of(&with(Entry::stored("../out", b"x"))),
            Refused("plain path"),
        ),
        (
            "a page in it",
            page_of(&page_of(&sound)),
            Refused("not a readable zip"),
        ),
    ]
    .into_iter()
    .map(|(name, bytes, comes)| (name.to_owned(), bytes, comes))
    .collect();
    for n in 0..20 {
        let at = n * whole.len() / 20;
        let mut altered = whole.clone();
        altered[at] ^= 1 << (n % 8);
        cases.push((format!("bit {} of byte {at}", n % 8), altered, Either));
        cases.push((
            format!("cut at byte {at}"),
            whole[..at].to_vec(),
            Refused(""),
        ));
    }
    cases
}

/// Runs a command with the processor time and memory allowed for an opened file; exceeding a limit ends the command by
/// a signal. Further tries have twice the time, at the machine's present speed, because a build with checks may need
/// more.
fn limited(project: &Project, args: &[&str]) -> Output {
    let once = |seconds: f64| {
        let command = project.command(args);
        let mut limited = Command::new("prlimit");
        limited
            .args(["--data=268435456", "--core=0"])
            .arg(format!("--cpu={}", seconds.ceil()))
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(project.at(""))
            .env("HOME", project.at("home"))
            .env("TMPDIR", project.at("tmp"));
        limited.output().expect("it runs")
    };
    let mut out = once(2.0);
    for _ in 0..2 {
        if out.status.code().is_some() {
            break;
        }
        // A command that was ended by a signal could not remove its files.
        let _ = fs::remove_dir_all(project.at("tmp"));
        fs::create_dir(project.at("tmp")).expect("made");
        out = once(4.0 * pace());
    }
    out
}

#[track_caller]
fn opened(cases: Vec<(String, Vec<u8>, Comes)>, end: &str) {
    let Some(project) = Project::new() else {
        return;
    };
    fs::create_dir(project.at("tmp")).expect("made");
    let file = format!("x.{end}");
    let mut wrong = Vec::new();
    for (name, bytes, comes) in cases {
        fs::write(project.at(&file), &bytes).expect("written");
        for args in [["show", &file], ["check", &file]] {
            let began = std::time::Instant::now();
            let out = limited(&project, &args);
            let said = String::from_utf8_lossy(&out.stderr);
            let code = out.status.code();
            if began.elapsed().as_millis() > 500 {
                eprintln!(
                    "{name}, {}: {:?}, {} bytes",
                    args[0],
                    began.elapsed(),
                    bytes.len()
                );
            }
            let is_well = match comes {
                Refused(why) => {
                    code.is_some_and(|code| code > 1) && said.contains(why) && said.len() > 20
                }
                Either => code.is_some_and(|code| code < 100),
            };
            if !is_well || said.contains("panicked") {
                wrong.push(format!("{name}: {args:?} {}: {said:.300}", out.status));
            }
        }
        // No unpacked files remain, and nothing was written elsewhere.
        let left = |folder: &str| fs::read_dir(project.at(folder)).expect("a folder").count();
        if (left(""), left("tmp")) != (3, 0) {
            wrong.push(format!("{name} left files"));
            let _ = fs::remove_dir_all(project.at("tmp"));
            fs::create_dir(project.at("tmp")).expect("made");
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
#[cfg(target_os = "linux")]
fn a_hostile_zip_is_borne() {
    opened(zips(), "zip");
}

#[test]
#[cfg(target_os = "linux")]
fn a_hostile_page_is_borne() {
    opened(pages(), "html");
}
