//! What statements can be found by: their text, its beginning, names, targets, quoted texts, words.

use std::collections::BTreeMap;

use super::row::{LIMIT, Row, append, clip, inner_text};
use super::{LineRole, Listing, StatementKind as Kind};

/// Words that more statements than this have tell nothing.
const COMMON: usize = 200;
/// More statements than this with the same words in common: the words tell nothing.
const EQUALS: usize = 8;

/// The statements of a listing by what rows may say of them. Every list is in order of the program.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys {
    /// Head and properties, sorted.
    whole: Vec<(String, u32)>,
    /// The head, and the head without `x =` before it.
    heads: BTreeMap<String, Vec<u32>>,
    rights: BTreeMap<String, Vec<u32>>,
    names: BTreeMap<String, Vec<u32>>,
    /// Those of `names` that are no declarations.
    bound: BTreeMap<String, Vec<u32>>,
    targets: BTreeMap<(Kind, String), Vec<u32>>,
    kinds: BTreeMap<Kind, Vec<u32>>,
    /// The literal beginning of the quoted texts (up to a `{`), sorted, with the whole of it.
    texts: Vec<(String, u32, String)>,
    words: BTreeMap<String, Vec<u32>>,
}

/// What a text was found to speak of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// In order of the program.
    pub(super) statements: Vec<u32>,
    /// Whether the text is theirs, or names them; else it was shortened or reworded.
    pub(super) exact: bool,
    /// The kind that the text has, when it says nothing else.
    pub(super) kind: Option<Kind>,
}

impl Keys {
    pub(super) fn new(listing: &Listing) -> Keys {
        let mut keys = Keys::default();
        for (at, statement) in listing.statements.iter().enumerate() {
            let Ok(id) = u32::try_from(at) else { break };
            let head = Row::new(&statement.text);
            let below = listing.lines.get(statement.line as usize..);
            let own = below.unwrap_or_default();
            let own = own.iter().take_while(|line| {
                line.statement == Some(id)
                    && matches!(line.role, LineRole::Property | LineRole::Continuation)
            });
            let mut whole = head.canonical.clone();
            for line in own {
                if whole.len() > LIMIT {
                    break;
                }
                append(&mut whole, &line.text);
            }
            keys.heads
                .entry(head.canonical.clone())
                .or_default()
                .push(id);
            if let Some(right) = head.right {
                keys.rights.entry(right).or_default().push(id);
            }
            if let Some(name) = &statement.name {
                let name = name.to_lowercase();
                if !statement.kind.is_declaration() {
                    keys.bound.entry(name.clone()).or_default().push(id);
                }
                keys.names.entry(name).or_default().push(id);
            }
            if let Some(target) = &statement.target {
                let key = (statement.kind, target.to_lowercase());
                keys.targets.entry(key).or_default().push(id);
            }
            keys.kinds.entry(statement.kind).or_default().push(id);
            for text in texts_of(statement, &head.texts) {
                let literal = text.split('{').next().unwrap_or_default().to_owned();
                keys.texts.push((literal, id, text));
            }
            let mut words = words(&whole);
            words.sort_unstable();
            words.dedup();
            for word in words {
                keys.words.entry(word.to_owned()).or_default().push(id);
            }
            keys.whole.push((whole, id));
        }
        keys.whole.sort_unstable();
        keys.texts.sort_unstable();
        keys
    }

    /// The statements that a row's text speaks of, the surest way first.
    pub(super) fn find(&self, listing: &Listing, text: &str) -> Found {
        let row = Row::of_many_lines(text);
        if row.canonical.is_empty() {
            return Found::default();
        }
        self.by_text(&row)
            .or_else(|| self.by_name(listing, &row))
            .or_else(|| self.by_target(listing, &row))
            .or_else(|| self.by_beginning(&row))
            .or_else(|| self.by_quoted(listing, &row))
            .or_else(|| self.by_words(listing, &row))
            .or_else(|| self.by_kind(&row))
            .unwrap_or(Found {
                kind: row.kind,
                ..Found::default()
            })
    }

    /// The statements that bind or declare a name in lower case, but for agents, blocks and imports.
    pub(super) fn bound(&self, name: &str) -> &[u32] {
        self.bound.get(name).map_or(&[], Vec::as_slice)
    }

    /// The statements of a kind that refer to a name in lower case.
    pub(super) fn referring(&self, kind: Kind, name: &str) -> &[u32] {
        let key = (kind, name.to_owned());
        self.targets.get(&key).map_or(&[], Vec::as_slice)
    }

