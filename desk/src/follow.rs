//! Rereads the open source after another program has written to it. Reads only changed runs again. After an error, the
//! previous source stays open.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use prosescope_core::model::source::{Source, SourceError};
use prosescope_core::pages::session::{
    Options, Renumbering, Session, SurveyPlace, list_again, pages,
};
use prosescope_core::pages::view::{RunList, RunSummary};
use prosescope_core::trace::NodeId;

use crate::desk::{OpenRun, nothing_found};
use crate::protocol::{Folds, FollowAnswer, OpenedSource, Trouble};
use crate::{Desk, DeskSource, source, workflows};

/// The maximum number of new nodes, and of new bindings, that an answer lists. More would not fit on a screen.
const NAMED: usize = 200;

/// The run that the page shows, and the nodes and bindings whose new numbers the page requests.
pub(crate) struct FollowedRun {
    /// The path of the shown run in the source; `None` if the page shows the list of runs.
    pub(crate) place: Option<String>,
    /// The numbers of the nodes whose new numbers are requested.
    pub(crate) nodes: Vec<u32>,
    /// The indexes of the bindings whose new indexes are requested.
    pub(crate) bindings: Vec<u32>,
    /// The folded nodes, by the run's path in the source.
    pub(crate) folded: BTreeMap<String, Folds>,
}

impl Desk {
    /// Replaces the open source by a later listing of the same files; returns `None` if nothing changed.
    ///
    /// # Errors
    /// If the listing cannot be read, for now or permanently; the previous source then stays open.
    pub(crate) fn follow(
        &mut self,
        later: Rc<dyn DeskSource>,
        shown: &FollowedRun,
    ) -> Result<Option<FollowAnswer>, Trouble> {
        let Some(earlier) = self.source() else {
            let opened = self.open(later)?;
            return Ok(Some(FollowAnswer {
                opened,
                reread: true,
                ..FollowAnswer::default()
            }));
        };
        let changed = source::changed(later.as_ref(), earlier.as_ref());
        if changed.is_empty() {
            return Ok(None);
        }
        let options = self.clock().options();
        // A run never reads a database of workflows. A write to such a database therefore changes no run.
        let (of_workflows, changed): (Vec<String>, Vec<String>) = changed
            .into_iter()
            .partition(|path| workflows::is_part(path, self.workflows()));
        let touched = TouchedRuns::new(self.list(), earlier.as_ref(), later.as_ref(), changed);
        let (opened, mut last) = self.listed_again(&later, &options, &touched)?;
        let is_other = opened.workflows != self.workflows();
        let mut folded = shown.folded.clone();
        folded.retain(|place, _| !touched.may_have_changed(place));
        let mut followed = FollowAnswer {
            opened,
            folded,
            ..FollowAnswer::default()
        };
        let mut runs = Vec::new();
        for (at, run) in self.runs().iter().enumerate() {
            let is_shown = shown.place.as_deref() == Some(run.place());
            if !touched.may_have_changed(run.place()) {
                runs.push((at, None));
                continue;
            }
            // A run that is neither shown nor has folded nodes is reread when it is next shown.
            let folded = shown.folded.get(run.place());
            if !is_shown && folded.is_none_or(Folds::names_none) {
                continue;
            }
            let opened = match last.take_if(|session| session.place() == run.place()) {
                Some(session) => Ok(session),
                None => Session::open(later.clone(), run.place(), &options),
            };
            let session = match opened {
                Ok(session) => session,
                Err(_) if !is_shown => continue,
                // The run was removed. It is no longer in the list, and the page reports the removal.
                Err(_) if !is_listed(&followed.opened.list, run.place()) => continue,
                Err(error) => return Err(fault(later.as_ref()).unwrap_or_else(|| error.into())),
            };
            let carried = run.session.carried_to(&session);
            let now = |node| carried.node(NodeId::new(node)).map(NodeId::get);
            let folded = folded.map(|folded| folded.renumbered(now));
            if is_shown {
                let folded = folded.as_ref().map(|folded| folded.nodes(&session));
                let folded = folded.unwrap_or_default();
                set_new_numbers(&mut followed, shown, &session, &folded, &carried);
            }
            let place = run.place().to_owned();
            followed.folded.extend(folded.map(|folded| (place, folded)));
            runs.push((at, Some(session)));
        }
        // Lists skip unreadable entries. If an entry is unreadable because its file changed since it was listed, the
        // whole answer fails.
        if let Some(fault) = fault(later.as_ref()) {
            return Err(fault);
        }
        // If the shown run was reread or removed, the page must request everything that it shows again.
        let shows_kept = |(at, new): &(usize, Option<_>)| {
            let is_shown = |run: &OpenRun| shown.place.as_deref() == Some(run.place());
            new.is_none() && self.runs().get(*at).is_some_and(is_shown)
        };
        followed.reread = shown.place.is_some() && !runs.iter().any(shows_kept)
            || shown.place.is_none() && (is_other || !of_workflows.is_empty());
        self.replace(later, followed.opened.clone(), runs);
        Ok(Some(followed))
    }

