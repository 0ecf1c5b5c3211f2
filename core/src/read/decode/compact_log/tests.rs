use super::*;
use crate::model::{CompactLog, LogEvent, LogLine, RunStatus};

/// Describes a line in a few words: number, branch and frame, event, note.
fn words(line: &LogLine) -> String {
    let mut out = line.number.map_or("-".to_owned(), |n| n.to_string());
    if let Some(branch) = &line.branch {
        let dot = if branch.starts_with(|c: char| c.is_ascii_digit()) {
            "."
        } else {
            ""
        };
        out.push_str(&format!("{dot}{branch}"));
    }
    if let Some(frame) = line.frame {
        out.push_str(&format!("#{frame}"));
    }
    let number = |n: &Option<u32>| n.map_or("?".to_owned(), |n| n.to_string());
    let id = |id: &Option<i64>| id.map_or(String::new(), |id| format!("#{id}"));
    out.push_str(&match &line.event {
        LogEvent::Statement { text, status: None } => format!(" text {text}"),
        LogEvent::Statement {
            text,
            status: Some(status),
        } => format!(" {} {text}", status.word()),
        LogEvent::Fork { branches } => format!(" fork {}", branches.join("|")),
        LogEvent::Join { status } => format!(" join {}", status.word()),
        LogEvent::Round { n, max, over, exit } => format!(
            " round {}/{}{}{}",
            number(n),
            number(max),
            if *over { " over" } else { "" },
            if *exit { " exit" } else { "" }
        ),
        LogEvent::Enter {
            block,
            id: frame,
            status,
        } => format!(
            " enter {block}{} {}",
            id(frame),
            status.as_ref().map_or("", |s| s.word())
        ),
        LogEvent::Leave { status } => format!(" leave {}", status.word()),
        LogEvent::Gate { gate, status } => format!(" gate {gate} {}", status.word()),
        LogEvent::Retry { text, attempt, max } => {
            format!(" retry {} {text} of {}", number(attempt), number(max))
        }
        LogEvent::Trailer { status, at } => format!(
            " {} at {}",
            status.word(),
            at.as_ref().map_or("?".to_owned(), |at| at.to_string())
        ),
        LogEvent::Note => " note".to_owned(),
    });
    if let Some(held) = line.held {
        out.push_str(if held { " held" } else { " not held" });
    }
    if line.deferred {
        out.push_str(" deferred");
    }
    let mut out = out.trim_end().to_owned();
    if let Some(note) = &line.note {
        out.push_str(&format!(" ({note})"));
    }
    out
}

fn read(text: &str) -> CompactLog {
    parse(text).0
}

fn all(text: &str) -> Vec<String> {
    read(text).lines.iter().map(words).collect()
}

