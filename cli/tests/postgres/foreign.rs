//! Tests with triggers, rules, checks, defaults and other objects that other people add to the tables of runs. A
//! database with anything on these tables that is not on our list is not recorded into. A command that succeeds has
//! recorded exactly its input, and a command that fails has recorded nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use prosescope_test_support::cluster::Cluster;

use crate::project::{Project, cluster, text};

const PROGRAM: &str = "let a = session \"A\"\n\napprove deploy:\n  prompt: \"Ready?\"\n\napprove later:\n  prompt: \"Later?\"\n\noutput b = session \"B\"\n";

const RUN: &str = "20260301-100000-foreig";

/// SQL functions of another person, for triggers and for expressions. Each call of one of them adds a row to
/// `public.ran`.
const EVIL: &str = "
    CREATE TABLE public.ran (by text);
    CREATE FUNCTION public.evil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.ran VALUES (TG_TABLE_NAME);
        IF TG_TABLE_NAME = 'bindings' AND TG_LEVEL = 'ROW' AND TG_WHEN = 'BEFORE' AND TG_OP <> 'DELETE' THEN NEW.value := 'EVIL'; END IF;
        IF TG_TABLE_NAME = 'gates' AND TG_LEVEL = 'ROW' AND TG_WHEN = 'BEFORE' AND TG_OP <> 'DELETE' THEN NEW.status := 'approved'; END IF;
        IF TG_TABLE_NAME = 'bindings' THEN UPDATE openprose.gates SET status = 'approved' WHERE status <> 'approved'; END IF;
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END; END $$;
    CREATE FUNCTION public.act(text) RETURNS void LANGUAGE plpgsql VOLATILE AS $$ BEGIN
        INSERT INTO public.ran VALUES ($1); UPDATE openprose.gates SET status = 'approved' WHERE status <> 'approved'; END $$;
    CREATE FUNCTION public.f(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.act('f'); RETURN $1; END $$;
    CREATE FUNCTION public.yes(text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM public.act('yes'); RETURN true; END $$;";

/// How commands react to a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    /// The object is not on the list of what our tables may have: a command refuses with exit code 4, `check` reports the
    /// object, and no code runs.
    Refused,
    /// The object would change written values. A command whose value would change is refused.
    Values,
    /// The object changes no written value, so all commands succeed.
    Nothing,
    /// Either PostgreSQL rejects a command by itself, or the object changes nothing.
    Either,
}

use Then::{Either, Nothing, Refused, Values};

/// Triggers that are refused: the moment and the table.
const TRIGGERS: &[&str] = &[
    "BEFORE INSERT ON openprose.bindings FOR EACH ROW",
    "AFTER INSERT ON openprose.bindings FOR EACH ROW",
    "BEFORE INSERT ON openprose.bindings FOR EACH STATEMENT",
    "AFTER INSERT ON openprose.bindings FOR EACH STATEMENT",
    "AFTER INSERT ON openprose.bindings REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT",
    "BEFORE UPDATE ON openprose.gates FOR EACH ROW",
    "AFTER UPDATE ON openprose.gates FOR EACH ROW",
    "BEFORE INSERT ON openprose.gate_audit_log FOR EACH ROW",
    "AFTER UPDATE ON openprose.run FOR EACH ROW",
    "AFTER INSERT ON openprose.execution FOR EACH ROW",
    "AFTER INSERT ON openprose.agents FOR EACH ROW",
    "BEFORE INSERT ON openprose.agent_segments FOR EACH ROW",
    "AFTER INSERT ON openprose.x_events FOR EACH ROW",
    "BEFORE INSERT ON openprose.x_commands FOR EACH ROW",
    "AFTER INSERT ON openprose.x_binding_history FOR EACH ROW",
];

/// Other triggers, rules, CHECKs, defaults, generated columns, indexes, types, views, foreign keys and policies that are
/// refused.
const REFUSED: &[&str] = &[
    "CREATE TRIGGER t BEFORE UPDATE OF status ON openprose.gates FOR EACH ROW WHEN (NEW.status = 'rejected') EXECUTE FUNCTION public.evil()",
    "CREATE CONSTRAINT TRIGGER t AFTER INSERT ON openprose.bindings DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.evil()",
    "CREATE CONSTRAINT TRIGGER t AFTER UPDATE ON openprose.gates DEFERRABLE INITIALLY IMMEDIATE FOR EACH ROW EXECUTE FUNCTION public.evil()",
    "CREATE CONSTRAINT TRIGGER t AFTER UPDATE ON openprose.run NOT DEFERRABLE FOR EACH ROW EXECUTE FUNCTION public.evil()",
    "CREATE TRIGGER t BEFORE INSERT ON openprose.bindings FOR EACH ROW EXECUTE FUNCTION public.evil(); ALTER TABLE openprose.bindings ENABLE ALWAYS TRIGGER t",
    "CREATE OR REPLACE FUNCTION openprose.x_audit_append_only() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$ BEGIN RETURN NEW; END $$; CREATE TRIGGER t BEFORE INSERT ON openprose.gate_audit_log FOR EACH ROW EXECUTE FUNCTION openprose.x_audit_append_only()",
    "CREATE TABLE public.child () INHERITS (openprose.gates); CREATE TRIGGER t BEFORE UPDATE ON public.child FOR EACH ROW EXECUTE FUNCTION public.evil()",
    "CREATE RULE r AS ON INSERT TO openprose.bindings DO ALSO UPDATE openprose.gates SET status = 'approved'",
    "CREATE RULE r AS ON INSERT TO openprose.bindings DO INSTEAD NOTHING",
    "CREATE RULE r AS ON INSERT TO openprose.gate_audit_log WHERE NEW.event_type <> 'created' DO INSTEAD NOTHING",
    "CREATE RULE r AS ON UPDATE TO openprose.gates DO ALSO INSERT INTO public.ran VALUES (NEW.id)",
    "CREATE RULE r AS ON UPDATE TO openprose.run DO INSTEAD NOTHING",
    "CREATE RULE r AS ON INSERT TO openprose.agents DO ALSO NOTIFY somebody",
    "ALTER TABLE openprose.bindings ADD CHECK (public.yes(value))",
    "ALTER TABLE openprose.bindings ADD CHECK (public.yes(value)) NOT VALID",
    "ALTER TABLE openprose.bindings ADD CHECK (length(public.f(value)) >= 0 OR true)",
    "ALTER TABLE openprose.gates ADD CHECK (CASE WHEN status = 'approved' THEN public.yes(status) ELSE true END)",
    "CREATE OPERATOR public.=== (FUNCTION = public.two, LEFTARG = text, RIGHTARG = text); ALTER TABLE openprose.bindings ADD CHECK (value OPERATOR(public.===) value)",
    "ALTER TABLE openprose.bindings ADD CHECK (length(table_to_xml('public.ran', true, false, '')::text) >= 0)",
    "ALTER TABLE openprose.bindings ADD CHECK (pg_notify('a', 'b') IS NOT NULL OR true)",
    "ALTER TABLE openprose.bindings ADD CHECK (length(value) < 1000000 AND value = trim(value))",
    "ALTER TABLE openprose.bindings ADD CHECK (false) NOT VALID",
    "ALTER TABLE openprose.bindings ADD COLUMN extra text DEFAULT public.f('x')",
    "ALTER TABLE openprose.gates ALTER COLUMN resolved_by SET DEFAULT public.f('alice')",
    "ALTER TABLE openprose.bindings ADD COLUMN extra text GENERATED ALWAYS AS (public.f(value)) STORED",
    "ALTER TABLE openprose.bindings ALTER COLUMN metadata SET DEFAULT to_jsonb(query_to_xml('SELECT 1', true, false, '')::text)",
    "ALTER TABLE openprose.bindings ADD COLUMN extra text GENERATED ALWAYS AS (upper(value)) STORED",
    "ALTER TABLE openprose.bindings DROP COLUMN value; ALTER TABLE openprose.bindings ADD COLUMN value text GENERATED ALWAYS AS ('EVIL') STORED",
    "CREATE INDEX ON openprose.bindings (public.f(value))",
    "CREATE INDEX ON openprose.bindings (name) WHERE public.yes(value)",
    "CREATE INDEX ON openprose.bindings (lower(value)) WHERE length(value) > 3",
    "ALTER TABLE openprose.bindings ADD EXCLUDE USING btree (public.f(value) WITH =)",
    "CREATE DOMAIN public.d AS text CHECK (public.yes(VALUE)); ALTER TABLE openprose.bindings ALTER COLUMN value TYPE public.d",
    "CREATE DOMAIN public.d AS text CHECK (public.yes(VALUE)); ALTER TABLE openprose.bindings ADD CHECK (length(value::public.d) >= 0)",
    "CREATE TYPE public.e AS ENUM ('x'); CREATE FUNCTION public.c(text) RETURNS public.e LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES ('cast'); RETURN 'x'; END $$; CREATE CAST (text AS public.e) WITH FUNCTION public.c(text) AS ASSIGNMENT; ALTER TABLE openprose.bindings ALTER COLUMN value TYPE public.e USING NULL",
    "ALTER TABLE openprose.gates RENAME TO kept; CREATE VIEW openprose.gates AS SELECT * FROM openprose.kept WHERE length(id) > 0",
    "ALTER TABLE openprose.bindings RENAME TO kept; CREATE VIEW openprose.bindings AS SELECT * FROM openprose.kept; CREATE TRIGGER t INSTEAD OF INSERT ON openprose.bindings FOR EACH ROW EXECUTE FUNCTION public.evil()",
    "CREATE TABLE public.of (run text REFERENCES openprose.run(id) ON DELETE CASCADE); CREATE TRIGGER t AFTER DELETE ON public.of FOR EACH ROW EXECUTE FUNCTION public.evil()",
    "ALTER TABLE openprose.bindings ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON openprose.bindings USING (public.yes(name))",
    "ALTER TABLE openprose.bindings RENAME TO kept; CREATE TABLE openprose.bindings (LIKE openprose.kept INCLUDING DEFAULTS) PARTITION BY LIST (kind); CREATE TABLE openprose.part PARTITION OF openprose.bindings DEFAULT",
    "CREATE TABLE public.child () INHERITS (openprose.gates)",
    "CREATE TABLE public.owners (id text PRIMARY KEY); ALTER TABLE openprose.bindings ADD COLUMN owner text REFERENCES public.owners(id)",
    "ALTER TABLE openprose.gates ADD CHECK (status IN ('pending', 'rejected'))",
    "CREATE INDEX ON openprose.execution ((metadata->>'branch'))",
];

/// Types that change a written value.
const VALUES: &[&str] = &[
    "ALTER TABLE openprose.bindings ALTER COLUMN value TYPE name",
    "ALTER TABLE openprose.bindings ALTER COLUMN value TYPE \"char\" USING 'x'",
    "ALTER TABLE openprose.bindings ALTER COLUMN updated_at TYPE date",
];

/// Types that PostgreSQL converts to, or refuses.
const EITHER: &[&str] = &[
    "CREATE TYPE public.e AS ENUM ('pending', 'approved', 'rejected'); DROP INDEX openprose.idx_gates_pending; ALTER TABLE openprose.gates ALTER COLUMN status DROP DEFAULT; ALTER TABLE openprose.gates ALTER COLUMN status TYPE public.e USING status::public.e",
    "ALTER TABLE openprose.bindings ALTER COLUMN value TYPE char(300)",
    "ALTER TABLE openprose.gates ALTER COLUMN resolved_by TYPE \"char\" USING NULL",
    "ALTER TABLE openprose.bindings ALTER COLUMN value TYPE varchar(5) USING 'x'",
    "ALTER TABLE openprose.bindings ALTER COLUMN value TYPE bytea USING NULL",
    "ALTER TABLE openprose.bindings ALTER COLUMN updated_at TYPE timestamp",
    "DROP INDEX openprose.idx_execution_metadata_gin; ALTER TABLE openprose.execution ALTER COLUMN metadata DROP DEFAULT, ALTER COLUMN metadata TYPE json",
];

/// What our tables may have, among it the examples of postgres.md, and what others have in the same database.
const NOTHING: &[&str] = &[
    "CREATE TRIGGER t BEFORE INSERT ON openprose.bindings FOR EACH ROW EXECUTE FUNCTION public.evil(); ALTER TABLE openprose.bindings DISABLE TRIGGER t",
    "CREATE TRIGGER t AFTER INSERT ON public.ran FOR EACH ROW EXECUTE FUNCTION public.evil()",
    "ALTER TABLE openprose.gates ADD CHECK (status IN ('pending', 'approved', 'rejected', 'timeout'))",
    "ALTER TABLE openprose.gates ALTER COLUMN resolved_by SET DEFAULT 'alice', ALTER COLUMN resolution_comment SET DEFAULT 'fine'",
    "ALTER TABLE openprose.execution ALTER COLUMN x_status SET DEFAULT 'failed'",
    "ALTER TABLE openprose.run ALTER COLUMN x_status SET DEFAULT 'completed'",
    "ALTER TABLE openprose.bindings ADD COLUMN extra timestamptz DEFAULT now()",
    "CREATE TABLE public.of (run text REFERENCES openprose.run(id) ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED)",
    "CREATE FUNCTION public.ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES ('ddl'); END $$; CREATE EVENT TRIGGER e ON ddl_command_end EXECUTE FUNCTION public.ddl()",
    "ALTER TABLE openprose.run ALTER COLUMN id SET STORAGE EXTERNAL",
    "CREATE TABLE openprose.x_metrics (id SERIAL PRIMARY KEY, run_id TEXT REFERENCES openprose.run(id) ON DELETE CASCADE, execution_id INTEGER REFERENCES openprose.execution(id) ON DELETE CASCADE, metric_name TEXT NOT NULL, metric_value NUMERIC, recorded_at TIMESTAMPTZ NOT NULL DEFAULT NOW(), metadata JSONB DEFAULT '{}'::jsonb); ALTER TABLE openprose.bindings ADD COLUMN IF NOT EXISTS token_count INTEGER; CREATE INDEX idx_bindings_created ON openprose.bindings(created_at)",
    "CREATE TABLE openprose.x_t (a text CHECK (public.yes(a)) DEFAULT public.f('x')); CREATE INDEX ON openprose.x_t (public.f(a)); CREATE TRIGGER t AFTER INSERT ON openprose.x_t FOR EACH ROW EXECUTE FUNCTION public.evil(); CREATE FUNCTION openprose.now() RETURNS timestamptz LANGUAGE sql AS 'SELECT public.act(''now''); SELECT NULL::timestamptz'",
    "CREATE VIEW openprose.x_v AS SELECT public.f(value) AS a FROM openprose.bindings",
    "CREATE UNIQUE INDEX ON openprose.agents (name, COALESCE(run_id, '__project__'), (COALESCE(scope, ''))); CREATE INDEX ON openprose.gates USING hash (id) WHERE status = 'pending' AND resolved_at IS NULL",
    "ALTER TABLE openprose.gates ADD COLUMN a text[] DEFAULT '{}', ADD COLUMN b numeric(4,2) DEFAULT -1.5, ADD COLUMN c timestamptz(0) DEFAULT CURRENT_TIMESTAMP, ADD COLUMN d int GENERATED BY DEFAULT AS IDENTITY",
];

/// Returns all cases.
fn cases() -> Vec<(Then, String)> {
    let triggers = TRIGGERS
        .iter()
        .map(|when| format!("CREATE TRIGGER t {when} EXECUTE FUNCTION public.evil()"));
    let mut cases: Vec<(Then, String)> = triggers.map(|sql| (Refused, sql)).collect();
    for (then, sqls) in [
        (Refused, REFUSED),
        (Values, VALUES),
        (Either, EITHER),
        (Nothing, NOTHING),
    ] {
        cases.extend(sqls.iter().map(|sql| (then, (*sql).to_owned())));
    }
    cases
}

/// The commands that are run in each case, with their standard input. Each command writes to different tables.
const STEPS: &[(&str, &str)] = &[
    (
        "A value that has more letters than a name has in PostgreSQL, sixty-three of them.",
        "put a --run postgres:RUN",
    ),
    ("", "reject postgres:RUN deploy --reason No"),
    ("", "begin 1 --run postgres:RUN --force"),
    ("", "end --run postgres:RUN"),
    ("", "gate create --line 6 --run postgres:RUN --force"),
    (
        "memory",
        "agent memory set bob --scope execution --run postgres:RUN",
    ),
    (
        "summary",
        "agent segment add bob --prompt p --scope execution --run postgres:RUN",
    ),
    ("", "finish failed --run postgres:RUN"),
    (
        "",
        "init p.prose --state postgres --id 20260301-100000-second",
    ),
    ("", "clean postgres:RUN --yes"),
];

/// The SQL that returns everything recorded, without values that the server generates.
const RECORDED: &str = "
    SELECT concat_ws(E'\\n',
        (SELECT string_agg(concat_ws('|', 'run', id, status, x_status), E'\\n' ORDER BY id) FROM openprose.run),
        (SELECT string_agg(concat_ws('|', 'binding', name, kind, value::text, source_statement), E'\\n' ORDER BY name) FROM openprose.bindings),
        (SELECT string_agg(concat_ws('|', 'gate', id, status, resolved_by, resolution_comment, prompt, allow), E'\\n' ORDER BY id) FROM openprose.gates),
        (SELECT string_agg(concat_ws('|', 'log', id, gate_id, event_type, principal, comment), E'\\n' ORDER BY id) FROM openprose.gate_audit_log),
        (SELECT string_agg(concat_ws('|', 'execution', statement_text, status, x_status, metadata::jsonb), E'\\n' ORDER BY id) FROM openprose.execution),
        (SELECT string_agg(concat_ws('|', 'agent', name, scope, memory), E'\\n' ORDER BY name) FROM openprose.agents),
        (SELECT string_agg(concat_ws('|', 'segment', agent_name, segment_number, prompt, summary), E'\\n' ORDER BY id) FROM openprose.agent_segments),
        (SELECT string_agg(concat_ws('|', 'history', name, value), E'\\n' ORDER BY id) FROM openprose.x_binding_history),
        (SELECT string_agg(concat_ws('|', 'event', word), E'\\n' ORDER BY id) FROM openprose.x_events))";

/// A database with a run, which is copied for each case.
struct Base<'c> {
    cluster: &'c Cluster,
    url: String,
}

