use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::log::Log;
use super::{fits, principal};
use crate::model::time::Stamp;
use crate::model::timeout::Timeout;
use crate::model::visit;
use crate::model::{AuditKind, Gate, GateStatus, Meta, Status};
use crate::program::{Listing, Statement, StatementKind, fill, names_in_text};
use crate::read::gate::allow::{ANY_PERSON, Allow};
use crate::read::gate::columns::GateColumns;
use crate::record::entry::{BeginnableStatement, opening, touch};
use crate::record::inputs::input;
use crate::record::insist::Insist;
use crate::record::instance::running;
use crate::record::item::{self, WantedPlace};
use crate::record::meta::MetaKeys;
use crate::record::render::brief::InputState;
use crate::record::source::{ProgramSource, RecordingCommand, StatementRef};
use crate::record::{
    At, Change, CommandPlan, Facts, GateOpened, GateRow, Record, Style, WriteError, at_text, names,
};

/// Limit for a value that is filled into a prompt, in bytes.
const SHORT: usize = 500;

/// The command `gate create`, which records that the program reached a gate. Values that the caller leaves out come
/// from the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CreateGate {
    /// The gate's id in the program; by default the id of the gate at `line`.
    pub id: Option<String>,
    /// The question to the approver.
    pub prompt: Option<String>,
    /// Who may decide; any person if neither the caller nor the program names anyone. An empty list admits no principal
    /// (errata G4).
    pub allow: Option<Vec<String>>,
    /// How long the gate waits for a decision, such as `4h` (errata F5).
    pub timeout: Option<String>,
    /// What the program does after a rejection.
    pub on_reject: Option<String>,
    /// The row id of the execution that the gate runs in (a branch, a loop, a frame). By default, the id is chosen from
    /// the open executions.
    pub parent: Option<i64>,
    /// The name of the item or branch that the gate runs in.
    pub item: Option<String>,
    /// The gate's line in the program; by default found by the gate's id.
    pub line: Option<u32>,
    /// The overrides that the caller gave (`--force`, `--override`).
    pub insist: Insist,
}

impl Record for CreateGate {
    type Done = GateOpened;

    fn plan(&self, facts: &Facts<'_>, at: &At) -> Result<CommandPlan<GateOpened>, WriteError> {
        running(facts)?;
        let source = ProgramSource::of(facts);
        let statement = self.statement(&source)?;
        let own = statement.and_then(|at| source.get(at));
        let named = own.map_or_else(StatementRef::default, |s| StatementRef::line(s.line));
        let wanted = WantedPlace::new(&named, self.parent, &self.item, self.insist);
        item::inside(facts, at, wanted, |facts, parent| {
            self.plan_in(facts, at, parent, statement, own)
        })
    }
}

