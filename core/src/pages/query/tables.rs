//! The tables that a query adds to the run's own tables. They contain the run's interpreted data, which the pages also
//! show.

use std::cell::Cell;

use crate::model::database::Value;
use crate::model::database::query::{Push, words};
use crate::model::time::Stamp;
use crate::pages::session::pages::{agents, bindings_page, error_of, gates, timeline, tree_row};
use crate::pages::session::{Session, ValueOf};
use crate::pages::view::{BindingRow, RunPart};

/// The most bytes of one value in `value_list`.
const VALUE: usize = 4 << 10;

/// The most bytes of all values that one query reads.
pub(super) const MOST_OF_VALUES: u64 = 16 << 20;

/// The number of bindings that are read at a time.
const WINDOW: u32 = 200;

/// A table of a run's interpreted data.
pub(super) struct Model {
    pub(super) name: &'static str,
    /// What one row of the table describes, for the list of tables.
    pub(super) about: &'static str,
    /// The names and types of the columns.
    pub(super) columns: &'static [(&'static str, &'static str)],
    /// The part of the run that the table shows; `None` for lists of files and tables.
    pub(super) part: Option<RunPart>,
    /// Returns the number of rows, if it is known before the rows are built.
    pub(super) rows: fn(&Session) -> Option<u64>,
    pub(super) fill: fn(&QueriedRun<'_>, Push<'_>),
}

/// The run that a query reads, with the limits on values.
pub(super) struct QueriedRun<'s> {
    pub(super) session: &'s Session,
    /// The current time, in milliseconds since 1970 UTC.
    pub(super) now: Option<i64>,
    /// Whether the query reads the beginnings of values.
    pub(super) values: bool,
    /// The number of bytes of values that the query may still read.
    pub(super) left: Cell<u64>,
    /// The number of values that were requested but not read.
    pub(super) unread: Cell<u64>,
}

/// Returns whether a statement may read the column `value`; if so, every value is read.
pub(super) fn asks_for_values(sql: &str) -> bool {
    let words = words(sql);
    sql.contains('*') || words.contains("value") || words.contains("value_cut")
}

const INTEGER: &str = "INTEGER";
const TEXT: &str = "TEXT";

