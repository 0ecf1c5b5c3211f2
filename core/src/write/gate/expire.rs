use serde_json::Map;

use super::log::Log;
use super::waits::over;
use crate::gate::allow::RESERVED;
use crate::gate::audit::Head;
use crate::gate::lifecycle::{Lifecycle, Standing};
use crate::model::{AuditKind, Gate};
use crate::time::Stamp;
use crate::write::begin::touch;
use crate::write::meta::Keys;
use crate::write::{At, Change, Facts, GateResolution, Plan, Record, WriteError};

/// `gates expire`: every gate that is past its deadline becomes `timeout`, once (errata G3, G6, G9). Safe to repeat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpireGates;

/// What was timed out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expired {
    /// The gates, in order of creation; none when nothing was due.
    pub gates: Vec<TimedOut>,
    /// Where the log ends now.
    pub head: Option<Head>,
}

/// A gate whose time-out was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedOut {
    /// The gate.
    pub gate: String,
    /// Its deadline.
    pub deadline: Option<Stamp>,
    /// What the program does now: for it, a time-out is a rejection by `system`.
    pub on_reject: Option<String>,
    /// The execution that waited at it.
    pub execution: Option<i64>,
    /// Where the log ends now.
    pub head: Option<Head>,
}

impl Record for ExpireGates {
    type Done = Expired;

    fn plan(&self, facts: &dyn Facts, at: &At) -> Result<Plan<Expired>, WriteError> {
        let mut log = Log::open(facts, at)?;
        let (mut changes, mut done) = (Vec::new(), Expired::default());
        let mut taken = 0;
        for gate in facts.gates()?.iter().filter(|gate| is_due(gate, at)) {
            let (rows, out) = time_out(facts, at, gate, &mut log, taken)?;
            let new = |change: &&Change| matches!(change, Change::Execution(_));
            taken += i64::from(rows.iter().find(new).is_some());
            changes.extend(rows);
            done.gates.push(out);
        }
        done.head = log.head();
        if !changes.is_empty() {
            changes.extend(touched(facts, at)?);
        }
        Ok(Plan { changes, done })
    }
}

/// Whether a gate is pending and past its deadline. At the deadline itself it is not.
pub(super) fn is_due(gate: &Gate, at: &At) -> bool {
    Lifecycle::of(gate, Some(at.now)).standing == Standing::Overdue
}

/// Records that a gate was timed out, by `system`.
pub(super) fn time_out(
    facts: &dyn Facts,
    at: &At,
    gate: &Gate,
    log: &mut Log<'_>,
    taken: i64,
) -> Result<(Vec<Change>, TimedOut), WriteError> {
    let deadline = gate.timeout_at.as_ref().map(ToString::to_string);
    let metadata = Keys::default()
        .text("timeout_at", deadline.as_deref())
        .text("previous_status", Some(gate.status.word()))
        .text("on_reject", gate.on_reject.as_deref())
        .done();
    let mut changes = vec![
        log.system(&gate.id, AuditKind::Timeout, metadata)?,
        Change::ResolveGate(GateResolution {
            id: gate.id.to_string(),
            run_id: facts.run()?.id,
            status: AuditKind::Timeout.word().to_owned(),
            at: at.text(facts.style()),
            by: RESERVED.to_owned(),
            comment: None,
            metadata: Map::new(),
        }),
    ];
    changes.extend(over(facts, at, gate, AuditKind::Timeout.word(), taken)?);
    let out = TimedOut {
        gate: gate.id.to_string(),
        deadline: gate.timeout_at.clone(),
        on_reject: gate.on_reject.as_deref().map(str::to_owned),
        execution: gate.execution_id,
        head: log.head(),
    };
    Ok((changes, out))
}

/// The run was written to (errata X15); one that is over keeps the time at which it ended.
pub(super) fn touched(facts: &dyn Facts, at: &At) -> Result<Option<Change>, WriteError> {
    Ok((!facts.run()?.status.is_finished()).then(|| touch(facts, at)))
}
