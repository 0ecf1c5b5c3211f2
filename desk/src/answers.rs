//! Answers each request of the page with the JSON of one view struct of the core.

use std::rc::Rc;

use prosescope_core::model::source::SourceError;
use prosescope_core::pages::query;
use prosescope_core::pages::session::pages::CompareOptions;
use prosescope_core::pages::session::{ValueOf, pages};
use prosescope_core::pages::view::Timeline;
use prosescope_core::trace::NodeId;
use prosescope_share::model::ModelTextRequest;
use serde::Serialize;

use crate::follow::FollowedRun;
use crate::protocol::{Request, RevealedNode, ShownLines, Stats, TraceWindow, Trouble};
use crate::source::was_being_written;
use crate::{Desk, DeskSource};

/// A callback that returns the source with the files that a request opens or rereads.
type List<'a> = &'a mut dyn FnMut(&Request) -> Result<Rc<dyn DeskSource>, Trouble>;

impl Desk {
    /// Answers a request with JSON. For a request that opens files, the desk calls `list` with that request to get the
    /// files. For [`Request::Follow`], the desk calls `list` with [`Request::OpenServed`].
    ///
    /// # Errors
    /// A message for the user if the request cannot be answered.
    pub fn answer(&mut self, request: Request, list: List<'_>) -> Result<String, Trouble> {
        self.clock().begin();
        let answer = self.reply(request, list);
        self.let_go();
        self.judged(answer)
    }

    /// Passes a whole value to `each`, in pieces; `each` stops the download by returning `false`.
    ///
    /// # Errors
    /// If the run has no such value, or the value cannot be read.
    pub fn download(
        &mut self,
        place: &str,
        of: &ValueOf,
        each: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), Trouble> {
        self.clock().begin();
        let run = self.run(place);
        let read = run.and_then(|run| Ok(run.value_pieces(of, each)?));
        self.let_go();
        self.judged(read)
    }

    /// Returns an error instead of an answer if a file changed while it was read. Marks errors that may be temporary.
    pub(crate) fn judged<T>(&self, answer: Result<T, Trouble>) -> Result<T, Trouble> {
        // Lists skip unreadable entries, so the answer may look complete. If an entry was unreadable because its file
        // changed, the page gets that error instead.
        if let Some(fault @ SourceError::Changed(_)) = self.take_fault() {
            return Err(fault.into());
        }
        answer.map_err(|trouble| Trouble {
            passing: trouble.passing || self.is_being_written(&trouble),
            ..trouble
        })
    }

    /// Returns whether an error may be due to a write that was in progress when the files were listed.
    fn is_being_written(&self, trouble: &Trouble) -> bool {
        let file = trouble.file.as_deref();
        file.zip(self.source())
            .is_some_and(|(file, source)| was_being_written(source.as_ref(), file))
    }

    fn reply(&mut self, request: Request, list: List<'_>) -> Result<String, Trouble> {
        match request {
            Request::OpenFiles { .. } | Request::OpenServed | Request::OpenExample => {
                let mut opened = self.open(list(&request)?)?;
                // A large run is listed before it is read.
                if let ([only], false) = (opened.list.runs.as_slice(), self.runs().is_empty()) {
                    opened.first = self.first(&only.place)?;
                }
                json(&opened)
            }
            Request::First { place } => json(&self.first(&place)?),
            Request::Follow {
                place,
                nodes,
                bindings,
                folded,
            } => {
                let later = list(&Request::OpenServed)?;
                let shown = FollowedRun {
                    place,
                    nodes,
                    bindings,
                    folded,
                };
                json(&self.follow(later, &shown)?)
            }
            Request::LookToShare { places, wishes } => {
                json(&self.look_to_share(&places, &wishes, Box::new(|_, _| {}))?)
            }
            Request::ForModel {
                place,
                node,
                size,
                wishes,
            } => {
                let asked = ModelTextRequest {
                    node: node.map(NodeId::new),
                    size,
                    now: Some(self.clock().now()),
                };
                json(&self.for_model(&place, asked, &wishes)?)
            }
            Request::MoreRuns => json(&self.more_runs()?),
            Request::Stats => json(&Stats {
                counters: self.counters(),
                memory: 0,
            }),
            Request::Workflows {
                place,
                status,
                waiting,
                from,
                len,
            } => json(&self.tables(&place)?.list(&status, waiting, from, len)?),
            Request::Workflow { place, id } => json(&self.tables(&place)?.show(&id)?),
            Request::Events {
                place,
                id,
                run,
                from,
                len,
            } => json(
                &self
                    .tables(&place)?
                    .events(&id, run.as_deref(), from, len)?,
            ),
            Request::EventCounts { place, id } => json(&self.tables(&place)?.event_counts(&id)?),
            Request::Event { place, id, event } => json(&self.tables(&place)?.event(&id, event)?),
            Request::Search { place, text } => json(&self.search(&place, &text)?),
            Request::Compare { a, b, all, anyway } => {
                let options = CompareOptions { all, anyway };
                let now = Some(self.clock().now());
                let (a, b) = self.both(&a, &b)?;
                json(&pages::compare(a, b, now, options)?)
            }
            Request::SaveShared | Request::Share { .. } => Err(Trouble::defect(
                "a shared run was requested as text instead of as a file",
            )),
            Request::Download { .. } => Err(Trouble::defect(
                "a download was requested as text instead of as a file",
            )),
            request => self.reply_of_run(request),
        }
    }

