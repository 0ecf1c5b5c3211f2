use std::fmt::Write as _;

use anstyle::Style;
use prosescope_core::model::schema::POSTGRES_PREFIX;
use prosescope_core::model::text::count;
use prosescope_core::pages::session::SILENT;
use prosescope_core::pages::view::{
    AGAINST, ImportsView, IssuesView, Item, NodeRef, Overview, RunList, RunPart, RunSummary,
    Section, icon, tone,
};
use prosescope_core::record::render::text::escape;
use unicode_width::UnicodeWidthStr as _;

use super::style::{BAD, BOLD, FAINT, RESET, WAIT, of, status};
use super::table::{Fit, PrintedTable, cut, fit};
use super::{bytes, mark, more, run_line, section, wrap};

/// Maximum number of issues that `show` prints; `--json` prints all.
const ISSUES: usize = 10;

pub(crate) fn overview(
    view: &Overview,
    output: Option<&(&'static str, String)>,
    imports: &ImportsView,
    issues: &IssuesView,
    width: usize,
    terminal: bool,
) -> String {
    // Lines are cut only for a terminal. A script gets whole lines.
    let mut out = answer(view, if terminal { width } else { usize::MAX });
    out.push('\n');
    out.push_str(&run_line(view.program.as_deref(), &view.run));
    out.push_str(&wrap(&view.story.join(" "), width.min(88), ""));
    out.push('\n');
    facts(&mut out, view, output, width);
    let nodes = |title, nodes: &[NodeRef]| Section {
        title,
        about: "",
        items: nodes.iter().map(Item::from).collect(),
    };
    section(&mut out, &nodes("Where it stands", &view.positions), width);
    more(&mut out, view.position_count, view.positions.len());
    if let Some(failure) = &view.failure {
        let first = nodes("First cause", std::slice::from_ref(&failure.cause));
        section(&mut out, &first, width);
        let mut because = nodes("Because of it", &failure.because_of);
        // The errors of these rows repeat the first error, which is printed above.
        because.items.iter_mut().for_each(|item| item.error = None);
        section(&mut out, &because, width);
        more(&mut out, failure.because_of_count, failure.because_of.len());
    }
    let gates = view.pending_gates.iter().map(Item::from);
    let imports = imports.imports.iter().map(|import| {
        let word = import.nested_status.as_deref().unwrap_or_default();
        let source = import.source_url.as_deref().unwrap_or_default();
        let text = format!("{} {source} {word}", import.alias);
        Item::new(icon(word), tone(word), text)
    });
    let found = issues.issues.iter().take(ISSUES).map(|view| {
        let (mark, tone) = mark(view.issue.severity);
        let text = format!("{} {}", view.issue.rule, view.place);
        let mut item = Item::new(mark, tone, text);
        item.below.push(view.issue.message.clone());
        item
    });
    for (title, items) in [
        ("Waiting for a decision", gates.collect()),
        ("Imports", imports.collect()),
        ("Issues", found.collect()),
    ] {
        let about = "";
        let of = Section {
            title,
            about,
            items,
        };
        section(&mut out, &of, width);
    }
    if issues.issues.len() > ISSUES {
        let _ = writeln!(
            out,
            "  {FAINT}… {} more; --json prints all{RESET}",
            issues.issues.len() - ISSUES
        );
    }
    out
}

/// Formats the first three lines: the status of the run, the remaining statements, and what to do next.
fn answer(view: &Overview, width: usize) -> String {
    let mut out = String::new();
    let status = view.against.as_ref().map_or(&*view.status, |_| AGAINST);
    let _ = writeln!(
        out,
        "{}{}{RESET} {BOLD}{}{RESET}",
        of(status),
        icon(status),
        fit(&view.headline, width.saturating_sub(2))
    );
    if view.left.is_empty() {
        return out;
    }
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "  {FAINT}{name:8}{RESET}  {text}");
    };
    let room = width.saturating_sub(12);
    line("not done", fit(&view.left, room));
    let Some(command) = &view.next_command else {
        line("next", fit(&view.next, room));
        return out;
    };
    // People copy the command, so it is never cut. The reason gets the remaining width.
    let command = escape(command, false);
    let room = room.saturating_sub(command.width() + 4);
    let reason = match room {
        ..20 => String::new(),
        _ => format!("  {FAINT}# {}{RESET}", fit(&view.next, room)),
    };
    line("next", format!("{command}{reason}"));
    out
}