impl Base<'_> {
    fn name(&self) -> &str {
        self.url.rsplit('/').next().unwrap()
    }

    /// Copies the database, and runs the SQL of a case in the copy. Returns the address of the copy.
    fn copy(&self, n: usize, sql: &str) -> String {
        let name = format!("{}_{n}", self.name());
        let make = format!("CREATE DATABASE {name} TEMPLATE {}", self.name());
        self.cluster
            .psql(&self.cluster.url("postgres"), &make)
            .unwrap();
        let url = self.cluster.url(&name);
        self.cluster
            .psql(&url, sql)
            .unwrap_or_else(|error| panic!("{sql}: {error}"));
        url
    }

    fn drop(&self, url: &str) {
        let name = url.rsplit('/').next().unwrap();
        let drop = format!("DROP DATABASE {name} WITH (FORCE)");
        self.cluster
            .psql(&self.cluster.url("postgres"), &drop)
            .unwrap();
    }

    fn recorded(&self, url: &str) -> String {
        self.cluster.psql(url, RECORDED).unwrap()
    }
}

/// Without `PROSE_SWEEP`, only every `SAMPLE`-th case is tried.
const SAMPLE: usize = 5;

#[test]
fn what_a_command_said_is_what_is_there_whatever_others_put_on_the_tables() {
    let Some(cluster) = cluster() else {
        return;
    };
    let base = Base {
        cluster,
        url: cluster.database(),
    };
    let project = Project::new(PROGRAM, &base.url);
    project.prose(
        0,
        &["init", "p.prose", "--state", "postgres", "--id", RUN],
        "",
    );
    let at = format!("postgres:{RUN}");
    project.prose(0, &["put", "a", "--run", &at], "first");
    project.prose(0, &["gate", "create", "--line", "3", "--run", &at], "");
    let two = "CREATE FUNCTION public.two(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
        PERFORM public.act('two'); RETURN true; END $$; TRUNCATE public.ran";
    cluster.psql(&base.url, &format!("{EVIL}{two}")).unwrap();
    // Each command first runs on a copy without added objects. Its records there are the expected records in all
    // cases.
    let plain = base.copy(0, "SELECT 1");
    let (project, mut expected) = (Project::new(PROGRAM, &plain), vec![base.recorded(&plain)]);
    for (input, step) in STEPS {
        let line = step.replace("RUN", RUN);
        project.prose(0, &line.split(' ').collect::<Vec<_>>(), input);
        expected.push(base.recorded(&plain));
    }
    base.drop(&plain);
    let all = std::env::var_os("PROSE_SWEEP").is_some();
    let mut wrong = 0;
    for (n, (then, sql)) in cases().iter().enumerate() {
        if all || n % SAMPLE == 0 {
            let tried = || check(&base, n + 1, *then, sql, &expected);
            // A case that fails does not end the test, so that the results of the other cases are printed, too.
            wrong += usize::from(catch_unwind(AssertUnwindSafe(tried)).is_err());
        }
    }
    assert_eq!(wrong, 0, "cases fail");
}

