//! Copies a run's files and rows with secrets and personal data replaced.
//!
//! [`Redactor`] redacts single texts and records its replacements; `rows.rs` and `files.rs` decide how each text is
//! treated; `sealed.rs` keeps the audit log consistent. A run is copied twice: the first pass finds the secrets, and
//! the second replaces each secret in every form, such as base64 ([`Redactor::again`]).

mod files;
mod json;
mod rows;
mod sealed;

use std::collections::{BTreeMap, BTreeSet};

use prosescope_core::model::GateStatus;
use prosescope_core::pages::session::Session;
use prosescope_core::pages::view::{LeftOutOfShare, LogSealedAnew, SecretFound, SecretsReplaced};
use prosescope_core::program::StatementKind;
use prosescope_core::read::gate::audit::verify;
use prosescope_redact::{Exact, Hit, RuleKind, Rules, SecretNames, is_mark, replace, surroundings};

use crate::pack::ShareError;
use crate::what::{ShareWhat, SharedContent};

pub use files::{FileKind, FileToShare, SharedRun, TakenPaths, files_of, values_of};
pub use rows::RowRedaction;

/// The largest number of hits that are listed; further hits are only counted.
const LISTED: usize = 10_000;
/// The length in bytes above which the user's limit on values applies to a text in any column of a database.
const LONG: u64 = 4096;
/// The longest text of a database that is redacted, in bytes: a redaction holds a text several times in memory.
const LONGEST_CELL: u64 = 16 << 20;
/// The number of characters that are shown on each side of a hit.
const AROUND: usize = 30;

/// The place of a text in the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextPlace<'a> {
    /// The kind of place: a column such as `bindings.value`, or a kind of file such as `memories`.
    pub(crate) of: &'a str,
    /// The row or file with the text.
    pub(crate) at: &'a str,
}

/// Replaces secrets and personal data, and counts the replacements.
pub struct Redactor {
    rules: Rules,
    names: SecretNames,
    what: ShareWhat,
    /// Whether the redactor replaces nothing and only reports.
    raw: bool,
    /// The names of teams, agents and people that are not replaced as names of people.
    stay: BTreeSet<String>,
    /// Those of these names that gates or their log contain.
    stayed: BTreeSet<String>,
    found: Vec<SecretFound>,
    replaced: BTreeMap<(String, &'static str, String), u64>,
    left: BTreeMap<String, (u64, u64)>,
    sealed: sealed::Seals,
    progress: Progress,
}

/// The progress of a scan.
#[derive(Default)]
struct Progress {
    seen: u64,
    told: u64,
    watch: Option<Box<dyn FnMut(u64)>>,
}

/// The number of bytes scanned between two progress reports.
const STEP: u64 = 256 << 10;

/// Words that a gate can record instead of a person's name. They are not redacted as names.
const NOBODY: [&str; 6] = ["user", "any", "anyone", "system", "cli", "owner"];

/// Returns the names in a list of those who may decide; none if the list is not JSON.
fn names(allow: Option<&str>) -> Vec<String> {
    let names = allow.and_then(|allow| serde_json::from_str(allow).ok());
    names.unwrap_or_default()
}

impl Redactor {
    /// Creates a redactor with these rules.
    pub fn new(rules: Rules, what: ShareWhat) -> Redactor {
        Redactor {
            rules,
            names: SecretNames::new(),
            what,
            raw: false,
            stay: BTreeSet::new(),
            stayed: BTreeSet::new(),
            found: Vec::new(),
            replaced: BTreeMap::new(),
            left: BTreeMap::new(),
            sealed: sealed::Seals::default(),
            progress: Progress::default(),
        }
    }

    /// Calls `watch` from time to time with the number of bytes scanned, over all passes.
    pub fn watch(&mut self, watch: Box<dyn FnMut(u64)>) {
        self.progress.watch = Some(watch);
    }

    /// Adds to the number of bytes scanned, and calls the watching function after every [`STEP`] bytes.
    fn add_scanned(&mut self, bytes: u64) {
        let Progress { seen, told, watch } = &mut self.progress;
        *seen += bytes;
        if let Some(watch) = watch
            && *seen - *told >= STEP
        {
            *told = *seen;
            watch(*seen);
        }
    }

    /// Creates a redactor that replaces nothing and only reports its hits.
    pub fn raw(rules: Rules) -> Redactor {
        let what = ShareWhat {
            without: BTreeSet::new(),
            people: true,
            ..ShareWhat::default()
        };
        Redactor {
            raw: true,
            ..Redactor::new(rules, what)
        }
    }

