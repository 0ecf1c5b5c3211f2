//! Joins conversations with statements, only by evidence (contract 2, section 13): by the tool call that started a
//! subagent, else by time. Without evidence a conversation is not joined.

use std::collections::BTreeSet;
use std::iter::successors;

use super::statements::{Asked, Ran};
use crate::model::text::short;
use crate::pages::session::Session;
use crate::read::transcript::{Conversation, TaskCall};

/// Maximum number of statements that one reason names.
const NAMED: usize = 3;

/// Maximum number of subagents that start each other.
const LEVELS: usize = 16;

/// The places of a statement: the strongest evidence first, because only its own node writes there.
const PLACES: [&[&str]; 2] = [
    &["workspace/{}/"],
    &[
        "bindings/{}.md",
        "bindings/{}__",
        "bindings/{}/",
        "world-model/{}/",
    ],
];

const CARRIED: &str = "it carried out the run: it started subagents of statements";

/// The place of a statement, the evidence (`tool use` or `time`) and what the tool call names. Else the reason why the
/// conversation belongs to no statement.
pub(super) type Joined = Result<(usize, &'static str, String), String>;

/// Returns the statement of each conversation, in the same order.
///
/// `naming` contains the sessions that name the run. If there is one, or if the run's end is not recorded, only these
/// are joined, because other work, even of the same program, may have gone on at the same time.
pub(super) fn join(
    session: &Session,
    ran: &Ran,
    all: &[Conversation],
    naming: &BTreeSet<String>,
) -> Vec<Joined> {
    let foreign = |of: &Conversation| match *ran.time.end() {
        _ if is_named(of, naming) => None,
        i64::MAX => Some("its session does not name the run, and the run's end is not recorded"),
        _ if naming.is_empty() => None,
        _ => Some("its session does not name the run, and another one does"),
    };
    let calls: Vec<_> = all.iter().map(|of| call(of, all)).collect();
    let own = all.iter().zip(&calls);
    let own = own.map(|(of, call)| by_call(session, ran, call.as_ref()?.1, foreign(of)));
    let own: Vec<Option<Joined>> = own.collect();
    let owners = calls.iter().zip(&own);
    let owners = owners.filter(|(_, own)| matches!(own, Some(Ok(_))));
    let owners: BTreeSet<usize> = owners.filter_map(|(of, _)| Some(of.as_ref()?.0)).collect();
    let joined = all.iter().enumerate().map(|(at, of)| {
        // A subagent of a subagent belongs to the statement of the latter.
        let chain = successors(Some(at), |at| Some(calls.get(*at)?.as_ref()?.0)).take(LEVELS);
        let mut found = chain.filter_map(|at| own.get(at)?.as_ref());
        let first = found.clone().next();
        match (found.find(|of| of.is_ok()).or(first), foreign(of)) {
            (Some(joined), _) => joined.clone(),
            (_, Some(why)) => Err(why.to_owned()),
            _ if of.agent.is_none() && owners.contains(&at) => Err(CARRIED.to_owned()),
            _ => by_time(ran, of),
        }
    });
    joined.collect()
}

/// Returns whether a conversation is of a session that names the run. A subagent of Codex has a session of its own.
pub(super) fn is_named(of: &Conversation, naming: &BTreeSet<String>) -> bool {
    let mut sessions = of.parent.iter().chain([&of.session]);
    sessions.any(|session| naming.contains(session))
}

/// Finds the tool call that started a subagent, and the conversation that contains the call: by the call's id, by the id
/// of the subagent in its result, or by the prompt. Ids of agents are compared only inside of a session, and of several
/// calls none is chosen.
fn call<'c>(of: &Conversation, all: &'c [Conversation]) -> Option<(usize, &'c TaskCall)> {
    let agent = of.agent.as_deref()?;
    let near = all.iter().enumerate().filter(|(_, other)| {
        let is_parent = of.parent.as_ref() == Some(&other.session);
        other.agent != of.agent && (other.session == of.session || is_parent)
    });
    let tasks = near.flat_map(|(owner, other)| other.tasks.iter().map(move |task| (owner, task)));
    let only = |is_it: &dyn Fn(&TaskCall) -> bool| {
        let mut found = tasks.clone().filter(|(_, task)| is_it(task));
        let (owner, task) = found.next()?;
        found
            .all(|(_, other)| other.id == task.id)
            .then_some((owner, task))
    };
    only(&|task| Some(&task.id) == of.tool_use.as_ref())
        .or_else(|| only(&|task| task.started.as_deref() == Some(agent)))
        .or_else(|| only(&|task| !of.prompt.is_empty() && task.prompt == of.prompt))
}

