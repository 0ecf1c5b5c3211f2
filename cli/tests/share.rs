//! Tests of `share`: replaced and kept parts, and reading the shared file as a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use prosescope_share::redact::shape::fill;
use prosescope_test_support::files::copy;
use prosescope_test_support::needs;
use prosescope_test_support::run::fed;
use prosescope_test_support::zip::zip;

#[path = "shared/parts.rs"]
mod parts;

use parts::parts;

const FORMS: [&str; 2] = ["filesystem", "sqlite"];

/// The secrets of the test run, each with its place and its shape. The test generates the secrets from the shapes, so
/// that this file contains no secrets.
const SHAPES: [(&str, &str); 6] = [
    ("github-token", "ghp_{A:36}"),
    ("in a value", "ghp_{A:36}"),
    ("in a memory", "ghp_{A:36}"),
    ("in a comment", "ghp_{A:36}"),
    ("in an error", "ghp_{A:36}"),
    ("in a file", "ghp_{A:36}"),
];

fn secrets() -> Vec<String> {
    let all = SHAPES.iter().enumerate();
    all.map(|(n, (_, shape))| fill(shape, n as u64 + 1))
        .collect()
}

struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    fn new(program: &str) -> Project {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("home")).expect("made");
        fs::write(dir.path().join("p.prose"), program).expect("written");
        Project { dir }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    #[track_caller]
    fn fed(&self, code: i32, args: &[&str], input: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_prosescope"));
        command
            .args(args)
            .current_dir(self.dir.path())
            .env("HOME", self.at("home"))
            .env("COLUMNS", "200");
        let out = fed(&mut command, input.as_bytes());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (said, errors) = (text(&out.stdout), text(&out.stderr));
        assert_eq!(out.status.code(), Some(code), "{args:?}: {said}{errors}");
        said + &errors
    }

    #[track_caller]
    fn done(&self, args: &str) -> String {
        self.fed(0, &args.split_whitespace().collect::<Vec<_>>(), "")
    }

    #[track_caller]
    fn refused(&self, code: i32, args: &str) -> String {
        self.fed(code, &args.split_whitespace().collect::<Vec<_>>(), "")
    }

    /// Returns a project with a run of this form that has a secret in each of its texts.
    fn recorded(form: &str) -> Project {
        let secrets = secrets();
        let project = Project::new(&format!(
            "agent writer:\n  persist: true\n\nlet draft = session: writer\n  prompt: \"use {}\"\n\n\
             approve publish:\n  prompt: \"With {}?\"\n  allow: [\"review-team\", \"user\"]\n\noutput report = session \"Report\"\n",
            secrets[0], secrets[0]
        ));
        project.done(&format!("init p.prose --id r --state {form}"));
        fs::write(
            project.at(".prose/.env"),
            "API_TOKEN=hunter2-is-not-enough\n",
        )
        .expect("written");
        project.done("begin 4 --run r");
        let value = format!(
            "a value\n{} of ann@customer.org in {}/notes\nhunter2-is-not-enough\n{}\n",
            secrets[1],
            "/home/annabelle",
            // This is the secret in base64, which must be found, too.
            "aHVudGVyMi1pcy1ub3QtZW5vdWdo"
        );
        project.fed(0, &["put", "draft", "--run", "r", "--into", "1"], &value);
        project.fed(
            0,
            &["agent", "memory", "set", "writer", "--run", "r"],
            &secrets[2],
        );
        project.fed(
            0,
            &[
                "agent",
                "segment",
                "add",
                "writer",
                "--run",
                "r",
                "--prompt",
                &secrets[2],
            ],
            &secrets[1],
        );
        project.done("gate create publish --run r --line 7");
        let comment = format!("fine, {}", secrets[3]);
        project.fed(
            0,
            &[
                "approve",
                "r",
                "publish",
                "--as",
                "raymond-editor",
                "--comment",
                &comment,
            ],
            "",
        );
        let id = project.done("begin 11 --run r");
        let id = id.lines().next().expect("an id").trim().to_owned();
        let error = format!("no {}", secrets[4]);
        project.fed(0, &["fail", &id, &error, "--run", "r"], "");
        let file = project.at(&format!(".prose/runs/r/attachments/{}.txt", secrets[5]));
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, &secrets[5]).expect("written");
        fs::write(
            project.at(".prose/runs/r/attachments/a.png"),
            [0x89, b'P', 0xff, 0],
        )
        .expect("written");
        project
    }
}