/// The tables, in the order in which they are listed.
pub(super) const MODEL: [Model; 8] = [
    Model {
        name: "trace",
        about: "A row of the trace: a statement, block, branch, loop, round, frame or gate. `node` is the position of the row in the trace; `parent` is the `node` of the row around it",
        columns: &[
            ("node", INTEGER),
            ("id", INTEGER),
            ("parent", INTEGER),
            ("level", INTEGER),
            ("kind", TEXT),
            ("text", TEXT),
            ("detail", TEXT),
            ("status", TEXT),
            ("attempts", INTEGER),
            ("max", INTEGER),
            ("started", TEXT),
            ("ended", TEXT),
            ("duration_ms", INTEGER),
            ("error", TEXT),
            ("line", INTEGER),
            ("line_guessed", INTEGER),
            ("branch", TEXT),
            ("round", INTEGER),
            ("depth", INTEGER),
            ("gate", TEXT),
            ("writes", INTEGER),
            ("recovered", INTEGER),
            ("inferred", INTEGER),
            ("derived", INTEGER),
            ("position", INTEGER),
            ("first_cause", INTEGER),
            ("because_of", INTEGER),
        ],
        part: Some(RunPart::Statements),
        rows: |session| Some(session.trace().nodes.len() as u64),
        fill: trace,
    },
    Model {
        name: "value_list",
        about: "A binding. `frame` is the execution id of the binding's frame, NULL at the root; `value` has at most the first 4,096 bytes, and `value_cut` is 1 if the value is longer",
        columns: &[
            ("binding", INTEGER),
            ("name", TEXT),
            ("frame", INTEGER),
            ("frame_node", INTEGER),
            ("frame_path", TEXT),
            ("kind", TEXT),
            ("length", INTEGER),
            ("stored", TEXT),
            ("value", TEXT),
            ("value_cut", INTEGER),
            ("source", TEXT),
            ("attachment", TEXT),
            ("created", TEXT),
            ("updated", TEXT),
            ("written_by", INTEGER),
            ("writer_inferred", INTEGER),
            ("superseded", INTEGER),
        ],
        part: Some(RunPart::Bindings),
        rows: |session| Some(session.run().bindings.len() as u64),
        fill: values,
    },
    Model {
        name: "gate_list",
        about: "A gate. `standing` is the state of the gate now, in words; `resolved_by` is a name that is not verified",
        columns: &[
            ("gate", TEXT),
            ("node", INTEGER),
            ("status", TEXT),
            ("standing", TEXT),
            ("prompt", TEXT),
            ("allow", TEXT),
            ("timeout", TEXT),
            ("deadline", TEXT),
            ("overdue", INTEGER),
            ("on_reject", TEXT),
            ("created", TEXT),
            ("resolved", TEXT),
            ("resolved_by", TEXT),
            ("comment", TEXT),
            ("waited_ms", INTEGER),
        ],
        part: Some(RunPart::Gates),
        rows: |session| Some(session.run().gates.len() as u64),
        fill: gate_list,
    },
    Model {
        name: "agent_list",
        about: "An agent. The column `memory` is the beginning of the agent's memory, on one line",
        columns: &[
            ("agent", INTEGER),
            ("name", TEXT),
            ("scope", TEXT),
            ("store", TEXT),
            ("shadowed", INTEGER),
            ("memory_length", INTEGER),
            ("memory", TEXT),
            ("segments", INTEGER),
            ("created", TEXT),
            ("updated", TEXT),
        ],
        part: Some(RunPart::Agents),
        rows: |session| Some(session.run().agents.len() as u64),
        fill: agent_list,
    },
    Model {
        name: "segment_list",
        about: "An invocation of an agent. The column `agent` is the number of the agent in `agent_list`",
        columns: &[
            ("agent", INTEGER),
            ("name", TEXT),
            ("number", INTEGER),
            ("time", TEXT),
            ("prompt", TEXT),
            ("summary", TEXT),
        ],
        part: Some(RunPart::Agents),
        rows: |session| {
            let agents = session.run().agents.iter();
            Some(agents.map(|agent| agent.segments.len() as u64).sum())
        },
        fill: segments,
    },
    Model {
        name: "gap_list",
        about: "An idle time, in which no statement was running, as far as times are recorded; short idle times are left out",
        columns: &[("began", TEXT), ("ended", TEXT), ("duration_ms", INTEGER)],
        part: Some(RunPart::Statements),
        rows: |_| None,
        fill: gaps,
    },
    Model {
        name: "table_list",
        about: "A table of the run's store. `row_count` is NULL if rows are not counted",
        columns: &[
            ("name", TEXT),
            ("kind", TEXT),
            ("row_count", INTEGER),
            ("column_count", INTEGER),
            ("known", INTEGER),
        ],
        part: None,
        rows: |session| Some(session.run().tables.len() as u64),
        fill: |asked, push| {
            let _ = asked.session.run().tables.iter().all(|table| {
                push(&[
                    text(&table.name),
                    text(&table.kind),
                    number(table.rows),
                    // The columns of a view are unknown, and 0 would claim that the view has none.
                    number(Some(table.columns.len()).filter(|n| *n > 0)),
                    flag(table.known),
                ])
            });
        },
    },
    Model {
        name: "file_list",
        about: "A file of the run folder. `role` is the kind of the file, such as `binding`; NULL if the kind is unknown",
        columns: &[("path", TEXT), ("length", INTEGER), ("role", TEXT)],
        part: None,
        rows: |session| Some(session.run().files.len() as u64),
        fill: |asked, push| {
            let _ = asked.session.run().files.iter().all(|file| {
                push(&[
                    text(&file.path),
                    number(Some(file.len)),
                    maybe(file.role.as_deref()),
                ])
            });
        },
    },
];

fn trace(asked: &QueriedRun<'_>, push: Push<'_>) {
    let session = asked.session;
    let _ = session.trace().nodes.iter_enumerated().all(|(at, node)| {
        let Some(row) = tree_row(session, at, false) else {
            return true;
        };
        push(&[
            number(Some(row.node)),
            number(row.id),
            number(node.parent.map(|parent| parent.get())),
            number(Some(row.level)),
            text(&row.kind),
            // A query returns the whole text; only lists cut the text.
            text(&node.text),
            text(&row.detail),
            text(&row.status),
            number(Some(row.attempts)),
            number(row.max),
            time(row.started.as_ref()),
            time(row.ended.as_ref()),
            number(row.duration_ms),
            maybe(error_of(session, at, node)),
            number(row.line),
            flag(row.line_guessed),
            maybe(row.branch.as_deref()),
            number(row.round),
            number(row.depth),
            maybe(row.gate.as_deref()),
            number(Some(row.bindings.len())),
            flag(row.recovered),
            flag(row.inferred),
            flag(row.derived),
            flag(row.position),
            flag(row.first_cause),
            flag(row.because_of),
        ])
    });
}

fn values(asked: &QueriedRun<'_>, push: Push<'_>) {
    let mut from = 0;
    loop {
        let page = bindings_page(asked.session, from, WINDOW);
        let goes_on = page.rows.iter().all(|row| push(&value_row(asked, row)));
        from += WINDOW;
        if !goes_on || from >= page.total {
            return;
        }
    }
}

