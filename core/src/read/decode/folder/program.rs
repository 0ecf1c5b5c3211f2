//! Finds and reads the program in a run folder.

use super::tree::RunTree;
use crate::model::Program;
use crate::model::issue::Issue;
use crate::program::{self, MOST_BYTES, Statement, StatementKind};
use crate::read::decode::preamble;
use crate::read::decode::room::bytes_of_program;
use crate::read::decode::sealed::is_sealed;

/// Names of a run's own copy of its program, OpenProse's name first (docs/reference/formats.md: "may be missing,
/// shortened or called `current.prose`").
const NAMES: [&str; 3] = ["program.prose", "current.prose", "root.prose.md"];
/// A file of this name is the program only if it contains code or declares itself a program. Other files of this name
/// merely describe a program.
const IN_MARKDOWN: &str = "program.md";

/// Whether a file at the top of the run's folder has a program's name.
pub(crate) fn is_program_name(path: &str) -> bool {
    let is_prose = path.ends_with(".prose") || path.ends_with(".prose.md");
    !path.contains('/') && (is_prose || path == IN_MARKDOWN)
}

/// Finds and reads the program; `named` is the program's name in the state file or the database.
pub(super) fn read(tree: &mut RunTree<'_>, named: Option<&str>) -> Program {
    let own = NAMES.iter().find_map(|name| tree.get(name));
    let base = named.map(|name| name.rsplit(['/', '\\']).next().unwrap_or(name));
    let others: Vec<_> = tree
        .files()
        .iter()
        .copied()
        .filter(|f| {
            let path = tree.relative(f);
            is_program_name(path) && path != IN_MARKDOWN && !NAMES.contains(&path)
        })
        .collect();
    let by_name = others
        .iter()
        .find(|f| Some(tree.relative(f)) == base)
        .copied();
    let file = own.or(by_name).or_else(|| others.first().copied());
    let file = file.or_else(|| {
        let file = tree.get(IN_MARKDOWN)?;
        is_program(program::first_lines(&tree.text(file, MOST_BYTES)?)).then_some(file)
    });
    let Some(file) = file else {
        return Program {
            path: named.map(Into::into),
            ..Program::default()
        };
    };
    let path = tree.relative(file);
    if own.is_none() && by_name.is_none() && others.len() > 1 {
        let names: Vec<&str> = others.iter().take(5).map(|f| tree.relative(f)).collect();
        let message = format!("the folder contains several programs: {}", names.join(", "));
        let issue = Issue::noted("several-programs", message).at_file(path);
        tree.issue(issue.hint(
            "The first program is used. If another one ran, rename that file to `program.prose`.",
        ));
    }
    let mut source = tree.text(file, MOST_BYTES);
    if source.as_deref().is_some_and(is_sealed) {
        source = None;
        let message = format!("{path} is not readable: it is encrypted");
        let issue = Issue::warning("program-encrypted", message).at_file(path);
        tree.issue(
            issue.hint("Statements cannot be linked to program lines. Decrypt the file and read the run again."),
        );
    }
    let source = source.as_deref().map(|text| {
        let first = program::first_lines(text);
        if first.len() < text.len() {
            let issue = Issue::warning("file-cut", program::cut()).at_file(path);
            tree.issue(issue.hint("Open the file itself to see the other lines."));
        }
        tree.held += bytes_of_program(first);
        first.into()
    });
    Program {
        path: Some(named.filter(|n| !n.is_empty()).unwrap_or(path).into()),
        source,
        source_from: Some(path.into()),
    }
}

/// Whether a text is a program, declares itself a program (`kind: program` in front matter), or is an encrypted
/// envelope that may contain a program.
fn is_program(text: &str) -> bool {
    let is_code = |statement: &Statement| statement.kind != StatementKind::Other;
    let mut head = preamble::front_matter(text)
        .map_or("", |(head, _)| head)
        .lines();
    let kind = head.find_map(|line| preamble::pair(line).filter(|pair| pair.key == "kind"));
    let named = kind.is_some_and(|pair| matches!(pair.value, "program" | "system"));
    named || is_sealed(text) || program::scan(text).statements.iter().any(is_code)
}