#[test]
fn no_secret_is_in_the_text_for_a_model() {
    for form in FORMS {
        let project = Project::recorded(form);
        for args in ["--size 128", "--size 8 --node 1", "--size 8"] {
            let out = Command::new(env!("CARGO_BIN_EXE_prosescope"))
                .args(["show", "r", "--for-model"])
                .args(args.split(' '))
                .current_dir(project.dir.path())
                .env("HOME", project.at("home"))
                .output()
                .expect("started");
            let said = String::from_utf8_lossy(&out.stdout).into_owned();
            let line = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(
                said.contains("[github-token #"),
                "{form} {args}: {said}{line}"
            );
            assert!(line.contains("secret"), "{form} {args}: {line}");
            let mut gone = secrets();
            gone.extend(
                [
                    "hunter2-is-not-enough",
                    "ann@customer.org",
                    "/home/annabelle",
                ]
                .map(str::to_owned),
            );
            for secret in &gone {
                // Not even the beginning of a secret may remain.
                let begins = secret.get(..12).expect("long");
                assert!(!said.contains(begins), "{form} {args}: {secret}: {said}");
            }
        }
        let raw = project.fed(0, &["show", "r", "--for-model", "--raw", "--node", "1"], "");
        assert!(raw.contains(&secrets()[0]), "{form}: {raw}");
        assert!(raw.contains("nothing replaced"), "{form}: {raw}");
    }
}

/// Checks what no rule knows: values of the project's `.env`, the names of people in the log, and the log's seals.
#[test]
fn what_only_the_project_knows_is_replaced_and_a_copy_records_nothing() {
    for form in FORMS {
        let project = Project::recorded(form);
        let said = project.done("share r -o r.zip");
        for (path, bytes) in parts(&project.at("r.zip")) {
            let text = String::from_utf8_lossy(&bytes);
            for secret in [
                "hunter2-is-not-enough",
                "aHVudGVyMi1pcy1ub3QtZW5vdWdo",
                "raymond-editor",
                "annabelle",
                "ann@customer.org",
            ] {
                assert!(!text.contains(secret), "{form}: {path}: {secret}");
            }
        }
        assert!(project.done("audit r.zip").contains("[person #1]"));
        assert!(said.contains("needs them: review-team"), "{said}");
        // The log of the copy was sealed again. The output contains the head that the log has in the run.
        let head = project.done("audit verify r");
        let head = head
            .lines()
            .find_map(|line| line.strip_prefix("head: 2:"))
            .expect("a head");
        assert!(said.contains(head), "{said}");
        let refused = project.fed(4, &["put", "x", "--run", "r.zip"], "x");
        assert!(
            refused.contains("shared copy") && refused.contains("convert"),
            "{refused}"
        );
    }
}

