//! Tests of failures with workflows: lost connections, missing rights, settings, and tables of other programs.

use std::sync::atomic::Ordering;
use std::time::Duration;

use prosescope_core::record::{FaultKind, WriteError};
use prosescope_postgres::PostgresTables;
use prosescope_test_support::cluster::Cluster;
use prosescope_test_support::pooler::Pooler;
use prosescope_workflow::{
    Append, Ask, Horizon, ImportantStep, Input, Json, Kind, LockTarget, NewEvent, Prune, RowChange,
    SqlValue, Start, Tables, WorkflowTable, events, find_workflow, prune, record, show,
};

use super::cut::{Cut, Way};
use super::workflows::{Session, conformance};
use crate::{address, database};
use conformance::{NOW, id, start};

fn append(of: &str, run: Option<&str>, texts: &[&str]) -> Append {
    let note = |text: &&str| NewEvent {
        text: (*text).to_owned(),
        run: run.map(str::to_owned),
        ..NewEvent::default()
    };
    Append {
        workflow: of.to_owned(),
        notes: texts.iter().map(note).collect(),
    }
}

#[test]
fn a_command_that_is_cut_at_commit_is_recorded_once() {
    let Some((cluster, url)) = database() else {
        return;
    };
    PostgresTables::set_up(&address(&url)).unwrap();
    let both = [true, false];
    let cuts = both.map(|silent| both.map(|forwards| Cut { forwards, silent }));
    for (n, cut) in (1..).zip(cuts.into_iter().flatten()) {
        let way = Way::to(cluster.port(), cut);
        let own = format!("127.0.0.1:{}", cluster.port());
        let through = url.replace(&own, &format!("127.0.0.1:{}", way.port));
        // A silent server is waited for; beside a running build, the others may be slow.
        let patience = if cut.silent { 3 } else { 30 };
        let through = address(&through).within(Duration::from_secs(patience));
        let mut store = PostgresTables::open(&through).unwrap();
        let (of, run) = (id(2 * n), id(2 * n + 1));
        let arm = || way.armed.store(true, Ordering::SeqCst);
        arm();
        let begun = record(&mut store, &start(n), None, NOW).unwrap();
        assert!(!begun.already, "{cut:?}");
        arm();
        // Two events have the same text, because an engine may report the same progress twice.
        let texts = ["one", "two", "one"];
        let done = record(&mut store, &append(&of, Some(&run), &texts), None, NOW).unwrap();
        let read = conformance::read(&store, &of, 0);
        let ids: Vec<i64> = read.iter().map(|event| event.id).collect();
        assert_eq!(ids, done.ids, "{cut:?}");
        if cut.silent {
            // The remaining cases would differ only in a longer wait.
            continue;
        }
        arm();
        let step = ImportantStep {
            workflow: of.clone(),
            text: "kept".to_owned(),
            ..ImportantStep::default()
        };
        record(&mut store, &step, None, NOW).unwrap();
        arm();
        let ask = Ask {
            run: run.clone(),
            question: "Which?".to_owned(),
            payload: None,
            owner: None,
        };
        record(&mut store, &ask, None, NOW).unwrap();
        arm();
        let input = Input {
            workflow: of.clone(),
            text: "this".to_owned(),
            ..Input::default()
        };
        record(&mut store, &input, None, NOW).unwrap();
        assert!(!way.armed.load(Ordering::SeqCst), "nothing was cut");
        let view = show(&store, &of).unwrap().unwrap();
        assert_eq!(view.runs.len(), 1, "{cut:?}");
        let tail = view.workflow.context.value()["tail"].clone();
        assert_eq!(tail.as_array().map(Vec::len), Some(2), "{cut:?}: {tail}");
        let steps = view.workflow.important_steps.value()["steps"].clone();
        assert_eq!(steps.as_array().map(Vec::len), Some(1), "{cut:?}: {steps}");
    }
}

