//! What the text of a row speaks of: the surest way first.

use std::collections::BTreeMap;

use super::{Found, Keys, hash, words};
use crate::program::row::{LIMIT, Row, clip};
use crate::program::{Listing, StatementKind as Kind, TiedBy};

/// Words that more statements than this have tell nothing.
const COMMON: usize = 200;
/// More statements than this with the same words in common: the words tell nothing.
const EQUALS: usize = 8;
/// Of more statements than this that a text may speak of, only so many are looked at.
const MOST: usize = 4096;
/// Of more statements of one text than this, no letters are compared.
const SEVERAL: usize = 64;

impl Keys {
    /// The statements that a row's text speaks of, the surest way first.
    pub(in crate::program) fn find(&self, listing: &Listing, text: &str) -> Found {
        let alone = self.alone(listing, text);
        alone.unwrap_or_else(|| self.find_slowly(listing, text))
    }

    fn find_slowly(&self, listing: &Listing, text: &str) -> Found {
        let row = Row::of_many_lines(text);
        if row.canonical.is_empty() {
            return Found::default();
        }
        let found = self
            .by_text(listing, &row, text)
            .or_else(|| self.by_name(listing, &row))
            .or_else(|| self.by_target(listing, &row))
            .or_else(|| self.by_beginning(listing, &row))
            .or_else(|| self.by_quoted(listing, &row))
            .or_else(|| self.by_words(listing, &row))
            .or_else(|| self.by_kind(listing, &row))
            .unwrap_or_default();
        Found {
            kind: row.kind,
            ..found
        }
    }

    /// The statement whose very text this is, and that of no other, nor does another begin so: what [`Keys::by_text`]
    /// would find, at once. It is looked for where rows mostly are: not far behind the statement `after`.
    pub(in crate::program) fn sure(
        &self,
        listing: &Listing,
        text: &str,
        after: u32,
    ) -> Option<u32> {
        let has_text = |id: &u32| listing.get(*id).is_some_and(|s| s.text == text);
        let near = (after.saturating_add(1)..after.saturating_add(5))
            .find(|id| self.is_alone.get(*id as usize) == Some(&true) && has_text(id));
        let sure = near.or_else(|| Some(self.find_alone(listing, text)?.0));
        // Of a long program that would take the time that this saves.
        debug_assert!(sure.is_none_or(|id| {
            if listing.statements.len() > 1_000 {
                return true;
            }
            let found = self.find_slowly(listing, text);
            found.is_sure() && found.statements == [id] && found.by == TiedBy::Text
        }));
        sure
    }

    fn alone(&self, listing: &Listing, text: &str) -> Option<Found> {
        let (id, kind) = self.find_alone(listing, text)?;
        let found = Found {
            likeliest: Some(id),
            kind,
            ..Found::some(vec![id], true, TiedBy::Text)?
        };
        debug_assert_eq!(found, self.find_slowly(listing, text));
        Some(found)
    }

    /// The statement that alone has this text, and its text's kind.
    fn find_alone(&self, listing: &Listing, text: &str) -> Option<(u32, Option<Kind>)> {
        let hash = hash(text);
        let from = self.alone.partition_point(|(other, ..)| *other < hash);
        let same = self.alone.get(from..)?.iter();
        same.take_while(|(other, ..)| *other == hash)
            .find(|(_, id, _)| listing.get(*id).is_some_and(|s| s.text == text))
            .map(|(_, id, kind)| (*id, *kind))
    }