impl CreateGate {
    fn plan_in(
        &self,
        facts: &Facts<'_>,
        at: &At,
        parent: Option<i64>,
        statement: Option<u32>,
        own: Option<&Statement>,
    ) -> Result<CommandPlan<GateOpened>, WriteError> {
        let name = own.and_then(|s| s.name.clone());
        let Some(base) = self.id.clone().or(name) else {
            return Err(WriteError::wrong(
                "the gate has no id",
                "give the gate's id in the program; if the gate has no id there, choose an id",
            ));
        };
        names::plain("gate", &base)?;
        names::file_in(facts.style(), "gate", &base)?;
        let text = own.map(|s| s.text.clone());
        let named = StatementRef {
            text: Some(text.unwrap_or_else(|| format!("approve {base}:"))),
            line: own.map(|s| s.line).or(self.line),
        };
        let found = ProgramSource::of(facts).find(&named)?;
        let mut entry = BeginnableStatement::open(facts, found, parent, self.insist, Some(&base))?;
        let terms = self.settled(&mut entry, statement)?;
        let allow = match &terms.allow {
            None => vec![ANY_PERSON],
            Some(list) => list
                .iter()
                .map(|name| principal(name))
                .collect::<Result<_, _>>()?,
        };
        let prompt = terms.prompt.unwrap_or_default();
        let (prompt, open_names) = self.filled(facts, &entry, statement, prompt)?;
        if prompt.trim().is_empty() {
            return Err(no_prompt(&base, own));
        }
        fits("prompt", &prompt)?;
        fits("reaction", terms.on_reject.as_deref().unwrap_or_default())?;
        let deadline = deadline(terms.timeout.as_deref(), at)?;
        entry.notes.extend(asked_again(facts, &base));
        let visit = self.next_visit(facts, &base, entry.parent)?;
        let id = match visit {
            1 => base.clone(),
            n => format!("{base}#{n}"),
        };
        let style = facts.style();
        let meta = Meta {
            gate_id: Some(id.as_str().into()),
            ..Meta::default()
        };
        // The row gets OpenProse's word `pending`, so that a query for this word finds the waiting row.
        let row = entry.row(facts, Status::Pending, meta.clone())?;
        let allow = Value::from(allow);
        fits("list of principals", &allow.to_string())?;
        let mut metadata = Map::new();
        if visit > 1 {
            metadata.insert("gate".to_owned(), base.as_str().into());
            metadata.insert("visit".to_owned(), visit.into());
        }
        let timeout = terms.timeout.as_deref().map(|text| text.trim().to_owned());
        let mut log = Log::open(facts, at)?;
        let columns = GateColumns {
            execution_id: Some(row.id),
            timeout: timeout.clone(),
            timeout_at: deadline.map(Stamp::At),
            on_reject: terms.on_reject.clone(),
            metadata: metadata.clone(),
        };
        let created = log.system(&id, AuditKind::Created, columns.created(&prompt, &allow))?;
        let place = log.seq();
        // If the caller overrode the program, the log records how the gate differs from the program.
        let overridden = match entry.insisted.differs() {
            differs if differs.is_empty() => None,
            differs => Some(log.system(&id, AuditKind::Overridden, differs.clone())?),
        };
        let allow = allow.to_string();
        let gate = GateRow {
            id: id.clone(),
            run_id: facts.run().id,
            execution_id: Some(row.id),
            prompt: Some(prompt.clone()),
            allow: allow.clone(),
            timeout,
            timeout_at: deadline.map(|ms| at_text(ms, style)),
            on_reject: terms.on_reject,
            created: at.text(style),
            metadata,
        };
        let words = Allow::parse(Some(&allow)).map_or_else(|e| e.to_string(), |a| a.words());
        let keys = MetaKeys::naming(&meta).and(MetaKeys::line(&entry.source, &entry.found));
        let keys = entry.insisted.keys(keys).number("audit_seq", place);
        let mut changes = vec![opening(facts, at, &row, keys), created];
        changes.extend(overridden);
        changes.extend([Change::Gate(gate), touch(facts, at)]);
        Ok(CommandPlan {
            changes,
            done: GateOpened {
                run: entry.run,
                gate: id,
                visit,
                execution_id: row.id,
                line: entry.found.index(),
                statement: entry.found.text,
                prompt,
                open_names,
                may_decide: words,
                deadline: deadline.map(Stamp::At),
                head: log.head(),
                notes: entry.notes,
            },
        })
    }
}

/// Returns the value that a name has at a statement, if the value is a text of at most [`SHORT`] bytes.
fn short_value(
    facts: &Facts<'_>,
    listing: &Listing,
    statement: u32,
    from: Option<i64>,
    name: &str,
) -> Result<Option<String>, WriteError> {
    let Some(input) = input(facts, listing, statement, from, name)? else {
        return Ok(None);
    };
    let value = match (input.state, &input.binding) {
        (InputState::Bound, Some((name, scope))) => facts.short_text(name, *scope, SHORT)?,
        // A text of the program may itself contain names in braces; such a text is not filled in.
        (InputState::Text, None) => input.value.filter(|text| names_in_text(text).is_empty()),
        _ => None,
    };
    let value = value.map(|value| value.trim_end().to_owned());
    Ok(value.filter(|value| !value.is_empty() && value.len() <= SHORT && !value.contains('\0')))
}

/// Returns the deadline in milliseconds since 1970 UTC, counted from the recorded second of the gate's creation.
fn deadline(timeout: Option<&str>, at: &At) -> Result<Option<i64>, WriteError> {
    let Some(text) = timeout else {
        return Ok(None);
    };
    let created = at.now.div_euclid(1000).saturating_mul(1000);
    let deadline = Timeout::parse(text).and_then(|timeout| timeout.deadline(created));
    deadline.map(Some).map_err(|error| {
        WriteError::wrong(
            format!("--timeout {}: {error}", super::shown(text)),
            "give a duration such as 30s, 30m, 4h, 7d or 2h30m",
        )
    })
}