/// Every example of docs/reference/formats.md, the marks of later OpenProse versions, and variants that writers use.
#[test]
fn every_kind_of_line_is_read() {
    for (line, expected) in [
        ("1→ plan ✓", "1 completed plan"),
        ("4→ ✓", "4 completed"),
        ("4-> ✓", "4 completed"),
        (
            "  12 -> research ✓ (72/72 tests pass)",
            "12 completed research ((72/72 tests pass))",
        ),
        ("13→ commit+tag+push ✓", "13 completed commit+tag+push"),
        ("- 2→ code ✅\u{fe0f}", "2 completed code"),
        ("→ code ✓", "- completed code"),
        ("5→ ✗ err", "5 failed (err)"),
        ("5→ fetch ✗: no network", "5 failed fetch (no network)"),
        (
            "3→ ∥start system_prompt,agents_md",
            "3 fork system_prompt|agents_md",
        ),
        ("3-> ∥start a, b (first)", "3 fork a|b (first)"),
        ("3→ ∥start [a, b]", "3 fork a|b"),
        ("3→ ∥start", "3 fork"),
        ("3a→ system_prompt ✓", "3a completed system_prompt"),
        ("3c → ✗ lost", "3c failed (lost)"),
        ("3.1→ draft ✓", "3.1 completed draft"),
        ("3→ ∥done", "3 join joined"),
        ("3→ ∥done ✓", "3 join joined"),
        ("3→ ∥failed no quorum", "3 join failed (no quorum)"),
        ("5→ loop:2/5 exit(**c**)", "5 round 2/5 exit (c)"),
        ("5→ loop:2/5", "5 round 2/5"),
        ("5→ loop:3", "5 round 3/?"),
        ("5→ loop:3/∞ still failing", "5 round 3/? (still failing)"),
        ("5→ loop:2/5 ✓", "5 round 2/5 over"),
        ("5→ loop exit(**done**)", "5 round ?/? exit (done)"),
        ("5→ loop over the list ✓", "5 completed loop over the list"),
        (
            "5→ block:implement#1 TASK-001",
            "5 enter implement#1 (TASK-001)",
        ),
        ("5→ block:implement", "5 enter implement"),
        (
            "5→ block:implement#2 TASK-002 ✓",
            "5 enter implement#2 completed (TASK-002)",
        ),
        ("5→ #1 block:sub#3", "5#1 enter sub#3"),
        ("5→ #1 impl ✓", "5#1 completed impl"),
        ("5→ #1 ✓", "5#1 completed"),
        ("5→ #1 done", "5#1 leave completed"),
        ("5→ #1 done ✓", "5#1 leave completed"),
        ("5→ #1 failed (timeout)", "5#1 leave failed (timeout)"),
        ("5→ #1 impl done", "5#1 completed impl"),
        ("5a→ #2 loop:1/2", "5a#2 round 1/2"),
        (
            "6→ gate:fast_tests ✓ approved",
            "6 gate fast_tests approved",
        ),
        ("6→ gate:fast_tests pending", "6 gate fast_tests pending"),
        (
            "6→ gate:fast_tests ⏳ ask ops",
            "6 gate fast_tests pending (ask ops)",
        ),
        ("6→ gate:fast_tests", "6 gate fast_tests pending"),
        (
            "6→ gate:fast_tests ✗ rejected by ops",
            "6 gate fast_tests rejected (by ops)",
        ),
        (
            "6→ gate:fast_tests timed out",
            "6 gate fast_tests timeout (out)",
        ),
        (
            "6→ gate ✓ (72/72 tests pass)",
            "6 gate  approved ((72/72 tests pass))",
        ),
        (
            "6→ gate **all pass** ✗ 3 fail",
            "6 gate all pass rejected (3 fail)",
        ),
        ("7→ if(false) skip", "7 skipped if(false) not held"),
        (
            "7→ if(a b) skipped (not needed)",
            "7 skipped if(a b) not held (not needed)",
        ),
        ("7→ if(true)", "7 completed if(true) held"),
        ("7→ if(true) ✓", "7 completed if(true) held"),
        (
            "7→ if(false) ✓ n is 4",
            "7 skipped if(false) not held (n is 4)",
        ),
        ("7→ if: false (n is 4)", "7 skipped if not held (n is 4)"),
        ("7→ if: true", "7 completed if held"),
        ("7→ if = True, all pass", "7 completed if held (all pass)"),
        (
            "7→ elif **it (really) rains**: false",
            "7 skipped elif **it (really) rains** not held",
        ),
        ("7→ if (x) -> false", "7 skipped if (x) not held"),
        (
            "7→ if (f(x) > (2)) → true",
            "7 completed if (f(x) > (2)) held",
        ),
        ("7→ if x > 3 skip (small)", "7 skipped if x > 3 (small)"),
        ("7→ else not executed", "7 skipped else not held"),
        (
            "7→ else: taken (no plan)",
            "7 completed else held (no plan)",
        ),
        (
            "7→ option \"slow\": not taken",
            "7 text option \"slow\": not taken",
        ),
        ("7b→ #2 if: false", "7b#2 skipped if not held"),
        ("7→ if: no tests yet", "7 text if: no tests yet"),
        ("7→ iffy ✓", "7 completed iffy"),
        ("7→ else ✓", "7 completed else"),
        ("8→ exec .version ✓", "8 completed exec .version"),
        (
            "8→ exec make test failed (2)",
            "8 failed exec make test (2)",
        ),
        ("5→ retry:2/3", "5 retry 2  of 3"),
        (
            "5→ research retry:2/3 slow",
            "5 retry 2 research of 3 (slow)",
        ),
        ("5→ retry_fetch retry:2/3", "5 retry 2 retry_fetch of 3"),
        (
            "5→ ⊘ deferred (no key)",
            "5 skipped  deferred (deferred (no key))",
        ),
        (
            "5→ publish ⊘ deferred",
            "5 skipped publish deferred (deferred)",
        ),
        (
            "5→ publish ⊘ (deferred: no key)",
            "5 skipped publish deferred ((deferred: no key))",
        ),
        (
            "5→ publish deferred",
            "5 skipped publish deferred (deferred)",
        ),
        (
            "5→ publish ⊘ no longer deferred",
            "5 skipped publish (no longer deferred)",
        ),
        ("[outage] API down for 20 min", "- note"),
        ("5→ [outage] API down", "5 note ([outage] API down)"),
        ("1→ [input] question ✓", "1 completed question"),
        ("1→ [input] two words ✓", "1 completed two words"),
        (
            "1→ [input] a ✓ in a sentence",
            "1 completed a (in a sentence)",
        ),
        (
            "1→ [input] two words ✓ in a sentence",
            "1 note ([input] two words ✓ in a sentence)",
        ),
        ("12→ ALL_TASKS_COMPLETE", "12 text ALL_TASKS_COMPLETE"),
        (
            "9→ exit_condition: every item is done",
            "9 note (exit_condition: every item is done)",
        ),
        ("9→ exit condition: done", "9 note (exit condition: done)"),
        (
            "3→ draft → bindings/draft.md",
            "3 completed draft (bindings/draft.md)",
        ),
        ("3→ bindings/draft.md", "3 completed (bindings/draft.md)"),
        ("5→ #1 done COMPLETE", "5#1 leave completed (COMPLETE)"),
        ("5→ #1 finished (3 files)", "5#1 leave completed (3 files)"),
        ("5→ #1 error_handling ✓", "5#1 completed error_handling"),
        (
            "5→ [eval] assertion ✗ too short",
            "5 failed assertion (too short)",
        ),
        ("9→ commit:main abc123", "9 text commit:main abc123"),
        (
            "4→ server ⇒ synthesizer (delegate: r1)",
            "4 waiting server (synthesizer (delegate: r1))",
        ),
        ("4→ server ⟳ (resumed)", "4 executing server ((resumed))"),
        (
            "4→ waiting for the build to be done",
            "4 text waiting for the build to be done",
        ),
        ("4→ research done", "4 completed research"),
        ("4→ research running", "4 executing research"),
        ("∥done", "- join joined"),
        ("loop:2/5", "- round 2/5"),
        ("#1 done", "-#1 leave completed"),
        ("just a remark with a ✓ in it", "- note"),
        ("-> see above", "- note"),
        ("## Notes", "- note"),
        ("---", "- note"),
        (
            "---end 2026-02-13T10:57:50-05:00",
            "- completed at 2026-02-13T15:57:50Z",
        ),
        ("---end", "- completed at ?"),
        ("--- end 2026-02-13", "- note"),
        (
            "---error 2026-02-13T10:57:50Z no network",
            "- failed at 2026-02-13T10:57:50Z (no network)",
        ),
        ("---error no network", "- failed at ? (no network)"),
        (
            "---resume 2026-02-13 10:57:50 (by hand)",
            "- running at 2026-02-13T10:57:50Z (by hand)",
        ),
        ("---paused", "- interrupted at ?"),
        (
            "---test FAIL (2/3 assertions)",
            "- failed at ? (FAIL (2/3 assertions))",
        ),
        ("---verdict fine", "- note"),
        ("99999999999→ x ✓", "- note"),
        ("→", "- note"),
        ("3→", "3 text"),
    ] {
        let (log, _) = parse(&format!("# run:r p\n{line}\n"));
        let found: Vec<String> = log.lines.iter().map(words).collect();
        let found = found.join("\n");
        assert_eq!(found, expected, "{line}");
        assert_eq!((log.lines[0].line, &*log.lines[0].raw), (2, line.trim()));
    }
}