    /// Lists the runs and workflows of a later source without rereading unchanged runs, and returns the session that
    /// was opened last, too.
    fn listed_again(
        &self,
        later: &Rc<dyn DeskSource>,
        options: &Options,
        touched: &TouchedRuns,
    ) -> Result<(OpenedSource, Option<Session>), Trouble> {
        let before = self.list().runs.iter();
        let before: BTreeMap<&str, &RunSummary> =
            before.map(|line| (line.place.as_str(), line)).collect();
        let known = |found: &SurveyPlace| {
            let line = *before.get(found.place.as_str())?;
            let is_known = line.error.is_none() && !touched.may_have_changed(&line.place);
            is_known.then(|| line.clone())
        };
        let dynamic: Rc<dyn Source> = later.clone();
        let listing = list_again(&dynamic, options, &known);
        let (mut list, last) = (listing.list, listing.session);
        let workflows = workflows::taken_from(&mut list, later.as_ref(), &options.limits);
        if list.runs.is_empty() && workflows.is_empty() {
            return Err(fault(later.as_ref()).unwrap_or_else(|| nothing_found(&dynamic, options)));
        }
        let opened = OpenedSource {
            list,
            workflows,
            left: 0,
            first: Vec::new(),
            shared: later.shared(),
        };
        Ok((opened, last))
    }
}

fn is_listed(list: &RunList, place: &str) -> bool {
    list.runs.iter().any(|line| line.place == place)
}

/// Sets the new numbers and positions of the requested nodes and bindings, and lists the added nodes and bindings.
fn set_new_numbers(
    followed: &mut FollowAnswer,
    shown: &FollowedRun,
    session: &Session,
    folded: &BTreeSet<NodeId>,
    carried: &Renumbering,
) {
    let node = |node: &u32| {
        let now = carried.node(NodeId::new(*node))?;
        Some((now.get(), pages::trace_place(session, folded, now)))
    };
    let binding = |binding: &u32| {
        let now = carried.binding(*binding)?;
        Some((now, pages::binding_place(session, now)?))
    };
    followed.nodes = shown.nodes.iter().map(node).collect();
    followed.bindings = shown.bindings.iter().map(binding).collect();
    let first = |all: &[u32]| all.iter().copied().take(NAMED).collect();
    followed.new_nodes = first(carried.new_nodes());
    followed.new_bindings = first(carried.new_bindings());
}

fn fault(source: &dyn DeskSource) -> Option<Trouble> {
    match source.take_fault() {
        Some(fault @ SourceError::Changed(_)) => Some(fault.into()),
        _ => None,
    }
}

/// The runs whose files changed.
struct TouchedRuns {
    /// The folders of runs with changed files. Each ends in `/`, or is empty for the source's root.
    folders: BTreeSet<String>,
    /// Whether a file outside of the runs changed, such as a file of the project's agents.
    all: bool,
}

impl TouchedRuns {
    fn new(
        list: &RunList,
        earlier: &dyn DeskSource,
        later: &dyn DeskSource,
        changed: Vec<String>,
    ) -> TouchedRuns {
        let is_file = |place: &str| earlier.file(place).or_else(|| later.file(place)).is_some();
        let folders = list
            .runs
            .iter()
            .map(|run| folder(&run.place, is_file(&run.place)));
        let folders: BTreeSet<String> = folders.collect();
        let mut touched = TouchedRuns {
            folders: BTreeSet::new(),
            all: false,
        };
        for path in changed {
            let around = above(&path).find(|folder| folders.contains(*folder));
            touched.all |= around.is_none();
            touched.folders.extend(around.map(str::to_owned));
        }
        touched
    }

    /// Returns whether a run may have changed; `place` is the path of the run, or of a run nested in it.
    fn may_have_changed(&self, place: &str) -> bool {
        let inside = format!("{place}/");
        self.all || above(&inside).any(|folder| self.folders.contains(folder))
    }
}

/// Returns the folders that contain a path, from the innermost to the outermost; each ends in `/` or is empty.
fn above(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.rmatch_indices('/').map(|(at, _)| at + 1).chain([0]);
    ends.filter_map(|end| path.get(..end))
}

/// Returns the folder of a run's files. The folder ends in `/`, or is empty for the source's root.
fn folder(place: &str, is_file: bool) -> String {
    match (is_file, place.rsplit_once('/')) {
        (false, _) if place.is_empty() => String::new(),
        (false, _) => format!("{place}/"),
        (true, Some((folder, _))) => format!("{folder}/"),
        (true, None) => String::new(),
    }
}