#[test]
fn a_secret_in_the_name_of_a_run_is_replaced() {
    let secret = fill("ghp_{A:36}", 9);
    for form in FORMS {
        let project = Project::recorded(form);
        let other = project.at(&format!("{secret}-b"));
        let named = project.at(&secret);
        copy(&project.at(".prose/runs/r"), &named);
        copy(&project.at(".prose/runs/r"), &other);
        // The folder of a run may have the name of a placeholder, as in a redacted copy.
        let before = project.at("[github-token #1]");
        copy(&project.at(".prose/runs/r"), &before);
        let report = project.fed(0, &["share", &secret, "--report", "--json"], "");
        assert!(!report.contains(&secret), "{form}");
        let said = project.fed(
            0,
            &[
                "share",
                &format!("./{secret}"),
                &format!("./{secret}-b"),
                "./[github-token #1]",
                "-o",
                "named.zip",
            ],
            "",
        );
        assert!(!said.contains(&secret), "{form}: {said}");
        for (path, bytes) in parts(&project.at("named.zip")) {
            let held = String::from_utf8_lossy(&bytes).contains(&secret);
            assert!(!held && !path.contains(&secret), "{form}: {path}");
        }
        let runs = project.done("runs named.zip --json");
        let runs: serde_json::Value = serde_json::from_str(&runs).expect("JSON");
        let mut names: Vec<&str> = runs["runs"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|run| run["name"].as_str())
            .collect();
        names.sort_unstable();
        // The marks of this file end with a letter that no name has.
        let expected = [
            "[github-token #1]",
            "[github-token #1b]",
            "[github-token #1b]-b",
        ];
        assert_eq!(names, expected, "{form}");
        let run = format!("named.zip/{}", expected[1]);
        let shown = project.fed(0, &["show", &run], "");
        assert!(shown.contains("failed at line 11"), "{form}: {shown}");
        project.fed(0, &["audit", "verify", &run], "");
        project.fed(0, &["convert", &run, "--to", form, "--out", "again"], "");
        fs::remove_dir_all(project.at("again")).expect("removed");
    }
}

/// If the user or the system ends `share` at any moment, the target is either complete or missing, and no other files
/// remain.
#[cfg(unix)]
#[test]
fn what_is_ended_leaves_nothing_behind() {
    let project = Project::recorded("sqlite");
    let value = "a long line of a long value, which takes a while\n".repeat(60_000);
    project.fed(0, &["put", "long", "--run", "r", "--kind", "let"], &value);
    let (out, tmp) = (project.at("out"), project.at("tmp"));
    fs::create_dir(&out).expect("made");
    fs::create_dir(&tmp).expect("made");
    let left = |dir: &Path| fs::read_dir(dir).expect("read").count();
    let mut ended = 0;
    for (signal, has_begun) in [("INT", false), ("INT", true), ("TERM", true)] {
        let mut share = Command::new(env!("CARGO_BIN_EXE_prosescope"))
            .args(["share", "r", "-o", "out/r.zip"])
            .current_dir(project.dir.path())
            .env("HOME", project.at("home"))
            .env("TMPDIR", &tmp)
            .stderr(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it runs");
        let watched = if has_begun { &out } else { &tmp };
        while left(watched) == 0 && share.try_wait().expect("known").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let pid = share.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &pid]).status();
        assert!(sent.is_ok());
        let code = share.wait().expect("it ends").code();
        ended += usize::from(code.is_none());
        let whole = usize::from(code == Some(0));
        assert_eq!((left(&out), left(&tmp)), (whole, 0), "{signal}: {code:?}");
        let _ = fs::remove_file(out.join("r.zip"));
    }
    assert!(ended > 0, "every share was done before it was ended");
}

