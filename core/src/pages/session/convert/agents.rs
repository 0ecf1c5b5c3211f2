//! Converts the agents of a run: memories, earlier memories and segments.

use std::collections::{BTreeMap, BTreeSet};

use super::{Carry, Session, ValueTable, damaged, names_a_file, stamp, text};
use crate::model::schema;
use crate::model::{Agent, AgentScope, Segment, Text, ValueAt};
use crate::read::decode::rows::{self, Version};
use crate::read::decode::{folder, memory_md};
use crate::record::render::segment_md;
use crate::record::{AgentRow, Change, MemoryRow, SegmentRow, WriteError};

impl Carry<'_, '_> {
    pub(super) fn agents(&mut self) -> Result<(), WriteError> {
        let session = self.session;
        let mut versions: BTreeMap<Text, Vec<Version>> = match &session.values.db {
            Some(db) => rows::all_memory_versions(db.db.as_ref())
                .map_err(|error| damaged(&error.to_string()))?,
            None => BTreeMap::new(),
        };
        let mut names: BTreeSet<String> = BTreeSet::new();
        for agent in own_agents(session) {
            let agent = session.values.agent_tail(agent);
            let place = format!("agent {}", agent.name);
            let versions = match &session.values.db {
                Some(_) => versions.remove(&agent.name).unwrap_or_default(),
                None => folder::memory_versions(
                    session.values.source.as_ref(),
                    &session.root,
                    &agent.name,
                ),
            };
            // Names that differ only in case are one folder on some file systems.
            let new = if self.to_folder {
                names_a_file(&agent.name) && names.insert(agent.name.to_lowercase())
            } else {
                names.insert(agent.name.to_string())
            };
            if new {
                self.agent(&agent, &versions, &place)?;
            } else if self.to_folder {
                let what = "not copied: a folder cannot have the agent's name, or another agent has the same name";
                self.left(place, what);
            } else {
                self.left(place, "not copied: another agent has the same name");
            }
        }
        for (name, gone) in versions {
            let what = "earlier memories of an agent that no longer exists are not copied";
            let place = format!("{} of {name}", schema::AGENT_MEMORY_HISTORY);
            self.left(place, format!("{what}: {}", gone.len()));
        }
        Ok(())
    }

    fn agent(
        &mut self,
        agent: &Agent,
        versions: &[Version],
        place: &str,
    ) -> Result<(), WriteError> {
        let scope = agent.scope.word().to_owned();
        if self.to_folder && agent.scope != AgentScope::Execution {
            let what = format!(
                "the agent's scope is {scope}, but in the copy the agent belongs to the run, as every agent in a run's folder"
            );
            self.left(place, what);
        }
        let has_memory = match &agent.memory {
            ValueAt::Missing | ValueAt::Row { len: None, .. } => false,
            ValueAt::Row { .. } | ValueAt::File { .. } => true,
        };
        if self.to_folder && !has_memory && agent.segments.is_empty() && versions.is_empty() {
            self.left(
                place,
                "not copied: the agent has neither memory nor segments",
            );
        }
        if !self.to_folder {
            let row = AgentRow {
                agent: agent.name.to_string(),
                scope: scope.clone(),
                created: stamp(agent.created.as_ref(), false),
                updated: stamp(agent.updated.as_ref(), false),
            };
            let key = format!("agents/{}", agent.name);
            self.hold(key, row.agent.len(), vec![Change::Agent(row)])?;
        }
        if !has_memory && !versions.is_empty() {
            self.left(
                place,
                "the agent has no memory now: in the copy, the last earlier memory becomes the memory",
            );
        }
        let table = ValueTable::Agents(Text::clone(&agent.store));
        let times = versions.iter().any(|v| v.updated.is_some());
        if self.to_folder && (times || (has_memory && agent.updated.is_some())) {
            self.left(place, "a folder cannot record when the memory was written");
        }
        let earlier = versions
            .iter()
            .map(|v| (&v.value, schema::AGENT_MEMORY_HISTORY, v.updated.as_ref()));
        let now = (&agent.memory, schema::AGENTS, agent.updated.as_ref());
        for (at, of, updated) in earlier.chain(has_memory.then_some(now)) {
            let bytes = self.whole(of, "memory", &table, at)?;
            let (len, mut changes) = (bytes.len(), Vec::new());
            let (memory, kept) = self.text_of(bytes);
            if let Some(file) = kept {
                let what = format!(
                    "the memory is not text: the original is in {}, and the copy shows unreadable bytes as \u{fffd}",
                    file.path
                );
                self.left(place, what);
                changes.push(Change::Attachment(file));
            }
            changes.push(Change::Memory(MemoryRow {
                agent: agent.name.to_string(),
                scope: scope.clone(),
                memory,
                at: stamp(updated, self.to_folder),
            }));
            self.hold(format!("agents/{}", agent.name), len, changes)?;
        }
        let mut numbers = BTreeSet::new();
        for segment in &agent.segments {
            let place = format!("{place}, segment {}", segment.number);
            if !numbers.insert(segment.number) {
                self.left(place, "not copied: another segment has the same number");
                continue;
            }
            self.segment(agent, segment, &place)?;
        }
        Ok(())
    }

    fn segment(&mut self, agent: &Agent, segment: &Segment, place: &str) -> Result<(), WriteError> {
        let row = SegmentRow {
            agent: agent.name.to_string(),
            scope: agent.scope.word().to_owned(),
            number: segment.number,
            at: stamp(segment.timestamp.as_ref(), self.to_folder),
            prompt: text(&segment.prompt).unwrap_or_default(),
            summary: text(&segment.summary).unwrap_or_default(),
        };
        if self.to_folder {
            let written = segment_md::write(&row);
            let read = memory_md::segment(&written);
            let same = read.prompt.as_deref().unwrap_or_default() == row.prompt
                && read.summary.as_deref().unwrap_or_default() == row.summary;
            if !same {
                let what = "not copied: blank lines or spaces at the beginning or end of a text, which a segment's file cannot keep";
                self.left(place, what);
            }
            if written.len() > memory_md::SEGMENT_MOST {
                let most = memory_md::SEGMENT_MOST >> 10;
                let what = format!(
                    "the segment is copied completely, but only the first {most} KB of its file are read"
                );
                self.left(place, what);
            }
        }
        let len = row.prompt.len().saturating_add(row.summary.len());
        let key = format!("agents/{}/{}", agent.name, row.number);
        self.hold(key, len, vec![Change::Segment(row)])
    }
}

/// Returns the run's own agents, without those of the project or the user.
pub(super) fn own_agents(session: &Session) -> impl Iterator<Item = &Agent> {
    let store = session.values.db.as_ref().map(|db| Text::clone(&db.name));
    session.run.agents.iter().filter(move |agent| match &store {
        Some(store) => agent.store == *store,
        None => agent.store.starts_with("agents/"),
    })
}