/// After an immediate stop of the server, acknowledged events exist, and the store continues by itself.
#[test]
fn a_store_goes_on_after_its_server_came_back() {
    let Some(cluster) = Cluster::start(&["fsync=on"]) else {
        return;
    };
    let url = cluster.database();
    let mut store = PostgresTables::set_up(&address(&url)).unwrap();
    record(&mut store, &start(1), None, NOW).unwrap();
    for text in ["one", "two"] {
        record(&mut store, &append(&id(2), None, &[text]), None, NOW).unwrap();
        cluster.crash();
        let read = conformance::read(&store, &id(2), 0);
        assert_eq!(read.last().map(|event| event.text.as_str()), Some(text));
    }
    cluster.crash();
    record(&mut store, &append(&id(2), None, &["three"]), None, NOW).unwrap();
    assert_eq!(conformance::read(&store, &id(2), 0).len(), 3);
}

/// Pruning one workflow must keep the rows of others. Each partition has a row of another workflow at the same physical
/// place.
#[test]
fn pruning_a_table_with_partitions_removes_what_was_named_alone() {
    let Some((cluster, url)) = database() else {
        return;
    };
    PostgresTables::set_up(&address(&url)).unwrap();
    cluster
        .psql(
            &url,
            "DROP TABLE workflow_events;
             CREATE TABLE workflow_events (id BIGSERIAL, workflow_id UUID NOT NULL, run_id UUID, kind TEXT NOT NULL,
                 text TEXT NOT NULL, payload JSONB, created_at TIMESTAMPTZ, PRIMARY KEY (id, workflow_id))
                 PARTITION BY LIST (workflow_id);",
        )
        .unwrap();
    for n in [2, 4] {
        let sql = format!(
            "CREATE TABLE events_{n} PARTITION OF workflow_events FOR VALUES IN ('{}')",
            id(n)
        );
        cluster.psql(&url, &sql).unwrap();
    }
    let mut store = PostgresTables::open(&address(&url)).unwrap();
    for n in [1, 2] {
        record(&mut store, &start(n), None, NOW).unwrap();
        record(
            &mut store,
            &append(&id(2 * n), None, &["a", "b", "c"]),
            None,
            NOW,
        )
        .unwrap();
    }
    // The other program writes into a partition, not through the partitioned table.
    let mut theirs = Session::open(&url);
    theirs
        .run(&format!("BEGIN; INSERT INTO events_4 (id, workflow_id, kind, text) VALUES (nextval('workflow_events_id_seq'), '{}', 'progress', 'd')", id(4)))
        .unwrap();
    let mut horizon = Horizon::default();
    assert_eq!(horizon.advance(&store).unwrap(), 0, "it is waited for");
    theirs.run("COMMIT").unwrap();
    assert_eq!(horizon.advance(&store).unwrap(), 7);
    let all = Prune {
        workflow: id(2),
        all: true,
        ..Prune::default()
    };
    assert_eq!(prune(&mut store, &all).unwrap().removed, 3);
    assert_eq!(conformance::read(&store, &id(2), 0).len(), 0);
    assert_eq!(
        conformance::read(&store, &id(4), 0).len(),
        4,
        "of another workflow"
    );
}

#[test]
fn more_events_than_a_batch_are_pruned() {
    let Some((cluster, url)) = database() else {
        return;
    };
    let mut store = PostgresTables::set_up(&address(&url)).unwrap();
    record(&mut store, &start(1), None, NOW).unwrap();
    let sql = format!(
        "INSERT INTO workflow_events (workflow_id, kind, text) SELECT '{}', 'progress', n::text FROM generate_series(1, 25000) AS n",
        id(2)
    );
    cluster.psql(&url, &sql).unwrap();
    let all = Prune {
        workflow: id(2),
        all: true,
        up_to: Some(24_999),
    };
    assert_eq!(prune(&mut store, &all).unwrap().removed, 24_999);
    assert_eq!(conformance::read(&store, &id(2), 0).len(), 1);
}

/// A role's settings change neither reading nor writing.
#[test]
fn settings_of_a_role_change_nothing() {
    let Some((cluster, url)) = database() else {
        return;
    };
    let database = url.rsplit('/').next().unwrap();
    PostgresTables::set_up(&address(&url)).unwrap();
    for setting in [
        "DateStyle = 'German, DMY'",
        "TimeZone = 'Asia/Kathmandu'",
        "synchronous_commit = off",
        "default_transaction_isolation = 'serializable'",
        "standard_conforming_strings = off",
        "bytea_output = 'escape'",
    ] {
        let sql = format!("ALTER DATABASE {database} SET {setting}");
        cluster.psql(&url, &sql).unwrap();
    }
    let mut store = PostgresTables::open(&address(&url)).unwrap();
    record(&mut store, &start(1), None, NOW).unwrap();
    let hostile = "\\' || $1 \\\\";
    record(&mut store, &append(&id(2), None, &[hostile]), None, NOW).unwrap();
    let view = show(&store, &id(2)).unwrap().unwrap();
    assert_eq!(view.workflow.created_at.unwrap().millis(), Some(NOW));
    let read = conformance::read(&store, &id(2), 0);
    assert_eq!(read[0].created_at.as_ref().unwrap().millis(), Some(NOW));
    assert_eq!(read[0].text, hostile);
}