fn check(base: &Base<'_>, n: usize, then: Then, sql: &str, expected: &[String]) {
    let url = base.copy(n, sql);
    let forget = "ALTER TABLE public.ran DISABLE TRIGGER USER; TRUNCATE public.ran";
    let clean = base.cluster.psql(&url, forget);
    clean.unwrap();
    let project = Project::new(PROGRAM, &url);
    let checked = project.give(&["check", &format!("postgres:{RUN}")], b"");
    let checked = text(&checked.stdout) + &text(&checked.stderr);
    // The run is on a server, so the output must not mention a database file.
    assert!(!checked.contains("state.db"), "{sql}: {checked}");
    let mut before = base.recorded(&url);
    let ran = |of: &str| {
        let ran = base
            .cluster
            .psql(&url, "SELECT string_agg(by, ' ') FROM public.ran")
            .unwrap();
        assert_eq!(ran, "", "{sql}: {of} ran code of others");
    };
    let mut refused = false;
    for ((input, step), expected) in STEPS.iter().zip(expected.iter().skip(1)) {
        let line = step.replace("RUN", RUN);
        let out = project.give(&line.split(' ').collect::<Vec<_>>(), input.as_bytes());
        let said = text(&out.stdout) + &text(&out.stderr);
        let after = base.recorded(&url);
        // A view runs code when the test itself queries it, so cases with views are not counted.
        if !sql.contains("VIEW") {
            ran(step);
        }
        if out.status.success() {
            assert_eq!(&after, expected, "{sql}: {step} ended well: {said}");
            before = after;
            continue;
        }
        refused = true;
        assert_eq!(after, before, "{sql}: {step} ended with an error: {said}");
        let is_ours = said.contains("is not recorded into");
        assert_eq!(is_ours, then == Refused, "{sql}: {step}: {said}");
        let code = out.status.code();
        match then {
            // `clean` can work on several runs, so it lists the removed runs, and its exit code is 6.
            Refused if step.starts_with("clean") => {
                assert_eq!(code, Some(6), "{sql}: {step}: {said}");
            }
            Refused | Values => assert_eq!(code, Some(4), "{sql}: {step}: {said}"),
            Either => assert!(matches!(code, Some(4..=6)), "{sql}: {step}: {said}"),
            Nothing => panic!("{sql}: {step}: {said}"),
        }
        break;
    }
    match then {
        Refused => {
            assert!(refused, "{sql}: nothing refused");
            assert!(checked.contains("foreign-code"), "{sql}: {checked}");
        }
        Values => {
            assert!(refused, "{sql}: nothing refused");
            assert!(checked.contains("odd-type"), "{sql}: {checked}");
        }
        Nothing | Either => {}
    }
    base.drop(&url);
}

