//! Answers in one message all that the page asks first about a run, so that it draws the run once.

use prosescope_core::pages::session::pages::{self, Page, TraceChoice};
use prosescope_core::pages::view::{NodeRef, Overview};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Desk;
use crate::answers::json;
use crate::protocol::{Folded, Folds, Request, Trouble};

/// The number of rows that the page requests at a time.
pub const ROWS: u32 = 100;

/// A request, and the JSON of its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AnsweredRequest {
    /// The request that the page would send.
    pub request: Request,
    /// Its answer.
    pub answer: Box<RawValue>,
}

impl AnsweredRequest {
    fn of(request: Request, json: String) -> Result<AnsweredRequest, Trouble> {
        let answer = RawValue::from_string(json);
        let answer = answer.map_err(|error| Trouble::defect(&error.to_string()))?;
        Ok(AnsweredRequest { request, answer })
    }
}

impl PartialEq for AnsweredRequest {
    fn eq(&self, other: &Self) -> bool {
        self.request == other.request && self.answer.get() == other.answer.get()
    }
}

/// Returns which nodes of a run are folded at first: those that went well, so that a failure or the place where the run
/// stands is seen. In a running run none is, because rows would disappear while the user watches them.
pub fn folds(overview: &Overview) -> Folds {
    let stopped = matches!(&*overview.status, "failed" | "interrupted" | "waiting");
    Folds::of(match stopped || overview.stale {
        true => Folded::Well,
        false => Folded::Nothing,
    })
}

/// Returns the row that is open at first: the first failure, or else the run's position.
pub fn row(overview: &Overview) -> Option<&NodeRef> {
    let failed = overview.failure.as_ref().map(|failure| &failure.cause);
    failed.or(overview.positions.first())
}

impl Desk {
    /// Returns the answers to what the page asks first about a run: its overview, the first rows with their times, and
    /// the open row.
    pub(crate) fn first(&mut self, place: &str) -> Result<Vec<AnsweredRequest>, Trouble> {
        let now = self.clock().now();
        let overview = pages::overview(self.run(place)?, Some(now));
        let folded = folds(&overview);
        let choice = TraceChoice::default();
        let of = || place.to_owned();
        let page = Request::Page {
            place: of(),
            page: Page::Overview,
        };
        let mut answered = vec![AnsweredRequest::of(page, json(&overview)?)?];
        let mut requests = vec![Request::Trace {
            place: of(),
            folded: folded.clone(),
            choice: choice.clone(),
            timed: overview.times_recorded,
            from: 0,
            len: ROWS,
        }];
        requests.extend(
            overview
                .times_recorded
                .then(|| Request::Timeline { place: of() }),
        );
        if let Some(row) = row(&overview) {
            let place = of();
            requests.extend(row.id.map(|row| Request::NodeOfRow { place, row }));
            requests.push(Request::Reveal {
                place: of(),
                folded,
                choice,
                node: row.node,
            });
            requests.push(Request::Node {
                place: of(),
                node: row.node,
            });
        }
        for request in requests {
            let json = self.reply_of_run(request.clone())?;
            answered.push(AnsweredRequest::of(request, json)?);
        }
        Ok(answered)
    }
}
