//! Indexes statements by the features that identify a statement: text, beginning of the text, name, target, quoted
//! texts.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::features::{Features, fills, hash, others, texts_of};
use crate::model::text::clip;
use crate::program::row::{LIMIT, NormalizedText};
use crate::program::{Listing, StatementKind as Kind, TiedBy};

/// Maximum number of candidate statements that are examined for one text.
const MOST: usize = 4096;

/// Maximum number of candidates whose quoted texts are compared.
const SEVERAL: usize = 64;

/// A feature that a text may share with a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feature {
    /// The first line of the statement.
    Head,
    /// The part of the first line after `x =`, or after a colon.
    Right,
    /// The first line and the properties below it.
    Whole,
    /// The name that the statement binds or declares.
    Name,
    /// The target to which a statement of this kind refers.
    Target(Kind),
    /// A quoted text of the statement, up to its first `{`.
    Quoted,
}

/// The statements of a listing, by feature.
#[derive(Debug, Clone, Default)]
pub(in crate::program) struct Index {
    heads: Features,
    /// Features needed only for reworded or cut texts; prepared when first needed.
    others: OnceLock<Features>,
    /// Hash and statement of each text that no other statement has or begins with; sorted.
    sure: Vec<(u64, u32)>,
    /// Whether a statement is in `sure`.
    is_sure: Vec<bool>,
}

/// The statements that a text may refer to.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::program) struct StatementMatches {
    /// The statements, in program order.
    pub(in crate::program) statements: Vec<u32>,
    /// Whether the text equals these statements' text or is their name, and no other statement begins with the text.
    /// Otherwise, the text may have been shortened or reworded.
    pub(super) exact: bool,
    /// The evidence by which the statements were found.
    pub(in crate::program) by: TiedBy,
    /// The likeliest of the statements, used if there is no other evidence.
    pub(super) likeliest: Option<u32>,
    /// The kind of statement that the text begins, if known.
    pub(super) kind: Option<Kind>,
}

impl StatementMatches {
    fn some(mut statements: Vec<u32>, exact: bool, by: TiedBy) -> Option<StatementMatches> {
        statements.sort_unstable();
        statements.dedup();
        (!statements.is_empty()).then(|| StatementMatches {
            statements,
            exact,
            by,
            ..StatementMatches::default()
        })
    }

    /// Returns the only statement found, if the match is certain.
    pub(super) fn sure(&self) -> Option<u32> {
        match self.statements.as_slice() {
            [only] if self.exact => Some(*only),
            _ => None,
        }
    }
}

impl Index {
    pub(super) fn new(listing: &Listing) -> Index {
        let mut index = Index::default();
        let mut plain = Vec::with_capacity(listing.statements.len());
        let mut heads = Vec::with_capacity(listing.statements.len());
        for (id, statement) in (0..).zip(&listing.statements) {
            let text = statement.text.as_str();
            let head = NormalizedText::new(text);
            plain.push(!head.lone && !text.contains('\n') && !text.trim_start().starts_with('#'));
            if let Some(right) = head.right.filter(|right| !right.is_empty()) {
                heads.push((Feature::Right, right, id));
            }
            heads.push((Feature::Head, head.canonical, id));
        }
        index.heads = Features::of(heads);
        index.sure = index.unique_texts(listing, &plain);
        index.is_sure = vec![false; plain.len()];
        for (_, id) in &index.sure {
            if let Some(is_sure) = index.is_sure.get_mut(*id as usize) {
                *is_sure = true;
            }
        }
        index
    }

