//! Returns values to the page. Of a long value, the page gets the beginning first, then the lines that scroll into
//! view.

use prosescope_core::pages::session::ValueOf;
use prosescope_core::pages::session::search::Needle;

use crate::Desk;
use crate::protocol::{LinesOf, OpenedValue, Trouble};
use crate::text::{IndexedLines, laid_out};

/// The length in bytes from which a text is shown line by line.
const LONG: usize = 60_000;

/// The length in bytes of the beginning of a long text that the page gets at once, to render it.
const BEGINNING: usize = 200_000;

/// The lines of the most recently requested value.
pub(crate) struct OpenValue {
    of: LinesOf,
    /// The number of the reading of the run that contains the value. Lines of an earlier reading are not returned.
    reading: u64,
    lines: IndexedLines,
}

impl Desk {
    /// Returns a value of a run, at most `most` bytes. Keeps the lines of a long value for later requests.
    pub(crate) fn value(
        &mut self,
        place: &str,
        of: &ValueOf,
        most: u64,
    ) -> Result<OpenedValue, Trouble> {
        let (session, reading) = self.reading(place)?;
        let mut view = session.value(of, bytes(most))?;
        let is_long = view.text.len() > LONG;
        if is_long {
            let end = view.text.floor_char_boundary(BEGINNING);
            let beginning = view.text.get(..end).unwrap_or_default().to_owned();
            let text = std::mem::replace(&mut view.text, beginning);
            self.open_value = Some(OpenValue {
                of: LinesOf {
                    place: place.to_owned(),
                    of: of.clone(),
                    most,
                    laid_out: false,
                },
                reading,
                lines: IndexedLines::new(text),
            });
        }
        Ok(OpenedValue { view, is_long })
    }

    /// Returns the lines of a long value. Reads the value again if another value was requested in between, or if the
    /// run was reread.
    pub(crate) fn lines(&mut self, of: &LinesOf) -> Result<&IndexedLines, Trouble> {
        let known = self.open_value.take();
        let (session, reading) = self.reading(&of.place)?;
        let known = known.filter(|known| known.of == *of && known.reading == reading);
        let open = match known {
            Some(known) => known,
            None => {
                let text = session.value(&of.of, bytes(of.most))?.text;
                let text = if of.laid_out { laid_out(&text) } else { text };
                OpenValue {
                    of: of.clone(),
                    reading,
                    lines: IndexedLines::new(text),
                }
            }
        };
        Ok(&self.open_value.insert(open).lines)
    }

    /// Returns the index of a shown line that contains a text: in line `number` of the value if possible, otherwise the
    /// first such line.
    pub(crate) fn find_line(
        &mut self,
        of: &LinesOf,
        text: &str,
        number: u64,
    ) -> Result<Option<u64>, Trouble> {
        let lines = self.lines(of)?;
        let Ok(needle) = Needle::new(text) else {
            return Ok(None);
        };
        let mut own = lines.of_number(number).unwrap_or(0..0);
        let has = |at: &usize| lines.get(*at).is_some_and(|(_, line)| needle.is_in(line));
        let found = own.find(has).or_else(|| (0..lines.len()).find(has));
        Ok(found.map(|at| at as u64))
    }
}

fn bytes(most: u64) -> usize {
    usize::try_from(most).unwrap_or(usize::MAX)
}
