//! Every block of commands in the documents does what the page says: it runs as pasted, in the folder that its first line names, and
//! prints what the page shows. `PROSE_WRITE_DOCS=1` writes what sessions print anew.
//!
//! | a block's first line | what is done |
//! |---|---|
//! | `sh in examples`, `sh in a new folder` | all commands succeed, in a copy of `examples/` or in an empty folder |
//! | `console in examples` | the same, and they print what the page shows; `…` stands for what is left out |
//! | … `with PostgreSQL` | the page's address is that of a server of the test |
//! | … `with serve` | a server runs there; `TOKEN` and `WORKFLOW` are set |
//! | … `until WORD` | it goes on for ever, and is stopped once it has printed the word |
//! | `sh to fill in` | it has placeholders in angle brackets; its commands and options exist |
//! | `sh in the checkout` | its `cargo xtask` commands exist |

mod blocks;
mod citations;
mod paths;
mod shell;

use blocks::{Block, Place};
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::needs;
use shell::Folder;

/// The address that pages show, which a test's own stands in for.
const ADDRESS: &str = "postgresql://me@host/prose?sslmode=verify-full";

/// Runs the blocks of a page, and gives what is wrong with each.
fn check(page: &str) {
    let mut wrong = Vec::new();
    let mut ran = 0;
    for block in blocks::of(page) {
        let outcome = match block.place() {
            Ok(place) => tried(&block, &place),
            Err(why) => Err(why),
        };
        match outcome {
            Ok(()) => ran += 1,
            Err(why) => wrong.push(format!("{page}:{}: {why}\n", block.line)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran > 0, "{page} has no block of commands");
}

fn tried(block: &Block, place: &Place) -> Result<(), String> {
    let (with, until) = match place {
        Place::ToFillIn => return shell::exists(&block.text),
        Place::Checkout => return shell::is_of_xtask(&block.text),
        Place::Folder { with, until, .. } => (with, until),
    };
    if block.text.contains("ssh-keygen ") && needs::ssh_keygen().is_none() {
        return Ok(());
    }
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
        // Another server may listen at the port that the page names.
        let listen = "prosescope serve --listen 127.0.0.1:0";
        return folder.until(&text.replace("prosescope serve", listen), word);
    }
    match block.language.as_str() {
        "console" => {
            // Durations are a part of what is printed: the clock stands still.
            if needs::faketime().is_none() {
                return Ok(());
            }
            let now = folder.session(&text);
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
        _ => folder.succeed(&text),
    }
}

macro_rules! pages {
    ($($name:ident = $page:literal,)*) => {
        $(#[test] fn $name() { check($page); })*
        /// Pages whose blocks run.
        const PAGES: &[&str] = &[$($page,)*];
    };
}

pages! {
    the_commands_of_the_readme_run = "README.md",
    the_commands_about_recording_run = "docs/recording.md",
    the_commands_about_postgresql_run = "docs/postgres.md",
    the_commands_about_workflows_run = "docs/workflows.md",
    the_commands_about_serving_run = "docs/serve.md",
    the_commands_about_sharing_run = "docs/sharing.md",
    the_commands_about_the_audit_trail_run = "docs/audit.md",
}

/// Pages that are written from the program itself, and the page of rules, whose blocks are inputs.
const GENERATED: &[&str] = &["docs/cli.md", "docs/json.md", "docs/checks.md"];

#[test]
fn no_page_has_a_block_of_commands_that_nothing_runs() {
    let others = blocks::pages()
        .into_iter()
        .filter(|page| !PAGES.contains(&page.as_str()) && !GENERATED.contains(&page.as_str()));
    for page in others {
        let lines: Vec<usize> = blocks::of(&page).iter().map(|block| block.line).collect();
        assert_eq!(
            lines, [0_usize; 0],
            "{page}: name the page in cli/tests/docs/main.rs"
        );
    }
}
