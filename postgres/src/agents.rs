//! Agents as rows: of a run, or of a project or the user, which outlive runs (errata A1, P4, P13).

use prosescope_core::write::{MemoryRow, SegmentRow};

use crate::apply::{Step, any, step, time};
use crate::of::Of;
use crate::server::{Bound, int, owned, text};

/// Which rows of a table of agents are an agent's: `$1` is the stored name, `$2` the run or the project.
pub(crate) fn whose(of: &Of) -> &'static str {
    match of {
        Of::Run(_) => "run_id = $2",
        // The column is NULL where an agent is everybody's, or the user's.
        Of::Agents(_) | Of::All => {
            "run_id IS NULL AND x_project IS NOT DISTINCT FROM nullif($2, '')"
        }
    }
}

/// The values of `run_id` and `x_project`.
fn columns(of: &Of) -> &'static str {
    match of {
        Of::Run(_) => "$2, NULL",
        Of::Agents(_) | Of::All => "NULL, nullif($2, '')",
    }
}

/// The agent's name as it is stored.
pub(crate) fn stored<'a>(of: &Of, name: &str) -> Bound<'a> {
    match of {
        Of::Agents(keeper) => owned(&keeper.stored(name)),
        Of::Run(_) | Of::All => owned(name),
    }
}

/// A memory; the earlier one stays as history.
pub(crate) fn memory<'a>(of: &'a Of, row: &'a MemoryRow) -> Vec<Step<'a>> {
    let whose = whose(of);
    vec![
        any(
            format!(
                "INSERT INTO openprose.x_agent_memory_history (run_id, x_project, agent_name, updated_at, replaced_at, memory)
                 SELECT run_id, x_project, name, updated_at, {}, memory FROM openprose.agents
                 WHERE name = $1 AND {whose} AND memory IS NOT NULL FOR UPDATE",
                time(3)
            ),
            vec![stored(of, &row.agent), text(of.key()), text(&*row.at)],
        ),
        agent(of, &row.agent, &row.scope, &row.at),
        step(
            format!(
                "UPDATE openprose.agents SET memory = $3, updated_at = {} WHERE name = $1 AND {whose}",
                time(4)
            ),
            vec![
                stored(of, &row.agent),
                text(of.key()),
                text(&*row.memory),
                text(&*row.at),
            ],
        ),
    ]
}

/// An invocation.
pub(crate) fn segment<'a>(of: &'a Of, row: &'a SegmentRow) -> Vec<Step<'a>> {
    vec![
        // A1: the agent is there before its first segment names it.
        agent(of, &row.agent, &row.scope, &row.at),
        step(
            format!(
                "INSERT INTO openprose.agent_segments (agent_name, run_id, x_project, segment_number, timestamp, prompt, summary)
                 VALUES ($1, {}, $3, COALESCE({}, now()), $5, $6)",
                columns(of),
                time(4)
            ),
            vec![
                stored(of, &row.agent),
                text(of.key()),
                int(row.number),
                text(&*row.at),
                text(&*row.prompt),
                text(&*row.summary),
            ],
        ),
    ]
}

/// Registers an agent that is not there.
fn agent<'a>(of: &'a Of, name: &'a str, scope: &'a str, at: &'a str) -> Step<'a> {
    any(
        format!(
            "INSERT INTO openprose.agents (name, run_id, x_project, scope, created_at, updated_at)
             SELECT $1, {}, $3, {at}, {at}
             WHERE NOT EXISTS (SELECT FROM openprose.agents WHERE name = $1 AND {})",
            columns(of),
            whose(of),
            at = time(4)
        ),
        vec![stored(of, name), text(of.key()), text(scope), text(at)],
    )
}