    /// The same text, with or without the name that it is bound to.
    fn by_text(&self, listing: &Listing, row: &Row<'_>, text: &str) -> Option<Found> {
        let with_name = equal(&self.heads, &row.canonical);
        let mut statements = with_name.clone();
        // A word alone is rather the name of what is bound than the value of something else.
        if !row.lone {
            statements.extend(equal(&self.rights, &row.canonical));
        }
        statements.sort_unstable();
        statements.dedup();
        // More lines than the head tell equals apart.
        if row.whole.len() > row.canonical.len() && statements.len() > 1 {
            let whole = clip(&row.whole, LIMIT);
            let all = self.whole(listing);
            let (from, to) = range(all, |(whole, _)| whole.as_str(), whole);
            let same = ids(all.get(from..to).unwrap_or_default());
            let some = |id: &u32| same.binary_search(id).is_ok();
            if statements.iter().any(some) {
                statements.retain(some);
            }
        }
        // Of equals in other letters or blanks, the very text; else one that needs no name.
        let first_line = text.lines().find(|line| !line.trim().is_empty());
        let very = statements.iter().take(SEVERAL).find(|id| {
            let own = listing.get(**id).map(|s| s.text.as_str());
            own == first_line.map(str::trim)
        });
        let likeliest = very.or(with_name.first()).copied();
        Some(Found {
            longer: self.longer(row),
            likeliest,
            ..Found::some(statements, !row.lone, TiedBy::Text)?
        })
    }

    /// The row's text, when that of another statement goes on where it ends.
    fn longer(&self, row: &Row<'_>) -> Option<String> {
        let mut beginning = row.canonical.clone();
        if row.colon {
            beginning.push_str(" :");
        }
        let longer = |sorted: &[(String, u32)]| {
            let (from, to) = range(sorted, |(text, _)| text.as_str(), &beginning);
            let found = sorted.get(from..to).unwrap_or_default();
            // Equal ones come first.
            found
                .last()
                .is_some_and(|(text, _)| text.len() > row.canonical.len())
        };
        (longer(&self.heads) || longer(&self.rights)).then_some(beginning)
    }

    /// A branch (`parallel:a`), or a name that is bound or declared.
    fn by_name(&self, listing: &Listing, row: &Row<'_>) -> Option<Found> {
        if let Some(branch) = &row.branch {
            let mut statements = several(self.named(listing).names.get(branch)?);
            statements.retain(|id| {
                let outer = listing.enclosing(*id).next();
                let outer = outer.and_then(|outer| listing.get(outer));
                outer.is_some_and(|outer| outer.kind == Kind::Parallel)
            });
            return Found::some(statements, true, TiedBy::Name);
        }
        let name = row.name.as_ref()?;
        let kind_of = |id: &u32| listing.get(*id).map(|s| s.kind);
        let declares = row.kind.is_some_and(Kind::is_declaration);
        let all = match declares {
            true => several(self.named(listing).names.get(name)?),
            false => several(self.named(listing).bound.get(name)?),
        };
        let mut same_kind = all.clone();
        same_kind.retain(|id| row.kind.is_none() || kind_of(id) == row.kind);
        if declares {
            let one = same_kind.len() == 1;
            return Found::some(same_kind, one && row.named, TiedBy::Name);
        }
        if let ([_], true) = (all.as_slice(), row.kind.is_some() && row.named) {
            // Nothing else binds it; that it does so by another kind of action makes it a guess.
            let exact = !same_kind.is_empty();
            return Found::some(all, exact, TiedBy::Name);
        }
        // Of many, those that begin so.
        let (from, to) = range(&self.heads, |(head, _)| head.as_str(), &row.canonical);
        let begin = ids(self.heads.get(from..to).unwrap_or_default());
        let mut beginning = all.clone();
        beginning.retain(|id| begin.binary_search(id).is_ok());
        if !beginning.is_empty() {
            let exact = beginning.len() == 1 && row.named;
            return Found::some(beginning, exact, TiedBy::Name);
        }
        let statements = match same_kind.is_empty() {
            true => all,
            false => same_kind,
        };
        Found::some(statements, false, TiedBy::Name)
    }

    fn by_beginning(&self, listing: &Listing, row: &Row<'_>) -> Option<Found> {
        if row.canonical.len() < 3 || !row.canonical.contains([' ', '"']) && row.is_keyword() {
            return None;
        }
        let whole = clip(&row.whole, LIMIT);
        let all = self.whole(listing);
        let (from, to) = range(all, |(whole, _)| whole.as_str(), whole);
        let rows = all.get(from..to).unwrap_or_default();
        let mut statements = ids(rows);
        if !row.cut {
            // `do process` is rather `do process(x)` than `do process_all(x)`.
            let mut clean: Vec<u32> = rows
                .iter()
                .take(MOST)
                .filter(|(own, _)| {
                    let next = own.get(whole.len()..).and_then(|s| s.chars().next());
                    next.is_none_or(|sign| !sign.is_alphanumeric() && !"_-.".contains(sign))
                })
                .map(|(_, id)| *id)
                .collect();
            clean.sort_unstable();
            if !clean.is_empty() {
                statements = clean;
            }
        }
        Found::some(statements, false, TiedBy::Beginning)
    }

