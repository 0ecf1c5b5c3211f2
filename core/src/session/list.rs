//! The runs of a source, each as a line.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::filter::began;
use super::many::{Heads, by_rows};
use super::pages::summary;
use super::replay::Replay;
use super::summary::{age, of_head};
use super::survey::{Found, FoundKind, survey};
use super::{Filter, Options, Order, Session};
use crate::issue::Issue;
use crate::source::Source;
use crate::text::counted;
use crate::view::{LEFT_OUT, RunList, RunSummary};

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
    let wanted = Wanted {
        filter: Cow::Borrowed(filter),
        by_heads,
        by_rows: !by_heads,
        ..Wanted::default()
    };
    let (Listing { mut list, .. }, mut heads) = lists.all(&wanted);
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
    let wanted = Wanted {
        known: Some(known),
        ..Wanted::default()
    };
    sorted(Lists::of(source, options).all(&wanted).0, source)
}

/// Lists runs as long as `go_on` says so, one at least: the newest first, by the time in their names. [`list_more`] goes on
/// where it ends.
pub fn list_while(source: &Rc<dyn Source>, options: &Options, go_on: &dyn Fn() -> bool) -> Listing {
    let wanted = Wanted {
        go_on: Some(go_on),
        ..Wanted::default()
    };
    sorted(Lists::of(source, options).all(&wanted).0, source)
}

/// Lists some of the runs that were left, in the same way; the list has those alone.
pub fn list_more(
    source: &Rc<dyn Source>,
    options: &Options,
    left: Vec<Found>,
    go_on: &dyn Fn() -> bool,
) -> Listing {
    let wanted = Wanted {
        go_on: Some(go_on),
        ..Wanted::default()
    };
    let alone = false;
    let list = RunList::default();
    let lists = Lists::of(source, options);
    sorted(lists.listed(list, left, alone, &wanted).0, source)
}

fn sorted(mut listing: Listing, source: &Rc<dyn Source>) -> Listing {
    Order::default().sort(&mut listing.list.runs, source.as_ref());
    listing
}

/// What was listed.
pub struct Listing {
    /// The runs.
    pub list: RunList,
    /// The session that was opened last: where there is one run, whoever asks for it next need not read it again. Of a
    /// large database none is left.
    pub session: Option<Session>,
    /// Runs that were not read any more, the next one first.
    pub left: Vec<Found>,
}

/// The line of a run where it is known.
type Known<'a> = dyn Fn(&Found) -> Option<RunSummary> + 'a;

/// Which runs are listed, and how.
#[derive(Default)]
struct Wanted<'a> {
    filter: Cow<'a, Filter>,
    /// Runs are listed by what the store of all runs says of them, where that decides.
    by_heads: bool,
    /// Where how a run stands decides, the rows of all runs that did not end are read together.
    by_rows: bool,
    /// Lines of runs that need not be read.
    known: Option<&'a Known<'a>>,
    /// Whether there is time for another run.
    go_on: Option<&'a dyn Fn() -> bool>,
}

/// A run as a line of a list.
pub(super) struct Line {
    pub(super) summary: RunSummary,
    /// Whether reading more of the run adds nothing to it.
    pub(super) is_whole: bool,
}

/// What is said of runs that a filter leaves out though not all of them could be read.
fn left_out(runs: u32) -> Option<Issue> {
    let (are, they_match) = match runs {
        0 => return None,
        1 => ("is", "it matches"),
        _ => ("are", "they match"),
    };
    let message = format!(
        "{} {are} left out that could not be read: whether {they_match} is not known",
        counted(runs.into(), "run", "runs")
    );
    Some(Issue::warning(LEFT_OUT, message).hint("List all runs to see which, and why."))
}

/// Makes the lines of a source's runs.
pub(super) struct Lists<'a> {
    source: &'a Rc<dyn Source>,
    options: &'a Options,
    /// What the store of all runs says of them, where there is one.
    heads: Option<Heads>,
    /// The rows of those that did not end, once they are needed.
    rest: OnceCell<Option<Replay>>,
}