    /// Collects the names that stay: those who may decide a waiting gate, so that a reader sees who can decide, and the
    /// names in the program, which are those of teams and agents. Call this function for all runs before
    /// [`Redactor::meet`].
    pub fn admit(&mut self, session: &Session) {
        let gates = session.run().gates.iter();
        let waiting = gates.filter(|gate| gate.status == GateStatus::Pending);
        for name in waiting.flat_map(|gate| names(gate.allow.as_deref())) {
            self.rules.keep_secret(&name);
            self.stay.insert(name);
        }
        let program = session.listing().into_iter();
        for statement in program.flat_map(|program| &program.statements) {
            self.stay.extend(names(statement.property("allow")));
            let agent = (statement.kind == StatementKind::Agent).then(|| statement.name.clone());
            self.stay.extend(agent.flatten());
        }
    }

    /// Collects the names of people in a run's gates and audit log, to replace them.
    pub fn meet(&mut self, session: &Session) {
        let run = session.run();
        for gate in &run.gates {
            self.add_names(names(gate.allow.as_deref()));
            self.add_names(gate.resolved_by.iter().map(|by| by.to_string()));
        }
        let report = verify(&run.audit, None);
        if !report.errors().is_empty() {
            for event in &run.audit {
                self.sealed.broken(&event.run_id);
            }
        }
        let by = run
            .audit
            .iter()
            .filter_map(|event| event.principal.as_ref());
        self.add_names(by.map(|by| by.to_string()));
    }

    /// Adds names of people. Each name that is long enough is replaced in every text.
    fn add_names(&mut self, names: impl IntoIterator<Item = String>) {
        for name in names.into_iter().filter(|_| !self.what.people) {
            if self.stay.contains(&name) && !NOBODY.contains(&&*name) {
                self.stayed.insert(name);
            } else if !self.is_nobody(&name) {
                let _ = self.rules.exact(Exact::personal("person", &name));
            }
        }
    }

    /// Returns the names in gates and their log that stay in the copy ([`Redactor::admit`]).
    pub fn staying(&self) -> Vec<String> {
        self.stayed.iter().cloned().collect()
    }

    /// Starts a new pass over the runs, in which each known secret is also found in its other forms, such as base64.
    pub fn again(&mut self) {
        self.rules.learn(&mut self.names);
        self.found.clear();
        self.replaced.clear();
        self.left.clear();
        self.sealed.again();
    }

    /// Returns whether the redactor replaces nothing.
    pub fn is_raw(&self) -> bool {
        self.raw
    }

    /// Returns the first 10,000 hits, in the order of the scan.
    pub fn found(&self) -> &[SecretFound] {
        &self.found
    }

    /// Returns the names of the replaced secrets, such as `github-token #1`.
    pub fn names(&self) -> &SecretNames {
        &self.names
    }

    /// Returns how many secrets cannot be searched for after they were replaced; the error is the refusal to share.
    ///
    /// # Errors
    /// [`ShareError::TooManySecrets`] if there are any, unless the user wants to share them.
    pub(crate) fn unsearched(&self) -> Result<u64, ShareError> {
        match self.names.unsearched() as u64 {
            count if count > 0 && !self.what.unsearched => Err(ShareError::TooManySecrets(count)),
            count => Ok(count),
        }
    }

    /// Returns the number of replacements of each rule in each kind of place.
    pub fn redactions(&self) -> Vec<SecretsReplaced> {
        let all = self.replaced.iter();
        let all = all.map(|((rule, kind, place), count)| SecretsReplaced {
            rule: rule.clone(),
            kind: (*kind).to_owned(),
            place: place.clone(),
            count: *count,
        });
        all.collect()
    }

    /// Returns the contents that were left out of the copy.
    pub fn left_out(&self) -> Vec<LeftOutOfShare> {
        let all = self.left.iter();
        let all = all.map(|(what, (count, bytes))| LeftOutOfShare {
            what: what.clone(),
            count: *count,
            bytes: *bytes,
        });
        all.collect()
    }

    /// Returns the audit logs that were sealed again.
    pub fn sealed_anew(&self) -> Vec<LogSealedAnew> {
        self.sealed.heads()
    }

