use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::postgres::Listener;
use prosescope_core::pages::view::ServingWorkflows;
use prosescope_core::record::Fault;
use prosescope_core::record::render::text::escape;
use prosescope_serve::{Access, Limits, Wake, WorkflowServer, Workplace, asked_to_stop};
use prosescope_workflow::Tables;

use crate::args::workflow::ServeArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::input;
use crate::locate::WorkflowPlace;
use crate::out::{Out, say};

/// The environment variable that holds the token of `prosescope workflow serve`.
const TOKEN: &str = "PROSE_SERVE_TOKEN";

/// Minimum number of characters of a token.
const SHORTEST: usize = 16;

pub(super) fn run(args: &ServeArgs, out: &Out) -> Result<Exit, CliError> {
    let kept = WorkflowPlace::named(&args.store.store)?;
    // Creates a missing database file. An unusable store is reported before the first request.
    kept.make()?;
    let (token, is_new) = token(args)?;
    let access = Access {
        token: token.clone(),
        hosts: args.host.clone(),
        origins: args.origin.clone(),
        rate: args.rate,
    };
    let limits = Limits {
        connections: args.connections,
        ..Limits::default()
    };
    let name = kept.name();
    let server = WorkflowServer::listen(
        args.listen,
        Arc::new(ServedWorkflows {
            kept,
            told: Mutex::default(),
        }),
        access,
        limits,
    );
    let server = server.map_err(|cause| {
        CliError::new(
            Exit::Io,
            format!("cannot listen on {}: {cause}", args.listen),
        )
        .hint("choose another address or port with --listen")
    })?;
    let address = server.address()?;
    let serving = ServingWorkflows {
        address: format!("http://{address}"),
        token: token.filter(|_| is_new),
    };
    let mut said = Ok(());
    server.run(asked_to_stop, || {
        if out.json {
            said = out.json(&serving);
            return;
        }
        let token = serving.token.as_deref();
        let token = token.map_or(String::new(), |token| format!(", token {token}"));
        say(&format!(
            "serving workflows of {name} on {}{token}",
            serving.address
        ));
    })?;
    said?;
    say("stopped");
    Ok(Exit::Done)
}

/// Returns the token that requests must send, and whether the token is new. Returns no token with `--no-token`.
fn token(args: &ServeArgs) -> Result<(Option<String>, bool), CliError> {
    if args.no_token {
        if !args.listen.ip().is_loopback() {
            return Err(CliError::usage(format!(
                "with --no-token, the server would answer anyone who can reach the address {}",
                args.listen
            ))
            .hint("leave out --no-token, or listen on 127.0.0.1"));
        }
        return Ok((None, false));
    }
    let given = match &args.token_file {
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|cause| input::unread(&path.display().to_string(), &cause))?;
            Some(text.lines().next().unwrap_or_default().trim().to_owned())
        }
        None => std::env::var(TOKEN).ok(),
    };
    if let Some(given) = given {
        let is_plain = given
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-._~+/=".contains(c));
        return if given.len() >= SHORTEST && is_plain {
            Ok((Some(given), false))
        } else {
            Err(CliError::usage(format!(
            "the token is too short, or has characters that a header cannot carry: use at least {SHORTEST} letters, digits or -._~+/="
        ))
        .hint("leave out the token; the server then makes a token"))
        };
    }
    let mut random = [0_u8; 24];
    getrandom::fill(&mut random).map_err(|cause| {
        CliError::new(
            Exit::Io,
            format!("cannot make a token: the system returned no random numbers: {cause}"),
        )
    })?;
    Ok((
        Some(random.iter().map(|byte| format!("{byte:02x}")).collect()),
        true,
    ))
}

/// Time for which the same error of the store is not printed again.
const AGAIN: Duration = Duration::from_secs(30);

/// The store of workflows, as the HTTP server uses it.
struct ServedWorkflows {
    kept: WorkflowPlace,
    /// The last error of the store that was printed, and the time of printing. The same error is not repeated within
    /// [`AGAIN`].
    told: Mutex<Option<(String, Instant)>>,
}

impl Workplace for ServedWorkflows {
    fn open(&self) -> Result<Box<dyn Tables + Send>, Fault> {
        self.kept.open()
    }

    fn wake(&self) -> Option<Box<dyn Wake>> {
        let listener = self.kept.listener()?;
        Some(Box::new(Woken(listener)))
    }

    fn failed(&self, fault: &Fault) {
        let now = Instant::now();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = told.as_ref().is_none_or(|(message, at)| {
            *message != fault.message || now.duration_since(*at) > AGAIN
        });
        if is_new {
            say(&escape(&format!("{}: {}", fault.message, fault.hint), true));
            *told = Some((fault.message.clone(), now));
        }
    }
}

struct Woken(Listener);

impl Wake for Woken {
    fn wait(&mut self, at_most: Duration) -> bool {
        self.0.wait(at_most)
    }
}
