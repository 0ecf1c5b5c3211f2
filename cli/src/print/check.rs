use std::fmt::Write as _;

use prosescope_core::pages::view::{CheckReport, CheckedRun, IssueView, RuleView};
use prosescope_core::record::render::text::escape;

use super::overview::counted;
use super::style::{BAD, BOLD, FAINT, OK, RESET, toned};
use super::{mark, run_line, wrap};

/// Maximum width of a printed line, even if the terminal is wider.
const WIDTH: usize = 96;

pub(crate) fn checked(report: &CheckReport, width: usize) -> String {
    let width = width.min(WIDTH);
    let mut out = String::new();
    // In a check of many runs, only runs with issues are printed.
    let many = report.runs.len() > 1;
    for run in &report.runs {
        if many && run.issues.is_empty() && run.error.is_none() {
            continue;
        }
        one(&mut out, report, run, width);
        if many || report.counts.total() > 0 {
            out.push('\n');
        }
    }
    let unread = report.runs.iter().filter(|run| run.error.is_some()).count();
    let read = report.runs.len() - unread;
    let mut runs = match (report.runs.len(), read) {
        (0, _) => ": no runs found".to_owned(),
        (1, _) => String::new(),
        (_, 1) => " in 1 run".to_owned(),
        _ => format!(" in {read} runs"),
    };
    if many && unread > 0 {
        let _ = write!(runs, "; {BAD}{unread} could not be read{RESET}");
    }
    if report.counts.total() > 0 {
        let _ = writeln!(out, "{BOLD}{}{RESET}{runs}", counted(report.counts));
        let _ = writeln!(
            out,
            "{FAINT}`prosescope check --explain RULE` explains a rule{RESET}"
        );
    } else if many || report.runs.is_empty() {
        let _ = writeln!(out, "{OK}nothing found{RESET}{runs}");
    }
    out
}

fn one(out: &mut String, report: &CheckReport, run: &CheckedRun, width: usize) {
    out.push_str(&run_line(run.program.as_deref(), &run.run));
    if let Some(error) = &run.error {
        let _ = write!(
            out,
            "\n{BAD}✗ unreadable{RESET}\n{}",
            wrap(error, width, "    ")
        );
        return;
    }
    if run.issues.is_empty() {
        let _ = writeln!(out, "{OK}✓{RESET} nothing found");
    }
    // Neighbouring issues with the same rule and severity are printed as one group.
    let mut rest = run.issues.as_slice();
    while let Some(first) = rest.first() {
        let key = |view: &IssueView| (view.issue.severity, view.issue.rule.clone());
        let same = rest
            .iter()
            .take_while(|view| key(view) == key(first))
            .count();
        let (group, after) = rest.split_at(same);
        rest = after;
        let rule = report.rules.iter().find(|r| r.name == first.issue.rule);
        together(out, group, rule, width);
    }
}

fn together(out: &mut String, group: &[IssueView], rule: Option<&RuleView>, width: usize) {
    let Some(first) = group.first() else { return };
    let (mark, tone) = mark(first.issue.severity);
    let tone = toned(tone);
    let times = match group.len() {
        1 => String::new(),
        n => format!("  {FAINT}{n} times{RESET}"),
    };
    let _ = writeln!(
        out,
        "\n{tone}{mark} {}{RESET}  {BOLD}{}{RESET}{times}",
        first.issue.severity.word(),
        escape(&first.issue.rule, false)
    );
    for (at, view) in group.iter().enumerate() {
        if !view.place.is_empty() {
            faint(out, &view.place, width, "    ");
        }
        let indent = if view.place.is_empty() {
            "    "
        } else {
            "      "
        };
        out.push_str(&wrap(&view.issue.message, width, indent));
        // A hint that several issues share is printed once, below the last of them.
        let hint = view.issue.hint.as_str();
        let again = group
            .get(at + 1)
            .is_some_and(|next| next.issue.hint == hint);
        if !hint.is_empty() && !again {
            faint(out, hint, width, "      ");
        }
    }
    if let Some(rule) = rule {
        let text = wrap(&format!("→ {}", rule.fix), width, "    ");
        out.push_str(&text);
    }
}

fn faint(out: &mut String, text: &str, width: usize, indent: &str) {
    for line in wrap(text, width, indent).lines() {
        let _ = writeln!(out, "{FAINT}{line}{RESET}");
    }
}

