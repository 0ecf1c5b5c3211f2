//! The stored questions: SQL statements with names. `{trace}` in a statement is replaced by the name of that table.

use super::tables::MODEL;
use crate::pages::view::StoredQuestion;

/// A question's name, its subject, and its statement.
const QUESTIONS: [(&str, &str, &str); 10] = [
    (
        "longest",
        "The statements that took longest",
        "SELECT node, line, text, status, duration_ms FROM {trace} \
         WHERE kind = 'statement' AND duration_ms IS NOT NULL ORDER BY duration_ms DESC, node",
    ),
    (
        "failures",
        "Rows that failed, with their errors; the first cause comes first",
        "SELECT node, line, kind, text, status, attempts, first_cause, error FROM {trace} \
         WHERE error IS NOT NULL OR status = 'failed' ORDER BY first_cause DESC, node",
    ),
    (
        "values",
        "The values by their size in bytes",
        "SELECT name, frame, kind, length, stored, source FROM {value_list} ORDER BY length DESC, name",
    ),
    (
        "retries",
        "Statements that were tried more than once",
        "SELECT node, line, text, status, attempts, max, error FROM {trace} \
         WHERE attempts > 1 ORDER BY attempts DESC, node",
    ),
    (
        "agents",
        "The prompts and summaries of each agent's segments",
        "SELECT a.name, a.scope, s.number, s.time, s.prompt, s.summary FROM {agent_list} a \
         LEFT JOIN {segment_list} s ON s.agent = a.agent ORDER BY a.agent, s.number",
    ),
    (
        "gates",
        "The gates, and the names under which they were decided; no name is verified",
        "SELECT gate, standing, resolved_by, resolved, comment, waited_ms, prompt FROM {gate_list}",
    ),
    (
        "rounds",
        "How many rounds each loop took",
        "SELECT l.node, l.line, l.text, l.status, count(r.node) AS rounds, l.max, l.duration_ms \
         FROM {trace} l LEFT JOIN {trace} r ON r.parent = l.node AND r.kind = 'round' \
         WHERE l.kind = 'loop' GROUP BY l.node ORDER BY rounds DESC, l.node",
    ),
    (
        "silent",
        "Completed statements for which no written value is known",
        "SELECT node, line, text, duration_ms FROM {trace} \
         WHERE kind = 'statement' AND status = 'completed' AND writes = 0 ORDER BY node",
    ),
    (
        "gaps",
        "Idle times, in which no statement was running, the longest first",
        "SELECT began, ended, duration_ms FROM {gap_list} ORDER BY duration_ms DESC",
    ),
    (
        "tables",
        "The run's own tables by number of rows; `row_count` is NULL if rows are not counted",
        "SELECT name, kind, row_count, column_count FROM {table_list} ORDER BY row_count DESC, name",
    ),
];

/// Returns the questions, with the table names of a run.
pub(super) fn questions(name_in: impl Fn(&str) -> String) -> Vec<StoredQuestion> {
    let in_words = |sql: &str| {
        MODEL.iter().fold(sql.to_owned(), |sql, model| {
            let mark = format!("{{{}}}", model.name);
            if sql.contains(&mark) {
                sql.replace(&mark, &name_in(model.name))
            } else {
                sql
            }
        })
    };
    let questions = QUESTIONS.iter().map(|(name, about, sql)| StoredQuestion {
        name: (*name).to_owned(),
        about: (*about).to_owned(),
        sql: in_words(sql),
    });
    questions.collect()
}