/// Returns the reason for the status. Leaves out the reason of an unknown status and the idle time of a running run,
/// because the headline already contains them.
fn reason(view: &Overview) -> String {
    let restated = format!("the {} says {}", view.status_source, view.status);
    if view.status_reason == restated || view.headline.ends_with(&view.status_reason) {
        return String::new();
    }
    let idle = |clause: &&str| clause.starts_with("running") || *clause == "no time is recorded";
    let mut clauses = view.status_reason.split("; ").peekable();
    while clauses
        .next_if(|clause| view.status == "running" && idle(clause))
        .is_some()
    {}
    clauses.collect::<Vec<_>>().join("; ")
}

fn facts(out: &mut String, view: &Overview, output: Option<&(&'static str, String)>, width: usize) {
    let none = || view.no_time().to_owned();
    let mut fact = |name: &str, value: String| {
        let value = wrap(&value, width, &" ".repeat(17));
        let _ = writeln!(out, "  {FAINT}{name:<15}{RESET}{}", value.trim());
    };
    fact(
        "started",
        match (&view.started, &view.started_from) {
            (Some(at), Some(from)) => {
                format!("{at} (from {from})")
            }
            (Some(at), None) => at.with_zone(),
            (None, _) => none(),
        },
    );
    let from = view.last_sign_from.as_ref();
    let from = from.map_or(String::new(), |from| format!(" ({from})"));
    let ago = view.last_sign_ago.as_ref();
    let ago = ago.map_or(String::new(), |ago| format!(", {ago}"));
    let sign = view.last_sign.as_ref();
    fact(
        "last sign",
        sign.map_or_else(none, |at| format!("{}{from}{ago}", at.with_zone())),
    );
    if let Some(at) = &view.file_changed {
        fact(
            "file changed",
            format!("{at} (copying the run changes this date too)"),
        );
    }
    fact("took", view.duration.clone().unwrap_or_else(none));
    let status = match view.status.as_str() {
        "" | "unknown" => view.status_from(),
        status => format!("{status}, {}", view.status_from()),
    };
    let because = match &*reason(view) {
        "" => status,
        reason => format!("{status}: {reason}"),
    };
    fact("status", because);
    for (source, word) in &view.claims {
        fact("", format!("{source}: {word}"));
    }
    let unread = |part| view.is_unread(part);
    let counts = view.by_status.iter();
    let counts = counts.map(|c| format!("{} {}", count(c.count.into()), c.status));
    let counts = match counts.collect::<Vec<_>>().join(", ") {
        some if !some.is_empty() => some,
        _ if unread(RunPart::Statements) => "not read".to_owned(),
        _ => "not recorded".to_owned(),
    };
    fact("statements", counts);
    fact(
        "values",
        match view.bindings {
            0 if unread(RunPart::Bindings) => "not read".to_owned(),
            n => format!("{} ({})", count(n.into()), bytes(view.bindings_bytes)),
        },
    );
    if let Some((what, output)) = output {
        fact(what, fit(&escape(output, false), width.saturating_sub(17)));
    }
    fact("read as", view.form.clone());
    for (key, value) in &view.facts {
        fact(&cut(key, 14), value.clone());
    }
    if let Some(missing) = &view.missing {
        fact("missing", missing.clone());
    }
    for id in &view.other_runs {
        fact("other run", id.clone());
    }
    fact(
        "issues",
        match view.issues.total() {
            0 => "none".to_owned(),
            _ => counted(view.issues),
        },
    );
}

/// Formats counts such as `1 error, 2 notes`. Zero counts are left out.
pub(super) fn counted(issues: prosescope_core::pages::view::Counts) -> String {
    let words = [
        (issues.error, "error"),
        (issues.warning, "warning"),
        (issues.note, "note"),
    ];
    let words: Vec<String> = words
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, word)| format!("{n} {word}{}", if *n == 1 { "" } else { "s" }))
        .collect();
    words.join(", ")
}

