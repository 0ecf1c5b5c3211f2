//! Shares runs of the open source: makes the preview of a shared file, the file, and the text for a language model.

use std::rc::Rc;

use prosescope_core::model::source::Source;
use prosescope_core::model::time::Stamp;
use prosescope_core::pages::session::Session;
use prosescope_core::pages::view::ForModel;
use prosescope_share::copy::SharedRun;
use prosescope_share::file::{SharedForm, file};
use prosescope_share::model::{ModelTextRequest, for_model};
use prosescope_share::pack::{Databases, Made, ShareError};
use prosescope_share::redact::Rules;
use prosescope_share::sharing::Sharing;
use prosescope_share::wishes::Wishes;

use crate::desk::nothing_open;
use crate::protocol::{LookedThrough, Trouble};
use crate::{Desk, DeskSource};

/// A callback that receives the number of scanned bytes and the total, to show progress.
pub type ScanProgress = Box<dyn FnMut(u64, u64)>;

impl Desk {
    /// Scans runs of the open source and returns what would be replaced and left out. Writes nothing.
    ///
    /// # Errors
    /// If a run cannot be read, or if one of the `wishes` cannot be fulfilled.
    pub fn look_to_share(
        &mut self,
        places: &[String],
        wishes: &Wishes,
        watch: ScanProgress,
    ) -> Result<LookedThrough, Trouble> {
        self.sharing(places, wishes, watch, |sharing, _| {
            let report = sharing.look()?;
            let replaced = sharing.replaced();
            Ok(LookedThrough {
                report,
                texts: replaced.map(|(text, _)| text.to_owned()).collect(),
            })
        })
    }

    /// Returns the shared file. `viewer` is the viewer's own page, from which a shared page is built.
    ///
    /// # Errors
    /// As for [`Desk::look_to_share`]; also if a replaced text still occurs in the file.
    pub fn share(
        &mut self,
        places: &[String],
        wishes: &Wishes,
        form: SharedForm,
        viewer: Option<&str>,
        watch: ScanProgress,
    ) -> Result<Vec<u8>, Trouble> {
        let made = Made {
            opens: wishes.opens.clone(),
            ..self.made(form != SharedForm::Db)
        };
        self.sharing(places, wishes, watch, |sharing, source| {
            file(sharing, source, form, &made, viewer).map(|(_, bytes)| bytes)
        })
    }

    /// Returns a run as text for a language model.
    ///
    /// # Errors
    /// As for [`Desk::share`].
    pub(crate) fn for_model(
        &mut self,
        place: &str,
        asked: ModelTextRequest,
        wishes: &Wishes,
    ) -> Result<ForModel, Trouble> {
        let made = self.made(false);
        let places = [place.to_owned()];
        self.sharing(&places, wishes, Box::new(|_, _| {}), |sharing, source| {
            for_model(sharing, source, &made, asked)
        })
    }

    /// Returns the facts that a shared copy records about its making: the program's version and the time.
    fn made(&self, deflated: bool) -> Made {
        Made {
            by: format!("prosescope {}", env!("CARGO_PKG_VERSION")),
            at: Stamp::At(self.clock().now()).to_string(),
            deflated,
            opens: None,
        }
    }

    fn sharing<T>(
        &mut self,
        places: &[String],
        wishes: &Wishes,
        watch: ScanProgress,
        then: impl FnOnce(&mut Sharing<'_>, &dyn DeskSource) -> Result<T, ShareError>,
    ) -> Result<T, Trouble> {
        self.clock().begin();
        let source = Rc::clone(self.source().ok_or_else(nothing_open)?);
        let workflows = self.workflows().iter().map(|of| of.place.clone());
        let answer = shared(&source, workflows.collect(), places, wishes, watch, then);
        self.let_go();
        self.judged(answer)
    }
}

fn shared<T>(
    source: &Rc<dyn DeskSource>,
    workflows: Vec<String>,
    places: &[String],
    wishes: &Wishes,
    watch: ScanProgress,
    then: impl FnOnce(&mut Sharing<'_>, &dyn DeskSource) -> Result<T, ShareError>,
) -> Result<T, Trouble> {
    let redactor = wishes.redactor(Rules::new(), source.known());
    let redactor = redactor.map_err(|(text, refused)| {
        Trouble::new(
            format!("“{text}” cannot be searched for: {refused}"),
            String::new(),
        )
    })?;
    let mut sessions = Vec::new();
    for place in places {
        let session = if workflows.contains(place) {
            None
        } else {
            let dynamic: Rc<dyn Source> = source.clone();
            // The run is read without limits, because recipients see everything in the shared copy.
            Some(Session::open(dynamic, place, &Default::default())?)
        };
        sessions.push((place, session));
    }
    let mut runs = Vec::new();
    for (place, session) in &sessions {
        let shared = match session {
            Some(session) => SharedRun::run(session, source.as_ref(), place),
            None => SharedRun::workflows(source.as_ref(), place),
        };
        let databases: Box<dyn Databases> = source.databases().map_err(trouble)?;
        runs.push((shared, databases));
    }
    let mut sharing = Sharing::new(runs, redactor).map_err(trouble)?;
    sharing.watch(watch);
    then(&mut sharing, source.as_ref()).map_err(trouble)
}

fn trouble(error: ShareError) -> Trouble {
    let next = error.next_step();
    let sentence = |text: &str| {
        let mut letters = text.chars();
        let first = letters.next().map(|c| c.to_uppercase().collect::<String>());
        format!("{}{}.", first.unwrap_or_default(), letters.as_str())
    };
    let next = match &error {
        ShareError::Remains { .. } => {
            "Leave out the content that contains this text, or choose “Keep” for the text."
                .to_owned()
        }
        _ => sentence(&next),
    };
    let file = match &error {
        ShareError::Read { path, .. } => Some(path.clone()),
        _ => None,
    };
    Trouble {
        file,
        found: "Nothing was shared.".to_owned(),
        cause: sentence(&error.to_string()),
        next,
        ..Trouble::default()
    }
}
