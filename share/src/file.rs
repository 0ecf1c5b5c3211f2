//! Builds the shared file in memory, for a browser or JavaScript.

use std::rc::Rc;

use prosescope_core::model::issue::Issue;
use prosescope_core::model::source::Source;
use prosescope_core::pages::view::RunShared;
use serde::{Deserialize, Serialize};

use crate::archive::Archive;
use crate::pack::{Databases, Made, ShareError};
use crate::page;
use crate::sharing::Sharing;
use crate::summary::Summary;
use crate::wishes::{LONGEST, LocalSecret, in_env};

/// A source whose databases can be shared.
pub trait Shareable: Source {
    /// Returns the access to the source's databases.
    ///
    /// # Errors
    /// If copies of the databases cannot be stored.
    fn databases(&self) -> Result<Box<dyn Databases + '_>, ShareError>;

    /// Returns secret values that only this shell can find: those of `.env` files in the source.
    fn known(&self) -> Vec<LocalSecret> {
        let files = self.files().iter().filter(|file| {
            let name = file.path.rsplit('/').next();
            file.len <= LONGEST && name == Some(".env")
        });
        let known = files.flat_map(|file| {
            let bytes = self.read(&file.path, 0, LONGEST as usize);
            in_env(&String::from_utf8_lossy(&bytes.unwrap_or_default()))
        });
        known.collect()
    }

    /// Opens a packed zip as its recipient does.
    ///
    /// # Errors
    /// If the zip cannot be read back.
    fn unpacked(&self, zip: &[u8]) -> Result<Rc<dyn Shareable>, ShareError>;
}

/// The form of the shared file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SharedForm {
    /// A page with the viewer and the runs in it.
    #[default]
    Html,
    /// A zip of the runs' files.
    Zip,
    /// The database itself, without a zip. The shared copy must contain exactly one database.
    Db,
}

impl SharedForm {
    /// Returns the name of the form, which is also the extension of the file.
    pub fn word(self) -> &'static str {
        match self {
            SharedForm::Html => "html",
            SharedForm::Zip => "zip",
            SharedForm::Db => "db",
        }
    }
}

/// Packs runs of a source, checks the packed copy, and returns it in the given form. `viewer` is the HTML page of the
/// viewer.
///
/// # Errors
/// [`ShareError`]; the caller must then not share anything.
pub fn file(
    sharing: &mut Sharing<'_>,
    source: &dyn Shareable,
    form: SharedForm,
    made: &Made,
    viewer: Option<&str>,
) -> Result<(RunShared, Vec<u8>), ShareError> {
    require_unchanged(source)?;
    let CheckedCopy {
        mut report,
        zip,
        copy,
    } = checked(sharing, source, made)?;
    let bytes = match form {
        SharedForm::Zip => zip,
        SharedForm::Db => database(&Archive::open(zip.as_slice(), zip.len() as u64, u64::MAX)?)?,
        SharedForm::Html if zip.len() as u64 > page::MOST => {
            return Err(ShareError::TooLarge(Box::new(report)));
        }
        SharedForm::Html => {
            let summary = Summary::of(&(copy as Rc<dyn Source>));
            let viewer = viewer.unwrap_or_default();
            page::write(viewer, &summary.title, &summary.text, &zip)?.into_bytes()
        }
    };
    report.bytes = bytes.len() as u64;
    form.word().clone_into(&mut report.format);
    Ok((report, bytes))
}

/// Checks that a source is not a shared file that was changed: a new copy of such a file would count as unchanged.
///
/// # Errors
/// [`ShareError::Changed`] if the source was changed, or if that cannot be checked.
pub fn require_unchanged<S: Source + ?Sized>(source: &S) -> Result<(), ShareError> {
    let mut listed = source.listed().into_iter();
    let doubt = listed.find(Issue::doubts_copy);
    doubt.map_or(Ok(()), |doubt| Err(ShareError::Changed(doubt.message)))
}

/// A copy that was packed and checked.
pub(crate) struct CheckedCopy {
    /// The report of what was replaced and left out.
    pub(crate) report: RunShared,
    /// The zip with the copy.
    pub(crate) zip: Vec<u8>,
    /// The copy as a source, unpacked from the zip.
    pub(crate) copy: Rc<dyn Shareable>,
}

/// Packs runs of a source, opens the copy as its recipient does, and checks it.
pub(crate) fn checked(
    sharing: &mut Sharing<'_>,
    source: &dyn Shareable,
    made: &Made,
) -> Result<CheckedCopy, ShareError> {
    let (report, zip) = sharing.pack(made, &mut || Ok(Vec::new()))?;
    let archive = Archive::open(zip.as_slice(), zip.len() as u64, u64::MAX)?;
    let copy = source.unpacked(&zip)?;
    sharing.check(&archive, copy.as_ref())?;
    sharing.look_through(copy.as_ref(), copy.databases()?)?;
    Ok(CheckedCopy { report, zip, copy })
}

fn database(archive: &Archive<&[u8]>) -> Result<Vec<u8>, ShareError> {
    let entry = archive.only_database().ok_or(ShareError::NotOneDatabase)?;
    let mut bytes = Vec::new();
    archive.unpack(entry, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(bytes)
}
