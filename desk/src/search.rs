//! Searches a run or a workflow in short steps, one step for each request. The desk answers other requests in between.

use prosescope_core::session::search::{EmptyText, Needle, Search};
use prosescope_core::view::SearchedRun;
use prosescope_workflow::search::Found;

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

/// Prepares a text for searching; returns an error if the text is empty.
pub(crate) fn needle(text: &str) -> Result<Needle, Trouble> {
    Needle::new(text).map_err(|EmptyText| {
        Trouble::new("The search text is empty.", "Type the text to search for.")
    })
}

impl Desk {
    /// Starts or continues a search of a workflow, and returns what was found so far.
    pub(crate) fn search_workflow(
        &mut self,
        place: &str,
        id: &str,
        text: &str,
    ) -> Result<Found, Trouble> {
        let clock = self.clock().clone();
        let until = clock.now() + MOMENT;
        self.tables(place)?
            .search(id, text, &|| clock.now() >= until)
    }

    /// Starts or continues a search of a run, and returns what was found so far.
    pub(crate) fn search(&mut self, place: &str, text: &str) -> Result<SearchedRun, Trouble> {
        let needle = needle(text)?;
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
