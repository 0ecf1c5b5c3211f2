//! `prosescope show RUN --for-model` prints a run as text to paste into a language model.

use prosescope_core::model::text::{bytes, count};
use prosescope_core::pages::session::{Session, pages};
use prosescope_core::pages::view::{ForModel, ModelSize, RunPart};
use prosescope_core::trace::NodeId;
use prosescope_share::model::{ModelTextRequest, for_model};
use prosescope_share::pack::ShareError;
use prosescope_share::sharing::Sharing;

use super::share::{self, RunsToShare};
use super::{ended, node_named};
use crate::args::ShowArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate;
use crate::out::{Out, say};

pub(super) fn run(args: &ShowArgs, out: &Out) -> Result<Exit, CliError> {
    let name = args.run.name()?;
    let wishes = args.wishes.wishes();
    let size = match args.size.as_str() {
        "8" => ModelSize::Small,
        "128" => ModelSize::Large,
        _ => ModelSize::Medium,
    };
    let now = Some(locate::now());
    if wishes.raw {
        // With `--raw`, the run itself is read, not a redacted copy. So the readable parts of a damaged run are
        // printed, too.
        let session = locate::open(&name)?;
        let node = node(&session, args)?;
        let mut text = pages::for_model(&session, node, size, now);
        text.set_raw();
        return told(&session, &text, out);
    }
    let opened = RunsToShare::open(&[name], (false, true), out)?;
    let (session, disk) = opened.run("--for-model")?;
    let node = node(session, args)?;
    let redactor = share::redactor(&args.wishes, &opened)?;
    let mut sharing = Sharing::new(opened.shared()?, redactor).map_err(failed)?;
    let asked = ModelTextRequest { node, size, now };
    let text = for_model(&mut sharing, disk, &share::made(false), asked);
    opened.unlock();
    told(session, &text.map_err(failed)?, out)
}

fn node(session: &Session, args: &ShowArgs) -> Result<Option<NodeId>, CliError> {
    let name = args.node.as_deref();
    let parts = [RunPart::Statements];
    let node = name.map(|name| node_named(session, "--node", name, &parts));
    node.transpose()
}

/// Writes the text to standard output, and a summary of its replaced and left-out parts to standard error.
fn told(session: &Session, text: &ForModel, out: &Out) -> Result<Exit, CliError> {
    out.show(text, || text.text.clone())?;
    let mut line = format!(
        "about {} tokens, {}; {}",
        count(text.tokens),
        bytes(text.bytes),
        text.replaced_words()
    );
    if !text.left_out.is_empty() {
        line.push_str("; left out: ");
        line.push_str(&text.left_out.join(", "));
    }
    say(&line);
    Ok(ended(session))
}

fn failed(error: ShareError) -> CliError {
    let unread = matches!(error, ShareError::Read { .. });
    let error = share::failed(error);
    if unread {
        error.hint("--raw prints the readable parts, but does not replace secrets")
    } else {
        error
    }
}