    /// Returns each text that no other text equals or begins with, as its hash and its statement; considers only
    /// `plain` statements.
    fn unique_texts(&self, listing: &Listing, plain: &[bool]) -> Vec<(u64, u32)> {
        let heads = self.heads.iter();
        let heads = heads.take_while(|(feature, _, _)| *feature == Feature::Head);
        let mut before = "";
        let mut heads = heads.peekable();
        let mut rights = self.heads.since(Feature::Right, "").peekable();
        let alone = std::iter::from_fn(|| {
            let (_, head, id) = heads.next()?;
            // A longer head that begins with `head` directly follows `head` in the order.
            let behind = heads
                .peek()
                .is_some_and(|(_, next, _)| next.starts_with(head));
            while rights.next_if(|(_, right, _)| *right < head).is_some() {}
            let right = rights.peek();
            let others = std::mem::replace(&mut before, head) == head
                || behind
                || right.is_some_and(|(_, right, _)| right.starts_with(head));
            let text = listing.get(id).map_or("", |own| &own.text);
            let is_sure = !others && !head.is_empty() && plain.get(id as usize) == Some(&true);
            Some(is_sure.then(|| (hash(text), id)))
        });
        let mut sure: Vec<(u64, u32)> = alone.flatten().collect();
        sure.sort_unstable();
        sure
    }

    /// Returns the statement with exactly this text, if no other statement has the text: a fast path of
    /// [`Index::find`]. The search starts just after the statement `after`, where the next row's statement usually is.
    pub(super) fn sure(&self, listing: &Listing, text: &str, after: u32) -> Option<u32> {
        let has_text = |id: &u32| listing.get(*id).is_some_and(|own| own.text == text);
        let near = (after.saturating_add(1)..after.saturating_add(5))
            .find(|id| self.is_sure.get(*id as usize) == Some(&true) && has_text(id));
        if near.is_some() {
            return near;
        }
        let hash = hash(text);
        let from = self.sure.partition_point(|(other, _)| *other < hash);
        let same = self.sure.get(from..)?.iter();
        same.take_while(|(other, _)| *other == hash)
            .map(|(_, id)| *id)
            .find(has_text)
    }

    fn features(&self, listing: &Listing, feature: Feature) -> &Features {
        match feature {
            Feature::Head | Feature::Right => &self.heads,
            _ => self.others.get_or_init(|| others(listing)),
        }
    }

    fn of(&self, listing: &Listing, feature: Feature, text: &str) -> &[u32] {
        self.features(listing, feature).same(feature, text)
    }

