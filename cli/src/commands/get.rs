use prosescope_core::pages::session::{Lookup, Session, ValueOf, pages};
use prosescope_core::pages::view::{NamedValue, ResolutionView, RunPart, ValueView};
use prosescope_core::record::render::text::escape;

use super::{ended, no_execution, unread};
use crate::args::GetArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::{Out, say};
use crate::print::style::{RESET, WAIT};
use crate::{locate, near, print};

pub(super) fn run(args: &GetArgs, out: &Out) -> Result<Exit, CliError> {
    if args.explain || out.json {
        return explain(args, out);
    }
    let lookup = locate::look_up(&args.run.name()?, &args.name, args.from)?;
    let value = match lookup {
        Lookup::Found(value) => value,
        Lookup::NotFound(session) => {
            let resolution = pages::resolve(&session, &args.name, args.from);
            return Err(missing(&session, args, &resolution));
        }
    };
    unread::require_value(&value)?;
    let head = value.value(IN_PLACE)?;
    if let Some(note) = &head.note {
        unread::require_bindings(&value)?;
        there(&args.name, &head)?;
        say(&format!("{WAIT}note:{RESET} {}", escape(note, true)));
    }
    if let Some(own) = value.other_name(&args.name) {
        let (name, own) = (escape(&args.name, false), escape(own, false));
        say(&format!(
            "{WAIT}note:{RESET} there is no binding {name}; this is {own}"
        ));
    }
    let mut failed = None;
    if !out.terminal || args.raw {
        value.value_pieces(&mut |piece| {
            failed = out.bytes(piece).err();
            failed.is_none()
        })?;
    } else {
        // The first bytes of a character that is split between two pieces, kept until the next piece arrives.
        let mut held: Vec<u8> = Vec::new();
        value.value_pieces(&mut |piece| {
            held.extend_from_slice(piece);
            let whole = match std::str::from_utf8(&held) {
                Err(e) if e.error_len().is_none() => e.valid_up_to(),
                _ => held.len(),
            };
            let rest = held.split_off(whole);
            failed = out
                .text(&escape(&String::from_utf8_lossy(&held), true))
                .err();
            held = rest;
            failed.is_none()
        })?;
        out.text(&escape(&String::from_utf8_lossy(&held), true))?;
        out.text("\n")?;
    }
    match failed {
        Some(error) => Err(error),
        // `get` reads only some rows of the run, so the exit code depends only on issues of these rows.
        None if value.met_errors() => Ok(Exit::Issues),
        None => Ok(Exit::Done),
    }
}

/// Prints all candidates for a name, and why each is chosen or not. Reads the whole run to find all candidates.
fn explain(args: &GetArgs, out: &Out) -> Result<Exit, CliError> {
    let mut session = locate::open(&args.run.name()?)?;
    if args.from.is_some_and(|id| !session.has_frame(id)) {
        let resolution = pages::resolve(&session, &args.name, args.from);
        return Err(missing(&session, args, &resolution));
    }
    let (mut name, mut from, mut import) = (args.name.clone(), args.from, None);
    if session.winner(&name, from).is_none()
        && let Some((nested, inner)) = pages::in_import(&session, &name, &locate::bounded())
    {
        session = nested.unwrap_or(session);
        (name, from, import) = (inner, None, Some(session.run().root.to_string()));
    }
    let winner = session.winner(&name, from);
    let resolution = pages::resolve(&session, &name, from);
    if !out.json {
        if let Some(place) = &import {
            let place = match place.trim_end_matches('/') {
                "" => String::new(),
                place => format!(" of {place}"),
            };
            let means = format!("{} is {name}{place}\n", args.name);
            out.text(&escape(&means, true))?;
        }
        out.text(&print::resolution(&resolution, out.width))?;
    }
    let Some(winner) = winner.map(ValueOf::Binding) else {
        return Err(missing(&session, args, &resolution));
    };
    let most = if out.json {
        Out::MOST_OF_A_VALUE
    } else {
        IN_PLACE
    };
    let value = session.value(&winner, most)?;
    there(&args.name, &value)?;
    if out.json {
        Out::say_cut(&value);
        out.json(&NamedValue {
            value,
            resolution,
            import,
        })?;
    }
    Ok(ended(&session))
}

/// Maximum bytes of a row's placeholder text that an error quotes when the value itself is missing.
const IN_PLACE: usize = 200;

/// Returns an error if the value is missing. An empty output would look like an empty value, and the placeholder text
/// in the row is not the value.
fn there(name: &str, value: &ValueView) -> Result<(), CliError> {
    let Some(why) = &value.missing else {
        return Ok(());
    };
    let error = CliError::not_found(format!("the value of {name} is missing: {why}"));
    let held = value.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let error = if held.is_empty() {
        error
    } else {
        error.hint(format!("in place of the value, the row contains: {held}"))
    };
    Err(error.hint("`prosescope check RUN` lists everything that the run lacks"))
}

fn missing(session: &Session, args: &GetArgs, resolution: &ResolutionView) -> CliError {
    // With `--from`, the statements are needed to find the frames around a frame. For the root, the bindings are
    // enough.
    let around = args.from.map(|_| RunPart::Statements);
    let parts = [RunPart::Bindings, RunPart::Imports]
        .into_iter()
        .chain(around);
    if let Err(unread) = unread::require_parts(session, &parts.collect::<Vec<_>>()) {
        return unread;
    }
    let bindings = &session.run().bindings;
    if let Some(id) = args.from.filter(|id| !session.has_frame(*id)) {
        return no_execution(session, id);
    }
    let place = match args.from {
        Some(id) => format!("from frame {id}"),
        None => "at the root".to_owned(),
    };
    let error = CliError::not_found(format!(
        "run {} has no binding {} that is visible {place}",
        session.run().id,
        args.name
    ));
    let elsewhere: Vec<String> = resolution
        .candidates
        .iter()
        .filter_map(|c| c.row.execution_id)
        .take(5)
        .map(|id| format!("--from {id}"))
        .collect();
    if elsewhere.is_empty() {
        let names = bindings.iter().map(|binding| &*binding.name);
        let error = error.hint(near::hint(&args.name, names, "bindings"));
        let imports = &session.run().imports;
        let import = args.name.split_once('.').and_then(|(handle, _)| {
            imports
                .iter()
                .find(|import| *import.alias == *handle && import.nested.is_some())
        });
        match import {
            Some(import) => error.hint(format!(
                "`prosescope bindings RUN/{}` lists the bindings of the import's run",
                import.alias
            )),
            None => error.hint("`prosescope bindings RUN` lists the bindings"),
        }
    } else {
        error.hint(format!(
            "choose a frame that has a binding with this name: {}",
            elsewhere.join(", ")
        ))
    }
}