    /// `do process(half)` for `let x = do process(half, 3)`, `process(half)`, `session: a` for `x = session: a`, and
    /// an agent's or a block's name alone.
    fn by_target(&self, listing: &Listing, row: &Row<'_>) -> Option<Found> {
        let target = row
            .target
            .as_ref()
            .or(row.name.as_ref().filter(|_| row.lone))?;
        let kinds: &[Kind] = match &row.kind {
            Some(Kind::Call) | None => &[Kind::Do, Kind::Call, Kind::Session, Kind::Resume],
            Some(kind) => std::slice::from_ref(kind),
        };
        let all = kinds.iter().find_map(|kind| {
            let targets = &self.named(listing).targets;
            targets.get(&(*kind, target.clone()))
        })?;
        let mut statements = several(all);
        if let Some(arguments) = &row.arguments
            && statements.len() > 1
        {
            let same = |id: &u32| {
                let own = listing.get(*id).and_then(|s| s.property("args"));
                own.is_some_and(|own| own.to_lowercase() == *arguments)
            };
            if statements.iter().any(same) {
                statements.retain(same);
            }
        }
        Found::some(statements, false, TiedBy::Target)
    }

    /// A quoted text that is one of the program, or one with its `{names}` filled in; a text that was cut may also be the
    /// beginning of one. Of the same kind of statement if there is any.
    fn by_quoted(&self, listing: &Listing, row: &Row<'_>) -> Option<Found> {
        let quoted = row.quoted();
        let text = quoted.first().filter(|text| text.len() > 2)?;
        let all = self.texts(listing);
        let (from, to) = range(all, |(literal, _, _)| literal.as_str(), text);
        let longer = all.get(from..to).unwrap_or_default();
        let may_be = |whole: &str| row.cut || whole == text.as_str();
        let mut statements: Vec<u32> = longer
            .iter()
            .take(MOST)
            .filter(|(_, _, whole)| may_be(whole))
            .map(|(_, id, _)| *id)
            .collect();
        if statements.is_empty() {
            statements = shorter(all, text)
                .iter()
                .take(MOST)
                .filter(|(_, _, whole)| fills(whole, text, row.cut))
                .map(|(_, id, _)| *id)
                .collect();
        }
        statements.sort_unstable();
        statements.dedup();
        let same = |id: &u32| listing.get(*id).map(|s| s.kind) == row.kind;
        if row.kind.is_some() && statements.iter().any(same) {
            statements.retain(same);
        }
        Found::some(statements, false, TiedBy::Quoted)
    }

    /// `loop`, `parallel:` and the like: every statement of that kind.
    fn by_kind(&self, listing: &Listing, row: &Row<'_>) -> Option<Found> {
        let kind = row.kind?;
        let kinds = &self.named(listing).kinds;
        let of = |kind: Kind| kinds.get(&kind).map(|all| several(all));
        let mut statements = of(kind).unwrap_or_default();
        if kind == Kind::Loop && statements.is_empty() {
            // Machines that run programs call every round-maker a loop.
            for kind in [Kind::Repeat, Kind::For, Kind::Parallel] {
                statements = of(kind).unwrap_or_default();
                if !statements.is_empty() {
                    break;
                }
            }
        }
        let control = kind.has_body() && kind != Kind::Do;
        if !row.is_keyword() && !control {
            return None;
        }
        Found::some(statements, false, TiedBy::Kind)
    }