    /// Returns the statements with a text that begins with `text`, each with its text.
    fn begin<'i>(
        &'i self,
        listing: &Listing,
        feature: Feature,
        text: &'i str,
    ) -> impl Iterator<Item = (&'i str, u32)> + 'i {
        let rest = self.features(listing, feature).since(feature, text);
        let found = rest.take_while(move |(of, own, _)| *of == feature && own.starts_with(text));
        found.map(|(_, own, id)| (own, id)).take(MOST)
    }

    /// Returns the statements that a row's text matches, with the most certain evidence.
    pub(in crate::program) fn find(&self, listing: &Listing, text: &str) -> StatementMatches {
        let row = NormalizedText::of_many_lines(text);
        if row.canonical.is_empty() {
            return StatementMatches::default();
        }
        let found = self
            .by_text(listing, &row)
            .or_else(|| self.by_name(listing, &row))
            .or_else(|| self.by_target(listing, &row))
            .or_else(|| self.by_beginning(listing, &row))
            .or_else(|| self.by_quoted(listing, &row))
            .unwrap_or_default();
        StatementMatches {
            kind: row.kind,
            ..found
        }
    }

    /// Finds statements with the same text, with or without the bound name.
    fn by_text(&self, listing: &Listing, row: &NormalizedText<'_>) -> Option<StatementMatches> {
        let with_name = self.of(listing, Feature::Head, &row.canonical);
        let mut statements = with_name.to_vec();
        // A single word is more likely a bound name than the right side of an assignment.
        if !row.lone {
            statements.extend(self.of(listing, Feature::Right, &row.canonical));
        }
        // Lines after the head may decide between statements with equal heads.
        if row.whole.len() > row.canonical.len() && statements.len() > 1 {
            let whole = clip(&row.whole, LIMIT);
            let same = self.begin(listing, Feature::Whole, whole).map(|(_, id)| id);
            let same: BTreeSet<u32> = same.collect();
            if statements.iter().any(|id| same.contains(id)) {
                statements.retain(|id| same.contains(id));
            }
        }
        // If the row was cut, a longer text of the program may be the row's original text.
        let mut beginning = row.canonical.clone();
        beginning.push_str(if row.colon { " :" } else { "" });
        let longer = |feature| {
            let mut all = self.begin(listing, feature, &beginning);
            all.any(|(own, _)| own.len() > row.canonical.len())
        };
        let exact = !row.lone && !longer(Feature::Head) && !longer(Feature::Right);
        Some(StatementMatches {
            // A match that ignores the bound name is less likely.
            likeliest: with_name.first().copied(),
            ..StatementMatches::some(statements, exact, TiedBy::Text)?
        })
    }

    /// Finds a branch (`parallel:a`), or a name that is bound or declared.
    fn by_name(&self, listing: &Listing, row: &NormalizedText<'_>) -> Option<StatementMatches> {
        let kind_of = |id: u32| listing.get(id).map(|own| own.kind);
        if let Some(branch) = &row.branch {
            let all = self.of(listing, Feature::Name, branch).iter().copied();
            let branches = all.filter(|id| {
                let outer = listing.enclosing(*id).next();
                outer.and_then(kind_of) == Some(Kind::Parallel)
            });
            return StatementMatches::some(branches.take(MOST).collect(), true, TiedBy::Name);
        }
        let declares = row.kind.is_some_and(Kind::is_declaration);
        let all = self
            .of(listing, Feature::Name, row.name.as_ref()?)
            .iter()
            .copied();
        let all = all.filter(|id| kind_of(*id).is_some_and(Kind::is_declaration) == declares);
        let all: Vec<u32> = all.take(MOST).collect();
        let same_kind = |id: &u32| row.kind.is_none() || kind_of(*id) == row.kind;
        let begins: Vec<u32> = self
            .begin(listing, Feature::Head, &row.canonical)
            .map(|(_, id)| id)
            .filter(|id| all.binary_search(id).is_ok())
            .collect();
        let is_begun = !begins.is_empty();
        let likely: Vec<u32> = if is_begun {
            begins
        } else {
            all.iter().copied().filter(same_kind).collect()
        };
        // The tie is a guess if the only match binds the name by another kind of action, or if other statements bind
        // the name, too.
        let alone = declares || all.len() == 1 && row.kind.is_some();
        let exact = likely.len() == 1 && row.named && (is_begun || alone);
        match likely.is_empty() {
            true if declares => None,
            true => StatementMatches::some(all, false, TiedBy::Name),
            false => StatementMatches::some(likely, exact, TiedBy::Name),
        }
    }

    /// Finds statements by their target: `do process` for `let x = do process(half, 3)`, `process(half)`, `session:
    /// a` for `x = session: a`, or only the name of an agent or a block.
    fn by_target(&self, listing: &Listing, row: &NormalizedText<'_>) -> Option<StatementMatches> {
        let alone = row.name.as_ref().filter(|_| row.lone);
        let target = row.target.as_ref().or(alone)?;
        let kinds: &[Kind] = match &row.kind {
            Some(Kind::Call) | None => &[Kind::Do, Kind::Call, Kind::Session, Kind::Resume],
            Some(kind) => std::slice::from_ref(kind),
        };
        let mut all = kinds
            .iter()
            .map(|kind| self.referring(listing, *kind, target));
        let all = all.find(|all| !all.is_empty())?;
        let mut all: Vec<u32> = all.iter().copied().take(MOST).collect();
        let same = |id: &u32| {
            let own = listing.get(*id).and_then(|own| own.property("args"));
            own.map(str::to_lowercase) == row.arguments
        };
        if row.arguments.is_some() && all.iter().any(same) {
            all.retain(same);
        }
        StatementMatches::some(all, false, TiedBy::Target)
    }

    /// Finds the statement of a shortened text, preferably with its last word complete: `do process` is more likely
    /// `do process(x)` than `do process_all(x)`.
    fn by_beginning(
        &self,
        listing: &Listing,
        row: &NormalizedText<'_>,
    ) -> Option<StatementMatches> {
        if row.canonical.len() < 3 {
            return None;
        }
        let whole = clip(&row.whole, LIMIT);
        let all: Vec<(&str, u32)> = self.begin(listing, Feature::Whole, whole).collect();
        let ends = |(own, _): &&(&str, u32)| {
            let next = own.get(whole.len()..).and_then(|own| own.chars().next());
            next.is_none_or(|sign| !sign.is_alphanumeric() && !"_-.".contains(sign))
        };
        let clean = all.iter().filter(ends).map(|(_, id)| *id);
        let clean: Vec<u32> = clean.filter(|_| !row.cut).collect();
        let statements: Vec<u32> = if clean.is_empty() {
            all.into_iter().map(|(_, id)| id).collect()
        } else {
            clean
        };
        // A text that is only a keyword identifies a statement if no other statement begins with that keyword.
        let is_enough = !row.is_keyword() || statements.len() == 1;
        StatementMatches::some(statements, false, TiedBy::Beginning).filter(|_| is_enough)
    }

    /// Finds statements with the same quoted text, or with a quoted text that equals the row's text once the `{names}`
    /// are filled in. A cut text may also be the beginning of a quoted text. Statements of the same kind take
    /// precedence.
    fn by_quoted(&self, listing: &Listing, row: &NormalizedText<'_>) -> Option<StatementMatches> {
        let quoted = row.quoted();
        let text = quoted.first().filter(|text| text.len() > 2)?;
        let is_like = |id: &u32, is: &dyn Fn(&str) -> bool| {
            let own = listing.get(*id);
            let texts = own.map(|own| texts_of(listing, *id, own));
            texts.into_iter().flatten().any(|own| is(&own))
        };
        let may_be = |own: &str| own == text || row.cut && own.starts_with(text.as_str());
        let longer = self.begin(listing, Feature::Quoted, text).map(|(_, id)| id);
        let longer = longer.take(SEVERAL).filter(|id| is_like(id, &may_be));
        let mut statements: Vec<u32> = longer.collect();
        if statements.is_empty() {
            let fills = |own: &str| own.contains('{') && fills(own, text, row.cut);
            let shorter = self.shorter(listing, text).iter().copied();
            let shorter = shorter.take(SEVERAL).filter(|id| is_like(id, &fills));
            statements.extend(shorter);
        }
        let same = |id: &u32| listing.get(*id).map(|s| s.kind) == row.kind;
        if row.kind.is_some() && statements.iter().any(same) {
            statements.retain(same);
        }
        StatementMatches::some(statements, false, TiedBy::Quoted)
    }

    /// Returns the statements with a quoted text whose literal beginning, up to its first `{`, begins the given text.
    /// Of several beginnings, the longest is used.
    fn shorter(&self, listing: &Listing, text: &str) -> &[u32] {
        let features = self.features(listing, Feature::Quoted);
        let mut part = text;
        for _ in 0..32 {
            let Some(literal) = features.last(Feature::Quoted, part) else {
                break;
            };
            if text.starts_with(literal) {
                return if literal.len() < 4 {
                    &[]
                } else {
                    features.same(Feature::Quoted, literal)
                };
            }
            let same = literal
                .chars()
                .zip(part.chars())
                .take_while(|(a, b)| a == b);
            let same = same.map(|(sign, _)| sign.len_utf8()).sum();
            part = part.get(..same).unwrap_or_default();
        }
        &[]
    }

    /// Returns the statements that bind or declare a name, given in lower case.
    pub(in crate::program) fn named(&self, listing: &Listing, name: &str) -> &[u32] {
        self.of(listing, Feature::Name, name)
    }

    /// Returns the statements of a kind that refer to a name, given in lower case.
    pub(in crate::program) fn referring(
        &self,
        listing: &Listing,
        kind: Kind,
        name: &str,
    ) -> &[u32] {
        self.of(listing, Feature::Target(kind), name)
    }
}
