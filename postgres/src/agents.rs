//! Stores agents as rows: those of a run, and those of a project or the user, which outlive runs (errata A1, P4, P13).

use prosescope_core::record::{Fault, MemoryRow, SegmentRow, WriteError};

use crate::address::Address;
use crate::apply::{TransactionStep, any, step};
use crate::cell::get;
use crate::fault;
use crate::find::has;
use crate::foreign;
use crate::owner::{Keeper, RowOwner};
use crate::server::LOCK_WAIT;
use crate::server::{Bound, Lost, PgClient, int, owned, text};
use crate::status::deleted;
use crate::store::DELETE;
use crate::written_row::time;

/// The tables with rows of agents, and the column with the agent's name.
const TABLES: [(&str, &str); 3] = [
    ("agents", "name"),
    ("agent_segments", "agent_name"),
    ("x_agent_memory_history", "agent_name"),
];

/// The amount of data that a database keeps of an agent whose memory outlives runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptRows {
    /// The number of the agent's rows: the agent, its segments and earlier memories.
    pub rows: u64,
    /// The size of the agent's memory in bytes.
    pub memory: u64,
    /// Whether the agent belongs to no project and is therefore shared by every project of the database (errata P13).
    pub everybodys: bool,
}

/// Counts the rows of an agent that outlives runs, and measures its memory; `None` if the agent does not exist. If the
/// project has no agent of this name, the result is about the shared agent of this name.
///
/// # Errors
/// If the server does not answer, or refuses to count the agent's rows.
pub fn kept_rows(
    address: &Address,
    keeper: &Keeper,
    name: &str,
) -> Result<Option<KeptRows>, Fault> {
    let server = PgClient::connect(address)?;
    let kept = found(&server, keeper, name).map_err(|lost| fault::unread_fault(address, &lost))?;
    server.release();
    Ok(kept.map(|(_, kept)| kept))
}

/// Deletes an agent that outlives runs, with its segments and earlier memories. Returns whether the agent existed.
///
/// # Errors
/// If the agent was not deleted, or if the connection was lost and it is unknown whether it was.
pub fn delete_agent(address: &Address, keeper: &Keeper, name: &str) -> Result<bool, WriteError> {
    let mut there = false;
    // The owner is looked up only once. If a successful deletion were repeated with a second look-up, the repetition
    // would find and delete the shared agent of the same name.
    let mut whom = None;
    let mut delete = |server: &PgClient| {
        if whom.is_none() {
            whom = found(server, keeper, name)?.map(|(of, _)| of);
        }
        let Some(of) = &whom else {
            return Ok(());
        };
        there = true;
        server.batch(&format!("{DELETE}; {}", server.lock_timeout(LOCK_WAIT)))?;
        foreign::guarded(server, &TABLES.map(|(table, _)| table), true)?;
        for (table, column) in TABLES {
            let sql = format!(
                "DELETE FROM openprose.{table} WHERE {column} = $1 AND {}",
                whose(of)
            );
            server.rows_long(&sql, &[stored(of, name), of.key()])?;
        }
        server.commit()
    };
    deleted(address, &mut delete)?;
    Ok(there)
}

/// Finds an agent that outlives runs; returns its owner and its size.
fn found(
    server: &PgClient,
    keeper: &Keeper,
    name: &str,
) -> Result<Option<(RowOwner, KeptRows)>, Lost> {
    // A schema made only by OpenProse's statements does not distinguish agents of projects.
    if !has(server, "openprose.x_agent_memory_history")? {
        return Ok(None);
    }
    let everybodys = matches!(keeper, Keeper::Project(Some(_))).then_some(Keeper::Project(None));
    for (nobodys, keeper) in [(false, Some(keeper.clone())), (true, everybodys)] {
        let Some(keeper) = keeper else { continue };
        let of = RowOwner::Agents(keeper);
        let count = TABLES.map(|(table, column)| {
            format!(
                "(SELECT count(*) FROM openprose.{table} WHERE {column} = $1 AND {})",
                whose(&of)
            )
        });
        let sql = format!(
            "SELECT {}, (SELECT COALESCE(sum(octet_length(memory)), 0)::bigint FROM openprose.agents WHERE name = $1 AND {})",
            count.join(" + "),
            whose(&of)
        );
        let counted = server.ask(&sql, &[stored(&of, name), of.key()])?;
        for row in counted {
            let (rows, memory): (i64, i64) = (get(&row, 0)?, get(&row, 1)?);
            if rows > 0 {
                let kept = KeptRows {
                    rows: rows.unsigned_abs(),
                    memory: memory.unsigned_abs(),
                    everybodys: nobodys,
                };
                return Ok(Some((of, kept)));
            }
        }
    }
    Ok(None)
}

