//! Stores statements sorted by feature, derives all features except heads and right sides, and compares texts.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::index::Feature;
use crate::model::text::clip;
use crate::program::row::{LIMIT, NormalizedText, append, inner_text, quoted_in};
use crate::program::{LineRole, Listing, Statement};

/// Returns a hash of a text. Hashes are compared only within one process.
pub(super) fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Statements ordered by feature and text, then by position in the program.
#[derive(Debug, Clone, Default)]
pub(super) struct Features {
    texts: Vec<(Feature, String)>,
    ids: Vec<u32>,
}

impl Features {
    pub(super) fn of(mut all: Vec<(Feature, String, u32)>) -> Features {
        all.sort_unstable();
        all.dedup();
        let each = all.into_iter();
        let (texts, ids) = each.map(|(of, text, id)| ((of, text), id)).unzip();
        Features { texts, ids }
    }

    /// Returns all entries in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Feature, &str, u32)> {
        self.from(0)
    }

    /// Returns the statements whose feature has exactly this text.
    pub(super) fn same(&self, feature: Feature, text: &str) -> &[u32] {
        let range = self.before(feature, text)..self.upto(feature, text);
        self.ids.get(range).unwrap_or_default()
    }

    /// Returns the entries in order, from the first entry that has this feature and this or a later text.
    pub(super) fn since(
        &self,
        feature: Feature,
        text: &str,
    ) -> impl Iterator<Item = (Feature, &str, u32)> {
        self.from(self.before(feature, text))
    }

    /// Returns the last text of a feature that does not come after `text` in the order of texts.
    pub(super) fn last(&self, feature: Feature, text: &str) -> Option<&str> {
        let at = self.upto(feature, text).checked_sub(1)?;
        let found = self.texts.get(at).filter(|(of, _)| *of == feature);
        found.map(|(_, text)| text.as_str())
    }

    fn from(&self, at: usize) -> impl Iterator<Item = (Feature, &str, u32)> {
        let texts = self.texts.get(at..).unwrap_or_default().iter();
        let ids = self.ids.get(at..).unwrap_or_default();
        texts
            .zip(ids)
            .map(|((of, text), id)| (*of, text.as_str(), *id))
    }

    fn before(&self, feature: Feature, text: &str) -> usize {
        let before = |(of, own): &(Feature, String)| (*of, own.as_str()) < (feature, text);
        self.texts.partition_point(before)
    }

    fn upto(&self, feature: Feature, text: &str) -> usize {
        let upto = |(of, own): &(Feature, String)| (*of, own.as_str()) <= (feature, text);
        self.texts.partition_point(upto)
    }
}

/// Returns the features of all statements, except [`Feature::Head`] and [`Feature::Right`].
pub(super) fn others(listing: &Listing) -> Features {
    let mut others = Vec::new();
    for (id, statement) in (0..).zip(&listing.statements) {
        let head = NormalizedText::new(&statement.text).canonical;
        let whole = whole(listing, id, statement, &head);
        others.push((Feature::Whole, whole, id));
        if let Some(name) = &statement.name {
            others.push((Feature::Name, name.to_lowercase(), id));
        }
        if let Some(target) = &statement.target {
            let feature = Feature::Target(statement.kind);
            others.push((feature, target.to_lowercase(), id));
        }
        for text in texts_of(listing, id, statement) {
            let literal = text.split('{').next().unwrap_or_default();
            others.push((Feature::Quoted, literal.to_owned(), id));
        }
    }
    Features::of(others)
}

/// Returns a statement's head and properties as one text.
pub(super) fn whole(listing: &Listing, id: u32, statement: &Statement, head: &str) -> String {
    let mut whole = head.to_owned();
    let below = listing.lines.get(statement.line as usize..);
    let own = below.unwrap_or_default().iter().take_while(|line| {
        let role = matches!(line.role, LineRole::Property | LineRole::Continuation);
        role && line.statement == Some(id)
    });
    for line in own {
        if whole.len() > LIMIT {
            break;
        }
        append(&mut whole, &line.text);
    }
    whole.truncate(clip(&whole, LIMIT).len());
    whole
}

/// Returns the quoted texts of a statement: in its head, its prompts, and a text that the head opens and the lines
/// below continue.
pub(super) fn texts_of(listing: &Listing, id: u32, statement: &Statement) -> Vec<String> {
    let mut texts = quoted_in(&statement.text);
    for key in ["prompt", "description", "message", "condition"] {
        if let Some(value) = statement.property(key) {
            texts.push(inner_text(clip(value, LIMIT)));
        }
    }
    let opened = statement.text.matches("\"\"\"").count() % 2 == 1;
    if opened && let Some(text) = listing.own_text(id).split("\"\"\"").nth(1) {
        texts.push(inner_text(clip(text, LIMIT)));
    }
    texts.retain(|text| !text.is_empty());
    texts
}

/// Whether `text` equals `pattern` with each `{…}` replaced by some text; a cut text is only compared up to its end.
pub(super) fn fills(pattern: &str, text: &str, cut: bool) -> bool {
    let mut rest = text;
    let last = pattern.matches('{').count();
    for (at, part) in pattern.split('{').enumerate() {
        let literal = match at {
            0 => part,
            _ => part.split_once('}').map_or("", |(_, after)| after),
        };
        if at == last && at > 0 && !cut {
            // The last placeholder may match all text up to the final literal.
            return rest.ends_with(literal);
        }
        match rest.find(literal) {
            Some(found) if at > 0 || found == 0 => {
                rest = rest.get(found + literal.len()..).unwrap_or_default();
            }
            _ => return false,
        }
    }
    rest.is_empty() || cut
}