#[test]
fn the_header_is_read_as_far_as_it_goes() {
    let log = read(
        "\u{feff}# run:r1 p.prose\r\nupstream: [a-1, b-2]   # when there are some\r\nroot: research/deep\r\nprogram: other.prose\r\n\r\n1→ a ✓\r\nroot: no longer the header\r\n",
    );
    assert_eq!(
        (
            log.head.run.as_deref(),
            log.head.program.as_deref(),
            log.head.facts.as_slice(),
        ),
        (
            Some("r1"),
            Some("p.prose"),
            &[
                ("upstream".into(), "a-1, b-2".into()),
                ("root".into(), "research/deep".into()),
            ][..],
        )
    );
    assert_eq!(log.lines.iter().map(|l| l.line).collect::<Vec<_>>(), [6, 7]);

    let log = read("# run:20260213-064959- p.prose\n");
    assert_eq!(
        (log.head.run.as_deref(), log.lines.len()),
        (Some("20260213-064959-"), 0)
    );
    let log = read("# run:r\nprogram: p.prose\n");
    assert_eq!(log.head.program.as_deref(), Some("p.prose"));
    // A repeated header does not start a second run.
    assert_eq!(
        all("# run:r p\n1→ a ✓\n# run:r p\n"),
        ["1 completed a", "- note"]
    );
}