    /// Counts content that is left out of the copy.
    fn leave_out(&mut self, what: &str, bytes: u64) {
        let left = self.left.entry(what.to_owned()).or_default();
        left.0 += 1;
        left.1 = left.1.saturating_add(bytes);
    }

    /// Checks that a text of this kind and length may be shared; the error is the note that replaces the text.
    fn whole(&mut self, content: SharedContent, bytes: u64) -> Result<(), String> {
        if !self.what.has(content) {
            self.leave_out(content.word(), bytes);
            return Err(format!(
                "[left out when this run was shared: {bytes} bytes]"
            ));
        }
        if self.what.max_value.is_some_and(|most| bytes > most) {
            self.leave_out("long values", bytes);
            return Err(format!(
                "[left out when this run was shared, because it is long: {bytes} bytes]"
            ));
        }
        Ok(())
    }

    /// Returns the redacted text; `None` if nothing is replaced.
    pub(crate) fn text(&mut self, place: TextPlace<'_>, text: &str) -> Option<String> {
        let hits = self.rules.scan(text, &mut self.names);
        self.replaced(place, text, &hits)
    }

    /// Redacts a value; its name, such as `DB_PASSWORD`, can mark the value as a secret.
    fn named(&mut self, place: TextPlace<'_>, name: &str, text: &str) -> Option<String> {
        if !prosescope_redact::names_secret(name) || text.len() as u64 > LONG || text.contains('\n')
        {
            return self.said(place, text);
        }
        let head = format!("{name}=");
        let whole = format!("{head}{text}");
        let mut hits = self.rules.scan(&whole, &mut self.names);
        hits.retain(|hit| hit.range.start >= head.len());
        for hit in &mut hits {
            hit.range = hit.range.start - head.len()..hit.range.end - head.len();
        }
        self.replaced(place, text, &hits)
    }

    fn replaced(&mut self, place: TextPlace<'_>, text: &str, hits: &[Hit]) -> Option<String> {
        let (mut line, mut counted) = (1, 0);
        for (index, hit) in hits.iter().enumerate() {
            let passed = text.get(counted..hit.range.start).unwrap_or_default();
            line += passed.matches('\n').count();
            counted = hit.range.start;
            // A hit of an exact value or a pattern is reported under the rule that first found the secret: the name
            // `github-token #1` gives `github-token`. Texts and patterns that the user gave are all reported as
            // `asked`.
            let rule = match hit.rule.as_str() {
                "exact" | "pattern" => hit.name.split(" #").next().unwrap_or(&hit.rule),
                rule => rule,
            };
            let key = (rule.to_owned(), hit.kind.name(), place.of.to_owned());
            *self.replaced.entry(key).or_default() += 1;
            if self.found.len() < LISTED {
                let (before, after) = surroundings(text, hits, index, AROUND);
                self.found.push(SecretFound {
                    name: hit.name.clone(),
                    rule: rule.to_owned(),
                    kind: hit.kind.name().to_owned(),
                    place: place.of.to_owned(),
                    at: match line {
                        1 => place.at.to_owned(),
                        _ => format!("{}, line {line}", place.at),
                    },
                    before,
                    after,
                });
            }
        }
        (!self.raw && !hits.is_empty()).then(|| replace(text, hits))
    }

    /// Redacts a text, such as a run's id, without counting the hits.
    pub(crate) fn masked(&mut self, text: &str) -> String {
        replace(text, &self.rules.scan(text, &mut self.names))
    }

    /// Returns whether a text contains a secret in characters of two bytes, as in UTF-16; such a text cannot be
    /// redacted.
    fn is_wide(&mut self, text: &str) -> bool {
        let narrow = text.contains('\0').then(|| text.replace('\0', ""));
        narrow.is_some_and(|narrow| self.masked(&narrow) != narrow)
    }

    /// Redacts a text that consists of a person's name.
    pub(crate) fn person(&mut self, place: TextPlace<'_>, name: &str) -> Option<String> {
        let stays = self.what.people || self.is_nobody(name);
        if stays || self.raw {
            return self.text(place, name);
        }
        let key = (
            "person".to_owned(),
            RuleKind::Personal.name(),
            place.of.to_owned(),
        );
        *self.replaced.entry(key).or_default() += 1;
        Some(format!("[{}]", self.names.name(name, "person")))
    }

    fn is_nobody(&self, name: &str) -> bool {
        NOBODY.contains(&name) || name.is_empty() || self.stay.contains(name) || is_mark(name)
    }
}
