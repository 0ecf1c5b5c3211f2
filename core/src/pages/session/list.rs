//! Lists the runs of a source, one line for each run.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::filter::began;
use super::many::{RunRows, by_rows};
use super::pages::summary;
use super::replay::Replay;
use super::summary::{age, of_head};
use super::survey::{FoundKind, SurveyPlace, survey};
use super::{Filter, ListOrder, Options, Session};
use crate::model::issue::Issue;
use crate::model::source::Source;
use crate::model::text::counted;
use crate::pages::view::{LEFT_OUT, RunList, RunSummary};

/// Lists the runs of a source, the newest first (by the time in the id, or else `started`, or else the last sign of
/// life). Each run is opened, summarized and closed again. Of a large database only the beginning is read.
pub fn list(source: &Rc<dyn Source>, options: &Options) -> RunList {
    let (filter, order) = (Filter::default(), ListOrder::default());
    list_page(source, options, &filter, order, usize::MAX, None)
}

/// Returns whether a list with this filter and order begins with the newest runs and leaves none out. The older runs of
/// a large store then need not be read.
pub fn is_of_newest(filter: &Filter, order: ListOrder) -> bool {
    *filter == Filter::default() && order == ListOrder::Newest
}

/// Lists the first `most` runs that match the filter, in the given order. If the store's table of runs is enough to
/// filter and to sort, the runs after the first `most` are not read. `known` returns lines that were read before.
pub fn list_page(
    source: &Rc<dyn Source>,
    options: &Options,
    filter: &Filter,
    order: ListOrder,
    most: usize,
    known: Option<&CachedLine<'_>>,
) -> RunList {
    let lists = Lists::of(source, options);
    let by_heads = filter.is_of_heads() && order.is_of_heads();
    let wanted = ListRequest {
        filter: Cow::Borrowed(filter),
        by_heads,
        by_rows: !by_heads,
        known,
        ..ListRequest::default()
    };
    let (RunListing { mut list, .. }, mut heads) = lists.all(&wanted);
    order.sort(&mut list.runs, source.as_ref());
    list.runs.truncate(most);
    for run in &mut list.runs {
        if let Some(found) = heads.remove(&run.place) {
            *run = lists.line(&found, false).0;
        }
    }
    list
}

/// Lists all runs again. `known` returns the lines of runs whose files did not change since the last listing.
pub fn list_again(
    source: &Rc<dyn Source>,
    options: &Options,
    known: &dyn Fn(&SurveyPlace) -> Option<RunSummary>,
) -> RunListing {
    let wanted = ListRequest {
        known: Some(known),
        ..ListRequest::default()
    };
    sorted(Lists::of(source, options).all(&wanted).0, source)
}

/// Lists runs, the newest first by the time in their names, until `go_on` returns false. At least one run is listed.
/// [`list_more`] continues with the remaining runs.
pub fn list_while(
    source: &Rc<dyn Source>,
    options: &Options,
    go_on: &dyn Fn() -> bool,
) -> RunListing {
    let wanted = ListRequest {
        go_on: Some(go_on),
        ..ListRequest::default()
    };
    sorted(Lists::of(source, options).all(&wanted).0, source)
}

/// Lists the runs that [`list_while`] left out, until `go_on` returns false. At least one run is listed. The result has
/// no other runs.
pub fn list_more(
    source: &Rc<dyn Source>,
    options: &Options,
    left: Vec<SurveyPlace>,
    go_on: &dyn Fn() -> bool,
) -> RunListing {
    let wanted = ListRequest {
        go_on: Some(go_on),
        ..ListRequest::default()
    };
    let alone = false;
    let list = RunList::default();
    let lists = Lists::of(source, options);
    sorted(lists.listed(list, left, alone, &wanted).0, source)
}

fn sorted(mut listing: RunListing, source: &Rc<dyn Source>) -> RunListing {
    ListOrder::default().sort(&mut listing.list.runs, source.as_ref());
    listing
}

/// The result of listing runs.
pub struct RunListing {
    /// The listed runs, one line for each.
    pub list: RunList,
    /// The session that was opened last. If the source has only one run, the caller need not open that run again.
    /// `None` for a large database.
    pub session: Option<Session>,
    /// Runs that were not listed yet, in order.
    pub left: Vec<SurveyPlace>,
}