/// A head may be front matter, a list or bold keys, and marks and trailers may follow it.
#[test]
fn a_head_says_how_the_run_stands_where_no_trailer_does() {
    use RunStatus::{Completed, Failed, Interrupted, Running};
    for (text, status, started, ended) in [
        (
            "---\nrun_id: r\nstatus: failed\n---\n\n# vm.log\n\n1→ a ✓\n",
            Some(Failed),
            None,
            None,
        ),
        (
            "---\nstarted_at: 2026-01-04T10:15:00Z\nended_at: \"2026-01-04T10:20:00Z\"\nstatus: Done\n---\n1→ a ✓\n",
            Some(Completed),
            Some("2026-01-04T10:15:00Z"),
            Some("2026-01-04T10:20:00Z"),
        ),
        (
            "# VM Log\n\n- status: complete\n- output: x.md\n\n1→ a ✓\n",
            Some(Completed),
            None,
            None,
        ),
        (
            "# run:r p\n**Status:** paused (by hand)\n\n1→ a ✓\n",
            Some(Interrupted),
            None,
            None,
        ),
        (
            "# run:r p\nstatus: in_progress\n1→ a ✓\n",
            Some(Running),
            None,
            None,
        ),
        // A trailer is newer than a head; after a resumption the end is not yet recorded.
        (
            "---\nstatus: running\n---\n1→ a ✓\n---error 2026-01-01 x\n",
            Some(Failed),
            None,
            Some("2026-01-01T00:00:00Z"),
        ),
        (
            "---\nstatus: failed\n---\n---error x\n---resume\n1→ a ✓\n",
            None,
            None,
            None,
        ),
        (
            "---\nstatus: complete\n---\n---error x\n---resume\n1→ a ✓\n",
            Some(Completed),
            None,
            None,
        ),
        // A key after the first event does not belong to the log's head.
        ("# run:r p\n1→ a ✓\n- status: complete\n", None, None, None),
    ] {
        assert!(looks_like(text), "{text}");
        let log = read(text);
        let at = |at: &Option<crate::model::time::Stamp>| at.as_ref().map(|at| at.to_string());
        assert_eq!(log.status, status, "{text}");
        assert_eq!(
            (at(&log.head.started).as_deref(), at(&log.ended).as_deref()),
            (started, ended),
            "{text}"
        );
        let events = log
            .lines
            .iter()
            .map(words)
            .filter(|line| line == "1 completed a")
            .count();
        assert_eq!(events, 1, "{text}: {:?}", log.lines);
    }
    let log =
        read("---\nsystem: scout\nerror: searcher.NoResults\n---\n\n3→ searcher ✗ NoResults\n");
    assert_eq!(log.head.program.as_deref(), Some("scout"));
    assert_eq!(
        log.head.facts,
        [("error".into(), "searcher.NoResults".into())]
    );
    assert_eq!(log.lines[0].line, 6);
}