/// Row security hides rows from a role (X12). A command must not report the remaining rows as all rows.
#[test]
fn what_row_security_hides_is_never_called_empty() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.database();
    let owner = Project::new(PROGRAM, &url);
    let run = owner.init("postgres");
    owner.prose(0, &["put", "a", "--run", &run], "a value");
    owner.prose(0, &["gate", "create", "--line", "3", "--run", &run], "");
    owner.prose(0, &["postgres", "setup", "--apply", "--role", "hidden"], "");
    let tables = "run bindings gates gate_audit_log";
    for table in tables.split(' ') {
        let set = |what: &str| {
            let sql = format!("ALTER TABLE openprose.{table} {what} ROW LEVEL SECURITY");
            cluster.psql(&url, &sql).unwrap();
        };
        set("ENABLE");
        let role = Project::new(PROGRAM, &url.replace("postgres@", "hidden@"));
        let reads: &[&[&str]] = match table {
            "run" => &[
                &["show", &run],
                &["show", "postgres:latest"],
                &["postgres", "status"],
                &["put", "a", "--run", &run],
            ],
            "bindings" => &[
                &["show", &run],
                &["bindings", &run],
                &["get", "a", "--run", &run],
                &["put", "a", "--run", &run],
                &["check", &run],
            ],
            "gates" => &[
                &["gates", &run],
                &["show", &run],
                &["approve", &run, "deploy", "--as", "user"],
                &["finish", "--run", &run],
            ],
            _ => &[
                &["audit", "verify", &run],
                &["audit", &run],
                &["gates", &run],
                &["approve", &run, "deploy", "--as", "user"],
            ],
        };
        for args in reads {
            let out = role.give(args, b"other");
            let said = text(&out.stdout) + &text(&out.stderr);
            // `check` reports the unread part as one of its issues, so its exit code is 1.
            let wanted = if args[0] == "check" { 1 } else { 6 };
            assert_eq!(out.status.code(), Some(wanted), "{table}: {args:?}: {said}");
            assert!(
                said.contains("row security") || said.contains("row-level security"),
                "{table}: {args:?}: {said}"
            );
        }
        let of_all = role.give(&["gates"], b"");
        let said = text(&of_all.stdout) + &text(&of_all.stderr);
        assert!(
            !matches!(table, "run" | "gates") || said.contains("row-level security"),
            "{table}: gates: {said}"
        );
        let list = role.give(&["runs"], b"");
        let said = text(&list.stdout) + &text(&list.stderr);
        assert!(
            table != "run" || said.contains("row-level security"),
            "{table}: runs: {said}"
        );
        // Row security does not apply to the owner, who sees all rows.
        owner.prose(0, &["gates", &run], "");
        set("DISABLE");
    }
    let role = Project::new(PROGRAM, &url.replace("postgres@", "hidden@"));
    role.prose(0, &["put", "a", "--run", &run], "other");
}

