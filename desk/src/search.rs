//! Searches a run in short steps, one step for each request. The desk answers other requests in between.

use prosescope_core::pages::session::search::{EmptyText, Needle, Search};
use prosescope_core::pages::view::SearchedRun;

use crate::Desk;
use crate::protocol::Trouble;

/// The duration of one step, in milliseconds.
const MOMENT: i64 = 40;

/// The most recent search of a run.
pub(crate) struct OpenSearch {
    text: String,
    /// The number of the reading of the searched run. After another reading, the search starts again.
    reading: u64,
    search: Search,
}

impl Desk {
    /// Starts or continues a search of a run, and returns what was found so far.
    pub(crate) fn search(&mut self, place: &str, text: &str) -> Result<SearchedRun, Trouble> {
        let needle = Needle::new(text).map_err(|EmptyText| {
            Trouble::new("The search text is empty.", "Type the text to search for.")
        })?;
        let (clock, known) = (self.clock().clone(), self.open_search.take());
        let (session, reading) = self.reading(place)?;
        let known = known.filter(|known| known.reading == reading && known.text == text);
        let mut search = known.map_or_else(|| Search::new(session, &needle), |known| known.search);
        let until = clock.now() + MOMENT;
        while !search.is_done() && search.step(session) && clock.now() < until {}
        let found = search.found(place);
        self.open_search = Some(OpenSearch {
            text: text.to_owned(),
            reading,
            search,
        });
        Ok(found)
    }
}