    fn by_text(&self, row: &Row) -> Option<Found> {
        let found = self
            .heads
            .get(&row.canonical)
            .or_else(|| self.rights.get(&row.canonical))?;
        let mut statements = found.clone();
        // More lines than the head tell equals apart.
        if row.whole.len() > row.canonical.len() && statements.len() > 1 {
            let (from, to) = range(&self.whole, |(whole, _)| whole.as_str(), &row.whole);
            let same: Vec<u32> = self.ids(from, to);
            statements.retain(|id| same.is_empty() || same.contains(id));
        }
        Some(Found {
            statements,
            exact: true,
            kind: None,
        })
    }

    fn ids(&self, from: usize, to: usize) -> Vec<u32> {
        let rows = self.whole.get(from..to).unwrap_or_default();
        let mut ids: Vec<u32> = rows.iter().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// A branch (`parallel:a`), or a name that is bound or declared, with the same kind of action.
    fn by_name(&self, listing: &Listing, row: &Row) -> Option<Found> {
        if let Some(branch) = &row.branch {
            let mut statements = self.names.get(branch).cloned().unwrap_or_default();
            statements.retain(|id| {
                listing
                    .enclosing(*id)
                    .next()
                    .and_then(|outer| listing.get(outer))
                    .is_some_and(|outer| outer.kind == Kind::Parallel)
            });
            return Found::some(statements, true);
        }
        let named = self.names.get(row.name.as_ref()?)?;
        let kind_of = |id: &u32| listing.get(*id).map(|s| s.kind);
        let mut statements = named.clone();
        statements.retain(|id| row.kind.is_none() || kind_of(id) == row.kind);
        let exact = !statements.is_empty() && row.kind.is_some();
        if statements.is_empty() {
            // `let x = …` in the row, another action in the program: the name decides, as a guess.
            statements = named.clone();
            statements.retain(|id| kind_of(id).is_some_and(|kind| !kind.is_declaration()));
        }
        // Of many, those whose target or beginning is the same.
        if statements.len() > 1 {
            let same: Vec<u32> = statements
                .iter()
                .copied()
                .filter(|id| {
                    listing.get(*id).is_some_and(|s| {
                        let canonical = Row::new(&s.text).canonical;
                        canonical.starts_with(&row.canonical)
                    })
                })
                .collect();
            if !same.is_empty() {
                statements = same;
            }
        }
        Found::some(statements, exact)
    }

    fn by_beginning(&self, row: &Row) -> Option<Found> {
        if row.canonical.len() < 3 || !row.canonical.contains([' ', '"']) && row.is_keyword() {
            return None;
        }
        let (from, to) = range(&self.whole, |(whole, _)| whole.as_str(), &row.whole);
        let mut statements = self.ids(from, to);
        if !row.cut {
            // `do process` is rather `do process(x)` than `do process_all(x)`.
            let rows = self.whole.get(from..to).unwrap_or_default();
            let mut clean: Vec<u32> = rows
                .iter()
                .filter(|(whole, _)| {
                    let next = whole.get(row.whole.len()..).and_then(|s| s.chars().next());
                    next.is_none_or(|sign| !sign.is_alphanumeric() && !"_-.".contains(sign))
                })
                .map(|(_, id)| *id)
                .collect();
            clean.sort_unstable();
            if !clean.is_empty() {
                statements = clean;
            }
        }
        Found::some(statements, false)
    }

    /// `do process(half)` for `let x = do process(half, 3)`, `process(half)`, `session: a` for `x = session: a`.
    fn by_target(&self, listing: &Listing, row: &Row) -> Option<Found> {
        let target = row.target.as_ref()?;
        let kind = row.kind.unwrap_or(Kind::Do);
        let mut statements = self.targets.get(&(kind, target.clone())).cloned()?;
        if let Some(arguments) = &row.arguments
            && statements.len() > 1
        {
            let same: Vec<u32> = statements
                .iter()
                .copied()
                .filter(|id| {
                    let own = listing.get(*id).and_then(|s| s.property("args"));
                    own.is_some_and(|own| own.to_lowercase() == *arguments)
                })
                .collect();
            if !same.is_empty() {
                statements = same;
            }
        }
        Found::some(statements, false)
    }

    /// A quoted text that begins like one of the program, or is one with its `{names}` filled in.
    fn by_quoted(&self, listing: &Listing, row: &Row) -> Option<Found> {
        let text = row.texts.first().filter(|text| text.len() > 2)?;
        let fits = |id: u32| {
            let kind = listing.get(id).map(|s| s.kind);
            row.kind.is_none() || kind == row.kind
        };
        let (from, to) = range(&self.texts, |(literal, _, _)| literal.as_str(), text);
        let longer = self.texts.get(from..to).unwrap_or_default();
        let mut statements: Vec<u32> = longer
            .iter()
            .map(|(_, id, _)| *id)
            .filter(|id| fits(*id))
            .collect();
        if statements.is_empty() {
            statements = self
                .shorter(text)
                .iter()
                .filter(|(_, id, whole)| fits(*id) && fills(whole, text))
                .map(|(_, id, _)| *id)
                .collect();
        }
        statements.sort_unstable();
        statements.dedup();
        Found::some(statements, false)
    }

    /// The entries with the longest literal beginning that `text` begins with.
    fn shorter(&self, text: &str) -> &[(String, u32, String)] {
        let mut part = text;
        for _ in 0..32 {
            let after = self
                .texts
                .partition_point(|(literal, _, _)| literal.as_str() <= part);
            let Some((literal, _, _)) = after.checked_sub(1).and_then(|at| self.texts.get(at))
            else {
                break;
            };
            if text.starts_with(literal.as_str()) {
                let first = self.texts.partition_point(|(other, _, _)| other < literal);
                return match literal.len() {
                    0..4 => &[],
                    _ => self.texts.get(first..after).unwrap_or_default(),
                };
            }
            part = part.get(..common(literal, part)).unwrap_or_default();
        }
        &[]
    }

    /// `loop`, `parallel:` and the like: every statement of that kind.
    fn by_kind(&self, row: &Row) -> Option<Found> {
        let kind = row.kind?;
        let mut statements = self.kinds.get(&kind).cloned().unwrap_or_default();
        if kind == Kind::Loop && statements.is_empty() {
            // Machines that run programs call every round-maker a loop.
            for kind in [Kind::Repeat, Kind::For, Kind::Parallel] {
                statements = self.kinds.get(&kind).cloned().unwrap_or_default();
                if !statements.is_empty() {
                    break;
                }
            }
        }
        let control = kind.has_body() && kind != Kind::Do;
        if !row.is_keyword() && !control {
            return None;
        }
        Found::some(statements, false)
    }

    /// The statements that share the most of the row's words.
    fn by_words(&self, listing: &Listing, row: &Row) -> Option<Found> {
        if row.is_keyword() {
            return None;
        }
        let mut asked = words(&row.whole);
        asked.sort_unstable();
        asked.dedup();
        let mut hits: BTreeMap<u32, usize> = BTreeMap::new();
        for word in &asked {
            let having = self.words.get(*word).map_or(&[][..], Vec::as_slice);
            for id in having.iter().filter(|_| having.len() <= COMMON) {
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
        Found::some(statements.collect(), false).filter(|found| found.statements.len() <= EQUALS)
    }
}

impl Found {
    fn some(statements: Vec<u32>, exact: bool) -> Option<Found> {
        (!statements.is_empty()).then_some(Found {
            statements,
            exact,
            kind: None,
        })
    }
}

/// The quoted texts of a statement: of its head, and what it asks for.
fn texts_of(statement: &super::Statement, head: &[String]) -> Vec<String> {
    let mut texts: Vec<String> = head.to_vec();
    for key in ["prompt", "description", "message", "condition"] {
        if let Some(value) = statement.property(key) {
            texts.push(inner_text(clip(value, LIMIT)));
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.dedup();
    texts
}

/// Whether `text` is `pattern` with something in place of every `{…}`.
fn fills(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    for (at, part) in pattern.split('{').enumerate() {
        let literal = match at {
            0 => part,
            _ => part.split_once('}').map_or("", |(_, after)| after),
        };
        match rest.find(literal) {
            Some(0) => rest = rest.get(literal.len()..).unwrap_or_default(),
            Some(found) if at > 0 => {
                rest = rest.get(found + literal.len()..).unwrap_or_default();
            }
            _ => return false,
        }
    }
    true
}

/// Words that tell statements apart.
fn words(text: &str) -> Vec<&str> {
    text.split(|sign: char| !sign.is_alphanumeric() && sign != '_')
        .filter(|word| word.len() > 2)
        .filter(|word| {
            !matches!(
                *word,
                "session" | "prompt" | "context" | "let" | "const" | "the" | "and" | "for" | "with"
            )
        })
        .take(60)
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
