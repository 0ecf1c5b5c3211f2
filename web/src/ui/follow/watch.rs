//! Detects changes of the open files. Files of the server are then reread; for dropped files, the page offers to open
//! them again.

use std::collections::BTreeSet;

use futures_channel::oneshot;
use futures_util::future::select;
use gloo_timers::future::TimeoutFuture;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use super::carry::{KeptItems, ListKeeper};
use super::{Follow, PATIENCE};
use crate::protocol::{FollowAnswer, OpenedSource, Request, Trouble};
use crate::route::{Page, Route};
use crate::served::Changes;
use crate::ui::clock::now;
use crate::ui::state::{App, Desk, OpeningSource, find};

/// The interval between checks of dropped files, in milliseconds; also the pause before a failed reading is retried.
/// The server reports changes at once.
const PAUSE: u32 = 1500;

/// The maximum number of dropped files to check at once. Checking a file means reading its first byte.
const LOOKED_AT: usize = 32;

/// Watches the open files as long as the page exists.
pub(crate) fn watch(app: App) {
    let follow = app.follow;
    // When the page becomes visible again, it checks at once for the changes that it missed.
    let seen = window_event_listener_untyped("visibilitychange", move |_| follow.look_now());
    on_cleanup(move || seen.remove());
    spawn_local(async move {
        let mut watch = FollowWatch {
            app,
            changes: None,
            seen: None,
            failing: None,
            next_file: 0,
        };
        loop {
            let told = watch.told();
            if document().hidden() {
                watch.changes = None;
            } else {
                watch.look().await;
            }
            // If the server reported another change meanwhile, that change is handled without a pause.
            if told == watch.told() {
                follow.rest(PAUSE).await;
            }
        }
    });
}

struct FollowWatch {
    app: App,
    /// The connection for the server's messages. It is closed while the page is hidden or paused, because all pages of
    /// a browser share only six connections to a server.
    changes: Option<Changes>,
    /// The server's text that identifies the state of the files that was read last.
    seen: Option<String>,
    /// The time of the first failure, in milliseconds since 1970; `None` if the last reading succeeded.
    failing: Option<i64>,
    /// The index of the next file to check.
    next_file: usize,
}

impl FollowWatch {
    async fn look(&mut self) {
        let follow = self.app.follow;
        match self.app.what() {
            Some(OpeningSource::Served) if follow.on.get_untracked() => {
                let looked = self.served().await;
                self.note(looked);
            }
            Some(OpeningSource::Files { files, .. })
                if follow.outdated.read_untracked().is_none() =>
            {
                self.changes = None;
                self.files(&files).await;
            }
            _ => self.changes = None,
        }
    }

    /// Returns the server's last message: the text that identifies the present state of its files.
    fn told(&self) -> Option<String> {
        let told = self
            .changes
            .as_ref()
            .and_then(|changes| changes.version().ok());
        told.flatten()
    }

    async fn served(&mut self) -> Result<(), Trouble> {
        let follow = self.app.follow;
        let changes = match self.changes.take().filter(|changes| !changes.is_over()) {
            Some(changes) => changes,
            None => Changes::listen(move || follow.look_now())?,
        };
        let Some(version) = self.changes.insert(changes).version()? else {
            return Ok(());
        };
        if self.failing.is_none() && self.seen.as_ref() == Some(&version) {
            return Ok(());
        }
        match self.app.desk.with_untracked(Desk::is_open) {
            Some(true) => self.app.follow_up().await?,
            Some(false) => self.app.try_again().await,
            // The files are still being opened, so there is nothing to reread yet.
            None => return Ok(()),
        }
        self.seen = Some(version);
        Ok(())
    }

    /// Records the result of a check. The page shows an error only after reading has failed for [`PATIENCE`].
    fn note(&mut self, looked: Result<(), Trouble>) {
        let trouble = match looked {
            Ok(()) => {
                self.failing = None;
                None
            }
            Err(trouble) => {
                let since = *self.failing.get_or_insert_with(now);
                (now() - since >= i64::from(PATIENCE)).then_some(trouble)
            }
        };
        let told = self.app.follow.trouble;
        if *told.read_untracked() != trouble {
            told.set(trouble);
        }
    }

    /// Checks the next dropped files for changes by reading a byte of each. A browser refuses to read a file that
    /// changed after it was dropped.
    async fn files(&mut self, files: &[(String, web_sys::File)]) {
        let from = if self.next_file < files.len() {
            self.next_file
        } else {
            0
        };
        self.next_file = from + LOOKED_AT;
        for (path, file) in files.iter().skip(from).take(LOOKED_AT) {
            let byte = file.slice_with_f64_and_f64(0.0, 1.0);
            let Ok(byte) = byte else { continue };
            if JsFuture::from(byte.array_buffer()).await.is_err() {
                self.app.follow.outdated.set(Some(path.clone()));
                return;
            }
        }
    }
}