#[test]
fn what_is_kept_stays_and_what_is_asked_for_goes() {
    let project = Project::recorded("sqlite");
    let secrets = secrets();
    let held = |file: &str| {
        let all = parts(&project.at(file));
        let all = all
            .iter()
            .map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
        all.collect::<String>()
    };
    let report = project.done("share r --report --json");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let found = report["found"].as_array().expect("a list");
    let of = found
        .iter()
        .find(|found| found["place"] == "execution.error_message")
        .expect("found");
    let name = of["name"].as_str().expect("a name");
    project.fed(0, &["share", "r", "-o", "kept.zip", "--keep", name], "");
    let kept = held("kept.zip");
    assert!(kept.contains(&secrets[4]) && !kept.contains(&secrets[3]));
    let said = project.fed(
        0,
        &[
            "share",
            "r",
            "-o",
            "asked.zip",
            "--redact",
            "value",
            "--redact",
            "/fi[mn]e/",
        ],
        "",
    );
    assert!(!said.contains("matched nothing"), "{said}");
    let said = project.fed(
        0,
        &["share", "r", "-o", "typo.zip", "--redact", "valeu"],
        "",
    );
    assert!(said.contains("--redact matched nothing"), "{said}");
    // A run in a shared file is found only by the path of the file, so printed commands contain that path.
    let shown = project.done("show kept.zip");
    assert!(!shown.contains("prosescope resume r\n"), "{shown}");
    assert!(shown.contains("kept.zip"), "{shown}");
    let asked = held("asked.zip");
    assert!(
        !asked.contains("a value") && !asked.contains("fine,"),
        "asked"
    );
    project.done("share r -o less.zip --without values,memories --with personal");
    let less = held("less.zip");
    assert!(!less.contains("a value") && less.contains("left out when this run was shared"));
    assert!(less.contains("raymond-editor"));
    project.done("share r -o raw.zip --raw");
    let raw = held("raw.zip");
    assert!(secrets.iter().take(5).all(|secret| raw.contains(secret)));
    let refused = project.refused(2, "share r -o x.zip --redact /(/");
    assert!(refused.contains("--redact"), "{refused}");
}

#[test]
fn a_page_holds_the_run() {
    if needs::viewer().is_none() {
        return;
    }
    let project = Project::recorded("sqlite");
    let prose = needs::prose().expect("it carries the viewer");
    let share = Command::new(prose)
        .args(["share", "r", "-o", "r.html"])
        .current_dir(project.dir.path())
        .output()
        .expect("it runs");
    assert!(
        share.status.success(),
        "{}",
        String::from_utf8_lossy(&share.stderr)
    );
    let page = fs::read_to_string(project.at("r.html")).expect("text");
    let title = page.lines().find(|line| line.contains("<title>"));
    let title = title.expect("a title");
    assert!(
        title.starts_with("<title>r · Running; failed at line 11"),
        "{title}"
    );
    assert!(secrets().iter().all(|secret| !page.contains(secret)));
    assert_eq!(
        project.done("get draft --run r.html").lines().next(),
        Some("a value")
    );
    fs::write(project.at("cut.html"), &page.as_bytes()[..page.len() / 2]).expect("written");
    let refused = project.refused(5, "show cut.html");
    assert!(refused.contains("truncated"), "{refused}");
}

#[test]
fn several_runs_are_one_file_and_each_is_named() {
    let project = Project::recorded("sqlite");
    project.done("init p.prose --id s --state filesystem");
    project.done("share r s -o both.zip");
    let refused = project.refused(2, "show both.zip");
    assert!(refused.contains("both.zip/r"), "{refused}");
    let shown = project.done("show both.zip/r");
    assert!(shown.contains("failed at line 11"), "{shown}");
    assert!(project.done("runs both.zip").contains("running"));
    let refused = project.refused(2, "share r r -o twice.zip");
    assert!(
        refused.contains("two of the runs are called r"),
        "{refused}"
    );
    // Two runs of one name are refused before any of them is searched for secrets.
    let other = project.at("elsewhere/r");
    copy(&project.at(".prose/runs/s"), &other);
    let refused = project.refused(2, "share r elsewhere/r --report");
    assert!(
        refused.contains("two of the runs are called r"),
        "{refused}"
    );
    let refused = project.refused(2, "share r elsewhere/r -o twice.zip");
    assert!(refused.contains("in separate files"), "{refused}");
    let refused = project.refused(4, "share r -o both.zip");
    assert!(refused.contains("already exists"), "{refused}");
    let refused = project.refused(2, "share r -o run.pdf");
    assert!(refused.contains(".html, .zip or .db"), "{refused}");
    fs::write(
        project.at("cut.zip"),
        &fs::read(project.at("both.zip")).expect("read")[..900],
    )
    .expect("written");
    let refused = project.refused(5, "show cut.zip");
    assert!(refused.contains("not a readable zip"), "{refused}");
    // The error for an empty zip is not about a missing file.
    fs::write(project.at("empty.zip"), zip(&[])).expect("written");
    let refused = project.refused(5, "show empty.zip");
    assert!(refused.contains("the zip contains no files"), "{refused}");
    assert!(!project.at("run.pdf").exists() && !project.at("twice.zip").exists());
}