fn value_row(asked: &QueriedRun<'_>, row: &BindingRow) -> [Value<'static>; 17] {
    let (value, cut) = if asked.values {
        beginning(asked, row)
    } else {
        (Value::Null, Value::Null)
    };
    // The row of an attachment contains only a summary, whose length would mislead.
    let length = match row.attachment {
        Some(_) => row.attachment_len,
        None => row.len,
    };
    [
        number(Some(row.binding)),
        text(&row.name),
        number(row.execution_id),
        number(row.frame_node),
        text(&row.frame_path),
        text(&row.kind),
        number(length),
        text(&row.stored),
        value,
        cut,
        maybe(row.source.as_deref()),
        maybe(row.attachment.as_deref()),
        time(row.created.as_ref()),
        time(row.updated.as_ref()),
        number(row.written_by.as_ref().map(|node| node.node)),
        flag(row.writer_inferred),
        flag(row.superseded),
    ]
}

/// Returns the beginning of a value, and whether it was cut; NULL for a missing or unreadable value.
fn beginning(asked: &QueriedRun<'_>, row: &BindingRow) -> (Value<'static>, Value<'static>) {
    let unknown = || {
        asked.unread.set(asked.unread.get() + 1);
        (Value::Null, Value::Null)
    };
    let most = asked.left.get().min(VALUE as u64);
    if most == 0 {
        return unknown();
    }
    match asked
        .session
        .value(&ValueOf::Binding(row.binding), most as usize)
    {
        Ok(view) if view.missing.is_none() && (row.len.is_some() || view.len > 0) => {
            let read = view.text.len() as u64;
            asked.left.set(asked.left.get().saturating_sub(read));
            (text(&view.text), flag(view.cut))
        }
        Ok(_) => (Value::Null, Value::Null),
        Err(_) => unknown(),
    }
}

fn gate_list(asked: &QueriedRun<'_>, push: Push<'_>) {
    let _ = gates(asked.session, asked.now).gates.iter().all(|gate| {
        push(&[
            text(&gate.id),
            number(gate.node),
            text(&gate.status),
            text(&gate.standing),
            text(&gate.prompt),
            text(&gate.allow_words),
            maybe(gate.timeout.as_deref()),
            time(gate.deadline.as_ref()),
            flag(gate.overdue),
            maybe(gate.on_reject.as_deref()),
            time(gate.created.as_ref()),
            time(gate.resolved.as_ref()),
            maybe(gate.resolved_by.as_deref()),
            maybe(gate.comment.as_deref()),
            number(gate.waited_ms),
        ])
    });
}

fn agent_list(asked: &QueriedRun<'_>, push: Push<'_>) {
    let _ = agents(asked.session).agents.iter().all(|agent| {
        let memory = agent.memory_len.map(|_| agent.memory_preview.as_str());
        let segments = (!agent.segments_unread).then_some(agent.segments.len());
        push(&[
            number(Some(agent.agent)),
            text(&agent.name),
            text(&agent.scope),
            text(&agent.store),
            flag(agent.shadowed),
            number(agent.memory_len),
            maybe(memory),
            number(segments),
            time(agent.created.as_ref()),
            time(agent.updated.as_ref()),
        ])
    });
}

fn segments(asked: &QueriedRun<'_>, push: Push<'_>) {
    let agents = agents(asked.session).agents;
    let segments = agents
        .iter()
        .flat_map(|agent| agent.segments.iter().map(move |segment| (agent, segment)));
    let mut segments = segments;
    let _ = segments.all(|(agent, segment)| {
        push(&[
            number(Some(agent.agent)),
            text(&agent.name),
            number(Some(segment.number)),
            time(segment.timestamp.as_ref()),
            maybe(segment.prompt.as_deref()),
            maybe(segment.summary.as_deref()),
        ])
    });
}

fn gaps(asked: &QueriedRun<'_>, push: Push<'_>) {
    let _ = timeline(asked.session).gaps.iter().all(|gap| {
        let len = i64::try_from(gap.len_ms).unwrap_or(i64::MAX);
        let until = gap.from.millis().map(|from| from.saturating_add(len));
        push(&[
            time(Some(&gap.from)),
            time(until.map(Stamp::At).as_ref()),
            number(Some(len)),
        ])
    });
}

fn text(text: &str) -> Value<'static> {
    Value::text(text)
}

fn maybe(text: Option<&str>) -> Value<'static> {
    text.map_or(Value::Null, Value::text)
}

fn time(time: Option<&Stamp>) -> Value<'static> {
    time.map_or(Value::Null, |time| Value::text(&time.to_string()))
}

fn flag(is: bool) -> Value<'static> {
    Value::Integer(i64::from(is))
}

/// Converts a number; values beyond SQL's range become the largest integer.
fn number<N: TryInto<i64>>(n: Option<N>) -> Value<'static> {
    n.map_or(Value::Null, |n| {
        Value::Integer(n.try_into().unwrap_or(i64::MAX))
    })
}