/// Policies on the table of bindings. The first flag is true if the role reads all rows under the policy, the second
/// if the role could also change all rows: the table is then not recorded into because of the policy, else because rows
/// are hidden.
const POLICIES: &[(bool, bool, &str)] = &[
    (
        true,
        true,
        "CREATE POLICY a ON openprose.bindings USING (true)",
    ),
    (
        true,
        true,
        "CREATE POLICY a ON openprose.bindings TO shown USING (true)",
    ),
    (
        true,
        false,
        "CREATE POLICY a ON openprose.bindings FOR SELECT USING (true)",
    ),
    (
        true,
        true,
        "CREATE POLICY a ON openprose.bindings USING (true); CREATE POLICY b ON openprose.bindings AS RESTRICTIVE USING (true)",
    ),
    (
        true,
        true,
        "CREATE POLICY a ON openprose.bindings USING (name = 'b'); CREATE POLICY b ON openprose.bindings USING (true)",
    ),
    (
        true,
        true,
        "CREATE POLICY a ON openprose.bindings FOR SELECT USING (true); CREATE POLICY b ON openprose.bindings FOR UPDATE USING (true); CREATE POLICY c ON openprose.bindings FOR INSERT WITH CHECK (true)",
    ),
    (
        true,
        true,
        "CREATE POLICY a ON openprose.bindings USING (true); CREATE POLICY b ON openprose.bindings AS RESTRICTIVE TO postgres USING (false)",
    ),
    // Row security without any policy hides all rows.
    (false, false, "SELECT 1"),
    (
        false,
        false,
        "CREATE POLICY a ON openprose.bindings TO postgres USING (true)",
    ),
    (
        false,
        false,
        "CREATE POLICY a ON openprose.bindings USING (name = name)",
    ),
    (
        false,
        false,
        "CREATE POLICY a ON openprose.bindings USING (public.yes(name))",
    ),
    (
        false,
        false,
        "CREATE POLICY a ON openprose.bindings FOR INSERT WITH CHECK (true)",
    ),
    (
        false,
        false,
        "CREATE POLICY a ON openprose.bindings FOR UPDATE USING (true)",
    ),
    (
        false,
        false,
        "CREATE POLICY a ON openprose.bindings USING (true); CREATE POLICY b ON openprose.bindings AS RESTRICTIVE USING (name = 'a')",
    ),
    (
        false,
        false,
        "CREATE POLICY a ON openprose.bindings USING (true); ALTER TABLE openprose.execution ENABLE ROW LEVEL SECURITY",
    ),
];