#[test]
fn a_text_that_is_too_long_is_left_out_and_named() {
    if needs::sqlite3().is_none() {
        return;
    }
    let project = Project::new("let x = session \"a\"\n");
    let id = project.done("init p.prose --state sqlite");
    project.fed(0, &["put", "x", "--kind", "let"], "short");
    // The recorder would put such a value into a file.
    let database = project.at(&format!(".prose/runs/{}/state.db", id.trim()));
    let sql = "UPDATE bindings SET value = printf('%.*c', (16 << 20) + 1, 'a')";
    let changed = Command::new("sqlite3").arg(database).arg(sql).status();
    assert!(changed.expect("it starts").success());
    let said = project.done("share -o run.zip --yes");
    assert!(
        said.contains("left out: a text longer than 16 MB (bindings, x, value) (1, 16.8 MB)"),
        "{said}"
    );
    let value = project.done("get x --run run.zip");
    let note = "longer than 16 MB: 16777217 bytes]";
    assert!(value.contains(note), "{value}");
}

#[test]
fn a_database_is_built_anew() {
    for form in FORMS {
        let project = Project::recorded(form);
        project.done("share r -o r.db");
        let bytes = fs::read(project.at("r.db")).expect("read");
        let text = String::from_utf8_lossy(&bytes);
        assert!(secrets().iter().all(|secret| !text.contains(secret)));
        assert!(
            project
                .done("get draft --run ./r.db")
                .starts_with("a value")
        );
    }
}