impl<'a> Lists<'a> {
    pub(super) fn of(source: &'a Rc<dyn Source>, options: &'a Options) -> Lists<'a> {
        Lists {
            source,
            options,
            heads: Heads::of(source.as_ref(), options),
            rest: OnceCell::new(),
        }
    }

    /// The lines of all runs that are wanted.
    fn all(&self, wanted: &Wanted<'_>) -> (Listing, BTreeMap<String, Found>) {
        let mut survey = survey(self.source.as_ref());
        // Stores of agents are listed only where there is nothing else: runs show them on their own pages.
        let is_run = |found: &Found| found.kind != FoundKind::Agents;
        if survey.found.iter().any(is_run) {
            survey.found.retain(is_run);
        }
        if wanted.go_on.is_some() {
            survey.found.sort_by(|a, b| b.name.cmp(&a.name));
        }
        let list = RunList {
            label: self.source.label(),
            issues: survey.issues,
            total: self.source.more_runs() + survey.found.len() as u32,
            ..RunList::default()
        };
        let alone = survey.found.len() == 1;
        self.listed(list, survey.found, alone, wanted)
    }

    /// Adds the lines of some runs to a list; those that may change once more of the run is read are named beside it, by
    /// their place. A run that is `alone` is opened with what lies around it.
    fn listed(
        &self,
        list: RunList,
        found: Vec<Found>,
        alone: bool,
        wanted: &Wanted<'_>,
    ) -> (Listing, BTreeMap<String, Found>) {
        let mut heads = BTreeMap::new();
        let mut listing = Listing {
            list,
            session: None,
            left: Vec::new(),
        };
        let mut read = false;
        let mut unknown = 0;
        let mut found = found.into_iter();
        while let Some(place) = found.next() {
            if !wanted.filter.may_want(&place.name) {
                continue;
            }
            let known = wanted.known.and_then(|known| known(&place));
            let head = self.head(&place);
            let head = match head {
                Some(line) if wanted.by_rows && !line.is_whole => self.by_rows(&place),
                head => head.filter(|line| wanted.by_heads || line.is_whole),
            };
            let (line, is_whole) = match (known, head) {
                (Some(line), _) => (self.aged(line), true),
                (None, Some(head)) if wanted.by_rows || began(&head.summary).is_some() => {
                    (self.aged(head.summary), head.is_whole)
                }
                (None, _) if read && wanted.go_on.is_some_and(|go_on| !go_on()) => {
                    listing.left.push(place);
                    listing.left.extend(found);
                    break;
                }
                (None, _) => {
                    if wanted.known.is_none() {
                        let next = found.as_slice().iter();
                        let next = std::iter::once(&place).chain(next);
                        self.source.expect(&mut next.map(|found| &*found.place));
                    }
                    read = true;
                    // One at a time.
                    drop(listing.session.take());
                    let (line, session) = self.line(&place, alone);
                    listing.session = session;
                    (line, true)
                }
            };
            if wanted.filter.wants(&line) {
                listing.list.runs.push(line);
                if !is_whole {
                    heads.insert(place.place.clone(), place);
                }
            } else if line.unread || line.error.is_some() {
                unknown += 1;
            }
        }
        listing.list.issues.extend(left_out(unknown));
        (listing, heads)
    }

    /// What the store of all runs says of one.
    pub(super) fn head(&self, found: &Found) -> Option<Line> {
        self.heads.as_ref()?.line(found, self.options)
    }

    /// What the rows of a run say, which are read with those of the others that did not end.
    fn by_rows(&self, found: &Found) -> Option<Line> {
        let rest = || {
            self.heads
                .as_ref()?
                .rest(self.source.as_ref(), self.options)
        };
        let rows = self.rest.get_or_init(rest).as_ref()?;
        Some(Line {
            summary: by_rows(rows, found, self.options)?,
            is_whole: true,
        })
    }

    /// A run as a line, and the session that it took; `around` opens with that what lies around the run.
    pub(super) fn line(&self, found: &Found, around: bool) -> (RunSummary, Option<Session>) {
        if let Some(line) = of_head(self.source, found, self.options, around) {
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