    /// The statements that share the most of the row's words.
    fn by_words(&self, listing: &Listing, row: &Row<'_>) -> Option<Found> {
        if row.is_keyword() {
            return None;
        }
        let mut asked = words(&row.whole);
        asked.sort_unstable();
        asked.dedup();
        let mut hits: BTreeMap<u32, usize> = BTreeMap::new();
        for word in &asked {
            let having = self.words(listing).get(*word);
            for id in having
                .filter(|all| all.len() <= COMMON)
                .into_iter()
                .flatten()
            {
                *hits.entry(*id).or_default() += 1;
            }
        }
        // Of two with the same words, the one of the same kind.
        for (id, score) in &mut hits {
            let same = listing.get(*id).map(|s| s.kind) == row.kind;
            *score = *score * 2 + usize::from(same);
        }
        let best = hits.values().copied().max()?;
        let shared = best / 2;
        let telling = shared > 1 || asked.first().is_some_and(|word| word.len() > 4);
        if shared * 10 < asked.len() * 6 || !telling {
            return None;
        }
        let statements = hits.iter().filter(|(_, n)| **n == best).map(|(id, _)| *id);
        Found::some(statements.collect(), false, TiedBy::Words)
            .filter(|found| found.statements.len() <= EQUALS)
    }
}

/// The entries with the longest literal beginning that `text` begins with.
fn shorter<'t>(texts: &'t [(String, u32, String)], text: &str) -> &'t [(String, u32, String)] {
    let mut part = text;
    for _ in 0..32 {
        let after = texts.partition_point(|(literal, _, _)| literal.as_str() <= part);
        let Some((literal, _, _)) = after.checked_sub(1).and_then(|at| texts.get(at)) else {
            break;
        };
        if text.starts_with(literal.as_str()) {
            let first = texts.partition_point(|(other, _, _)| other < literal);
            return match literal.len() {
                0..4 => &[],
                _ => texts.get(first..after).unwrap_or_default(),
            };
        }
        part = part.get(..common(literal, part)).unwrap_or_default();
    }
    &[]
}

/// Whether `text` is `pattern` with something in place of every `{…}`; of a text that was cut, as far as it goes.
fn fills(pattern: &str, text: &str, cut: bool) -> bool {
    let mut rest = text;
    let last = pattern.matches('{').count();
    for (at, part) in pattern.split('{').enumerate() {
        let literal = match at {
            0 => part,
            _ => part.split_once('}').map_or("", |(_, after)| after),
        };
        if at == last && at > 0 && !cut {
            // The last name takes all that is before the end.
            return rest.ends_with(literal);
        }
        match rest.find(literal) {
            Some(0) => rest = rest.get(literal.len()..).unwrap_or_default(),
            Some(found) if at > 0 => {
                rest = rest.get(found + literal.len()..).unwrap_or_default();
            }
            _ => return false,
        }
    }
    rest.is_empty() || cut
}

/// The first [`MOST`] of a list.
fn several(all: &[u32]) -> Vec<u32> {
    all.iter().take(MOST).copied().collect()
}

/// The statements of the first [`MOST`] entries, in order of the program.
fn ids(entries: &[(String, u32)]) -> Vec<u32> {
    let mut ids: Vec<u32> = entries.iter().take(MOST).map(|(_, id)| *id).collect();
    ids.sort_unstable();
    ids
}

/// The statements of the entries of that very text, in order of the program.
fn equal(sorted: &[(String, u32)], text: &str) -> Vec<u32> {
    let from = sorted.partition_point(|(own, _)| own.as_str() < text);
    let rest = sorted.get(from..).unwrap_or_default();
    rest.iter()
        .take_while(|(own, _)| own == text)
        .map(|(_, id)| *id)
        .collect()
}

/// Where the entries that begin with `prefix` are in a sorted list.
fn range<T>(sorted: &[T], key: impl Fn(&T) -> &str, prefix: &str) -> (usize, usize) {
    let from = sorted.partition_point(|entry| key(entry) < prefix);
    let rest = sorted.get(from..).unwrap_or_default();
    let length = rest.partition_point(|entry| key(entry).starts_with(prefix));
    (from, from + length)
}

/// The length of the common beginning, at a boundary of characters.
fn common(a: &str, b: &str) -> usize {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b);
    same.map(|(sign, _)| sign.len_utf8()).sum()
}