    /// Answers a request about a page, a value or a table of a run.
    pub(crate) fn reply_of_run(&mut self, request: Request) -> Result<String, Trouble> {
        match request {
            Request::Page { place, page } => {
                let now = self.clock().now();
                written(page.json(self.run(&place)?, Some(now)))
            }
            Request::Program { place, from, len } => {
                json(&pages::program_page(self.run(&place)?, from, len))
            }
            Request::Bindings { place, from, len } => {
                json(&pages::bindings_page(self.run(&place)?, from, len))
            }
            Request::Binding { place, binding } => {
                json(&pages::binding_row(self.run(&place)?, binding))
            }
            Request::BindingPlace { place, binding } => {
                json(&pages::binding_place(self.run(&place)?, binding))
            }
            Request::Resolve { place, name, from } => {
                json(&pages::resolve(self.run(&place)?, &name, from))
            }
            Request::Value { place, of, most } => json(&self.value(&place, &of, most)?),
            Request::Lines { of, from, len } => {
                let lines = self.lines(&of)?;
                let (from, total) = (usize::try_from(from).unwrap_or(usize::MAX), lines.len());
                let shown = from..from.saturating_add(len as usize).min(total);
                json(&ShownLines {
                    rows: shown.filter_map(|at| lines.get(at)).collect(),
                    total: total as u64,
                })
            }
            Request::FindLine { of, text, number } => json(&self.find_line(&of, &text, number)?),
            Request::State { place, whole } => json(&pages::state_page(self.run(&place)?, whole)),
            Request::Query { place, sql, limit } => {
                let clock = self.clock();
                let (limits, now) = (clock.limits(query::DEADLINE), clock.now());
                let run = self.run(&place)?;
                json(&query::ask(run, &sql, limit, &limits, Some(now))?)
            }
            Request::QueryTables { place } => json(&query::tables(self.run(&place)?)),
            Request::Table {
                place,
                table,
                from,
                len,
            } => json(&pages::table_rows(self.run(&place)?, &table, from, len)?),
            request => self.reply_of_trace(request),
        }
    }

    /// Answers a request about the rows of a run's trace.
    fn reply_of_trace(&mut self, request: Request) -> Result<String, Trouble> {
        match request {
            Request::Nodes { place, nodes } => {
                let session = self.run(&place)?;
                let refs = nodes
                    .into_iter()
                    .filter_map(|node| pages::node_ref(session, NodeId::new(node)));
                json(&refs.collect::<Vec<_>>())
            }
            Request::Trace {
                place,
                folded,
                choice,
                timed,
                from,
                len,
            } => {
                let run = self.opened(&place)?;
                let session = &run.session;
                let mut page = if choice.is_all() {
                    pages::trace_screen(session, &folded.nodes(session), from, len)
                } else {
                    pages::chosen_page(session, &pages::chosen_screen(session, &choice), from, len)
                };
                pages::name_calls(session, &mut page);
                let rows = page.rows.iter().filter(|_| timed);
                let bars = rows.filter_map(|row| run.timeline().bar(row.node).copied());
                let bars = bars.collect();
                json(&TraceWindow { page, bars })
            }
            Request::Timeline { place } => {
                let timeline = self.opened(&place)?.timeline();
                json(&Timeline {
                    bars: Vec::new(),
                    gaps: timeline.gaps.clone(),
                    longest: timeline.longest.clone(),
                    dense: timeline.dense.clone(),
                    from: timeline.from.clone(),
                    until: timeline.until.clone(),
                    took: timeline.took.clone(),
                    ..*timeline
                })
            }
            Request::Reveal {
                place,
                folded,
                choice,
                node,
            } => {
                let session = self.run(&place)?;
                let node = NodeId::new(node);
                if !choice.is_all() {
                    let rows = pages::chosen_screen(session, &choice);
                    let row = rows.iter().position(|row| *row == node);
                    return json(&RevealedNode {
                        row: row.map(|row| row as u32),
                        unfolded: Vec::new(),
                    });
                }
                let mut folded = folded.nodes(session);
                let around = session.trace().upward(Some(node)).skip(1);
                let around = around.filter(|above| folded.remove(above));
                let unfolded: Vec<u32> = around.map(NodeId::get).collect();
                let row = pages::trace_place(session, &folded, node);
                let row = Some(row);
                json(&RevealedNode { row, unfolded })
            }
            Request::Parent { place, node } => {
                let parent = pages::drawn_parent(self.run(&place)?, NodeId::new(node));
                json(&parent.map(NodeId::get))
            }
            Request::NextFailure {
                place,
                node,
                forward,
            } => {
                let session = self.run(&place)?;
                let next = pages::next_failure(session, node.map(NodeId::new), forward);
                json(&next.and_then(|node| pages::node_ref(session, node)))
            }
            Request::NodeOfRow { place, row } => json(&self.run(&place)?.node_of_row(row)),
            Request::Node { place, node } => {
                let session = self.run(&place)?;
                json(&pages::node_detail(session, NodeId::new(node)))
            }
            _ => Err(Trouble::defect("the desk has no answer to a request")),
        }
    }
}

pub(crate) fn json<T: Serialize>(value: &T) -> Result<String, Trouble> {
    written(serde_json::to_string(value))
}

fn written(json: serde_json::Result<String>) -> Result<String, Trouble> {
    json.map_err(|error| {
        Trouble::defect(&format!("the answer could not be written as JSON: {error}"))
    })
}