#[test]
fn the_newest_trailer_says_how_the_run_stands() {
    let at = |log: &CompactLog| log.ended.as_ref().map(|at| at.to_string());
    for (text, status, ended, rules) in [
        ("1→ a ✓\n", None, None, &[][..]),
        (
            "1→ a ✓\n---end 2026-01-01\n",
            Some(RunStatus::Completed),
            Some("2026-01-01T00:00:00Z"),
            &[],
        ),
        (
            "---error 2026-01-01 x\n---resume y\n2→ b ✓\n",
            None,
            None,
            &[],
        ),
        (
            "---error x\n---resume\n2→ b ✓\n---end 2026-01-02\n",
            Some(RunStatus::Completed),
            Some("2026-01-02T00:00:00Z"),
            &[],
        ),
        (
            "---end 2026-01-01\n---end 2026-01-02\n",
            Some(RunStatus::Completed),
            Some("2026-01-02T00:00:00Z"),
            &[],
        ),
        (
            "---end\nthanks\n2→ a remark\n",
            Some(RunStatus::Completed),
            None,
            &[],
        ),
        ("---end\n2→ b ✓\n", None, None, &["log-after-end"]),
        (
            "---end\n2→ b ✓\n---end\n",
            Some(RunStatus::Completed),
            None,
            &[],
        ),
        ("---abort\n", Some(RunStatus::Interrupted), None, &[]),
    ] {
        let (log, issues) = parse(&format!("# run:r p\n{text}"));
        assert_eq!(
            (&log.status, at(&log).as_deref()),
            (&status, ended),
            "{text}"
        );
        assert_eq!(
            issues.iter().map(|i| i.rule.as_str()).collect::<Vec<_>>(),
            rules,
            "{text}"
        );
    }
}

#[test]
fn the_lines_behind_an_envelope_are_read_and_the_envelope_is_not() {
    let envelope = "{\n\t\"data\": \"ENC[AES256_GCM,data:WY==,type:str]\",\n\t\"sops\": {\n\t\t\"version\": \"3\"\n\t}\n}";
    let text = format!("{envelope}\n12→ encrypt ✓\n---end 2026-02-15T06:51:30Z\n");
    assert!(looks_like(&text));
    let (log, issues) = parse(&text);
    assert!(log.sealed);
    assert_eq!(
        log.lines.iter().map(words).collect::<Vec<_>>()[0],
        "12 completed encrypt"
    );
    assert_eq!((log.lines[0].line, log.head.run), (7, None));
    assert_eq!(issues[0].rule, "log-sealed");
    let armored = "-----BEGIN AGE ENCRYPTED FILE-----\nYWdl\n-----END AGE ENCRYPTED FILE-----\n12→ encrypt ✓\n";
    assert!(looks_like(armored));
    let (log, _) = parse(armored);
    assert!(log.sealed);
    assert_eq!((log.lines[0].line, log.lines[0].number), (4, Some(12)));
    // An envelope without lines after it is not recognised as a log; a cut envelope with lines is.
    assert!(!looks_like(envelope));
    assert!(!looks_like("{\"a\": 1}\n1→ a ✓\n"));
    let cut = envelope.replace("\"3\"\n\t}", "");
    assert!(looks_like(&format!("{cut}\n1→ a ✓\n")));
    assert!(!looks_like(&"[{".repeat(50_000)));
}

/// The markers are those of sqlite-earlier.md and postgres.md, "What the VM Must Narrate".
#[test]
fn the_older_narration_is_read_too() {
    let text = "[Position] Statement 3: let research = session: researcher\n   Spawning session, will write to state.db\n   [Task tool call]\n[Success] Session complete, binding written to DB\n[Binding] research = <stored in state.db>\n";
    assert!(looks_like(text));
    assert_eq!(
        all(text),
        [
            "3 executing let research = session: researcher",
            "- note",
            "- note",
            "3 completed (Session complete, binding written to DB)",
            "3 note (research = <stored in state.db>)",
        ]
    );
    assert_eq!(
        all("# run:r p\n[Success] nothing was begun\n"),
        ["- note (nothing was begun)"]
    );
}

#[test]
fn only_logs_look_like_logs() {
    for text in [
        "# run:r p",
        "\n\n# run: r",
        "1→ plan ✓",
        "## Run:r",
        "[Position] Statement 1: x",
    ] {
        assert!(looks_like(text), "{text}");
    }
    for text in [
        "",
        "# Execution State",
        "# Running late",
        "1. a list",
        "{}",
        "plan ✓",
        "-> x ✓",
    ] {
        assert!(!looks_like(text), "{text}");
    }
}

#[test]
fn a_log_without_end_is_cut_but_its_last_trailer_counts() {
    let mut text = "# run:r p\n".to_owned();
    text.push_str(&"1→ a ✓\n".repeat(200_010));
    text.push_str("---end\n");
    let (log, issues) = parse(&text);
    assert_eq!(
        (log.lines.len(), log.status),
        (200_001, Some(RunStatus::Completed))
    );
    assert_eq!(issues[0].rule, "log-cut");
    assert_eq!(log.trailer, Some(200_000));
}
