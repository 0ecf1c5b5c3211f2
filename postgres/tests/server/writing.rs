//! Tests of recording: transactions, lost connections, concurrent writers.

use std::thread;
use std::time::Duration;

use prosescope_core::model::AgentScope;
use prosescope_core::record::{At, Begin, Put, Remember, ValueBytes, WriteError, record};
use prosescope_postgres::PostgresStore;
use prosescope_test_support::cluster::Cluster;

use super::{RUN, address, run};

pub(crate) const PROGRAM: &str = "let research = session \"Find\"\nsession \"More\"\n";

pub(crate) fn at() -> At {
    At {
        now: 1_768_573_852_000,
        os_user: None,
        client: "test".to_owned(),
    }
}

pub(crate) fn put(name: &str, value: &str) -> Put {
    Put {
        name: Some(name.to_owned()),
        kind: Some("let".to_owned()),
        source: Some("test".to_owned()),
        value: ValueBytes::from(value.as_bytes().to_vec()),
        not_done: true,
        ..Put::default()
    }
}

fn begin() -> Begin {
    Begin::line(1)
}

pub(crate) fn open(url: &str) -> PostgresStore {
    PostgresStore::open(&address(url), RUN).unwrap()
}

#[test]
fn what_is_recorded_is_what_the_documents_read() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    let mut store = open(&url);
    let begin = begin();
    record(&mut store, &begin, &at()).unwrap();
    let hostile = "AI's E'\\x' \\ \"q\" $1; DROP TABLE openprose.run; -- \u{202e}";
    record(&mut store, &put("research", "first"), &at()).unwrap();
    record(&mut store, &put("research", hostile), &at()).unwrap();
    let said = |sql: &str| cluster.psql(&url, sql).unwrap();
    assert_eq!(
        said("SELECT value FROM openprose.bindings WHERE name = 'research'"),
        hostile
    );
    assert_eq!(
        said("SELECT value FROM openprose.x_binding_history"),
        "first"
    );
    assert_eq!(
        said(
            "SELECT statement_index, status, to_char(started_at AT TIME ZONE 'UTC', 'HH24:MI:SS') FROM openprose.execution"
        ),
        "1|executing|14:30:52"
    );
    assert_eq!(said("SELECT word FROM openprose.x_events"), "executing");
}

#[test]
fn a_run_that_is_not_there_is_not_written_to() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    let others = cluster.database();
    for url in [&url, &others] {
        let missing = PostgresStore::open(&address(url), "20260101-000000-nobody");
        assert!(
            matches!(missing, Err(WriteError::NotFound { .. })),
            "{missing:?}"
        );
    }
    // Nothing is created in a database that was named by mistake.
    let made = cluster.psql(&others, "SELECT to_regnamespace('openprose')");
    assert_eq!(made.unwrap(), "");
}

/// A text with a NUL, which PostgreSQL does not store, is refused by a rule (errata P11).
#[test]
fn what_postgresql_does_not_store_is_refused_by_a_rule() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    let refused = record(&mut open(&url), &put("x", "a\0b"), &at()).unwrap_err();
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
    assert_eq!(
        cluster
            .psql(&url, "SELECT count(*) FROM openprose.bindings")
            .unwrap(),
        "0"
    );
}

/// A row must fit into one message of the protocol; an attachment is sent in pieces and has no such limit.
#[test]
fn a_row_that_is_too_large_is_refused_and_an_attachment_is_not() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    let small = address(&url).at_most(2_000_000);
    let mut store = PostgresStore::open(&small, RUN).unwrap();
    let memory = Remember {
        agent: "captain".to_owned(),
        scope: AgentScope::Execution,
        memory: "m".repeat(2_000_001),
    };
    let refused = record(&mut store, &memory, &at()).unwrap_err();
    assert!(refused.hint().contains("--file"), "{refused:?}");
    assert!(
        matches!(&refused, WriteError::Refused { rule, .. } if *rule == "not-storable"),
        "{refused:?}"
    );
    record(&mut store, &put("large", &"v".repeat(3_000_000)), &at()).unwrap();
    let said = cluster.psql(
        &url,
        "SELECT (SELECT count(*) FROM openprose.agents), (SELECT sum(octet_length(bytes)) FROM openprose.x_attachments)",
    );
    assert_eq!(said.unwrap(), "0|3000000");
}

