//! Keeps a desk for each page, on a separate thread. A desk is an opened run that answers the page's questions. A page
//! sees the same state of the run until the page requests the current state (`Request::Follow`).

use std::io;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prosescope_core::model::database::query::{DEADLINE, LAST_STEP, QueryError};
use prosescope_core::pages::query::UnansweredQuery;
use prosescope_core::pages::session::ValueOf;
use prosescope_desk::protocol::{Request, Trouble};
use prosescope_desk::{Desk, DeskSource};
use tokio::sync::{mpsc, oneshot};

use super::files::Served;

/// Maximum number of open desks. Beyond it, the least recently used desk is closed, and its page gets a new desk with
/// its next question.
const MOST: usize = 16;

/// Time after which an unused desk is closed.
const IDLE: Duration = Duration::from_secs(600);

/// The desks of all pages.
pub(super) struct Desks {
    served: Arc<Served>,
    /// The desks by name, the most recently used last.
    open: Mutex<Vec<(String, Sender<DeskQuestion>)>>,
}

/// An answer of a desk.
pub(super) enum DeskAnswer {
    /// The answer as JSON.
    Json(String),
    /// The bytes of a value, piece by piece. The last piece is an error if the value could not be read to its end.
    Bytes(mpsc::Receiver<io::Result<Vec<u8>>>),
}

struct DeskQuestion {
    request: Request,
    reply: oneshot::Sender<Result<DeskAnswer, Trouble>>,
}

impl Desks {
    /// Creates an empty set of desks.
    pub(super) fn new(served: Arc<Served>) -> Desks {
        Desks {
            served,
            open: Mutex::default(),
        }
    }

    /// Sends a request to the desk with this name, and waits for the answer. Creates a missing desk. Takes the desk out of
    /// use if a query does not end in time: its thread ends with the query.
    pub(super) async fn ask(&self, name: &str, request: Request) -> Result<DeskAnswer, Trouble> {
        let (reply, answer) = oneshot::channel();
        let queries = matches!(request, Request::Query { .. });
        self.send(name, DeskQuestion { request, reply });
        let ended =
            |_| Trouble::defect("the server dropped the request before the answer was complete");
        if !queries {
            return answer.await.map_err(ended)?;
        }
        match tokio::time::timeout(DEADLINE + LAST_STEP, answer).await {
            Ok(answer) => answer.map_err(ended)?,
            Err(_) => {
                self.open().retain(|(desk, _)| desk != name);
                Err(UnansweredQuery::Query(QueryError::Stopped).into())
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, Vec<(String, Sender<DeskQuestion>)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, name: &str, question: DeskQuestion) {
        let mut open = self.open();
        let known = open.iter().position(|(desk, _)| desk == name);
        let known = known.map(|at| open.remove(at).1);
        let (desk, unsent) = match known {
            Some(desk) => match desk.send(question) {
                Ok(()) => (desk, None),
                // The desk's thread ended because the desk was unused. A new desk gets the unsent question.
                Err(unsent) => (self.desk(), Some(unsent.0)),
            },
            None => (self.desk(), Some(question)),
        };
        if let Some(question) = unsent {
            // If the thread of the desk could not start, the question is dropped, and the asker gets an error.
            let _ = desk.send(question);
        }
        if open.len() >= MOST {
            open.remove(0);
        }
        open.push((name.to_owned(), desk));
    }

    /// Starts the thread of a desk. The thread ends when the sender is dropped, or is unused for [`IDLE`].
    fn desk(&self) -> Sender<DeskQuestion> {
        let (sender, questions) = channel();
        let served = Arc::clone(&self.served);
        // The desk's thread gets the same stack size as the main thread of a command.
        let thread = thread::Builder::new().stack_size(8 << 20);
        // If the thread cannot start, the question is dropped, and the asker gets an error.
        let _ = thread.spawn(move || work(&served, &questions));
        sender
    }
}

fn work(served: &Served, questions: &Receiver<DeskQuestion>) {
    let mut desk = Desk::new(now);
    while let Ok(DeskQuestion { request, reply }) = questions.recv_timeout(IDLE) {
        // The asker closed its connection, so the question is not answered.
        if reply.is_closed() {
            continue;
        }
        let opens = matches!(request, Request::OpenServed | Request::Follow { .. });
        // A new desk opens the served files before its first question.
        if !desk.is_open()
            && !opens
            && let Err(trouble) = desk.open(Rc::new(served.look()))
        {
            let _ = reply.send(Err(trouble));
            continue;
        }
        match request {
            Request::Download { place, of } => download(&mut desk, &place, &of, reply),
            Request::Share {
                places,
                wishes,
                form,
            } => {
                let nobody = Box::new(|_, _| {});
                let viewer = super::viewer().ok();
                let shared = desk.share(&places, &wishes, form, viewer, nobody);
                let _ = reply.send(shared.map(|bytes| {
                    let (pieces, body) = mpsc::channel(1);
                    // The channel has room for one piece, so sending this piece cannot fail.
                    let _ = pieces.try_send(Ok(bytes));
                    DeskAnswer::Bytes(body)
                }));
            }
            request => {
                let answer = desk.answer(request, &mut |request| match request {
                    Request::OpenServed => Ok(Rc::new(served.look()) as Rc<dyn DeskSource>),
                    _ => Err(Trouble::defect("the page asked the server for dropped files, and a server has no dropped files")),
                });
                let _ = reply.send(answer.map(DeskAnswer::Json));
            }
        }
    }
}

/// Sends a value piece by piece, as fast as the receiver takes the pieces.
fn download(
    desk: &mut Desk,
    place: &str,
    of: &ValueOf,
    reply: oneshot::Sender<Result<DeskAnswer, Trouble>>,
) {
    let (pieces, body) = mpsc::channel(2);
    let mut begin = Some((reply, body));
    let read = desk.download(place, of, &mut |piece| {
        if let Some((reply, body)) = begin.take()
            && reply.send(Ok(DeskAnswer::Bytes(body))).is_err()
        {
            return false;
        }
        pieces.blocking_send(Ok(piece.to_vec())).is_ok()
    });
    // Sending fails if the asker has closed its connection, which is not an error.
    let _ = match (read, begin) {
        (Ok(()), None) => return,
        (Err(trouble), None) => {
            let _ = pieces.blocking_send(Err(io::Error::other(trouble.cause)));
            return;
        }
        (Ok(()), Some((reply, body))) => reply.send(Ok(DeskAnswer::Bytes(body))),
        (Err(trouble), Some((reply, _))) => reply.send(Err(trouble)),
    };
}

/// Returns the time in milliseconds since 1970 UTC.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(0))
}