pub(crate) fn explained(rule: &RuleView, width: usize) -> String {
    let width = width.min(WIDTH);
    let mut out = String::new();
    let words: Vec<&str> = rule.severities.iter().map(|s| s.word()).collect();
    let _ = writeln!(
        out,
        "{BOLD}{}{RESET}  {FAINT}{} · {}{RESET}\n",
        rule.name,
        words.join(" or "),
        rule.area.to_lowercase()
    );
    out.push_str(&wrap(&rule.meaning, width, ""));
    out.push('\n');
    let why = format!("Why is this bad: {}", rule.why);
    out.push_str(&wrap(&why, width, ""));
    out.push('\n');
    out.push_str(&wrap(&format!("What to do: {}", rule.fix), width, ""));
    for part in &rule.example {
        if part.language.is_empty() {
            out.push('\n');
            out.push_str(&wrap(&format!("Example: {}", part.text), width, ""));
            continue;
        }
        let _ = writeln!(out, "\nExample of such a run, {}:\n", part.title);
        for line in part.text.lines() {
            let _ = writeln!(out, "    {}", escape(line, false));
        }
    }
    // The pages of rules call the page of decisions "errata", which a reader of this text cannot open by that name.
    let source = rule
        .source
        .replace("errata ", "docs/contribute/errata.md, ");
    out.push('\n');
    out.push_str(&wrap(&format!("Source: {source}"), width, ""));
    out
}

/// Formats all rules, by area.
pub(crate) fn rules(rules: &[RuleView], width: usize) -> String {
    let width = width.min(WIDTH);
    let mut out = String::new();
    let mut area = "";
    for rule in rules {
        if rule.area != area {
            area = &rule.area;
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{BOLD}{area}{RESET}\n");
        }
        let words: Vec<&str> = rule.severities.iter().map(|s| s.word()).collect();
        let words = words.join(" or ");
        let _ = writeln!(out, "  {}  {FAINT}{words}{RESET}", rule.name);
        out.push_str(&wrap(&rule.meaning, width, "    "));
    }
    let _ = writeln!(
        out,
        "\n{FAINT}`prosescope check --explain RULE` prints what to do, with an example.{RESET}"
    );
    out
}

#[cfg(test)]
mod tests {
    use prosescope_core::model::issue::Severity;

    use super::*;
    use prosescope_core::model::issue::Issue;
    use prosescope_core::pages::check::{report, rule};
    use unicode_width::UnicodeWidthStr;

    fn issue(issue: Issue, place: &str) -> IssueView {
        IssueView {
            issue,
            node: None,
            binding: None,
            place: place.to_owned(),
        }
    }

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn issues_of_one_rule_stand_together_and_fit_a_terminal() {
        let twice = |row| {
            let message = format!("research stands twice at the root: rows {row} and 9");
            Issue::warning("duplicate-binding", message).hint("The later row counts.")
        };
        let run = CheckedRun {
            run: "r1".to_owned(),
            program: Some("a\u{1b}[2Jb.prose".to_owned()),
            issues: vec![
                issue(twice(1), "state.db, bindings, row 1, name"),
                issue(twice(2), "state.db, bindings, row 2, name"),
                issue(Issue::noted("utf16", "the texts are UTF-16"), ""),
            ],
            ..CheckedRun::default()
        };
        let text = plain(&checked(&report(vec![run], &[], Severity::Note), 80));
        assert!(text.lines().all(|line| line.width() <= 80), "{text}");
        let fix = wrap(&format!("→ {}", rule("utf16").unwrap().fix), 80, "    ");
        for part in [
            "a\\u{1b}[2Jb.prose  r1\n",
            "! warning  duplicate-binding  2 times\n    state.db, bindings, row 1, name\n      research stands twice at the root: rows 1 and 9\n    state.db, bindings, row 2, name\n",
            "rows 2 and 9\n      The later row counts.\n    → ",
            &format!("· note  utf16\n    the texts are UTF-16\n{fix}"),
            "2 warnings, 1 note\n",
        ] {
            assert!(text.contains(part), "{part}\n---\n{text}");
        }
    }

    #[test]
    fn a_rule_is_explained_with_its_example() {
        let text = plain(&explained(rule("status-disagrees").unwrap(), 80));
        assert!(text.starts_with("status-disagrees  warning · trace\n"));
        assert!(
            text.ends_with("\nSource: docs/contribute/errata.md, T10\n"),
            "{text}"
        );
        for title in ["\n\nWhy is this bad: ", "\n\nWhat to do: "] {
            assert!(text.contains(title), "{text}");
        }
        assert!(text.contains("Example of such a run, state.md:\n\n    # Execution State\n"));
    }
}
