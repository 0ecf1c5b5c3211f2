//! Reads agents and their segments from the tables `agents` and `agent_segments`, without the texts of memories.

use std::collections::BTreeMap;

use super::reader::RowsReader;
use super::value_bytes;
use crate::model::database::{Database, DecodeError, Want};
use crate::model::issue::Issue;
use crate::model::schema;
use crate::model::time::Stamp;
use crate::model::{Agent, AgentScope, Segment, Text, ValueAt};
use crate::read::decode::fields::Fields as _;
use crate::read::decode::text::lossy;

/// Maximum bytes of all segment texts of a run that are kept whole. Further texts are cut to [`BEGINNING`] bytes.
const HELD: usize = 16 << 20;
/// Bytes that are kept of a segment text that is cut.
const BEGINNING: usize = 1 << 10;

/// Reads agents with their segments. `store` is the name of the database that users see.
pub(super) fn read(reader: &mut RowsReader<'_>, store: &str) -> Vec<Agent> {
    let store: Text = store.into();
    let mut agents = read_agents(reader, &store);
    read_segments(reader, &mut agents, &store);
    for agent in &mut agents {
        // Rows may be stored in another order than their numbers. Segments with equal numbers keep their stored order.
        agent.segments.sort_by_key(|s| s.number);
    }
    agents
}

/// Reads the agents of one name, without their segments.
pub(super) fn read_named(reader: &mut RowsReader<'_>, store: &str, name: &str) -> Vec<Agent> {
    let mut agents = read_agents(reader, &store.into());
    agents.retain(|agent| *agent.name == *name);
    if agents.is_empty() && segment_row(reader, name, None).is_some() {
        agents.push(without_memory(name.into(), store.into()));
    }
    agents
}

/// Reads one segment of an agent with its whole texts: the segment with this number, or the last segment if `number` is
/// `None`. Of rows with the same number, the later row is used.
///
/// # Errors
/// If the table does not exist or cannot be read.
pub fn segment(
    db: &dyn Database,
    store: &str,
    agent: &str,
    number: Option<i64>,
) -> Result<Option<Segment>, DecodeError> {
    let mut reader = RowsReader::of_table(db, schema::AGENT_SEGMENTS, store)?;
    let found = segment_row(&mut reader, agent, number);
    if let Some(error) = reader.failed.take() {
        return Err(error);
    }
    let Some(row) = found else { return Ok(None) };
    let text = |column: &str, at: &ValueAt| -> Result<Option<Text>, DecodeError> {
        if at.len().is_none() {
            return Ok(None);
        }
        let bytes = value_bytes(db, schema::AGENT_SEGMENTS, column, at, 0, usize::MAX)?;
        Ok(Some(lossy(&bytes).0.into()))
    };
    Ok(Some(Segment {
        number: row.number,
        prompt: text("prompt", &row.prompt)?,
        summary: text("summary", &row.summary)?,
        timestamp: row.timestamp,
    }))
}

/// A row of `agent_segments`, with the locations of its texts in place of the texts.
struct ScannedSegment {
    number: i64,
    timestamp: Option<Stamp>,
    prompt: ValueAt,
    summary: ValueAt,
}

fn segment_row(
    reader: &mut RowsReader<'_>,
    agent: &str,
    number: Option<i64>,
) -> Option<ScannedSegment> {
    const WANTS: &[Want<'static>] = &[
        Want::short("agent_name"),
        Want::short("segment_number"),
        Want::short("timestamp"),
        Want::size("prompt"),
        Want::size("summary"),
    ];
    let mut last: Option<ScannedSegment> = None;
    reader.scan_some(schema::AGENT_SEGMENTS, WANTS, |cells| {
        let own = cells.text("agent_name").is_some_and(|name| *name == *agent);
        let at = cells.int("segment_number").unwrap_or(0);
        let wanted = number.map_or_else(
            || last.as_ref().is_none_or(|last| last.number <= at),
            |number| number == at,
        );
        if own && wanted {
            last = Some(ScannedSegment {
                number: at,
                timestamp: cells.stamp("timestamp"),
                prompt: cells.value_at("prompt"),
                summary: cells.value_at("summary"),
            });
        }
    });
    last
}

