//! Joins conversations with statements, only by evidence (contract 2, section 13): by the tool call that started a
//! subagent, else by time. Without evidence a conversation is not joined.

use std::collections::{BTreeMap, BTreeSet};

use super::statements::{Asked, Ran, Time};
use crate::model::text::{counted, short};
use crate::pages::session::Session;
use crate::read::transcript::{Conversation, TaskCall};

/// Maximum number of statements that one reason names.
const NAMED: usize = 3;

/// The statement of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Joined {
    /// The conversation is of one statement.
    To {
        /// The place among the statements.
        statement: usize,
        /// The evidence: `tool use`, `tool use and time`, `time`.
        by: &'static str,
        /// What the tool call names.
        named: Option<String>,
    },
    /// No evidence says of which statement the conversation is.
    Not {
        /// Why.
        why: String,
    },
}

/// Returns the statement of each conversation, in the same order.
///
/// `naming` contains the sessions that name the run. If there is one, only those are joined by time, because other work
/// may have gone on at the same time.
pub(super) fn join(
    session: &Session,
    ran: &Ran,
    all: &[Conversation],
    naming: &BTreeSet<String>,
) -> Vec<Joined> {
    let calls: Vec<Option<Call>> = all.iter().map(|of| call(of, all)).collect();
    let own = all.iter().zip(&calls);
    let own = own.map(|(of, call)| one(session, ran, of, call.as_ref(), naming));
    let mut joined: Vec<Joined> = own.collect();
    // A subagent of a subagent belongs to the statement of the latter. Each pass joins one more level.
    let mut is_new = true;
    while is_new {
        is_new = false;
        for (at, call) in calls.iter().enumerate() {
            let owner = call.as_ref().map(|call| call.owner);
            let owner = owner.filter(|owner| all.get(*owner).is_some_and(|of| of.agent.is_some()));
            let owner = owner.and_then(|owner| joined.get(owner)).cloned();
            if let (Some(to @ Joined::To { .. }), Some(own @ Joined::Not { .. })) =
                (owner, joined.get_mut(at))
            {
                *own = to;
                is_new = true;
            }
        }
    }
    explain_sessions(all, &calls, &mut joined);
    joined
}

/// Returns whether a conversation is of a session that names the run. A subagent of Codex has a session of its own.
pub(super) fn is_named(of: &Conversation, naming: &BTreeSet<String>) -> bool {
    let sessions = of.parent.iter().chain([&of.session]);
    sessions.into_iter().any(|session| naming.contains(session))
}

/// The tool call that started a subagent.
struct Call<'c> {
    /// The place of the conversation that contains the call.
    owner: usize,
    task: &'c TaskCall,
}

/// Finds the tool call that started a subagent: by its id, by the id of the subagent in its result, or by the prompt.
/// Ids of agents are compared only inside of a session.
fn call<'c>(of: &Conversation, all: &'c [Conversation]) -> Option<Call<'c>> {
    let agent = of.agent.as_deref()?;
    let is_near = |other: &Conversation| {
        let parent = of.parent.as_deref();
        other.agent != of.agent && (other.session == of.session || parent == Some(&other.session))
    };
    let tasks = || {
        let near = all.iter().enumerate().filter(|(_, other)| is_near(other));
        near.flat_map(|(owner, other)| other.tasks.iter().map(move |task| Call { owner, task }))
    };
    let is_named = |call: &Call| Some(&*call.task.id) == of.tool_use.as_deref();
    let has_started = |call: &Call| call.task.started.as_deref() == Some(agent);
    let asks = |call: &Call| !of.prompt.is_empty() && call.task.prompt == of.prompt;
    let found = tasks().find(is_named).or_else(|| tasks().find(has_started));
    found.or_else(|| tasks().find(asks))
}