#[test]
fn what_a_role_may_not_do_is_said() {
    let Some((cluster, url)) = database() else {
        return;
    };
    let role = format!("limited_{}", url.rsplit('/').next().unwrap());
    cluster
        .psql(
            &url,
            &format!("CREATE ROLE {role} LOGIN PASSWORD 'verysecret'"),
        )
        .unwrap();
    let theirs = address(&url.replace("postgres@", &format!("{role}:verysecret@")));
    let refused = PostgresTables::set_up(&theirs).unwrap_err();
    assert!(
        matches!(&refused, WriteError::Refused { rule: "no-right-to-create", message, .. }
            if message.contains(&role) && message.contains("public") && !message.contains("verysecret")),
        "{refused:?}"
    );
    let mut owner = PostgresTables::set_up(&address(&url)).unwrap();
    record(&mut owner, &start(1), None, NOW).unwrap();
    let mut store = PostgresTables::open(&theirs).unwrap();
    let refused = show(&store, &id(2)).unwrap_err();
    assert!(refused.hint.contains("grant"), "{refused:?}");
    let grant = format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}");
    cluster.psql(&url, &grant).unwrap();
    let refused = record(&mut store, &append(&id(2), None, &["x"]), None, NOW).unwrap_err();
    assert!(
        matches!(&refused, WriteError::Fault(fault) if fault.kind == FaultKind::ReadOnly && fault.hint.contains("grant")),
        "{refused:?}"
    );
    let refused = Horizon::default().advance(&store).unwrap_err();
    assert!(refused.hint.contains("sequence"), "{refused:?}");
}

/// If a schema of the role's own comes first in the search path, existing tables in `public` are not created a second
/// time.
#[test]
fn tables_are_completed_where_they_are() {
    let Some((cluster, url)) = database() else {
        return;
    };
    let mut store = PostgresTables::set_up(&address(&url)).unwrap();
    record(&mut store, &start(1), None, NOW).unwrap();
    cluster
        .psql(&url, "CREATE SCHEMA postgres; DROP TABLE workflow_events")
        .unwrap();
    let store = PostgresTables::set_up(&address(&url)).unwrap();
    assert!(show(&store, &id(2)).unwrap().is_some());
    let made = "SELECT count(*) FROM pg_class WHERE relnamespace = 'postgres'::regnamespace";
    assert_eq!(cluster.psql(&url, made).unwrap(), "0");
}

/// A schema in the search path contains functions named like PostgreSQL's.
#[test]
fn functions_of_others_are_not_run() {
    let Some((cluster, url)) = database() else {
        return;
    };
    let database = url.rsplit('/').next().unwrap();
    cluster
        .psql(
            &url,
            &format!(
                "CREATE TABLE public.ran (what TEXT); CREATE SCHEMA evil;
                 CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES ('now'); RETURN '2000-01-01'; END $$;
                 CREATE FUNCTION evil.gen_random_uuid() RETURNS uuid LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES ('uuid'); RETURN NULL; END $$;
                 CREATE FUNCTION evil.format_type(oid, integer) RETURNS text LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES ('type'); RETURN NULL; END $$;
                 CREATE FUNCTION evil.current_schemas(boolean) RETURNS name[] LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES ('schemas'); RETURN NULL; END $$;
                 ALTER DATABASE {database} SET search_path = public, evil, pg_catalog"
            ),
        )
        .unwrap();
    let mut store = PostgresTables::set_up(&address(&url)).unwrap();
    conformance::lifecycle(&mut store);
    assert_eq!(
        cluster
            .psql(&url, "SELECT count(*) FROM public.ran")
            .unwrap(),
        "0"
    );
}