fn without_memory(name: Text, store: Text) -> Agent {
    Agent {
        name,
        store,
        ..Agent::default()
    }
}

fn read_agents(reader: &mut RowsReader<'_>, store: &Text) -> Vec<Agent> {
    let mut agents: Vec<Agent> = Vec::new();
    reader.scan(schema::AGENTS, |cells| {
        let mut memory = cells.value_at("memory");
        if memory.len().is_none() {
            memory = ValueAt::Missing;
        }
        agents.push(Agent {
            name: cells.word("name"),
            scope: cells
                .text("scope")
                .map_or_else(AgentScope::default, |word| AgentScope::parse(&word)),
            memory,
            created: cells.stamp("created_at"),
            updated: cells.stamp("updated_at"),
            store: Text::clone(store),
            ..Agent::default()
        });
    });
    agents
}

fn read_segments(reader: &mut RowsReader<'_>, agents: &mut Vec<Agent>, store: &Text) {
    let mut by_name: BTreeMap<Text, usize> = BTreeMap::new();
    for (i, agent) in agents.iter().enumerate() {
        // Segments do not record a scope, so they belong to the first agent of that name (errata A1).
        by_name.entry(Text::clone(&agent.name)).or_insert(i);
    }
    let mut held = 0_usize;
    let mut shortened = 0_u64;
    reader.scan(schema::AGENT_SEGMENTS, |cells| {
        let name = cells.word("agent_name");
        let place = *by_name.entry(Text::clone(&name)).or_insert_with(|| {
            // The sqlite3 program does not enforce foreign keys, so a segment may precede its agent (errata A1).
            let message =
                format!("segments of agent {name} are recorded, but the agent itself is not");
            let issue = Issue::warning("segment-without-agent", message);
            cells.mark_odd(
                "agent_name",
                issue.hint("The agent is shown without a memory."),
            );
            agents.push(without_memory(Text::clone(&name), Text::clone(store)));
            agents.len() - 1
        });
        let mut text = |column: &str| -> Option<Text> {
            let mut text = cells.string(column)?;
            if held > HELD && text.len() > BEGINNING {
                text.truncate(text.floor_char_boundary(BEGINNING));
                shortened += 1;
            }
            held += text.len();
            Some(text.into())
        };
        let (prompt, summary) = (text("prompt"), text("summary"));
        let number = cells.int("segment_number").unwrap_or_else(|| {
            let message = format!("a segment of agent {name} has no number");
            let issue = Issue::warning("unnumbered-segment", message);
            cells.mark_odd(
                "segment_number",
                issue.hint("The segment is shown as number 0."),
            );
            0
        });
        if let Some(agent) = agents.get_mut(place) {
            agent.segments.push(Segment {
                number,
                timestamp: cells.stamp("timestamp"),
                prompt,
                summary,
            });
        }
    });
    if shortened > 0 {
        reader.notes.add(
            Issue::noted(
                "long-text",
                format!(
                    "the prompts and summaries of agents take over 16 MB; {shortened} are cut to their \
                     first kilobyte"
                ),
            )
            .at_table(schema::AGENT_SEGMENTS)
            .hint("To read a whole text, open its row under files and tables."),
        );
    }
}

/// Returns an agent with its times of creation and update. Decoding a database leaves these times out if the agent's
/// memory is larger than [`crate::model::database::NEAR`].
///
/// # Errors
/// If the row does not exist or cannot be read.
pub fn agent_tail(db: &dyn Database, agent: &Agent) -> Result<Agent, DecodeError> {
    let mut full = agent.clone();
    let ValueAt::Row { rowid, .. } = &agent.memory else {
        return Ok(full);
    };
    RowsReader::of_table(db, schema::AGENTS, "")?.scan_row(schema::AGENTS, *rowid, |cells| {
        full.created = cells.stamp("created_at");
        full.updated = cells.stamp("updated_at");
    })?;
    Ok(full)
}