pub(crate) fn runs(list: &RunList, width: usize) -> String {
    if list.runs.is_empty() {
        let label = escape(&list.label, false);
        let mut out = match list.total {
            0 => format!("no runs in {label}\n"),
            all => format!("no run in {label} matches (of {all})\n"),
        };
        notes(&mut out, list);
        return out;
    }
    let mut shapes = (0..=5).map(|left_out| table_of(&list.runs, left_out));
    let table = shapes.find(|table| table.least() <= width);
    let table = table.unwrap_or_else(|| table_of(&list.runs, 5));
    let mut out = table.print(width);
    if out.contains("STARTED") && list.runs.iter().any(|run| run.started_from.is_some()) {
        let _ = writeln!(
            out,
            "{FAINT}* start not recorded; this is the time in the run's id, without a time zone{RESET}"
        );
    }
    if list.runs.len() < list.total as usize {
        let _ = writeln!(
            out,
            "{FAINT}{} of {} runs{RESET}",
            list.runs.len(),
            list.total
        );
    }
    notes(&mut out, list);
    for run in &list.runs {
        if let Some(error) = &run.error {
            let _ = write!(
                out,
                "\n{BAD}✗ {}{RESET}\n{}",
                escape(&run.title(), false),
                wrap(error, width, "  ")
            );
        }
    }
    out
}

/// Adds notes about folders that the search for runs could not read.
fn notes(out: &mut String, list: &RunList) {
    for issue in &list.issues {
        let _ = writeln!(out, "{FAINT}· {}{RESET}", escape(&issue.message, false));
    }
}

