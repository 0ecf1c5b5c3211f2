//! What statements can be found by: their text, its beginning, names, targets, quoted texts, words.

mod find;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use super::row::{LIMIT, Row, append, clip, inner_text, quoted_in};
use super::{LineRole, Listing, StatementKind as Kind, TiedBy};

/// The statements of a listing by what rows may say of them. Every list is in order of the program.
///
/// Most rows have the very text of their statement. What the others are found by is made when first asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Keys {
    /// The heads, sorted; and the heads without `x =` before them, or what stands behind their colon.
    heads: Vec<(String, u32)>,
    rights: Vec<(String, u32)>,
    /// Statements whose very text is nobody else's, and begins nobody else's: its hash, the statement, its kind; sorted.
    alone: Vec<(u64, u32, Option<Kind>)>,
    is_alone: Vec<bool>,
    /// Head and properties, sorted.
    whole: OnceLock<Vec<(String, u32)>>,
    named: OnceLock<Named>,
    /// The literal beginning of the quoted texts (up to a `{`), sorted, with the whole of it.
    texts: OnceLock<Vec<(String, u32, String)>>,
    words: OnceLock<BTreeMap<String, Vec<u32>>>,
}

/// Statements by names and kinds.
#[derive(Debug, Clone, Default)]
struct Named {
    names: BTreeMap<String, Vec<u32>>,
    /// Those of `names` that are no declarations.
    bound: BTreeMap<String, Vec<u32>>,
    targets: BTreeMap<(Kind, String), Vec<u32>>,
    kinds: BTreeMap<Kind, Vec<u32>>,
}

/// What a text was found to speak of.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    /// In order of the program.
    pub(super) statements: Vec<u32>,
    /// Whether the text is theirs, or names them; else it was shortened or reworded.
    pub(super) exact: bool,
    /// By what they were found.
    pub(super) by: TiedBy,
    /// The text as it is compared, when other statements begin with it: it may have been cut from theirs.
    pub(super) longer: Option<String>,
    /// The likeliest of them, where nothing else tells.
    pub(super) likeliest: Option<u32>,
    /// The kind that the text has.
    pub(super) kind: Option<Kind>,
}

impl Found {
    fn some(statements: Vec<u32>, exact: bool, by: TiedBy) -> Option<Found> {
        (!statements.is_empty()).then(|| Found {
            statements,
            exact,
            by,
            ..Found::default()
        })
    }

    /// Whether it is one statement, for certain.
    pub(super) fn is_sure(&self) -> bool {
        self.exact && self.longer.is_none() && self.statements.len() == 1
    }

    /// Whether an index that is known to be reliable says more than the text does.
    pub(super) fn is_weak(&self) -> bool {
        self.by >= TiedBy::Words
    }

    /// Whether the text does not speak against a statement.
    pub(super) fn may_be(&self, listing: &Listing, statement: u32) -> bool {
        match (self.kind, listing.get(statement)) {
            (Some(kind), Some(statement)) => kind == statement.kind,
            _ => true,
        }
    }

    /// Whether the text may have been cut from that of a statement.
    pub(super) fn may_be_cut_from(&self, listing: &Listing, statement: u32) -> bool {
        let (Some(longer), Some(statement)) = (&self.longer, listing.get(statement)) else {
            return false;
        };
        let row = Row::new(&statement.text);
        row.canonical.starts_with(longer.as_str())
            || row
                .right
                .is_some_and(|right| right.starts_with(longer.as_str()))
    }
}

impl Keys {
    pub(super) fn new(listing: &Listing) -> Keys {
        let mut keys = Keys::default();
        let mut plains = Vec::with_capacity(listing.statements.len());
        keys.heads.reserve_exact(listing.statements.len());
        for (id, statement) in (0..).zip(&listing.statements) {
            let head = Row::new(&statement.text);
            if let Some(right) = head.right.filter(|right| !right.is_empty()) {
                keys.rights.push((right, id));
            }
            let text = statement.text.as_str();
            let plain = !head.lone && !text.contains('\n') && !text.trim_start().starts_with('#');
            if plain {
                keys.alone.push((hash(text), id, head.kind));
            }
            plains.push(plain);
            keys.heads.push((head.canonical, id));
        }
        keys.heads.sort_unstable();
        keys.rights.sort_unstable();
        let unique = keys.unique(listing.statements.len()).into_iter();
        keys.is_alone = unique.zip(plains).map(|(a, b)| a && b).collect();
        let is_alone = |id: u32| keys.is_alone.get(id as usize) == Some(&true);
        keys.alone.retain(|(_, id, _)| is_alone(*id));
        keys.alone.sort_unstable();
        keys
    }