#[test]
fn writers_of_one_run_take_turns_and_lose_nothing() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let url = url.clone();
            thread::spawn(move || {
                let mut store = open(&url);
                for n in 0..10 {
                    let anonymous = Put {
                        name: None,
                        ..put("", &format!("{writer} {n}"))
                    };
                    record(&mut store, &anonymous, &at()).unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().unwrap();
    }
    let counted =
        "SELECT count(DISTINCT name), count(DISTINCT value), max(name) FROM openprose.bindings";
    assert_eq!(cluster.psql(&url, counted).unwrap(), "80|80|anon_080");
}

#[test]
fn a_transaction_that_was_in_anothers_way_is_begun_anew() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    record(&mut open(&url), &put("x", "1"), &at()).unwrap();
    // Another session locks the row that the command writes, and then asks for the run's row, which the command has
    // locked. One of the two must retry; the other session is another program and does not.
    let other = format!(
        "SET deadlock_timeout = '10min';
         BEGIN;
         UPDATE openprose.bindings SET source_statement = 'theirs' WHERE name = 'x';
         DO $$ BEGIN
             WHILE NOT EXISTS (SELECT FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database OR l.database IS NULL
                               WHERE NOT l.granted AND d.datname = current_database() AND l.locktype = 'transactionid') LOOP
                 PERFORM pg_sleep(0.01);
             END LOOP;
         END $$;
         UPDATE openprose.run SET program_path = 'theirs' WHERE id = '{RUN}';
         COMMIT;"
    );
    let them = {
        let url = url.clone();
        thread::spawn(move || cluster.psql(&url, &other))
    };
    let holds = "SELECT count(*) FROM pg_locks WHERE granted AND mode = 'RowExclusiveLock' AND relation = 'openprose.bindings'::regclass";
    while cluster.psql(&url, holds).unwrap() == "0" {}
    record(&mut open(&url), &put("x", "2"), &at()).unwrap();
    them.join().unwrap().unwrap();
    let said = cluster.psql(
        &url,
        "SELECT value, (SELECT program_path FROM openprose.run), (SELECT count(*) FROM openprose.x_binding_history)
         FROM openprose.bindings",
    );
    assert_eq!(said.unwrap(), "2|theirs|1");
}

#[test]
fn a_row_that_is_swallowed_is_not_called_written() {
    let Some((cluster, url)) = run(PROGRAM) else {
        return;
    };
    cluster
        .psql(
            &url,
            "CREATE RULE swallow AS ON INSERT TO openprose.x_events DO INSTEAD NOTHING",
        )
        .unwrap();
    let mut store = open(&url);
    let begin = begin();
    let refused = record(&mut store, &begin, &at()).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("openprose.x_events has the rule swallow"),
        "{refused}"
    );
    assert_eq!(
        cluster
            .psql(&url, "SELECT count(*) FROM openprose.execution")
            .unwrap(),
        "0"
    );
}

/// After repeated immediate stops of the server, all acknowledged commands are recorded (errata P14).
#[test]
fn a_server_that_stops_at_once_loses_nothing_that_was_acknowledged() {
    let Some(cluster) = Cluster::start(&["fsync=on"]) else {
        return;
    };
    let url = cluster.database();
    prosescope_postgres::init_postgres(&address(&url), RUN, "p", PROGRAM, "2026-01-16 14:30:52")
        .unwrap();
    let writers: Vec<_> = (0..3)
        .map(|writer| {
            let url = url.clone();
            thread::spawn(move || {
                let mut store = open(&url);
                let mut told = Vec::new();
                for n in 0..40 {
                    let name = format!("w{writer}_{n}");
                    if record(&mut store, &put(&name, &name), &at()).is_ok() {
                        told.push(name);
                    }
                    thread::sleep(Duration::from_millis(20));
                }
                told
            })
        })
        .collect();
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(300));
        cluster.crash();
    }
    let told: Vec<String> = writers
        .into_iter()
        .flat_map(|writer| writer.join().unwrap())
        .collect();
    let names = cluster
        .psql(&url, "SELECT string_agg(name, ' ') FROM openprose.bindings")
        .unwrap();
    let there: Vec<&str> = names.split(' ').collect();
    let lost: Vec<&String> = told
        .iter()
        .filter(|name| !there.contains(&name.as_str()))
        .collect();
    assert!(
        lost.is_empty() && told.len() > 60,
        "{lost:?} of {}",
        told.len()
    );
    // Each command is recorded only once. A command that was recorded twice would have kept an earlier value as
    // history.
    let history = cluster.psql(&url, "SELECT count(*) FROM openprose.x_binding_history");
    assert_eq!(history.unwrap(), "0");
}

#[test]
fn a_server_that_is_down_is_said_without_its_password() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = format!("postgresql://ann:s3cret@127.0.0.1:{port}/db");
    let error = PostgresStore::open(&address(&url), RUN).unwrap_err();
    let said = format!("{error} {error:?} {}", error.hint());
    assert!(
        said.contains("cannot connect") && !said.contains("s3cret"),
        "{said}"
    );

    // This server accepts the connection and never answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let silent = format!("postgresql://ann:s3cret@127.0.0.1:{port}/db");
    let error =
        PostgresStore::open(&address(&silent).within(Duration::from_millis(200)), RUN).unwrap_err();
    assert!(error.to_string().contains("no answer within"), "{error}");
}
