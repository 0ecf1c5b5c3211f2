//! What is known to be left. The list only shrinks: what is on it is printed and does not fail the sweep.

use crate::driver::Stop;

/// The beginning of what was tried, and a part of the error.
const NOT_YET: [(&str, &str); 0] = [];

pub(crate) fn is_known(stop: &Stop) -> bool {
    NOT_YET
        .iter()
        .any(|(tried, error)| stop.tried.starts_with(tried) && stop.error.contains(error))
}
