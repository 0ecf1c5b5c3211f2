//! The runs of a source, each as a line.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::filter::began;
use super::many::Heads;
use super::pages::summary;
use super::summary::{age, of_head};
use super::survey::{Found, FoundKind, survey};
use super::{Filter, Options, Order, Session};
use crate::source::Source;
use crate::view::{RunList, RunSummary};

/// Lists the runs of a source, newest first (by the time in the id, else `started`, else the last sign of life): each
/// is opened, summed up and closed again; of a large database only the head is read.
pub fn list(source: &Rc<dyn Source>, options: &Options) -> RunList {
    let (filter, order) = (Filter::default(), Order::default());
    list_page(source, options, &filter, order, usize::MAX)
}

/// Whether the first runs of a list are the newest ones, whatever they hold: a store of many runs need not list the others.
pub fn is_of_newest(filter: &Filter, order: Order) -> bool {
    *filter == Filter::default() && order == Order::Newest
}

/// Lists the first `most` of the runs that are wanted, in an order. Of a store of many runs, runs that come later are not looked at,
/// where the order follows from what the store says of all of them.
pub fn list_page(
    source: &Rc<dyn Source>,
    options: &Options,
    filter: &Filter,
    order: Order,
    most: usize,
) -> RunList {
    let lists = Lists::of(source, options);
    let by_heads = filter.is_of_heads() && order.is_of_heads();
    let (mut list, mut heads, _, _) = lists.listed(filter, by_heads, &|_| None, None);
    order.sort(&mut list.runs, source.as_ref());
    list.runs.truncate(most);
    for run in &mut list.runs {
        if let Some(found) = heads.remove(&run.place) {
            *run = lists.line(&found, false).0;
        }
    }
    list
}

/// Lists all runs, where the lines of some places are known: nothing of theirs changed since they were listed before.
pub fn list_again(
    source: &Rc<dyn Source>,
    options: &Options,
    known: &dyn Fn(&Found) -> Option<RunSummary>,
) -> Listing {
    list_while(source, options, known, None)
}

/// The same as long as `go_on` says so, the newest runs first, by the time in their names. What is not known is read; one
/// of those is always read.
pub fn list_while(
    source: &Rc<dyn Source>,
    options: &Options,
    known: &dyn Fn(&Found) -> Option<RunSummary>,
    go_on: Option<&dyn Fn() -> bool>,
) -> Listing {
    let lists = Lists::of(source, options);
    let (mut list, _, session, left) = lists.listed(&Filter::default(), false, known, go_on);
    Order::default().sort(&mut list.runs, source.as_ref());
    Listing {
        list,
        session,
        left,
    }
}

/// What was listed.
pub struct Listing {
    /// The runs.
    pub list: RunList,
    /// The session that was opened last: where there is one run, whoever asks for it next need not read it again. Of a
    /// large database none is left.
    pub session: Option<Session>,
    /// Runs that were not read any more.
    pub left: u32,
}

/// A run as a line of a list.
pub(super) struct Line {
    pub(super) summary: RunSummary,
    /// Whether reading more of the run adds nothing to it.
    pub(super) is_whole: bool,
}

/// Makes the lines of a source's runs.
pub(super) struct Lists<'a> {
    source: &'a Rc<dyn Source>,
    options: &'a Options,
    /// What the store of all runs says of them, where there is one.
    heads: Option<Heads>,
}

impl<'a> Lists<'a> {
    pub(super) fn of(source: &'a Rc<dyn Source>, options: &'a Options) -> Lists<'a> {
        Lists {
            source,
            options,
            heads: Heads::of(source.as_ref(), options),
        }
    }

    /// The lines that are wanted; with `by_heads`, those that may change once more of the run is read are named beside
    /// them, by their place. Then comes the session that was opened last, and how many runs were left out because
    /// `go_on` said no.
    fn listed(
        &self,
        filter: &Filter,
        by_heads: bool,
        known: &dyn Fn(&Found) -> Option<RunSummary>,
        go_on: Option<&dyn Fn() -> bool>,
    ) -> (RunList, BTreeMap<String, Found>, Option<Session>, u32) {
        let mut found = survey(self.source.as_ref());
        if go_on.is_some() {
            found.found.sort_by(|a, b| b.name.cmp(&a.name));
        }
        let (mut read, mut left) = (false, 0);
        let mut list = RunList {
            label: self.source.label(),
            issues: found.issues,
            total: self.source.more_runs(),
            ..RunList::default()
        };
        let (mut heads, mut last) = (BTreeMap::new(), None);
        // Stores of agents are listed only where there is nothing else: runs show them on their own pages.
        let only_agents = found.found.iter().all(|f| f.kind == FoundKind::Agents);
        let alone = found.found.len() == 1;
        for place in found.found {
            if place.kind == FoundKind::Agents && !only_agents {
                continue;
            }
            list.total += 1;
            if !filter.may_want(&place.name) {
                continue;
            }
            let head = self.head(&place).filter(|line| by_heads || line.is_whole);
            let (line, is_whole) = match (known(&place), head) {
                (Some(line), _) => (self.aged(line), true),
                (None, Some(head)) if began(&head.summary).is_some() => {
                    (self.aged(head.summary), head.is_whole)
                }
                (None, _) if read && go_on.is_some_and(|go_on| !go_on()) => {
                    left += 1;
                    continue;
                }
                (None, _) => {
                    read = true;
                    // One at a time.
                    drop(last.take());
                    let (line, session) = self.line(&place, alone);
                    last = session;
                    (line, true)
                }
            };
            if filter.wants(&line) {
                list.runs.push(line);
                if !is_whole {
                    heads.insert(place.place.clone(), place);
                }
            }
        }
        (list, heads, last, left)
    }

    /// What the store of all runs says of one.
    pub(super) fn head(&self, found: &Found) -> Option<Line> {
        self.heads.as_ref()?.line(found, self.options)
    }

    /// A run as a line, and the session that it took; `around` opens with that what lies around the run.
    pub(super) fn line(&self, found: &Found, around: bool) -> (RunSummary, Option<Session>) {
        if let Some(line) = of_head(self.source, found, self.options) {
            return (self.aged(line), None);
        }
        let source = Rc::clone(self.source);
        match Session::open_inside(source, &found.place, self.options, around) {
            Ok(session) => (self.aged(summary(&session)), Some(session)),
            Err(error) => {
                let line = RunSummary {
                    id: found.name.clone(),
                    name: found.name.clone(),
                    place: found.place.clone(),
                    error: Some(error.to_string()),
                    ..RunSummary::default()
                };
                (line, None)
            }
        }
    }

    /// A line with the run's age.
    fn aged(&self, line: RunSummary) -> RunSummary {
        RunSummary {
            age: age(&line, self.options.now),
            ..line
        }
    }
}