/// A policy whose condition is always true hides no rows, so the role may read. A table with a policy is not recorded
/// into.
#[test]
fn a_policy_that_is_true_hides_no_rows() {
    let Some(cluster) = cluster() else {
        return;
    };
    let base = Base {
        cluster,
        url: cluster.database(),
    };
    let owner = Project::new(PROGRAM, &base.url);
    let run = owner.init("postgres");
    owner.prose(0, &["put", "a", "--run", &run], "a value");
    owner.prose(0, &["begin", "1", "--run", &run], "");
    owner.prose(0, &["postgres", "setup", "--apply", "--role", "shown"], "");
    let yes = "CREATE FUNCTION public.yes(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
               GRANT USAGE ON SCHEMA public TO shown; ALTER TABLE openprose.bindings ENABLE ROW LEVEL SECURITY";
    cluster.psql(&base.url, yes).unwrap();
    for (n, (reads, writes, sql)) in POLICIES.iter().enumerate() {
        let url = base.copy(n, sql);
        let role = Project::new(PROGRAM, &url.replace("postgres@", "shown@"));
        for (is_so, args) in [
            (reads, &["get", "a", "--run", &run][..]),
            (reads, &["trace", &run]),
            (reads, &["bindings", &run]),
            (writes, &["put", "a", "--run", &run]),
        ] {
            let out = role.give(args, b"other");
            let said = text(&out.stdout) + &text(&out.stderr);
            // A policy on bindings does not hide the executions that `trace` prints.
            let wanted = match (args[0], is_so) {
                ("put", true) => Some(4),
                (_, true) => Some(0),
                (_, false) => Some(6),
            };
            if args[0] == "trace" && !is_so && !sql.contains("execution") {
                continue;
            }
            assert_eq!(out.status.code(), wanted, "{sql}: {args:?}: {said}");
            assert!(
                wanted != Some(6) || said.contains("row-level security"),
                "{sql}: {args:?}: {said}"
            );
        }
        let value = cluster
            .psql(&url, "SELECT value FROM openprose.bindings")
            .unwrap();
        assert_eq!(value, "a value", "{sql}");
        base.drop(&url);
    }
}