fn one(
    session: &Session,
    ran: &Ran,
    of: &Conversation,
    call: Option<&Call>,
    naming: &BTreeSet<String>,
) -> Joined {
    let names_run = is_named(of, naming);
    let in_time = match in_time(ran, of) {
        Some(_) if !names_run && !naming.is_empty() => Err("another session names the run"),
        Some(places) => Ok(places),
        None => Err("it records no times"),
    };
    let not = |why: String| Joined::Not { why };
    let Some(call) = call else {
        let why = if of.agent.is_some() {
            "the tool call that started it was not found"
        } else {
            "it is a session of its own"
        };
        return by_time(ran, in_time.as_ref(), why);
    };
    let (run, task) = (session.run(), call.task);
    if let Some(other) = other_run(&task.prompt, &[&run.id, &session.name()]) {
        return not(format!(
            "the tool call that started it names another run, {}",
            short(&other, 60)
        ));
    }
    if let Some(execution) = of_brief(&task.prompt, &[&run.id, &session.name()]) {
        let node = session.node_of_row(execution).map(|node| node.get());
        let is_it = |of: &Asked| node.is_some_and(|node| of.cost.nodes.contains(&node));
        if let Some(statement) = ran.statements.iter().position(is_it) {
            let named = Some(format!("execution {execution}"));
            return Joined::To {
                statement,
                by: "tool use",
                named,
            };
        }
    }
    if ran.ended.is_none() && !names_run {
        return by_time(
            ran,
            in_time.as_ref(),
            "its session does not name the run, and the run's end is not recorded",
        );
    }
    let (mut found, mut named) = (BTreeSet::new(), None);
    for tier in [place_to_write, place, description, marked] {
        let new: Vec<(usize, String)> = (0..)
            .zip(&ran.statements)
            .filter_map(|(at, asked)| Some((at, tier(task, asked)?)))
            .filter(|(at, _)| found.is_empty() || found.contains(at))
            .collect();
        if let Some((_, text)) = new.first() {
            named = Some(text.clone());
            found = new.iter().map(|(at, _)| *at).collect();
        }
        if found.len() == 1 {
            break;
        }
    }
    let in_both = |at: &&usize| in_time.as_ref().is_ok_and(|places| places.contains_key(at));
    let both: Vec<usize> = found.iter().filter(in_both).copied().collect();
    match (found.len(), both.as_slice()) {
        (0, _) => by_time(
            ran,
            in_time.as_ref(),
            "the tool call that started it names no statement",
        ),
        (1, _) => {
            let statement = found.first().copied().unwrap_or_default();
            Joined::To {
                statement,
                by: "tool use",
                named,
            }
        }
        (_, [statement]) => Joined::To {
            statement: *statement,
            by: "tool use and time",
            named,
        },
        (n, _) => not(format!(
            "the tool call that started it names {n} statements: {}",
            listed(ran, found.iter())
        )),
    }
}

/// Returns the statements that may have been executing during the whole conversation, and whether their times are
/// recorded; `None` if the transcript records no times.
fn in_time(ran: &Ran, of: &Conversation) -> Option<BTreeMap<usize, bool>> {
    let (first, last) = (of.first?, of.last?);
    let is_inside = |time: &&Time| time.from <= first && last <= time.until;
    let all = (0..).zip(&ran.statements);
    let inside = all.filter_map(|(at, asked)| {
        let times = asked.times.iter().filter(is_inside);
        Some((at, times.map(|time| time.recorded).max()?))
    });
    Some(inside.collect())
}

/// Joins by time. `in_time` is the reason if the time proves nothing. `why` tells why the tool call does not decide.
fn by_time(ran: &Ran, in_time: Result<&BTreeMap<usize, bool>, &&str>, why: &str) -> Joined {
    let timed = ran.statements.iter().any(|of| !of.times.is_empty());
    let time = match in_time.map(|places| (places.len(), places)) {
        Err(reason) => (*reason).to_owned(),
        Ok((1, places)) if places.values().all(|recorded| *recorded) => {
            let statement = places.keys().next().copied().unwrap_or_default();
            return Joined::To {
                statement,
                by: "time",
                named: None,
            };
        }
        Ok((1, places)) => format!(
            "the times of {} are not recorded",
            listed(ran, places.keys())
        ),
        Ok((0, _)) if timed => "no statement was executing during all of it".to_owned(),
        Ok((0, _)) => "the run records no times of its statements in a known time zone".to_owned(),
        Ok((n, places)) => format!(
            "{n} statements were executing: {}",
            listed(ran, places.keys())
        ),
    };
    Joined::Not {
        why: format!("{why}, and {time}"),
    }
}