/// Returns the table of runs. `left_out` is the number of details that a narrow terminal leaves out, in this order: ids
/// that differ from the name of the folder, the issues, which `show` lists, the time of day, the duration, the day. The
/// name of a run in PostgreSQL is never cut, so that people can copy it into a command.
fn table_of(runs: &[RunSummary], left_out: u32) -> PrintedTable {
    let is_in = |order: u32| left_out < order;
    let (ids, issues, time, took, day) = (is_in(1), is_in(2), is_in(3), is_in(4), is_in(5));
    let on_server = runs
        .iter()
        .filter(|run| run.name.starts_with(POSTGRES_PREFIX));
    let least = on_server.map(|run| run.name.width()).max().unwrap_or(22);
    let has_tokens = runs.iter().any(|run| run.tokens.is_some());
    let mut columns = vec![
        ("STATUS", Fit::Fixed),
        (
            "RUN",
            if ids {
                Fit::Fixed
            } else {
                Fit::Down(least.max(22))
            },
        ),
        ("PROGRAM", Fit::Down(6)),
        ("STARTED", Fit::Fixed),
        ("AGE", Fit::Right),
        ("TOOK", Fit::Right),
        ("GATES", Fit::Right),
        ("ISSUES", Fit::Right),
    ];
    if has_tokens {
        columns.push(("TOKENS", Fit::Right));
    }
    let mut table = PrintedTable::new(&columns);
    let plain = Style::new();
    let some = |n: u32| if n == 0 { String::new() } else { n.to_string() };
    for run in runs {
        let (word, tone) = match run.error {
            Some(_) => ("unreadable", BAD),
            None if run.stale => (SILENT, WAIT),
            None => (run.status.as_str(), of(&run.status)),
        };
        let issue = if run.issues.error > 0 { BAD } else { WAIT };
        let started = match (&run.started, &run.error) {
            (Some(_), _) if !day => String::new(),
            (Some(at), _) => {
                let minute = at.minute();
                let shown = match minute.split_once(' ') {
                    Some((day, _)) if !time => day.to_owned(),
                    _ => minute,
                };
                let mark = if run.started_from.is_some() { "*" } else { "" };
                format!("{shown}{mark}")
            }
            (None, None) if day => "unknown".to_owned(),
            (None, _) => String::new(),
        };
        let lasted = run.duration.clone().filter(|_| took);
        let run_name = if ids || run.name.is_empty() {
            run.title()
        } else {
            run.name.clone()
        };
        // A run that went past a gate never looks like one that did what its program says.
        let status = match run.against {
            Some(_) => (format!("{} {word}", icon(AGAINST)), BAD),
            None => (status(word), tone),
        };
        let found = if issues {
            some(run.issues.error + run.issues.warning)
        } else {
            String::new()
        };
        let mut cells = vec![
            status,
            (run_name, BOLD),
            (run.program.clone().unwrap_or_default(), plain),
            (started, FAINT),
            (run.age.clone().unwrap_or_default(), plain),
            (lasted.unwrap_or_default(), plain),
            (some(run.pending_gates), WAIT),
            (found, issue),
        ];
        if has_tokens {
            let tokens = run.tokens.as_ref().map(|of| count(of.fresh));
            cells.push((tokens.unwrap_or_default(), plain));
        }
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use prosescope_core::model::time::Stamp;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_list_fits_a_terminal_and_keeps_what_commands_take() {
        let run = |id: &str, name: &str| RunSummary {
            id: id.to_owned(),
            name: name.to_owned(),
            program: Some("a-program-with-a-long-name.prose".to_owned()),
            status: "interrupted".to_owned(),
            started: Some(Stamp::parse("2026-01-15 14:30:52")),
            started_from: Some("the run's id".to_owned()),
            age: Some("311d".to_owned()),
            duration: Some("39m 33s".to_owned()),
            pending_gates: 1,
            issues: prosescope_core::pages::view::Counts {
                error: 2,
                ..Default::default()
            },
            ..RunSummary::default()
        };
        let list = RunList {
            runs: vec![
                run("20260115-143052-a7b3c9", "20260115-143052-a7b3c9"),
                run("20260115-143052-a7b3c9", "copy"),
            ],
            total: 2,
            ..RunList::default()
        };
        for (width, has) in [
            (80, &["2026-01-15* ", "311d"][..]),
            (
                140,
                &[
                    "copy (20260115-143052-a7b3c9)",
                    "2026-01-15 14:30*",
                    "39m 33s",
                ],
            ),
        ] {
            let shown = plain(&runs(&list, width));
            for line in shown.lines() {
                assert!(line.width() <= width, "{}: {line}", line.width());
            }
            for text in has.iter().chain(&["20260115-143052-a7b3c9 "]) {
                assert!(shown.contains(text), "{text}: {shown}");
            }
        }
    }

    #[test]
    fn a_list_names_a_run_in_postgresql_once_and_whole() {
        let name = "postgres:20260115-143052-a7b3c9";
        let run = RunSummary {
            id: "20260115-143052-a7b3c9".to_owned(),
            name: name.to_owned(),
            program: Some("a-program-with-a-long-name.prose".to_owned()),
            status: "interrupted".to_owned(),
            started: Some(Stamp::parse("2026-01-15 14:30:52")),
            age: Some("311d".to_owned()),
            pending_gates: 1,
            ..RunSummary::default()
        };
        let list = RunList {
            runs: vec![run],
            total: 1,
            ..RunList::default()
        };
        for width in [80, 100, 200] {
            let shown = plain(&runs(&list, width));
            assert!(shown.contains(name), "{shown}");
            assert_eq!(shown.matches("a7b3c9").count(), 1, "{shown}");
            assert!(shown.lines().all(|line| line.width() <= width), "{shown}");
        }
    }

    #[test]
    fn the_answer_takes_three_lines_and_never_cuts_a_command() {
        let command = format!("prosescope resume {}", "a/long/path/".repeat(9));
        for next_command in [None, Some("prosescope resume r".to_owned()), Some(command)] {
            let view = Overview {
                headline: "Failed at line 3: ".to_owned() + &"word ".repeat(40),
                left: "up to 14 statements, ".repeat(9),
                next: "change what made it fail ".repeat(9),
                next_command: next_command.clone(),
                ..Overview::default()
            };
            let shown = plain(&answer(&view, 80));
            assert_eq!(shown.lines().count(), 3, "{shown}");
            let whole = next_command.unwrap_or_default();
            assert!(shown.contains(&whole), "{shown}");
            for line in shown.lines().filter(|line| !line.contains("/long/")) {
                assert!(line.width() <= 80, "{}: {line}", line.width());
            }
        }
    }

    #[test]
    fn what_could_not_be_read_is_not_said_to_be_none() {
        use prosescope_core::pages::view::Unread;
        let shown = |unread: Vec<Unread>| {
            let view = Overview {
                unread,
                ..Overview::default()
            };
            let mut out = String::new();
            facts(&mut out, &view, None, 80);
            plain(&out)
        };
        let lacking = Unread {
            parts: RunPart::ALL.to_vec(),
            ..Unread::default()
        };
        for (unread, statements, values) in [
            (vec![], "not recorded", "0 (0 B)"),
            (vec![lacking], "not read", "not read"),
        ] {
            let shown = shown(unread);
            for (name, value) in [("statements", statements), ("values", values)] {
                let line = format!("  {name:<15}{value}");
                assert!(shown.lines().any(|l| l == line), "{line}: {shown}");
            }
        }
    }
}