    fn whole(&self, listing: &Listing) -> &[(String, u32)] {
        self.whole.get_or_init(|| {
            // Sorted already, but for what stands below the heads.
            let mut whole = self.heads.clone();
            for (head, id) in &mut whole {
                let statement = listing.get(*id);
                let below = statement.and_then(|s| listing.lines.get(s.line as usize..));
                let own = below.unwrap_or_default().iter().take_while(|line| {
                    line.statement == Some(*id)
                        && matches!(line.role, LineRole::Property | LineRole::Continuation)
                });
                for line in own {
                    if head.len() > LIMIT {
                        break;
                    }
                    append(head, &line.text);
                }
                head.truncate(clip(head, LIMIT).len());
            }
            whole.sort_unstable();
            whole
        })
    }

    fn named(&self, listing: &Listing) -> &Named {
        self.named.get_or_init(|| {
            let mut named = Named::default();
            for (id, statement) in (0..).zip(&listing.statements) {
                if let Some(name) = &statement.name {
                    let name = name.to_lowercase();
                    if !statement.kind.is_declaration() {
                        named.bound.entry(name.clone()).or_default().push(id);
                    }
                    named.names.entry(name).or_default().push(id);
                }
                if let Some(target) = &statement.target {
                    let key = (statement.kind, target.to_lowercase());
                    named.targets.entry(key).or_default().push(id);
                }
                named.kinds.entry(statement.kind).or_default().push(id);
            }
            named
        })
    }

    fn texts(&self, listing: &Listing) -> &[(String, u32, String)] {
        self.texts.get_or_init(|| {
            let mut all = Vec::new();
            for (id, statement) in (0..).zip(&listing.statements) {
                let mut texts = texts_of(statement);
                texts.extend(below_head(listing, id, statement));
                for text in texts {
                    let literal = text.split('{').next().unwrap_or_default().to_owned();
                    all.push((literal, id, text));
                }
            }
            all.sort_unstable();
            all
        })
    }

    /// Of each statement, whether its head is nobody else's and begins nobody else's, with or without the name that is
    /// bound. One pass over both sorted lists.
    fn unique(&self, statements: usize) -> Vec<bool> {
        let mut unique = vec![false; statements];
        let (mut rights, mut before) = (self.rights.iter().peekable(), None);
        let mut heads = self.heads.iter().peekable();
        while let Some((head, id)) = heads.next() {
            while rights.next_if(|(right, _)| right < head).is_some() {}
            let begins = |other: Option<&&(String, u32)>| {
                other.is_some_and(|(other, _)| other.starts_with(head.as_str()))
            };
            let again = before == Some(head) || begins(heads.peek()) || begins(rights.peek());
            if let Some(unique) = unique.get_mut(*id as usize) {
                *unique = !again && !head.is_empty();
            }
            before = Some(head);
        }
        unique
    }

    /// Which statements have a word.
    fn words(&self, listing: &Listing) -> &BTreeMap<String, Vec<u32>> {
        self.words.get_or_init(|| {
            let mut having: BTreeMap<String, Vec<u32>> = BTreeMap::new();
            for (whole, id) in self.whole(listing) {
                let mut words = words(whole);
                words.sort_unstable();
                words.dedup();
                for word in words {
                    having.entry(word.to_owned()).or_default().push(*id);
                }
            }
            having.values_mut().for_each(|ids| ids.sort_unstable());
            having
        })
    }

    /// The statements that bind or declare a name in lower case, but for agents, blocks and imports.
    pub(super) fn bound(&self, listing: &Listing, name: &str) -> &[u32] {
        let bound = &self.named(listing).bound;
        bound.get(name).map_or(&[], Vec::as_slice)
    }

    /// The statements of a kind that refer to a name in lower case.
    pub(super) fn referring(&self, listing: &Listing, kind: Kind, name: &str) -> &[u32] {
        let key = (kind, name.to_owned());
        let targets = &self.named(listing).targets;
        targets.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// The same for the same text, on every machine.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The quoted texts of a statement: of its head, and what it asks for.
fn texts_of(statement: &super::Statement) -> Vec<String> {
    let mut texts = quoted_in(&statement.text);
    for key in ["prompt", "description", "message", "condition"] {
        if let Some(value) = statement.property(key) {
            texts.push(inner_text(clip(value, LIMIT)));
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.dedup();
    texts
}

/// The text that a head opens and that goes on below it: `session """`.
fn below_head(listing: &Listing, id: u32, statement: &super::Statement) -> Option<String> {
    let opened = statement.text.matches("\"\"\"").count() % 2 == 1;
    let whole = opened.then(|| listing.own_text(id))?;
    let text = whole.split_once("\"\"\"")?.1;
    let text = text.split("\"\"\"").next().unwrap_or_default();
    Some(inner_text(clip(text, LIMIT))).filter(|text| !text.is_empty())
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
