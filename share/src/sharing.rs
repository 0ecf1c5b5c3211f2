//! The steps of sharing runs: scan them, pack them, check the packed copy.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use prosescope_core::model::source::Source;
use prosescope_core::pages::session::Session;
use prosescope_core::pages::view::{RunShared, SharedPart};
use prosescope_redact::SecretNames;

use crate::ReaderAt;
use crate::archive::Archive;
use crate::copy::{Redactor, SharedRun};
use crate::pack::{Databases, Made, ShareError, look, pack, remains};

/// A run and its databases.
pub type RunWithDatabases<'a> = (SharedRun<'a>, Box<dyn Databases + 'a>);

/// Runs to share together.
pub struct Sharing<'a> {
    runs: Vec<SharedRun<'a>>,
    databases: Vec<Box<dyn Databases + 'a>>,
    redactor: Redactor,
    /// The report of the scan. It is kept because packing a raw copy does not scan again.
    looked: Option<RunShared>,
    /// The kind of each rule's hits, `secret` or `personal`, by the rule's name.
    kinds: BTreeMap<String, String>,
}

impl<'a> Sharing<'a> {
    /// Prepares to share these runs, each with its databases.
    ///
    /// # Errors
    /// [`ShareError::Alike`] if two runs would get the same path in the copy.
    pub fn new(
        runs: Vec<RunWithDatabases<'a>>,
        mut redactor: Redactor,
    ) -> Result<Sharing<'a>, ShareError> {
        let (runs, databases): (Vec<SharedRun<'_>>, Vec<_>) = runs.into_iter().unzip();
        no_two_alike(&runs)?;
        let sessions = || runs.iter().filter_map(|run| run.session);
        sessions().for_each(|session| redactor.admit(session));
        sessions().for_each(|session| redactor.meet(session));
        Ok(Sharing {
            runs,
            databases,
            redactor,
            looked: None,
            kinds: BTreeMap::new(),
        })
    }

    /// Sets a function that is called with the number of bytes scanned and an estimate of the total. The estimate is
    /// four times the size of the runs, because runs are scanned up to four times.
    pub fn watch(&mut self, mut watch: Box<dyn FnMut(u64, u64)>) {
        let files = self.runs.iter().flat_map(|run| run.files());
        let all = 4 * files.map(|file| file.len).sum::<u64>();
        self.redactor
            .watch(Box::new(move |seen| watch(seen.min(all), all)));
    }

    /// Scans the runs, writes nothing, and returns what would be replaced and left out.
    ///
    /// # Errors
    /// If a part cannot be read.
    pub fn look(&mut self) -> Result<RunShared, ShareError> {
        self.redactor.again();
        let mut parts = look(&self.runs, &mut self.redactor, &mut self.databases)?;
        if !self.redactor.found().is_empty() {
            // The second pass also finds the secrets of the first pass in their other forms, such as base64. Its report
            // shows the replacements that the copy will contain.
            self.redactor.again();
            parts = look(&self.runs, &mut self.redactor, &mut self.databases)?;
        }
        let looked = self.report(parts);
        self.looked = Some(looked.clone());
        Ok(looked)
    }

    /// Writes a zip of the runs to the writer that `out` returns; each call of `out` must return an empty writer.
    /// Secrets found during the first writing may also occur in other forms, so unless [`Sharing::look`] ran before,
    /// the zip is written a second time.
    ///
    /// # Errors
    /// If a part cannot be read, or the zip not be written; the caller must then discard the zip.
    pub fn pack<W: Write>(
        &mut self,
        made: &Made,
        out: &mut dyn FnMut() -> io::Result<W>,
    ) -> Result<(RunShared, W), ShareError> {
        let looked = match self.looked.take() {
            Some(looked) => looked,
            None if self.redactor.is_raw() => self.look()?,
            None => {
                let packed = self.pack_once(made, out)?;
                if self.redactor.found().is_empty() {
                    return Ok(packed);
                }
                drop(packed);
                return self.pack_once(made, out);
            }
        };
        let (report, out) = self.pack_once(made, out)?;
        Ok(if self.redactor.is_raw() {
            (
                RunShared {
                    parts: report.parts,
                    ..looked
                },
                out,
            )
        } else {
            (report, out)
        })
    }

    fn pack_once<W: Write>(
        &mut self,
        made: &Made,
        out: &mut dyn FnMut() -> io::Result<W>,
    ) -> Result<(RunShared, W), ShareError> {
        let out = out().map_err(|error| ShareError::Write(error.to_string()))?;
        self.redactor.again();
        let ids = self.ids();
        let (manifest, out) = pack(
            &self.runs,
            ids,
            &mut self.redactor,
            &mut self.databases,
            made,
            out,
        )?;
        let parts = manifest.parts.iter().map(|part| SharedPart {
            path: part.path.clone(),
            bytes: part.bytes,
        });
        let parts = parts.collect();
        self.note_kinds();
        Ok((self.report(parts), out))
    }