impl Follow {
    /// Waits until the pause ends or [`Follow::look_now`] is called.
    async fn rest(self, pause: u32) {
        let (woken, waking) = oneshot::channel();
        self.wake.set_value(Some(woken));
        // The wait also ends when the sender is dropped.
        select(TimeoutFuture::new(pause), waking).await;
    }
}

impl App {
    /// Requests that the server's desk reread the files, and updates the page.
    async fn follow_up(self) -> Result<(), Trouble> {
        let number = self.number();
        let route = self.route.get_untracked();
        let place = self.desk.with_untracked(|desk| match (desk, &route) {
            (Desk::Open(list), Route::Run { run, .. }) => find(list, run),
            _ => None,
        });
        let keeper = self.follow.kept();
        let (mut nodes, mut bindings) = match keeper.as_ref().map(|keeper| (keeper.kept)()) {
            Some(KeptItems::Nodes(nodes)) => (nodes, Vec::new()),
            Some(KeptItems::Bindings(bindings)) => (Vec::new(), bindings),
            None => (Vec::new(), Vec::new()),
        };
        // The item in the address is requested after the other items, so its answer is the last.
        let named = numbered(&route);
        match named {
            Some(NumberedItem::Node(node)) => nodes.push(node),
            Some(NumberedItem::Binding(binding)) => bindings.push(binding),
            None => {}
        }
        let folds = self.all_folds();
        let request = Request::Follow {
            place: place.clone(),
            nodes,
            bindings,
            folded: folds.get_value(),
        };
        let followed: Option<FollowAnswer> = self.ask(request).await?;
        // If another source was opened, or everything was closed, the answer is ignored.
        let (Some(followed), true) = (followed, self.number() == number) else {
            return Ok(());
        };
        folds.set_value(followed.folded.clone());
        // The address is changed only if the user has not gone to another page meanwhile.
        if self.route.get_untracked() == route {
            self.rename(&route, named, &followed);
        }
        self.put_news(place.as_deref(), followed, keeper);
        Ok(())
    }

    fn put_news(self, place: Option<&str>, followed: FollowAnswer, keeper: Option<ListKeeper>) {
        let before: BTreeSet<String> = self.desk.with_untracked(|desk| match desk {
            Desk::Open(list) => list.runs.iter().map(|run| run.place.clone()).collect(),
            _ => BTreeSet::new(),
        });
        let runs = followed
            .opened
            .list
            .runs
            .iter()
            .map(|run| run.place.clone());
        let new_runs = runs.filter(|place| !before.contains(place)).collect();
        self.follow.mark(place, &followed, new_runs);
        self.follow.changed.set(Some(now()));
        let moved = if followed.nodes.is_empty() {
            &followed.bindings
        } else {
            &followed.nodes
        };
        if let Some(keeper) = keeper {
            (keeper.moved)(moved);
        }
        let OpenedSource {
            list,
            workflows,
            left,
            shared,
            ..
        } = followed.opened;
        if *self.shared.read_untracked() != shared {
            self.shared.set(shared);
        }
        if *self.workflows.read_untracked() != workflows {
            self.workflows.set(workflows);
        }
        let same = self
            .desk
            .with_untracked(|desk| matches!(desk, Desk::Open(before) if *before == list));
        if !same {
            self.desk.set(Desk::Open(list));
        }
        self.list_rest(left);
        if followed.reread {
            self.follow.edition.update(|edition| *edition += 1);
        }
    }

    /// Changes the address if the selected item has a new number.
    fn rename(self, route: &Route, named: Option<NumberedItem>, followed: &FollowAnswer) {
        let Route::Run {
            run, page, query, ..
        } = route
        else {
            return;
        };
        let last = |all: &[Option<(u32, u32)>]| all.last().copied().flatten().map(|(now, _)| now);
        let item = match named {
            Some(NumberedItem::Node(node)) => last(&followed.nodes)
                .filter(|now| *now != node)
                .map(|now| format!("~{now}")),
            Some(NumberedItem::Binding(binding)) => last(&followed.bindings)
                .filter(|now| *now != binding)
                .map(|now| now.to_string()),
            None => None,
        };
        self.follow.renamed.set_value(item.clone());
        if item.is_some() {
            self.put(Route::Run {
                run: run.clone(),
                page: *page,
                item,
                query: query.clone(),
            });
        }
    }
}

/// An item whose number is in the address. After rereading, another item may have that number.
#[derive(Debug, Clone, Copy)]
enum NumberedItem {
    Node(u32),
    Binding(u32),
}

fn numbered(route: &Route) -> Option<NumberedItem> {
    let Route::Run {
        page,
        item: Some(item),
        ..
    } = route
    else {
        return None;
    };
    match page {
        Page::Trace => item.strip_prefix('~')?.parse().ok().map(NumberedItem::Node),
        Page::Bindings => item.parse().ok().map(NumberedItem::Binding),
        _ => None,
    }
}
