//! Tests of workflow tables of another program, which added triggers and rules. A command that succeeds has recorded
//! exactly its input. Changes that a trigger makes in other tables are left to that program.

use crate::PROGRAM;
use crate::project::{Project, cluster, text};

/// How commands react to a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The case changes nothing that a command records, so all commands succeed.
    Nothing,
    /// A trigger changes a row that a command writes. This command refuses, and its error contains the trigger's
    /// name.
    Named,
    /// The case keeps a command from recording a row, so this command fails.
    Refused,
}

use Then::{Named, Nothing, Refused};

/// Builds the SQL of another program's trigger and its function.
macro_rules! does {
    ($body:literal, $trigger:literal) => {
        concat!(
            "CREATE FUNCTION theirs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ",
            $body,
            " END $$; CREATE ",
            $trigger,
            " EXECUTE FUNCTION theirs()"
        )
    };
}

const CASES: &[(Then, &str)] = &[
    (
        Nothing,
        does!(
            "NEW.updated_at := '2000-01-01'; RETURN NEW;",
            "TRIGGER t BEFORE UPDATE ON workflow_runs FOR EACH ROW"
        ),
    ),
    (
        Nothing,
        does!(
            "INSERT INTO public.seen VALUES (TG_TABLE_NAME); RETURN NULL;",
            "TRIGGER t AFTER INSERT ON workflow_events FOR EACH ROW"
        ),
    ),
    (
        Nothing,
        "ALTER TABLE workflow_events ADD COLUMN extra text NOT NULL DEFAULT upper('x')",
    ),
    (
        Refused,
        "CREATE RULE r AS ON INSERT TO workflow_runs DO ALSO INSERT INTO seen VALUES ('rule')",
    ),
    (
        Nothing,
        "ALTER TABLE workflow_runs ALTER COLUMN created_at TYPE timestamp(0) with time zone",
    ),
    (
        Nothing,
        "ALTER TABLE workflow_events ALTER COLUMN payload TYPE json",
    ),
    (
        Named,
        does!(
            "NEW.text := 'EVIL'; RETURN NEW;",
            "TRIGGER t BEFORE INSERT ON workflow_events FOR EACH ROW"
        ),
    ),
    (
        Named,
        does!(
            "UPDATE public.workflow_events SET kind = 'error' WHERE id = NEW.id; RETURN NULL;",
            "TRIGGER t AFTER INSERT ON workflow_events FOR EACH ROW"
        ),
    ),
    (
        Named,
        does!(
            "UPDATE public.workflow_runs SET user_input = 'EVIL' WHERE id = NEW.id; RETURN NULL;",
            "CONSTRAINT TRIGGER t AFTER INSERT ON workflow_runs DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
        ),
    ),
    (
        Named,
        does!(
            "NEW.status := 'failed'; RETURN NEW;",
            "TRIGGER t BEFORE UPDATE ON workflow_runs FOR EACH ROW"
        ),
    ),
    (
        Named,
        does!(
            "NEW.context := '{}'; RETURN NEW;",
            "TRIGGER t BEFORE UPDATE OF context ON workflows FOR EACH ROW"
        ),
    ),
    (
        Named,
        does!(
            "DELETE FROM public.workflow_events WHERE id = NEW.id; RETURN NULL;",
            "TRIGGER t AFTER INSERT ON workflow_events FOR EACH ROW"
        ),
    ),
    (
        Refused,
        "ALTER TABLE workflow_events ALTER COLUMN text TYPE name",
    ),
    (
        Refused,
        does!(
            "RETURN NULL;",
            "TRIGGER t BEFORE INSERT ON workflow_events FOR EACH ROW"
        ),
    ),
    (
        Refused,
        "CREATE RULE r AS ON UPDATE TO workflow_runs DO INSTEAD NOTHING",
    ),
    (
        Refused,
        does!(
            "RETURN NULL;",
            "TRIGGER t BEFORE DELETE ON workflow_events FOR EACH ROW"
        ),
    ),
];

/// Without `PROSE_SWEEP`, only every `SAMPLE`-th case is tried.
const SAMPLE: usize = 4;

const STEPS: &[&str] = &[
    "workflow start --input first",
    "workflow events append latest --run latest --text A_text_of_more_letters_than_a_name_of_PostgreSQL_has_which_are_sixty_three",
    "workflow ask latest --question Which?",
    "workflow input latest --text That",
    "workflow finish latest --output {\"a\":1.50} --message done",
    "workflow events prune latest",
];

/// The SQL that returns everything recorded, without ids, times and versions.
const RECORDED: &str = "
    SELECT concat_ws(E'\\n',
        (SELECT string_agg(concat_ws('|', status, context->'tail'->-1->>'content', preferences, error), E'\\n') FROM workflows),
        (SELECT string_agg(concat_ws('|', status, user_input, state->>'question', final_output, error), E'\\n' ORDER BY id) FROM workflow_runs),
        (SELECT string_agg(concat_ws('|', kind, text, payload::jsonb - 'run_id'), E'\\n' ORDER BY id) FROM workflow_events))";

#[test]
fn what_is_written_into_tables_of_another_program_is_read_back() {
    let Some(cluster) = cluster() else {
        return;
    };
    let made = |sql: &str| {
        let url = cluster.database();
        let project = Project::new(PROGRAM, &url);
        let setup = ["workflow", "setup", "--apply", "--state", "postgres"];
        project.prose(0, &setup, "");
        let sql = format!("CREATE TABLE seen (what text); {sql}");
        cluster.psql(&url, &sql).unwrap();
        (project, url)
    };
    let recorded = |url: &str| cluster.psql(url, RECORDED).unwrap();
    let give = |project: &Project, line: &str| {
        let args: Vec<&str> = line.split(' ').chain(["--state", "postgres"]).collect();
        let out = project.give(&args, b"");
        (out.status.code(), text(&out.stdout) + &text(&out.stderr))
    };
    let (plain, url) = made("SELECT 1");
    let expected: Vec<String> = STEPS
        .iter()
        .map(|line| {
            let (code, said) = give(&plain, line);
            assert_eq!(code, Some(0), "{line}: {said}");
            recorded(&url)
        })
        .collect();
    let whole = std::env::var_os("PROSE_SWEEP").is_some();
    let step = if whole { 1 } else { SAMPLE };
    for (then, sql) in CASES.iter().step_by(step) {
        let (project, url) = made(sql);
        let mut before = recorded(&url);
        let mut refused = false;
        for (line, expected) in STEPS.iter().zip(&expected) {
            let (code, said) = give(&project, line);
            let after = recorded(&url);
            if code == Some(0) {
                assert_eq!(&after, expected, "{sql}: {line} ended well: {said}");
                before = after;
                continue;
            }
            refused = true;
            assert_eq!(after, before, "{sql}: {line} ended with an error: {said}");
            match then {
                Nothing => panic!("{sql}: {line}: {said}"),
                Named => {
                    assert_eq!(code, Some(4), "{sql}: {line}: {said}");
                    assert!(said.contains("the trigger t"), "{sql}: {line}: {said}");
                }
                Refused => assert!(matches!(code, Some(4..=6)), "{sql}: {line}: {said}"),
            }
            break;
        }
        assert_eq!(refused, *then != Nothing, "{sql}");
    }
}
