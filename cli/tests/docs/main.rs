//! Runs every block of commands in the docs, in the folder that its first line names, and compares the output with the page.
//! `PROSE_WRITE_DOCS=1` writes the current output into the pages.
//!
//! | a block's first line | the test |
//! |---|---|
//! | `sh in examples`, `sh in a new folder` | all commands succeed, in a copy of `examples/` or in an empty folder |
//! | `console in examples` | the same, and the output is that of the page; `…` stands for any text |
//! | `console in the same folder` | the same, after the commands of the block before it |
//! | … `with PostgreSQL` | the test replaces the page's address with the address of its own server |
//! | … `with serve` | `prosescope workflow serve` runs in the folder; `TOKEN` and `WORKFLOW` are set |
//! | … `until WORD` | the block does not end by itself, and is stopped after it printed the word |
//! | `sh to fill in` | the block has placeholders in angle brackets; its commands and options exist |
//! | `sh in the checkout` | its `cargo xtask` commands exist |
//! | `sh once released` | each line has the placeholder of the project's address |
//!
//! The checked pages are those of `blocks::pages`: all pages below `docs/`, and pages such as README.md.

mod blocks;
mod citations;
mod links;
mod paths;
mod shell;
mod workflows;

use std::sync::Mutex;
use std::thread;

use blocks::{Block, Place};
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::needs;
use shell::Folder;

/// The address of a PostgreSQL server on the pages. The test replaces it with the address of its own server.
const ADDRESS: &str = "postgresql://me@host/prose?sslmode=verify-full";

/// The placeholder for the address of the project, which is not public yet.
const PROJECT: &str = "https://PROJECT-ADDRESS";

/// The prefixes of the paths of generated pages. This test leaves these pages out, because other tests check them.
const GENERATED: &[&str] = &[
    "docs/reference/checks/",
    "docs/reference/commands/",
    "docs/reference/json/",
];

/// Number of pages whose commands run at once. Several run at once, because the commands mostly wait.
const AT_ONCE: usize = 4;

#[test]
fn the_commands_of_every_page_run() {
    let mut pages = blocks::pages();
    pages.retain(|page| !GENERATED.iter().any(|start| page.starts_with(start)));
    let (left, wrong) = (Mutex::new(pages), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(page) = next(&left) {
                    let found = check(&page);
                    wrong.lock().expect("the list").extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("the list");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn next(pages: &Mutex<Vec<String>>) -> Option<String> {
    pages.lock().expect("the pages").pop()
}

/// Runs the blocks of a page. Returns an error for each block that fails or whose output differs.
fn check(page: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for block in blocks::of(page) {
        let outcome = match block.place() {
            Ok(place) => tried(&block, &place),
            Err(why) => Err(why),
        };
        if let Err(why) = outcome {
            wrong.push(format!("{page}:{}: {why}\n", block.line));
        }
    }
    wrong
}

#[test]
fn the_readme_and_every_guide_show_commands() {
    for page in blocks::pages() {
        if page == "README.md" || page.starts_with("docs/guide/") {
            assert!(!blocks::of(&page).is_empty(), "{page}");
        }
    }
}

fn tried(block: &Block, place: &Place) -> Result<(), String> {
    let (with, until) = match place {
        Place::ToFillIn => return shell::exists(&block.text),
        Place::Checkout => return shell::is_of_xtask(&block.text),
        Place::Released => return is_placeholder(&block.text),
        Place::Folder { with, until, .. } => (with, until),
    };
    let mut text = block.text.clone();
    let mut folder = Folder::new(matches!(place, Place::Folder { examples: true, .. }));
    if with.postgres {
        let Some(cluster) = Cluster::shared() else {
            return Ok(());
        };
        text = text.replace(ADDRESS, &cluster.database());
    }
    if with.serve {
        text = text.replace("127.0.0.1:8737", &folder.serve());
    }
    if let Some(word) = until {
        // The port on the page may be in use on this machine, so a free port replaces it.
        let listen = "prosescope workflow serve --listen 127.0.0.1:0";
        return folder.until(&text.replace("prosescope workflow serve", listen), word);
    }
    match block.language.as_str() {
        "console" => {
            // The output contains durations, so the session needs a stopped clock, and is skipped without libfaketime.
            if needs::faketime().is_none() {
                return Ok(());
            }
            let now = folder.session(&block.earlier, &text);
            if blocks::matches(&text, &now) {
                return Ok(());
            }
            if std::env::var_os("PROSE_WRITE_DOCS").is_some() {
                block.rewrite(&now);
                return Ok(());
            }
            Err(format!(
                "PROSE_WRITE_DOCS=1 writes it anew; the commands print now\n{now}"
            ))
        }
        _ => folder.succeed(&[&block.earlier.join("\n"), "\n", &text].concat()),
    }
}

/// Checks that each line of a block `sh once released` contains the placeholder [`PROJECT`].
fn is_placeholder(text: &str) -> Result<(), String> {
    match text.lines().find(|line| !line.contains(PROJECT)) {
        Some(line) => Err(format!("it has an address: run it in a test: {line}")),
        None => Ok(()),
    }
}
