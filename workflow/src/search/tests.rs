use super::*;
use crate::page::page;
use crate::{SqliteTables, show};

#[test]
fn everything_that_a_workflow_holds_is_looked_through() {
    let conn = rusqlite::Connection::open_in_memory().unwrap();
    conn.execute_batch(prosescope_core::schema::WORKFLOWS_SQL)
        .unwrap();
    conn.execute_batch(
        r#"INSERT INTO workflows (id, context, preferences) VALUES ('w',
             '{"summary":"no reef","tail":[{"role":"user","seq":4,"content":"a Reef\nthe reef","question":"Which reef?","run_id":"r"}]}',
             '{"reef":1}');
           INSERT INTO workflow_runs (id, workflow_id, status, state, final_output)
             VALUES ('r', 'w', 'waiting_for_input', '{"pending_input":"reef or atoll?"}', '"the reef"');
           WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
             INSERT INTO workflow_events (workflow_id, run_id, text, payload)
             SELECT 'w', 'r', 'event ' || i, CASE i WHEN 1100 THEN '{"at":"reef"}' END FROM n;"#,
    )
    .unwrap();
    let tables = SqliteTables::new(conn).unwrap();
    let shown = page(show(&tables, "w").unwrap().unwrap());
    let look = |text: &str| {
        let mut search = Search::new(&Needle::new(text).unwrap(), shown.clone());
        let mut steps = 0;
        while !search.found().done {
            search.step(&tables).unwrap();
            steps += 1;
        }
        (search.found().clone(), steps)
    };
    let (found, steps) = look("reef");
    assert_eq!((found.events, steps), (1200, 4), "events are read in parts");
    let told: Vec<String> = found
        .groups
        .iter()
        .flat_map(|group| &group.hits)
        .map(|hit| format!("{:?} {}: {}", hit.to, hit.place, hit.text))
        .collect();
    assert_eq!(
        told,
        [
            "Thread summary: no reef",
            "Message(\"4\") user #4: a Reef",
            "Message(\"4\") user #4: the reef",
            "Run(\"r\") run 1: Which reef?",
            "Run(\"r\") run 1, waits: reef or atoll?",
            "Run(\"r\") run 1, output: the reef",
            "Run(\"r\") run 1, state: {\"pending_input\":\"reef or atoll?\"}",
            "Data preferences, reef: reef",
            "Event(1100) event 1100: {\"at\":\"reef\"}",
        ]
    );
    let (none, _) = look("atolls");
    assert!(none.groups.is_empty() && none.done);
    let (many, _) = look("event");
    assert_eq!(many.groups[0].hits.len(), 50);
    assert_eq!(many.groups[0].more, 1150);
}
