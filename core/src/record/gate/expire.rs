use super::log::{Log, NewAuditRow};
use super::principal;
use super::sealed::{DecisionBasis, Measure, overriding};
use super::waits::resolved;
use crate::model::{AuditKind, Gate};
use crate::read::gate::allow::RESERVED;
use crate::read::gate::lifecycle::Lifecycle;
use crate::record::entry::touch;
use crate::record::meta::MetaKeys;
use crate::record::steps::Steps;
use crate::record::{At, Change, CommandPlan, Facts, GateTimedOut, Record, WriteError};

/// The command `gates expire`, which sets every gate past its deadline to `timeout` (errata G3, G6, G9). Repeating the
/// command changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExpireGates {
    /// The principal, as claimed, who accepts gates whose creation the sealed log does not record. `None` refuses such
    /// gates.
    pub overrides: Option<String>,
}

impl Record for ExpireGates {
    /// The timed-out gates in order of creation; empty if none was due.
    type Done = Vec<GateTimedOut>;

    fn plan(
        &self,
        facts: &Facts<'_>,
        at: &At,
    ) -> Result<CommandPlan<Vec<GateTimedOut>>, WriteError> {
        let by = self.overrides.as_deref().map(principal).transpose()?;
        // A due gate whose id differs from its file name must not be skipped silently: reading the gate returns the
        // fault.
        for (_, named) in facts
            .misnamed_gates()
            .filter(|(gate, _)| is_due(gate, at.now))
        {
            facts.gate(named)?;
        }
        let mut log = Log::open(facts, at)?;
        let mut all = Steps::new(facts);
        let (mut done, measure) = (Vec::new(), Measure::new(facts, by.is_some()));
        for gate in facts.gates().filter(|gate| is_due(gate, at.now)) {
            if let (DecisionBasis::ByOverride, Some(by)) = (measure.of(gate)?, by) {
                let row = overriding(&mut log, gate, by, None)?;
                all.add([row]);
            }
            done.push(all.then(|facts| time_out(facts, at, gate, &mut log))?);
        }
        let mut plan = all.done(done);
        if !plan.changes.is_empty() {
            plan.changes.extend(touched(facts, at)?);
        }
        Ok(plan)
    }
}

/// Returns whether a gate is pending and past its deadline; false at the deadline itself.
pub(in crate::record) fn is_due(gate: &Gate, now: i64) -> bool {
    Lifecycle::of(gate, Some(now)).overdue
}

/// Returns the plan that records the time-out of a gate, decided by `system`.
pub(super) fn time_out(
    facts: &Facts<'_>,
    at: &At,
    gate: &Gate,
    log: &mut Log<'_>,
) -> Result<CommandPlan<GateTimedOut>, WriteError> {
    let deadline = gate.timeout_at.as_ref().map(ToString::to_string);
    let metadata = MetaKeys::default()
        .text("timeout_at", deadline.as_deref())
        .text("on_reject", gate.on_reject.as_deref());
    let event = NewAuditRow {
        gate: &gate.id,
        kind: AuditKind::Timeout,
        principal: RESERVED,
        comment: None,
        metadata: metadata.done(),
    };
    Ok(CommandPlan {
        changes: resolved(facts, at, gate, log, event, MetaKeys::default())?,
        done: GateTimedOut {
            run: facts.run().name,
            gate: gate.id.to_string(),
            status: AuditKind::Timeout.word().to_owned(),
            resolved_by: RESERVED.to_owned(),
            deadline: gate.timeout_at.clone(),
            on_reject: gate.on_reject.as_deref().map(str::to_owned),
            execution_id: gate.execution_id,
            head: log.head(),
        },
    })
}

/// Returns the change that sets the run's `updated_at` (errata X15). A run that has ended keeps the time of its end.
pub(super) fn touched(facts: &Facts<'_>, at: &At) -> Result<Option<Change>, WriteError> {
    Ok((!facts.run().status.is_finished()).then(|| touch(facts, at)))
}
