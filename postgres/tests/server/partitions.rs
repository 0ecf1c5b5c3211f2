//! Tests of the section "Partitions by run" of docs/contribute/performance.md: the effects of hash partitions by
//! `run_id`.

use super::database;

const BINDINGS: &str = "
    CREATE TABLE run (id text PRIMARY KEY);
    CREATE TABLE bindings (name text, run_id text NOT NULL REFERENCES run(id), execution_id int, value text)
        PARTITION BY HASH (run_id);
    CREATE TABLE bindings_0 PARTITION OF bindings FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE bindings_1 PARTITION OF bindings FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    CREATE UNIQUE INDEX scope ON bindings (name, run_id, COALESCE(execution_id, -1));
    CREATE TABLE execution (id int, run_id text NOT NULL) PARTITION BY HASH (run_id);
    CREATE TABLE execution_0 PARTITION OF execution FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE execution_1 PARTITION OF execution FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    CREATE TABLE agents (name text, run_id text) PARTITION BY HASH (run_id);
    CREATE TABLE agents_0 PARTITION OF agents FOR VALUES WITH (MODULUS 2, REMAINDER 0);
    CREATE TABLE agents_1 PARTITION OF agents FOR VALUES WITH (MODULUS 2, REMAINDER 1);
    INSERT INTO run VALUES ('one'), ('other');";

#[test]
fn hash_partitions_by_run_do_what_the_document_says() {
    let Some((cluster, url)) = database() else {
        return;
    };
    cluster.psql(&url, BINDINGS).unwrap();
    let upsert = "INSERT INTO bindings VALUES ('x', 'one', NULL, 'v') ON CONFLICT (name, run_id, COALESCE(execution_id, -1))
                  DO UPDATE SET value = 'again' RETURNING value";
    assert_eq!(cluster.psql(&url, upsert).unwrap(), "v");
    assert_eq!(cluster.psql(&url, upsert).unwrap(), "again");
    let agents = "CREATE UNIQUE INDEX named ON agents (name, run_id) NULLS NOT DISTINCT;
                  INSERT INTO agents VALUES ('captain', NULL)";
    cluster.psql(&url, agents).unwrap();
    for (sql, words) in [
        (
            "INSERT INTO agents VALUES ('captain', NULL)",
            "duplicate key",
        ),
        (
            "CREATE UNIQUE INDEX ON agents (name, COALESCE(run_id, ''))",
            "must include all partitioning columns",
        ),
        (
            "ALTER TABLE execution ADD PRIMARY KEY (id)",
            "lacks column \"run_id\"",
        ),
        (
            "ALTER TABLE execution ADD PRIMARY KEY (run_id, id);
             ALTER TABLE bindings ADD FOREIGN KEY (execution_id) REFERENCES execution (id)",
            "no unique constraint matching given keys",
        ),
        (
            "CREATE INDEX CONCURRENTLY ON execution (id)",
            "concurrently",
        ),
    ] {
        let refused = cluster.psql(&url, sql).expect_err(sql);
        assert!(refused.contains(words), "{sql}: {refused}");
    }
    let plan = |sql: &str| {
        cluster
            .psql(&url, &format!("EXPLAIN (COSTS OFF) {sql}"))
            .unwrap()
    };
    let all = plan("SELECT * FROM execution WHERE id = 1");
    assert!(
        all.contains("execution_0") && all.contains("execution_1"),
        "{all}"
    );
    let one = plan("SELECT * FROM execution WHERE run_id = 'one' AND id = 1");
    assert_ne!(
        one.contains("execution_0"),
        one.contains("execution_1"),
        "{one}"
    );
}