/// Returns the names of statements, for people.
fn listed<'p>(ran: &Ran, places: impl ExactSizeIterator<Item = &'p usize>) -> String {
    let more = if places.len() > NAMED { ", …" } else { "" };
    let names = places.filter_map(|at| ran.statements.get(*at));
    let names = names.map(|of| short(of.names.first().unwrap_or(&of.cost.text), 30));
    names.take(NAMED).collect::<Vec<_>>().join(", ") + more
}

/// Explains sessions that started the subagents of statements. Such a session is joined by time only if all of these
/// subagents are of the same statement.
fn explain_sessions(all: &[Conversation], calls: &[Option<Call>], joined: &mut [Joined]) {
    let mut started: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    for (call, own) in calls.iter().zip(&*joined) {
        let list = call.as_ref().and_then(|call| started.get_mut(call.owner));
        if let (Some(list), Joined::To { statement, .. }) = (list, own) {
            list.push(*statement);
        }
    }
    for ((of, own), started) in all.iter().zip(joined).zip(started) {
        let is_one = |at: usize| started.iter().all(|of| *of == at);
        let is_explained = match own {
            Joined::To { statement, .. } => is_one(*statement),
            Joined::Not { .. } => started.is_empty(),
        };
        if of.agent.is_none() && !is_explained {
            let subagents = counted(started.len() as u64, "subagent", "subagents");
            let why = format!("it carried out the run: it started {subagents} of its statements");
            *own = Joined::Not { why };
        }
    }
}

/// Returns the run whose folder a prompt names, if it names another run only.
fn other_run(prompt: &str, own: &[&str]) -> Option<String> {
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let runs = prompt.split("runs/").skip(1);
    let runs = runs.filter_map(|rest| rest.split(is_end).next());
    let runs: Vec<&str> = runs
        .filter(|id| id.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    let other = runs
        .first()
        .filter(|_| !runs.iter().any(|id| own.contains(id)));
    other.map(|id| (*id).to_owned())
}

/// Returns the execution of a `prosescope brief 26 --run RUN` or `prosescope put draft --into 26 --run RUN`.
fn of_brief(prompt: &str, own: &[&str]) -> Option<i64> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'');
    let words: Vec<&str> = prompt.split(is_end).collect();
    words.windows(4).find_map(|words| match words {
        ["brief" | "--into", id, "--run", run] if own.contains(run) => id.parse().ok(),
        _ => None,
    })
}

/// Returns the place of a statement that a text names: `workspace/{node}/`, `bindings/{name}.md`, `bindings/{node}/`.
fn place_in(text: &str, asked: &Asked) -> Option<String> {
    let places = asked.names.iter().flat_map(|name| {
        [
            format!("workspace/{name}/"),
            format!("bindings/{name}.md"),
            format!("bindings/{name}__"),
            format!("bindings/{name}/"),
            format!("world-model/{name}/"),
        ]
    });
    places.into_iter().find(|place| text.contains(&**place))
}

/// Finds a place in a line of the prompt that tells where to write.
fn place_to_write(task: &TaskCall, asked: &Asked) -> Option<String> {
    let tells = |line: &&str| {
        let line = line.to_lowercase();
        ["write", "output", "save"]
            .iter()
            .any(|word| line.contains(word))
    };
    task.prompt
        .lines()
        .filter(tells)
        .find_map(|line| place_in(line, asked))
}

/// Finds a place anywhere.
fn place(task: &TaskCall, asked: &Asked) -> Option<String> {
    place_in(&task.description, asked).or_else(|| place_in(&task.prompt, asked))
}

/// Finds a name among the words of the description, which is short.
fn description(task: &TaskCall, asked: &Asked) -> Option<String> {
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'));
    let mut words = task.description.split(is_end);
    let name = words.find(|word| asked.names.iter().any(|name| name == word));
    name.map(str::to_owned)
}

/// Finds a name that the prompt marks as a name, or the whole prompt of the statement.
fn marked(task: &TaskCall, asked: &Asked) -> Option<String> {
    let is_marked = |name: &&String| {
        let marks = ["`", "\"", "**"].map(|mark| format!("{mark}{name}{mark}"));
        marks.iter().any(|text| task.prompt.contains(text))
    };
    let said = asked.prompt.iter();
    let said = said.filter(|said| task.prompt.contains(&***said));
    let name = said.chain(asked.names.iter().filter(is_marked)).next()?;
    Some(short(name, 60))
}
