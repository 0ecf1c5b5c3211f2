//! Searches all texts of a workflow in steps, so that a caller can show hits early. The first step searches the page's
//! contents, each later step some events.

use serde::{Deserialize, Serialize};

use super::page::{Extra, Member, Message, Shown, WorkflowPage, message_keys};
use super::thread::Part;
use super::{Rows, events_from};
use prosescope_core::session::search::Needle;
use prosescope_core::write::Fault;

/// The most hits that are listed for one kind of text.
const HITS: usize = 50;

/// The most hits that are listed for one text.
const HITS_OF_TEXT: usize = 5;

/// The number of events that one step reads.
const EVENTS: u32 = 500;

/// The kinds of text that are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Messages, and the summary of older ones.
    Messages,
    /// Questions, waiting or answered.
    Questions,
    /// Runs: inputs, outputs, errors and states.
    Runs,
    /// Events: their texts and payloads.
    Events,
    /// Other data: preferences, important steps, context members.
    Data,
}

impl Kind {
    /// All kinds of text.
    pub const ALL: [Kind; 5] = [
        Kind::Messages,
        Kind::Questions,
        Kind::Runs,
        Kind::Events,
        Kind::Data,
    ];

    /// Returns the heading above the hits of this kind.
    pub fn title(self) -> &'static str {
        match self {
            Kind::Messages => "Messages",
            Kind::Questions => "Questions",
            Kind::Runs => "Runs",
            Kind::Events => "Events",
            Kind::Data => "Data",
        }
    }
}

/// The part of a workflow that a hit opens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum To {
    /// The thread of messages, runs and questions.
    Thread,
    /// A message, by its key.
    Message(String),
    /// A run, by its id.
    Run(String),
    /// An event, by its id.
    Event(i64),
    /// Other data of the workflow.
    Data,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hit {
    /// The place of the hit in words, such as `run 2, output`.
    pub place: String,
    /// The part of the workflow that the hit opens.
    pub to: To,
    /// The number of the line in the text, from 1.
    pub line: u64,
    /// The matching line, or the part of a long line around the match.
    pub text: String,
    /// The range of the match in `text`, in characters.
    pub range: (u32, u32),
}

/// The hits of one kind of text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The kind of text.
    pub kind: Kind,
    /// The hits: at most fifty of this kind, and at most five in one text.
    pub hits: Vec<Hit>,
    /// The number of matching lines that `hits` does not list.
    pub more: u64,
}

/// The results of a search so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The hits by kind; a kind without a hit is left out.
    pub groups: Vec<Group>,
    /// The number of events that were read.
    pub events: u64,
    /// Whether the search has ended.
    pub done: bool,
    /// The number of long texts of which only the beginning was searched.
    pub cut: u64,
}

/// A search through one workflow.
pub struct Search {
    needle: Needle,
    workflow: String,
    /// The page that the next step searches; `None` once it has been searched.
    page: Option<WorkflowPage>,
    /// The id from which the next step reads events.
    next: i64,
    found: Found,
}

impl Search {
    /// Prepares a search without reading anything yet.
    pub fn new(needle: &Needle, page: WorkflowPage) -> Search {
        Search {
            needle: needle.clone(),
            workflow: page.id.clone(),
            page: Some(page),
            next: 0,
            found: Found::default(),
        }
    }

    /// Returns the results so far.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Executes the next step: searches the page, or reads and searches some more events.
    ///
    /// # Errors
    /// The fault of the store.
    pub fn step(&mut self, rows: &dyn Rows) -> Result<(), Fault> {
        if let Some(page) = self.page.take() {
            self.look(&page);
            return Ok(());
        }
        let events = events_from(rows, &self.workflow, None, self.next, EVENTS)?;
        self.found.done = events.len() < EVENTS as usize;
        self.found.events += events.len() as u64;
        if let Some(last) = events.last() {
            self.next = last.id.saturating_add(1);
        }
        for event in events {
            let event = super::page::event(event);
            let place = format!("event {}", event.line.id);
            let to = To::Event(event.line.id);
            self.text(Kind::Events, &place, &to, &event.text);
            if let Some(payload) = &event.payload {
                self.text(Kind::Events, &place, &to, payload);
            }
            self.extra(Kind::Events, &place, &to, &event.extra);
        }
        Ok(())
    }