    /// Searches the written zip and its unpacked copy for every replaced text, in each form.
    ///
    /// # Errors
    /// [`ShareError::Remains`] for the first text found, [`ShareError::TooManySecrets`] if not all can be searched for; the
    /// caller must then remove the file.
    pub fn check<R: ReaderAt>(
        &self,
        archive: &Archive<R>,
        copy: &dyn Source,
    ) -> Result<(), ShareError> {
        if self.redactor.is_raw() {
            return Ok(());
        }
        self.redactor.unsearched()?;
        remains(archive, copy, &self.redactor)
    }

    /// Scans the copy, opened as its recipient opens it, with all rules. This must be the last step, because the scan
    /// discards the earlier findings.
    ///
    /// # Errors
    /// As for [`Sharing::check`].
    pub fn look_through(
        &mut self,
        copy: &dyn Source,
        databases: Box<dyn Databases + '_>,
    ) -> Result<(), ShareError> {
        if self.redactor.is_raw() {
            return Ok(());
        }
        let whole = SharedRun::whole(copy);
        self.redactor.again();
        look(&[whole], &mut self.redactor, &mut [databases])?;
        match self.redactor.found().first() {
            None => Ok(()),
            Some(found) => Err(ShareError::Remains {
                name: found.name.clone(),
                path: found.at.clone(),
                form: format!("found by the rule {}", found.rule),
            }),
        }
    }

    /// Returns each replaced text with its name, to show only to the sharer, who has the run anyway.
    pub fn replaced(&self) -> impl Iterator<Item = (&str, String)> {
        self.redactor.names().replacements()
    }

    /// Returns the session of the first run; a database of workflows has no session.
    pub(crate) fn session(&self) -> Option<&'a Session> {
        self.runs.iter().find_map(|run| run.session)
    }

    /// Returns whether the copy is raw: nothing is replaced.
    pub(crate) fn is_raw(&self) -> bool {
        self.redactor.is_raw()
    }

    /// Returns a text as the copy would contain it, without counting the hits.
    pub(crate) fn masked(&mut self, text: &str) -> String {
        self.redactor.masked(text)
    }

    /// Returns the names of the replaced texts, such as `github-token #1`.
    pub(crate) fn names(&self) -> &SecretNames {
        self.redactor.names()
    }

    /// Returns `secret` or `personal` for each rule with replacements, and for each exact value by its name.
    pub(crate) fn kinds(&self) -> &BTreeMap<String, String> {
        &self.kinds
    }

    /// Records the kinds of the replacements so far, because scanning a copy discards them.
    fn note_kinds(&mut self) {
        let replaced = self.redactor.redactions().into_iter();
        self.kinds.extend(replaced.map(|of| (of.rule, of.kind)));
    }

    /// Returns the ids of the runs as the copy shows them, because an id can contain a secret.
    fn ids(&mut self) -> Vec<String> {
        let ids = self.runs.iter().map(|run| match run.session {
            Some(session) => session.run().id.to_string(),
            None => run.database.clone().unwrap_or_default(),
        });
        let redactor = &mut self.redactor;
        let masked = ids.map(|id| {
            if redactor.is_raw() {
                id
            } else {
                redactor.masked(&id)
            }
        });
        masked.collect()
    }

    fn report(&mut self, parts: Vec<SharedPart>) -> RunShared {
        RunShared {
            runs: self.ids(),
            bytes: parts.iter().map(|part| part.bytes).sum(),
            raw: self.redactor.is_raw(),
            found: self.redactor.found().to_vec(),
            replaced: self.redactor.redactions(),
            left_out: self.redactor.left_out(),
            parts: largest_first(parts),
            sealed_anew: self.redactor.sealed_anew(),
            unsearched: self.redactor.names().unsearched() as u64,
            staying: self.redactor.staying(),
            ..RunShared::default()
        }
    }
}

/// Refuses runs that would get the same path in the copy: the same folder, or two lone databases of one name.
fn no_two_alike(runs: &[SharedRun<'_>]) -> Result<(), ShareError> {
    let mut places = BTreeSet::new();
    for run in runs {
        let database = run.database.as_deref().filter(|_| run.alone);
        let inside = database.map(|path| path.strip_prefix(&run.root).unwrap_or(path));
        let place = format!("{}{}", run.to, inside.unwrap_or_default());
        if !places.insert(place.clone()) {
            return Err(ShareError::Alike(place.trim_end_matches('/').to_owned()));
        }
    }
    Ok(())
}

fn largest_first(mut parts: Vec<SharedPart>) -> Vec<SharedPart> {
    parts.sort_by_key(|part| std::cmp::Reverse(part.bytes));
    parts
}