/// Joins by the tool call that started a subagent; `None` if the call names no statement. `foreign` is the reason if the
/// conversation may be of another run.
fn by_call(session: &Session, ran: &Ran, task: &TaskCall, foreign: Option<&str>) -> Option<Joined> {
    let ids = [&*session.run().id, &*session.name()];
    if let Some(other) = other_run(&task.prompt, &ids) {
        let why = "the tool call that started it names another run";
        return Some(Err(format!("{why}, {}", short(other, 60))));
    }
    if let Some(execution) = of_brief(&task.prompt, &ids) {
        let node = session.node_of_row(execution)?.get();
        let mut statements = ran.statements.iter();
        let at = statements.position(|of| of.cost.nodes.contains(&node))?;
        return Some(Ok((at, "tool use", format!("execution {execution}"))));
    }
    if let Some(why) = foreign {
        return Some(Err(why.to_owned()));
    }
    let [own, shared] = PLACES.map(|places| find(ran, |asked| place(task, asked, places)));
    let tiers = [own, shared, find(ran, |asked| word(task, asked))];
    let found = tiers.into_iter().find(|found| !found.is_empty())?;
    Some(match &*found {
        [(at, name)] => Ok((*at, "tool use", name.clone())),
        several => {
            let names = listed(ran, several);
            let why = "the tool call that started it names several statements";
            Err(format!("{why}: {names}"))
        }
    })
}

/// Returns the statements of which `what` returns something.
fn find<T>(ran: &Ran, what: impl Fn(&Asked) -> Option<T>) -> Vec<(usize, T)> {
    let all = ran.statements.iter().enumerate();
    let found = all.filter_map(|(at, asked)| Some((at, what(asked)?)));
    found.collect()
}

/// Joins by time: a conversation belongs to the only statement that may have been executing during all of it.
fn by_time(ran: &Ran, of: &Conversation) -> Joined {
    let why = "no tool call names its statement, and";
    let (Some(first), Some(last)) = (of.first, of.last) else {
        return Err(format!("{why} it records no times"));
    };
    let found = find(ran, |asked| {
        let times = asked.times.iter();
        let inside = times.filter(|(time, _)| time.contains(&first) && time.contains(&last));
        inside.map(|(_, recorded)| *recorded).max()
    });
    match &*found {
        [] => Err(format!("{why} no statement was executing during all of it")),
        [(at, true)] => Ok((*at, "time", String::new())),
        several => Err(format!("{why} its time allows {}", listed(ran, several))),
    }
}

/// Returns the names of statements, for people.
fn listed<T>(ran: &Ran, found: &[(usize, T)]) -> String {
    let more = if found.len() > NAMED { ", …" } else { "" };
    let asked = found.iter().filter_map(|(at, _)| ran.statements.get(*at));
    let names = asked.map(|of| short(of.names.first().unwrap_or(&of.cost.text), 30));
    names.take(NAMED).collect::<Vec<_>>().join(", ") + more
}

/// Returns the run whose folder a prompt names, if it names another run only.
fn other_run<'p>(prompt: &'p str, own: &[&str]) -> Option<&'p str> {
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let runs = prompt.split("runs/").skip(1);
    let mut runs = runs
        .filter_map(|rest| rest.split(is_end).next())
        .filter(|id| id.starts_with(|c: char| c.is_ascii_digit()));
    let first = runs.next()?;
    let is_own = |id: &str| own.contains(&id);
    (!is_own(first) && !runs.any(is_own)).then_some(first)
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

/// Finds a place of a statement in the description or the prompt: `workspace/{node}/`, `bindings/{name}.md`.
fn place(task: &TaskCall, asked: &Asked, places: &[&str]) -> Option<String> {
    let is_in = |of: &String| task.prompt.contains(of) || task.description.contains(of);
    let of = |name: &String| places.iter().map(|of| of.replace("{}", name)).find(is_in);
    asked.names.iter().find_map(of)
}

/// Finds a name among the words of the description, which is short, or the whole prompt of the statement.
fn word(task: &TaskCall, asked: &Asked) -> Option<String> {
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'));
    let mut words = task.description.split(is_end);
    let name = words.find(|word| asked.names.contains(*word));
    let said = asked.prompt.as_deref();
    let found = name.or_else(|| said.filter(|said| task.prompt.contains(said)));
    found.map(|found| short(found, 60))
}
