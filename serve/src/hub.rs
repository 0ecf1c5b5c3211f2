//! One feed of events for all streams. A single thread reads each settled event once, and sends the event to the
//! streams of its workflow.
//!
//! A stream first reads past events by pages and then joins the feed. The feed answers with the last event it has
//! sent (`Joined`); the stream reads the pages up to that event and then continues with the events from the feed. So
//! no event is missed or repeated.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use prosescope_core::record::Fault;
use prosescope_workflow::{Horizon, Tables, Waiting, WorkflowEvent, events_until};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::{Wake, Workplace};

/// The most events that wait in the queue of a stream. A stream with more is too slow and is closed.
const QUEUE: usize = 1024;

/// The interval between two reads of the feed while the store does not notify the feed.
const PAUSE: Duration = Duration::from_millis(50);

/// The interval between two reads of the feed while the store notifies the feed of changes.
const WAKE: Duration = Duration::from_millis(500);

/// The interval between attempts to set up notifications of the store, after an attempt has failed.
const REWAKE: Duration = Duration::from_secs(5);

/// The pause of the feed after a failed read.
const AGAIN: Duration = Duration::from_millis(250);

/// The most events per read.
const PAGE: u32 = 1000;

/// A message of the feed to a stream.
#[derive(Debug, Clone)]
pub(crate) enum Feed {
    /// The stream has joined; the feed has already sent all events up to this id.
    Joined(i64),
    /// An event of the stream's workflow.
    Event(Arc<WorkflowEvent>),
    /// The transactions that hold back later events.
    Waiting(Arc<Vec<Waiting>>),
    /// The store assigns event ids from the beginning again, so the stream must check its cursor.
    Restarted,
}

struct Stream {
    workflow: String,
    sender: Sender<Feed>,
    joined: bool,
}

#[derive(Default)]
struct HubState {
    streams: Vec<Stream>,
    stopping: bool,
}

/// The feed of events, which all streams join.
pub(crate) struct Hub {
    state: Mutex<HubState>,
    changed: Condvar,
}

impl Hub {
    /// Starts the feed's thread.
    pub(crate) fn start(place: Arc<dyn Workplace>) -> std::io::Result<(Arc<Hub>, JoinHandle<()>)> {
        let hub = Arc::new(Hub {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let fed = Arc::clone(&hub);
        let thread = std::thread::Builder::new().name("feed".to_owned());
        let thread = thread.spawn(move || Feeding::new(fed, place).run())?;
        Ok((hub, thread))
    }

    /// Adds a stream to the feed of a workflow, and returns the receiver of the stream's messages.
    pub(crate) fn join(&self, workflow: &str) -> Receiver<Feed> {
        let (sender, receiver) = channel(QUEUE);
        let mut state = self.state();
        // A stream that joins while the server stops is closed at once.
        if !state.stopping {
            state.streams.push(Stream {
                workflow: workflow.to_owned(),
                sender,
                joined: false,
            });
        }
        self.changed.notify_all();
        receiver
    }

    /// Makes the feed read without delay. Called after this server has recorded something.
    pub(crate) fn wake(&self) {
        self.changed.notify_all();
    }

    /// Closes all streams when the server stops.
    pub(crate) fn stop(&self) {
        let mut state = self.state();
        state.stopping = true;
        state.streams.clear();
        self.changed.notify_all();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.state().stopping
    }

    fn state(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Feeding {
    hub: Arc<Hub>,
    place: Arc<dyn Workplace>,
    store: Option<Box<dyn Tables + Send>>,
    wake: Option<Box<dyn Wake>>,
    /// The time of the last attempt to set up notifications of the store.
    wake_tried: Option<Instant>,
    horizon: Horizon,
    /// The id of the last event that the feed has sent.
    fed: i64,
    waits: Vec<Waiting>,
}

impl Feeding {
    fn new(hub: Arc<Hub>, place: Arc<dyn Workplace>) -> Feeding {
        Feeding {
            hub,
            place,
            store: None,
            wake: None,
            wake_tried: None,
            horizon: Horizon::default(),
            fed: 0,
            waits: Vec::new(),
        }
    }

    fn run(mut self) {
        loop {
            {
                let mut state = self.hub.state();
                while state.streams.is_empty() && !state.stopping {
                    let waited = self.hub.changed.wait(state);
                    state = waited.unwrap_or_else(PoisonError::into_inner);
                }
                if state.stopping {
                    return;
                }
            }
            if let Err(fault) = self.look() {
                self.place.failed(&fault);
                self.store = None;
                self.wake = None;
                std::thread::sleep(AGAIN);
                continue;
            }
            self.pause();
        }
    }

    fn pause(&mut self) {
        // The end of a transaction that holds events back may cause no notification, so the feed polls meanwhile.
        if self.waits.is_empty()
            && let Some(wake) = &mut self.wake
        {
            if !wake.wait(WAKE) {
                self.wake = None;
            }
            return;
        }
        let state = self.hub.state();
        if !state.stopping {
            drop(self.hub.changed.wait_timeout(state, PAUSE));
        }
    }

    /// Sends the events settled since the last read.
    fn look(&mut self) -> Result<(), Fault> {
        if self.store.is_none() {
            self.store = Some(self.place.open()?);
            self.wake_tried = None;
        }
        // Notifications are set up before the read, so that a change right after the read wakes the feed.
        if self.wake.is_none() && self.wake_tried.is_none_or(|tried| tried.elapsed() > REWAKE) {
            self.wake = self.place.wake();
            self.wake_tried = Some(Instant::now());
        }
        let Some(store) = &mut self.store else {
            return Ok(());
        };
        let settled = self.horizon.advance(&**store)?;
        if settled < self.fed {
            self.fed = settled;
            let mut state = self.hub.state();
            self.hub.hand_on(&mut state, |_| true, &Feed::Restarted);
            state.streams.clear();
            return Ok(());
        }
        if !self.hub.state().streams.iter().any(|stream| stream.joined) {
            // No stream has joined yet, so no past event need be sent: a stream that joins reads these events by pages.
            self.fed = settled;
        }
        while self.fed < settled {
            let page = events_until(&**store, None, self.fed, settled, PAGE)?;
            self.fed = if page.more { page.cursor } else { settled };
            let mut state = self.hub.state();
            for event in page.events {
                let event = Arc::new(event);
                self.hub.hand_on(
                    &mut state,
                    |stream| stream.joined && stream.workflow == event.workflow_id,
                    &Feed::Event(Arc::clone(&event)),
                );
            }
        }
        let mut state = self.hub.state();
        self.hub
            .hand_on(&mut state, |stream| !stream.joined, &Feed::Joined(self.fed));
        let waits = self.horizon.waits();
        if waits != self.waits {
            self.waits = waits.to_vec();
            let waiting = Feed::Waiting(Arc::new(self.waits.clone()));
            self.hub.hand_on(&mut state, |_| true, &waiting);
        }
        for stream in &mut state.streams {
            stream.joined = true;
        }
        Ok(())
    }
}

impl Hub {
    /// Sends a message to the streams that `to` selects. Closes streams whose clients are too slow or gone.
    fn hand_on(&self, state: &mut HubState, to: impl Fn(&Stream) -> bool, what: &Feed) {
        state.streams.retain(|stream| {
            if !to(stream) {
                return !stream.sender.is_closed();
            }
            stream.sender.try_send(what.clone()).is_ok()
        });
    }
}