/// Returns the condition for the rows of one agent: `$1` is the stored name, `$2` the run or the project.
pub(crate) fn whose(of: &RowOwner) -> &'static str {
    match of {
        RowOwner::Run(_) => "run_id = $2",
        // `x_project` is NULL for shared agents and for the agents of a user.
        RowOwner::Agents(_) | RowOwner::Runs(_) => {
            "run_id IS NULL AND x_project IS NOT DISTINCT FROM nullif($2, '')"
        }
    }
}

/// Returns the SQL for the values of `run_id` and `x_project` in a new row; `$2` is the run or the project.
fn columns(of: &RowOwner) -> &'static str {
    match of {
        RowOwner::Run(_) => "$2, NULL",
        RowOwner::Agents(_) | RowOwner::Runs(_) => "NULL, nullif($2, '')",
    }
}

/// Binds the name under which the tables store an agent; the name of a user's agent gets a prefix.
pub(crate) fn stored<'a>(of: &RowOwner, name: &str) -> Bound<'a> {
    match of {
        RowOwner::Agents(keeper) => owned(keeper.stored(name).into_owned()),
        RowOwner::Run(_) | RowOwner::Runs(_) => owned(name.to_owned()),
    }
}

/// Returns the statements that write a memory, and keep the earlier memory as history.
pub(crate) fn memory<'a>(of: &'a RowOwner, row: &'a MemoryRow) -> Vec<TransactionStep<'a>> {
    let whose = whose(of);
    vec![
        any(
            format!(
                "INSERT INTO openprose.x_agent_memory_history (run_id, x_project, agent_name, updated_at, replaced_at, memory)
                 SELECT run_id, x_project, name, updated_at, {}, memory FROM openprose.agents
                 WHERE name = $1 AND {whose} AND memory IS NOT NULL FOR UPDATE",
                time(3)
            ),
            vec![stored(of, &row.agent), of.key(), text(&*row.at)],
        ),
        agent(of, &row.agent, &row.scope, &row.at, &row.at),
        step(
            format!(
                "UPDATE openprose.agents SET memory = $3, updated_at = {} WHERE name = $1 AND {whose}",
                time(4)
            ),
            vec![
                stored(of, &row.agent),
                of.key(),
                text(&*row.memory),
                text(&*row.at),
            ],
        ),
    ]
}

/// Returns the statements that add a segment.
pub(crate) fn segment<'a>(of: &'a RowOwner, row: &'a SegmentRow) -> Vec<TransactionStep<'a>> {
    vec![
        // The agent's row must exist before its first segment (errata A1).
        agent(of, &row.agent, &row.scope, &row.at, &row.at),
        step(
            format!(
                "INSERT INTO openprose.agent_segments (agent_name, run_id, x_project, segment_number, timestamp, prompt, summary)
                 VALUES ($1, {}, $3, {}, $5, $6)",
                columns(of),
                time(4)
            ),
            vec![
                stored(of, &row.agent),
                of.key(),
                int(row.number),
                text(&*row.at),
                text(&*row.prompt),
                text(&*row.summary),
            ],
        ),
    ]
}

/// Returns the statement that registers an agent if it is missing. An unknown time is passed as an empty text.
pub(crate) fn agent<'a>(
    of: &'a RowOwner,
    name: &'a str,
    scope: &'a str,
    created: &'a str,
    updated: &'a str,
) -> TransactionStep<'a> {
    any(
        format!(
            "INSERT INTO openprose.agents (name, run_id, x_project, scope, created_at, updated_at)
             SELECT $1, {}, $3, {}, {}
             WHERE NOT EXISTS (SELECT FROM openprose.agents WHERE name = $1 AND {})",
            columns(of),
            time(4),
            time(5),
            whose(of),
        ),
        vec![
            stored(of, name),
            of.key(),
            text(scope),
            text(created),
            text(updated),
        ],
    )
}