/// A function that returns the line of a run if the line is known already.
type CachedLine<'a> = dyn Fn(&SurveyPlace) -> Option<RunSummary> + 'a;

/// The runs to list, and how to get their lines.
#[derive(Default)]
struct ListRequest<'a> {
    filter: Cow<'a, Filter>,
    /// Whether lines may come from the store's table of runs, if that table is enough for the filter and the order.
    by_heads: bool,
    /// Whether to read the rows of all unfinished runs together, because the filter or the order needs their state.
    by_rows: bool,
    /// A function that returns the lines of runs that need not be read again; `None` to read every run.
    known: Option<&'a CachedLine<'a>>,
    /// A function that returns whether there is time to read another run; `None` without a limit.
    go_on: Option<&'a dyn Fn() -> bool>,
}

/// A run as a line of a list.
pub(super) struct ListedRun {
    pub(super) summary: RunSummary,
    /// Whether the line is final: reading more of the run would not change the line.
    pub(super) is_whole: bool,
}

/// Returns a warning about runs that a filter left out. Some of their data could not be read, so they may match.
fn left_out(runs: u32) -> Option<Issue> {
    if runs == 0 {
        return None;
    }
    let (are, they) = if runs == 1 {
        ("is", "it")
    } else {
        ("are", "they")
    };
    let message = format!(
        "{} could not be read and {are} left out, although {they} may match the filter",
        counted(runs.into(), "run", "runs")
    );
    Some(
        Issue::warning(LEFT_OUT, message)
            .hint("List the runs without a filter to see which runs could not be read, and why."),
    )
}

/// A builder of the lines of a source's runs.
pub(super) struct Lists<'a> {
    source: &'a Rc<dyn Source>,
    options: &'a Options,
    /// The rows of the store's table of runs, for a store that contains many runs.
    heads: Option<RunRows>,
    /// The rows of unfinished runs, read at the first use.
    rest: OnceCell<Option<Replay>>,
}

impl<'a> Lists<'a> {
    pub(super) fn of(source: &'a Rc<dyn Source>, options: &'a Options) -> Lists<'a> {
        Lists {
            source,
            options,
            heads: RunRows::of(source.as_ref(), options),
            rest: OnceCell::new(),
        }
    }

    /// Returns the lines of all runs that match the filter, and by place the runs whose lines are not final.
    fn all(&self, wanted: &ListRequest<'_>) -> (RunListing, BTreeMap<String, SurveyPlace>) {
        let mut survey = survey(self.source.as_ref());
        // Stores of agents are only listed if there are no runs, because each run shows its agents on a page.
        let is_run = |found: &SurveyPlace| found.kind != FoundKind::Agents;
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

    /// Adds the lines of runs to a list. Also returns the runs whose lines are not final, by place. With `alone`, the
    /// source has only one run, which is opened with the agents and settings around it.
    fn listed(
        &self,
        list: RunList,
        found: Vec<SurveyPlace>,
        alone: bool,
        wanted: &ListRequest<'_>,
    ) -> (RunListing, BTreeMap<String, SurveyPlace>) {
        let mut heads = BTreeMap::new();
        let mut listing = RunListing {
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
                    // Closes the previous session first, so that only one session is open.
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

    /// Returns the line that the store's table of runs gives for a run.
    pub(super) fn head(&self, found: &SurveyPlace) -> Option<ListedRun> {
        self.heads.as_ref()?.line(found, self.options)
    }

    /// Returns a run's line from its rows. The rows of all unfinished runs are read together, once.
    fn by_rows(&self, found: &SurveyPlace) -> Option<ListedRun> {
        let rest = || {
            self.heads
                .as_ref()?
                .rest(self.source.as_ref(), self.options)
        };
        let rows = self.rest.get_or_init(rest).as_ref()?;
        Some(ListedRun {
            summary: by_rows(rows, found, self.options)?,
            is_whole: true,
        })
    }

    /// Opens a run for its line. Returns the session, too, except for a large database. With `around`, agents and
    /// settings outside of the run are read.
    pub(super) fn line(&self, found: &SurveyPlace, around: bool) -> (RunSummary, Option<Session>) {
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

    /// Adds the run's age to its line.
    fn aged(&self, line: RunSummary) -> RunSummary {
        RunSummary {
            age: age(&line, self.options.now),
            ..line
        }
    }
}