    fn look(&mut self, page: &WorkflowPage) {
        let summary = page.summary.iter();
        for text in summary {
            self.text(Kind::Messages, "summary", &To::Thread, text);
        }
        if let Some(error) = &page.error {
            self.text(Kind::Data, "error", &To::Thread, error);
        }
        let keys = message_keys(&page.messages);
        for (message, key) in page.messages.iter().zip(keys) {
            let role = message.role.as_deref().unwrap_or("message");
            let place = match &message.seq {
                Some(seq) => format!("{role} #{seq}"),
                None => role.to_owned(),
            };
            self.message(Kind::Messages, &place, &To::Message(key), message);
        }
        let name = |at: usize| format!("run {}", at + 1);
        for part in &page.thread {
            let Part::Question { run, text, .. } = part else {
                continue;
            };
            let id = run.and_then(|at| Some(page.runs.get(at)?.id.clone()));
            let place = run.map_or_else(|| "question".to_owned(), name);
            self.text(
                Kind::Questions,
                &place,
                &id.map_or(To::Thread, To::Run),
                text,
            );
        }
        for asks in &page.asks {
            let at = page.runs.iter().position(|run| run.id == asks.run);
            let place = at.map_or_else(|| "question".to_owned(), name);
            if let Some(question) = &asks.question {
                let text = super::page::plain(question);
                let place = format!("{place}, waits");
                self.text(Kind::Questions, &place, &To::Run(asks.run.clone()), &text);
            }
        }
        for (at, run) in page.runs.iter().enumerate() {
            let to = To::Run(run.id.clone());
            let parts = [
                ("given", &run.input),
                ("output", &run.output),
                ("error", &run.error),
                ("state", &run.state),
            ];
            for (part, text) in parts {
                if let Some(text) = text {
                    self.text(Kind::Runs, &format!("{}, {part}", name(at)), &to, text);
                }
            }
            self.extra(Kind::Runs, &name(at), &to, &run.extra);
        }
        self.members("preferences", &page.preferences);
        for step in &page.steps {
            self.message(Kind::Data, "important step", &To::Data, step);
        }
        self.members("important steps", &page.more_steps);
        self.members("context", &page.context);
        self.extra(Kind::Data, "workflow", &To::Data, &page.extra);
    }

    fn message(&mut self, kind: Kind, place: &str, to: &To, message: &Message) {
        if let Some(content) = &message.content {
            self.text(kind, place, to, content);
        }
        for member in &message.more {
            self.member(kind, place, to, member);
        }
    }

    fn members(&mut self, place: &str, members: &[Member]) {
        for member in members {
            self.member(Kind::Data, place, &To::Data, member);
        }
    }

    fn member(&mut self, kind: Kind, place: &str, to: &To, member: &Member) {
        self.named(kind, place, to, &member.name, &member.value);
    }

    fn extra(&mut self, kind: Kind, place: &str, to: &To, extra: &Extra) {
        for (name, value) in extra {
            let value = super::page::plain(value.as_deref().unwrap_or_default());
            self.named(kind, place, to, name, &value);
        }
    }

    /// Searches the name and the value of a member or column.
    fn named(&mut self, kind: Kind, place: &str, to: &To, name: &str, value: &Shown) {
        let place = match name {
            "" => place.to_owned(),
            name => format!("{place}, {name}"),
        };
        self.text(kind, &place, to, &super::page::plain(name));
        self.text(kind, &place, to, value);
    }

    fn text(&mut self, kind: Kind, place: &str, to: &To, text: &Shown) {
        self.found.cut += u64::from(text.cut_from.is_some());
        let lines = self.needle.lines(&text.text);
        if lines.is_empty() {
            return;
        }
        let groups = &mut self.found.groups;
        let at = match groups.iter().position(|group| group.kind == kind) {
            Some(at) => at,
            None => {
                groups.push(Group {
                    kind,
                    hits: Vec::new(),
                    more: 0,
                });
                groups.len() - 1
            }
        };
        let Some(group) = groups.get_mut(at) else {
            return;
        };
        let room = HITS.saturating_sub(group.hits.len()).min(HITS_OF_TEXT);
        group.more += lines.len().saturating_sub(room) as u64;
        group
            .hits
            .extend(lines.into_iter().take(room).map(|line| Hit {
                place: place.to_owned(),
                to: to.clone(),
                line: line.line,
                text: line.text,
                range: line.range,
            }));
    }
}

#[cfg(test)]
mod tests;