/// Returns whether two texts differ at most in blanks.
fn same_words(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

impl CreateGate {
    /// Returns the gate with its prompt, `allow`, timeout and `on_reject`: each as the caller gave it, else as the
    /// program states it.
    fn settled(
        &self,
        entry: &mut BeginnableStatement,
        statement: Option<u32>,
    ) -> Result<CreateGate, WriteError> {
        let mut terms = self.clone();
        let BeginnableStatement {
            source,
            found,
            insisted,
            ..
        } = entry;
        let Some(own) = statement.and_then(|at| source.get(at)) else {
            return Ok(terms);
        };
        let line = found.line;
        let says = |name: &str| {
            own.property(name)
                .filter(|text| !text.trim().is_empty())
                .map(str::to_owned)
        };
        // The caller may have filled in the names in the program's prompt, so the texts need not be equal.
        let same_prompt =
            |says: &String, given: &String| says.contains('{') || same_words(says, given);
        terms.prompt =
            insisted.settle_by("prompt", line, says("prompt"), terms.prompt, same_prompt)?;
        terms.allow = match (own.allow(), terms.allow) {
            (Ok(says), given) => {
                let sorted = |list: &Vec<String>| {
                    let mut names: Vec<String> =
                        list.iter().map(|name| name.trim().to_owned()).collect();
                    names.sort();
                    names
                };
                insisted.settle_by("allow", line, says, given, |a, b| sorted(a) == sorted(b))?
            }
            (Err(raw), Some(given)) => {
                insisted.contradict("allow", line, raw.into(), given.clone().into())?;
                Some(given)
            }
            (Err(raw), None) => {
                return Err(WriteError::refused(
                    "gate-allow-unreadable",
                    format!(
                        "`allow` of line {} is not a list of names: {}",
                        own.line,
                        super::shown(raw)
                    ),
                    "correct that line of the program, or give --allow NAMES with --override",
                ));
            }
        };
        let seconds = |text: &String| Timeout::parse(text).ok().map(|timeout| timeout.seconds());
        let same_time = |says: &String, given: &String| {
            seconds(says).is_some_and(|says| seconds(given) == Some(says))
        };
        terms.timeout =
            insisted.settle_by("timeout", line, says("timeout"), terms.timeout, same_time)?;
        let (on_reject, given) = (says("on_reject"), terms.on_reject);
        terms.on_reject =
            insisted.settle_by("on_reject", line, on_reject, given, |a, b| same_words(a, b))?;
        Ok(terms)
    }

    /// Returns the prompt in which values replace the names in braces, and the names that have no value. No name is
    /// replaced in a prompt that the caller gave.
    fn filled(
        &self,
        facts: &Facts<'_>,
        entry: &BeginnableStatement<'_>,
        statement: Option<u32>,
        prompt: String,
    ) -> Result<(String, Vec<String>), WriteError> {
        let Some((listing, at)) = entry.source.listing.zip(statement) else {
            return Ok((prompt, Vec::new()));
        };
        let given = self.prompt.is_some();
        let used = listing.uses(at);
        // In the program, `\{x}` is an escaped brace, not a name. `prompt` no longer has the backslash, so `used`
        // decides what is a name.
        let names = names_in_text(&prompt).into_iter();
        let names = names.filter(|name| used.iter().any(|used| used.name == *name));
        let mut values = BTreeMap::new();
        for name in names {
            let value = if given {
                None
            } else {
                short_value(facts, listing, at, entry.parent, &name)?
            };
            values.insert(name, value);
        }
        let (prompt, open) = fill(&prompt, |name| values.get(name).cloned().flatten());
        let open = open.into_iter().filter(|name| values.contains_key(name));
        Ok((prompt, open.collect()))
    }

    /// Returns the number of this visit to the gate, from 1. Refuses if the gate is pending in the same parent already,
    /// because the rows of both visits would look alike.
    fn next_visit(
        &self,
        facts: &Facts<'_>,
        own: &str,
        parent: Option<i64>,
    ) -> Result<u32, WriteError> {
        let mut highest: u32 = 0;
        for gate in facts.gates() {
            let (base, visit) = visit(&gate.id);
            if base == own {
                highest = highest.max(visit);
                not_twice(facts, gate, parent)?;
            } else if facts.style() == Style::Files && base.to_lowercase() == own.to_lowercase() {
                return Err(WriteError::refused(
                    "name-differs-by-case",
                    format!(
                        "the ids of gates {own} and {base} differ only in case: some systems would keep both gates in one file",
                    ),
                    "take another name",
                ));
            }
        }
        highest.checked_add(1).ok_or_else(|| {
            WriteError::wrong(
                format!("gate {own} was reached too often to be counted"),
                "take another id",
            )
        })
    }

    /// Returns the gate's statement in the program: the gate at the given line, else the only gate with the given id.
    fn statement(&self, source: &ProgramSource<'_>) -> Result<Option<u32>, WriteError> {
        let Some(listing) = source.listing else {
            return Ok(None);
        };
        if let Some(line) = self.line {
            let found = source.find(&StatementRef::line(line))?;
            let own = source.statement(&found);
            if let Some(own) = own.filter(|own| RecordingCommand::of(own) != RecordingCommand::Gate)
            {
                return Err(WriteError::wrong(
                    format!("line {line} is not a gate: {}", super::shown(&own.text)),
                    match RecordingCommand::of(own) {
                        RecordingCommand::Input | RecordingCommand::Declares => {
                            format!(
                                "`prosescope program` shows the line of gate {}",
                                self.id.as_deref().unwrap_or("ID")
                            )
                        }
                        _ => format!("`prosescope begin {line}` begins the statement"),
                    },
                ));
            }
            let name = source.statement(&found).and_then(|s| s.name.as_deref());
            if let (Some(given), Some(name)) = (self.id.as_deref(), name)
                && given != name
            {
                return Err(WriteError::wrong(
                    format!("line {line} is gate {name}, not {}", super::shown(given)),
                    format!("leave the id out: `prosescope begin {line}` asks at gate {name}"),
                ));
            }
            return Ok(found.statement);
        }
        let Some(id) = self.id.as_deref() else {
            return Err(WriteError::wrong(
                "no gate was named",
                "give the gate's id, or --line with the gate's line in the program",
            ));
        };
        let all = || listing.statements.iter().enumerate();
        let mut own =
            all().filter(|(_, s)| s.kind == StatementKind::Gate && s.name.as_deref() == Some(id));
        match (own.next(), own.next()) {
            (Some((at, _)), None) => Ok(u32::try_from(at).ok()),
            (Some((_, one)), Some((_, other))) => Err(WriteError::wrong(
                format!(
                    "the program has several gates {id}: at line {} and line {}",
                    one.line, other.line
                ),
                "choose one of the two with `--line N`",
            )),
            _ => Ok(None),
        }
    }
}

fn not_twice(facts: &Facts<'_>, gate: &Gate, parent: Option<i64>) -> Result<(), WriteError> {
    if gate.status != GateStatus::Pending {
        return Ok(());
    }
    let row = gate.execution_id.and_then(|id| facts.execution(id));
    let stands_in = row.and_then(|row| row.parent);
    if stands_in != parent {
        return Ok(());
    }
    Err(WriteError::refused(
        "gate-pending",
        format!(
            "gate {} was created already, and waits for a decision",
            gate.id
        ),
        "a person decides: wait for the decision, or after the deadline record the time-out with `prosescope gates expire`",
    ))
}

/// Returns a note if the last visit to the gate was rejected or timed out.
fn asked_again(facts: &Facts<'_>, base: &str) -> Option<String> {
    let before = facts.gates().rfind(|gate| visit(&gate.id).0 == base)?;
    let word = match before.status {
        GateStatus::Rejected => "was rejected",
        GateStatus::Timeout => "timed out",
        _ => return None,
    };
    Some(format!("gate {} {word}, and is asked again", before.id))
}

/// Refuses a gate without a question.
fn no_prompt(base: &str, own: Option<&Statement>) -> WriteError {
    let (what, line) = match own {
        Some(own) => (
            format!("gate {base} has no prompt for its approver"),
            format!(" --line {}", own.line),
        ),
        None => (
            format!("the program has no gate {base}, so it has no prompt for its approver"),
            String::new(),
        ),
    };
    let next = format!("give the question: `prosescope gate create {base}{line} --prompt TEXT`");
    WriteError::wrong(what, next)
}