/// A value that a column cannot contain is not found, without an error.
#[test]
fn names_that_no_row_has_find_nothing() {
    let Some((_, url)) = database() else { return };
    let mut store = PostgresTables::set_up(&address(&url)).unwrap();
    record(&mut store, &start(1), None, NOW).unwrap();
    for name in [
        "x",
        "a\0b",
        "latest ",
        "{",
        "1199c0de-0000-7000-8000-00000000000",
        "' OR true --",
    ] {
        assert!(
            matches!(
                find_workflow(&store, name),
                Err(WriteError::NotFound { .. })
            ),
            "{name:?}"
        );
        let none = record(&mut store, &append(name, None, &["x"]), None, NOW);
        assert!(
            matches!(none, Err(WriteError::NotFound { .. })),
            "{name:?}: {none:?}"
        );
    }
    let odd = Start {
        run: "not a uuid".to_owned(),
        ..start(2)
    };
    let refused = record(&mut store, &odd, None, NOW).unwrap_err();
    assert!(
        matches!(&refused, WriteError::Refused { rule: "not-storable", message, .. } if message.contains("uuid")),
        "{refused:?}"
    );
    // This is U+0000 as JSON spells it.
    let mut zero = append(&id(2), None, &["x"]);
    zero.notes[0].payload = Some(Json::parse("{\"a\": \"\\u0000\"}").unwrap());
    zero.notes[0].kind = Some(Kind::Warning);
    let refused = record(&mut store, &zero, None, NOW).unwrap_err();
    assert!(
        matches!(
            &refused,
            WriteError::Refused {
                rule: "not-storable",
                ..
            }
        ),
        "{refused:?}"
    );
    assert!(conformance::read(&store, &id(2), 0).is_empty());
}

/// If a trigger discards a row, the whole command is refused.
#[test]
fn a_row_that_is_not_written_undoes_the_command() {
    let Some((cluster, url)) = database() else {
        return;
    };
    let mut store = PostgresTables::set_up(&address(&url)).unwrap();
    record(&mut store, &start(1), None, NOW).unwrap();
    cluster
        .psql(
            &url,
            "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.text = 'gone' THEN RETURN NULL; END IF; RETURN NEW; END $$;
             CREATE TRIGGER swallow BEFORE INSERT ON workflow_events FOR EACH ROW EXECUTE FUNCTION swallow()",
        )
        .unwrap();
    let refused = record(
        &mut store,
        &append(&id(2), None, &["kept", "gone"]),
        None,
        NOW,
    )
    .unwrap_err();
    assert!(refused.hint().contains("triggers"), "{refused:?}");
    assert!(conformance::read(&store, &id(2), 0).is_empty());
    record(&mut store, &append(&id(2), None, &["kept"]), None, NOW).unwrap();
    // The plan updates a row that does not exist.
    let missing = store.transact(LockTarget::Workflow(&id(2)), &mut |_| {
        let values = vec![("user_input", SqlValue::from("x"))];
        Ok(vec![RowChange::update(
            WorkflowTable::Runs,
            &id(99),
            values,
        )])
    });
    assert!(
        matches!(&missing, Err(WriteError::Fault(fault)) if fault.kind == FaultKind::Damaged),
        "{missing:?}"
    );
    let horizon = Horizon::default();
    assert_eq!(
        events(&store, &horizon, &id(2), 0, 10)
            .unwrap()
            .events
            .len(),
        0,
        "nothing is settled yet"
    );
}

/// Behind a pooler, each transaction may run in another session, with settings of an earlier client.
#[test]
fn a_pooler_may_stand_between() {
    let Some((cluster, url)) = database() else {
        return;
    };
    PostgresTables::set_up(&address(&url)).unwrap();
    let pooler = Pooler::to(cluster.port());
    let own = format!("127.0.0.1:{}", cluster.port());
    let through = url.replace(&own, &format!("127.0.0.1:{}", pooler.port()));
    let through = address(&format!("{through}?sslmode=disable"));
    for _ in 0..4 {
        PostgresTables::open(&through).unwrap();
    }
    let mut store = PostgresTables::set_up(&through).unwrap();
    conformance::lifecycle(&mut store);
    conformance::promises(&mut store);
    assert!(pooler.switches() > 100, "{}", pooler.switches());
}
