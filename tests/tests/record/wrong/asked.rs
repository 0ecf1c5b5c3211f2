//! Lists further invalid commands (arguments, numbers, files, names of runs), one per line.

/// Cases in the form of [`super::WRONG`].
#[rustfmt::skip]
pub(super) const ASKED: &[(&str, &str, i32, &str, &str)] = &[
    // `exec skip --line` also begins the line's statement, so it refuses a line that may not begin.
    ("fresh", "exec skip --line 21", 4, "line 21 lies in the loop of line 20", "`prosescope loop begin --line 20`"),
    // Without `--line`, the number of a line would be recorded as the text of a statement.
    ("fresh", "exec run 13", 2, "13 is a number, not the text of a statement", "`--line 13`"),
    // These commands begin statements out of order.
    ("begun", "exec begin --line 36", 4, "line 36 cannot begin yet: execution 1", "`prosescope exec complete 1`"),
    ("loop", "exec run --line 36", 4, "line 36 cannot begin yet: execution 1", "`prosescope loop exit 1`"),
    ("parallel", "exec run --line 36", 4, "line 36 cannot begin yet: execution 1", "`prosescope parallel join 1`"),
    ("parallel", "parallel run --line 16", 4, "execution 1 of this statement is still open", "complete, fail or skip"),
    // These commands name a wrong item or branch.
    ("fresh", "exec run --line 13 --item x", 3, "no open branch or item x contains line 13", "leave --item out"),
    ("loop", "exec begin --line 21 --item x", 3, "no open branch or item x contains line 21", "leave --item out"),
    ("parallel", "exec begin --line 36 --item b", 3, "no open branch or item b contains line 36", "leave --item out"),
    ("fresh", "parallel begin --line 16 --branches ,", 2, r#""" cannot be the name of this branch"#, "letters, digits"),
    ("fresh", "parallel branch", 2, "<EXECUTION>", "--help"),
    // The parser of the command line rejects these numbers and texts.
    ("fresh", "exec run --line 21 --in -20", 2, "expected a whole number", "--help"),
    ("fresh", "exec begin --line 13 --parent x", 2, "expected the number of an execution; `prosescope trace` lists the executions", "--help"),
    ("parallel", "parallel branch one a", 2, "expected the number of an execution; `prosescope trace` lists the executions", "--help"),
    ("fresh", "loop begin --line 20 --max -1", 4, "max -1 contradicts line 20 of the program, which has 2", "`--override`"),
    ("failed", "exec retry 1 --max -1", 4, "max -1 contradicts line 36 of the program, which has 3", "`--override`"),
    ("fresh", "gate create --line 27 --timeout -2h", 2, "unexpected argument", "`--timeout=VALUE`"),
    ("fresh", "put x --anon --file value", 2, "cannot be used with '--anon'", "--help"),
    ("fresh", "put --file value", 2, "<NAME>", "--help"),
    ("fresh", "put '' --file value", 2, r#""" cannot be the name of this binding"#, "letters, digits"),
    ("fresh", "agent memory set writer --scope custom", 2, "invalid value 'custom'", "--help"),
    ("fresh", "agent segment add", 2, "--prompt <TEXT>", "--help"),
    ("gate", "approve RUN publish --as editor --reject", 2, "--reason <TEXT>", "--help"),
    ("gate", "reject RUN publish --as editor", 2, "--reason <TEXT>", "--help"),
    // These paths are not files, or the files are not text, or the run cannot be created.
    ("fresh", "put outline --file .", 6, "cannot read .", "the path of a file in this directory"),
    ("fresh", "import add research --program bytes", 5, "bytes is not UTF-8 text", "`iconv -f UTF-16 -t UTF-8 bytes > NEW`"),
    ("fresh", "init missing.prose", 3, "there is no program missing.prose", "check the path"),
    ("fresh", "init p.prose --id a/b", 2, r#""a/b" cannot be the name of this run"#, "letters, digits"),
    ("fresh", "init p.prose --id latest", 2, "cannot have the id `latest`", "another --id"),
    ("fresh", "init p.prose --id fresh", 4, "is there already", "`--id`"),
    ("fresh", "init p.prose --state memory", 2, "invalid value 'memory'", "--help"),
    ("fresh", "agent memory get nobody", 3, "agent nobody has no memory", "`prosescope agents RUN`"),
    ("fresh", "agent segment get writer 7", 3, "agent writer has no segments", "`prosescope agents RUN`"),
    // In these commands, the run or the gate is missing or does not exist, or two runs are given.
    ("fresh", "finish RUN --run other --status failed", 2, "two runs are named: fresh as an argument, and other with --run", "name only one run"),
    ("gate", "approve RUN publish --run other --as editor", 2, "two runs are named", "name only one run"),
    ("gate", "gates expire RUN --run other", 2, "two runs are named", "name only one run"),
    ("fresh", "exec begin --line 13 --run fresh --run other", 2, "cannot be used multiple times", "--help"),
    ("fresh", "exec begin --line 13 --run", 2, "a value is required for '--run <RUN>'", "--help"),
    ("fresh", "exec begin --line 13 --run ''", 2, "the run's name is empty", "--help"),
    ("gate", "PROSE_RUN=gate approve", 2, "the id of the gate is missing", "`prosescope gates`"),
    ("gate", "PROSE_RUN=gate approve nothing", 3, "there is no gate nothing", "`prosescope gates RUN --all`"),
    ("gate", "gates expire unknown --run unknown", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN=unknown exec begin --line 13", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN=unknown exec complete", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN=unknown parallel run --line 16", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN=unknown loop iterate", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN=unknown put outline --file value", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN=unknown import add research", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN=unknown finish --status failed", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN=unknown resume --begin", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN=unknown gate create --line 27", 3, "there is no run unknown", "`prosescope runs`"),
    ("gate", "PROSE_RUN=unknown approve publish --as editor", 3, "there is no run unknown", "`prosescope runs`"),
    ("fresh", "PROSE_RUN= exec begin --line 13", 2, "the run's name is empty", "unset PROSE_RUN"),
    ("gate", "PROSE_RUN= approve publish --as editor", 2, "the run's name is empty", "unset PROSE_RUN"),
];