/// A run in files becomes a database first, with a row for each statement that a hand-written state file tells.
#[test]
fn a_run_in_files_is_shared_as_a_database() {
    let project = Project::new("let a = session \"A\"\nlet b = session \"B\"\n");
    let run = project.at(".prose/runs/20260115-083214-h5n2ye");
    fs::create_dir_all(run.join("bindings")).expect("made");
    let state = "# Execution State\n\nrun: 20260115-083214-h5n2ye\nprogram: p.prose\nstatus: running\n\n## Execution Trace\n\n```prose\nlet a = session \"A\"  # --> bindings/a.md (complete)\nlet b = session \"B\"  # <-- EXECUTING\n```\n";
    let value = "# a\n\nkind: let\n\n---\n\nthe value\n";
    for (path, text) in [("state.md", state), ("bindings/a.md", value)] {
        fs::write(run.join(path), text).expect("written");
    }
    fs::copy(project.at("p.prose"), run.join("program.prose")).expect("written");
    let rows = |run: &str| {
        let page = project.done(&format!("trace {run} --json"));
        let page: serde_json::Value = serde_json::from_str(&page).expect("JSON");
        let rows = page["rows"].as_array().expect("rows").clone();
        let row =
            |row: &serde_json::Value| format!("{} {} {}", row["status"], row["line"], row["text"]);
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let told = rows("20260115-083214-h5n2ye");
    assert_eq!(told.len(), 2, "{told:?}");
    project.done("share 20260115-083214-h5n2ye -o sent.db --yes");
    assert_eq!(rows("sent.db"), told);
    assert_eq!(project.done("get a --run sent.db").trim(), "the value");
}

#[test]
fn rules_of_a_file_are_applied_and_a_wrong_file_is_refused() {
    let project = Project::recorded("sqlite");
    let rule = "[[rule]]\nid = \"bird\"\ntitle = \"Birds\"\nkeywords = [\"/notes\"]\npattern = '/(notes)'\n\
                check = \"any\"\nfound = [\"/⟦notes⟧\"]\nkept = [\"notes\"]\n";
    fs::write(project.at("own.toml"), rule).expect("written");
    let said = project.done("share r -o own.zip --rules own.toml");
    assert!(
        said.contains("bird") && said.contains("github-token"),
        "{said}"
    );
    let value = project.done("get draft --run own.zip");
    assert!(value.contains("/[bird #1]"), "{value}");
    let shown = project.done("show r --for-model --size 128 --rules own.toml");
    assert!(shown.contains("/[bird #1]"), "{shown}");
    project.done("share r -o kept.zip --rules own.toml --keep bird");
    let value = project.done("get draft --run kept.zip");
    assert!(value.contains("/notes"), "{value}");
    let wrong = rule.replace("\"bird\"", "\"github-token\"");
    fs::write(project.at("own.toml"), format!("# Birds\n{wrong}")).expect("written");
    let refused = project.refused(2, "share r -o wrong.zip --rules own.toml");
    assert!(
        refused.contains(
            "--rules own.toml: line 2, rule github-token: another rule has this id. Next: choose"
        ),
        "{refused}"
    );
    fs::write(project.at("own.toml"), b"[[rule]]\n\xff").expect("written");
    let refused = project.refused(2, "share r -o wrong.zip --rules own.toml");
    assert!(
        refused.contains("line 2: the file is not UTF-8"),
        "{refused}"
    );
    project.refused(3, "share r -o wrong.zip --rules none.toml");
    assert!(!project.at("wrong.zip").exists());
}

/// A copy never has half of what a command records: `share` waits until the command is done, and leaves out the files
/// that it is writing.
#[test]
fn a_run_that_is_recorded_at_the_moment_is_shared_as_it_is_afterwards() {
    let project = Project::new("let a = session \"A\"\n");
    project.done("init p.prose --id r --state filesystem");
    project.fed(0, &["put", "a", "--run", "r"], "before");
    let run = project.at(".prose/runs/r");
    let lock = fs::File::open(run.join(".lock")).expect("a lock file");
    lock.lock().expect("locked");
    let mut share = Command::new(env!("CARGO_BIN_EXE_prosescope"));
    share
        .args(["share", "r", "--format", "zip", "-o", "r.zip"])
        .current_dir(project.dir.path())
        .env("HOME", project.at("home"))
        .stderr(std::process::Stdio::piped());
    let mut share = share.spawn().expect("it starts");
    std::thread::sleep(std::time::Duration::from_millis(700));
    assert!(
        share.try_wait().expect("asked").is_none(),
        "it did not wait"
    );
    let binding = run.join("bindings/a.md");
    let text = fs::read_to_string(&binding).expect("read");
    fs::write(
        &binding,
        text.replace("before", "what is longer than before"),
    )
    .expect("written");
    fs::write(run.join(".tmp-file-0123456789abcdef"), "half of").expect("written");
    drop(lock);
    let out = share.wait_with_output().expect("it ended");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let zip = parts(&project.at("r.zip"));
    let names: Vec<&String> = zip.iter().map(|(name, _)| name).collect();
    assert!(!names.iter().any(|name| name.contains("/.")), "{names:?}");
    assert!(
        project
            .done("get a --run r.zip")
            .contains("what is longer than before")
    );
}

#[test]
fn a_run_is_shared_while_commands_record_into_it() {
    for form in FORMS {
        let project = Project::new("let a = session \"A\"\n");
        project.done(&format!("init p.prose --id r --state {form}"));
        let ended = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for writer in 0..2 {
                let (project, ended) = (&project, &ended);
                scope.spawn(move || {
                    for n in 0..500 {
                        if ended.load(std::sync::atomic::Ordering::Relaxed) {
                            break;
                        }
                        let name = format!("w{writer}_{}", n % 3);
                        let value = format!("{n} ").repeat(1 + n * 977 % 9_000);
                        project.fed(0, &["put", &name, "--run", "r", "--not-done"], &value);
                    }
                });
            }
            for n in 0..12 {
                project.done(&format!("share r -o {n}.zip"));
                project.done(&format!("check {n}.zip"));
            }
            ended.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    }
}
