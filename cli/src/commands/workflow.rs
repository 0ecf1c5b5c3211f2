use prosescope_core::model::time::human_duration;
use prosescope_core::model::timeout::Timeout;
use prosescope_core::pages::upkeep::doctor::server::ServerSetUp;
use prosescope_core::record::render::text::escape;
use prosescope_workflow::{
    Ask, Cancel, ClaimNext, DataSet, Fail, Finish, Heartbeat, ImportantStep, Input, Json, Move,
    Prefer, SetState, Start, StartResult, StatusChange, StuckRun, TableCommand, Tables, TurnResult,
    WorkflowFilter, WorkflowList, WorkflowStatus, find_run, find_workflow, list, record,
    run as turn_of, show, stuck,
};
use uuid::Uuid;

use crate::args::workflow::{
    ChangeOptions, ListArgs, StartArgs, WorkflowArgs, WorkflowCommand, WorkflowFinishArgs,
};
use crate::error::CliError;
use crate::exit::Exit;
use crate::locate::WorkflowPlace;
use crate::out::{self, Out, say};
use crate::print::note;
use crate::{input, locate, print};

pub(super) fn run(command: WorkflowCommand, out: &Out) -> Result<Exit, CliError> {
    match command {
        WorkflowCommand::Events(command) => super::events::run(command, out),
        #[cfg(feature = "serve")]
        WorkflowCommand::Serve(args) => super::serve::run(&args, out),
        #[cfg(not(feature = "serve"))]
        WorkflowCommand::Serve(_) => Err(CliError::new(
            Exit::Io,
            "this prosescope was built without `workflow serve`",
        )
        .hint("use a released prosescope, or build one with `cargo xtask install`")),
        WorkflowCommand::Setup { apply, store } => setup(apply, &store.store, out),
        WorkflowCommand::Start(args) => start(args, out),
        WorkflowCommand::Ask {
            run,
            question,
            payload,
            owner,
            options,
        } => {
            let mut writer = Writer::open(&options)?;
            let ask = Ask {
                run: writer.run(&run)?,
                question: text(question)?,
                payload: payload
                    .as_deref()
                    .map(|text| object("--payload", text))
                    .transpose()?,
                owner,
            };
            turned(&writer.record(&ask)?, "waits for input", out)
        }
        WorkflowCommand::Input {
            workflow,
            text: answer,
            run,
            tail,
        } => {
            let mut writer = Writer::open(&workflow.options)?;
            let input = Input {
                workflow: writer.workflow(&workflow.workflow)?,
                run: run.map(|run| writer.run(&run)).transpose()?,
                text: text(answer)?,
                tail,
            };
            turned(&writer.record(&input)?, "runs again", out)
        }
        WorkflowCommand::Pause(args) => moved(&args, Move::Pause, out),
        WorkflowCommand::Resume(args) => moved(&args, Move::Resume, out),
        WorkflowCommand::Error { workflow, error } => {
            let error = Json::of_message(&text(error)?);
            moved(&workflow, |id| Move::Error(id, error), out)
        }
        WorkflowCommand::Cancel { workflow, run } => cancel(&workflow, run, out),
        WorkflowCommand::Fail {
            run,
            error,
            owner,
            options,
        } => {
            let mut writer = Writer::open(&options)?;
            let fail = Fail {
                run: writer.run(&run)?,
                error: Json::of_message(&text(error)?),
                owner,
            };
            turned(&writer.record(&fail)?, "failed", out)
        }
        WorkflowCommand::Finish(args) => finish(args, out),
        WorkflowCommand::Show { workflow, store } => shown(&workflow, &store.store, out),
        WorkflowCommand::List(args) => listed(&args, out),
        WorkflowCommand::Prefer {
            workflow,
            set,
            remove,
        } => prefer(&workflow, &set, remove, out),
        WorkflowCommand::Step {
            workflow,
            text,
            run,
            payload,
        } => step(&workflow, text, run, payload, out),
        WorkflowCommand::Heartbeat {
            run,
            owner,
            lease,
            options,
        } => {
            let mut writer = Writer::open(&options)?;
            let beat = Heartbeat {
                run: writer.run(&run)?,
                owner,
                lease: millis_of("--lease", &lease)?,
            };
            let done = writer.record(&beat)?;
            turned(
                &done,
                &format!("is worked on; its workflow is {}", done.workflow_status),
                out,
            )
        }
        WorkflowCommand::Claim {
            run,
            owner,
            workflow,
            lease,
            store,
        } => {
            let wanted = ClaimNext {
                run,
                workflow,
                owner,
                lease: millis_of("--lease", &lease)?,
            };
            claim(wanted, &store.store, out)
        }
        WorkflowCommand::State {
            run,
            set,
            owner,
            options,
        } => state(&run, set, owner, &options, out),
    }
}

/// A store of workflows, opened for writing.
pub(super) struct Writer {
    tables: Box<dyn Tables + Send>,
    version: Option<i64>,
    now: i64,
}

impl Writer {
    pub(super) fn open(options: &ChangeOptions) -> Result<Writer, CliError> {
        let now = locate::recorded_now()?;
        Ok(Writer {
            tables: WorkflowPlace::named(&options.store.store)?.write()?,
            version: options.if_version,
            now,
        })
    }

    /// Returns the id of the workflow that a name means.
    pub(super) fn workflow(&self, name: &str) -> Result<String, CliError> {
        Ok(find_workflow(&*self.tables, name)?)
    }

    /// Returns the id of the run that a name means.
    pub(super) fn run(&self, name: &str) -> Result<String, CliError> {
        Ok(find_run(&*self.tables, name)?)
    }

    pub(super) fn record<C: TableCommand>(&mut self, command: &C) -> Result<C::Done, CliError> {
        let done = record(&mut *self.tables, command, self.version, self.now)?;
        out::recorded();
        Ok(done)
    }

    pub(super) fn tables(&mut self) -> &mut dyn Tables {
        &mut *self.tables
    }
}

fn setup(apply: bool, store: &str, out: &Out) -> Result<Exit, CliError> {
    let kept = WorkflowPlace::named(store)?;
    if apply {
        kept.set_up()?;
        out::recorded();
    }
    let done = ServerSetUp {
        address: Some(kept.name()),
        sql: kept.sql().to_owned(),
        applied: apply,
        project: None,
    };
    out.show(&done, || match apply {
        true => format!(
            "{} has the tables for workflows\n",
            escape(&kept.name(), false)
        ),
        false => done.sql.to_owned(),
    })
}

fn start(args: StartArgs, out: &Out) -> Result<Exit, CliError> {
    let kept = WorkflowPlace::named(&args.options.store.store)?;
    let now = locate::recorded_now()?;
    let mut writer = Writer {
        now,
        tables: match &args.workflow {
            None => kept.make()?,
            Some(_) => kept.write()?,
        },
        version: args.options.if_version,
    };
    let start = Start {
        workflow: args
            .workflow
            .map(|name| writer.workflow(&name))
            .transpose()?,
        new_workflow: id("--id", args.id)?,
        run: id("--run", args.run)?,
        input: text(args.input)?,
        no_clarifications: args.no_clarifications,
        parallel: args.parallel,
        owner: args.owner,
        tail: args.tail,
    };
    let done: StartResult = writer.record(&start)?;
    dropped(done.dropped);
    if done.already {
        say(&note("the run had already begun; nothing was changed"));
    }
    out.show(&done, || {
        format!(
            "workflow {}\nrun      {}\n",
            escape(&done.workflow_id, false),
            escape(&done.run_id, false)
        )
    })
}

/// Returns the id that the user chose with `option`, or a new UUID.
fn id(option: &str, chosen: Option<String>) -> Result<String, CliError> {
    let Some(chosen) = chosen else {
        return Ok(Uuid::now_v7().to_string());
    };
    let id = Uuid::parse_str(&chosen)
        .map_err(|cause| CliError::usage(format!("{option} {chosen} is not a UUID: {cause}")))?;
    Ok(id.to_string())
}

fn cancel(args: &WorkflowArgs, run: Option<String>, out: &Out) -> Result<Exit, CliError> {
    let mut writer = Writer::open(&args.options)?;
    let cancel = Cancel {
        workflow: writer.workflow(&args.workflow)?,
        run: run.map(|run| writer.run(&run)).transpose()?,
    };
    status(&writer.record(&cancel)?, out)
}

fn finish(args: WorkflowFinishArgs, out: &Out) -> Result<Exit, CliError> {
    let output = text(args.output)?;
    let output = Json::parse(&output).map_err(|cause| {
        CliError::usage(format!("--output is not valid JSON: {cause}"))
            .hint("write a text in double quotes: --output '\"done\"'")
    })?;
    if output.is_null() {
        return Err(CliError::usage("--output is null, which records no output")
            .hint("write the result of the run, or end the run with `prosescope workflow fail`"));
    }
    let mut writer = Writer::open(&args.options)?;
    let finish = Finish {
        run: writer.run(&args.run)?,
        output,
        message: args.message.map(text).transpose()?,
        summary: args.summary,
        tail: args.tail,
        owner: args.owner,
    };
    turned(&writer.record(&finish)?, "completed", out)
}

fn claim(mut wanted: ClaimNext, store: &str, out: &Out) -> Result<Exit, CliError> {
    let now = locate::recorded_now()?;
    let mut tables = WorkflowPlace::named(store)?.write()?;
    wanted.named(&*tables)?;
    let claimed = wanted.claim(&mut *tables, now)?;
    let claimed = claimed.ok_or_else(|| CliError::not_found("no run needs work"))?;
    out::recorded();
    out.show(&claimed, || format!("{}\n", escape(&claimed.run.id, false)))
}

fn state(
    run: &str,
    set: Option<String>,
    owner: Option<String>,
    options: &ChangeOptions,
    out: &Out,
) -> Result<Exit, CliError> {
    let Some(set) = set else {
        let rows = WorkflowPlace::named(&options.store.store)?.read()?;
        let id = find_run(&*rows, run)?;
        let turn = turn_of(&*rows, &id)?;
        let turn = turn.ok_or_else(|| CliError::not_found(format!("there is no run {id}")))?;
        return out.show(&turn.state, || {
            let text = serde_json::to_string_pretty(&turn.state.value()).unwrap_or_default();
            format!("{}\n", escape(&text, true))
        });
    };
    let mut writer = Writer::open(options)?;
    let set = SetState {
        run: writer.run(run)?,
        state: object("--set", &text(set)?)?,
        owner,
    };
    turned(&writer.record(&set)?, "has this checkpoint", out)
}

/// Parses the duration of an option, as milliseconds.
fn millis_of(option: &str, text: &str) -> Result<i64, CliError> {
    let timeout = Timeout::parse(text)
        .map_err(|error| CliError::usage(format!("{option} {text} is not a duration: {error}")))?;
    Ok(super::millis(&timeout))
}

fn shown(workflow: &str, store: &str, out: &Out) -> Result<Exit, CliError> {
    let rows = WorkflowPlace::named(store)?.read()?;
    let id = find_workflow(&*rows, workflow)?;
    let view = show(&*rows, &id)?;
    let view = view.ok_or_else(|| CliError::not_found(format!("there is no workflow {id}")))?;
    out.show(&view, || print::workflow(&view, out.width))
}

fn listed(args: &ListArgs, out: &Out) -> Result<Exit, CliError> {
    let kept = WorkflowPlace::named(&args.store.store)?;
    let status = match &args.status {
        None => None,
        Some(word) => Some(WorkflowStatus::parse(word).ok_or_else(|| {
            let words: Vec<&str> = WorkflowStatus::ALL
                .iter()
                .map(|status| status.word())
                .collect();
            CliError::usage(format!("{word} is not a status of workflows"))
                .hint(format!("use one of {}", words.join(", ")))
        })?),
    };
    if let Some(silent) = &args.stuck {
        let silent = millis_of("--stuck", silent)?;
        let found: Vec<StuckRun> = match kept.is_there() {
            false => Vec::new(),
            true => stuck(&*kept.read()?, silent, locate::now())?,
        };
        return out.show(&found, || {
            print::stuck(&found, &human_duration(silent), out.width)
        });
    }
    let wanted = WorkflowFilter {
        status,
        waiting: args.waiting,
        limit: args.limit,
    };
    let found = match kept.is_there() {
        // A missing file means that no workflow was begun, which is not an error.
        false => WorkflowList::default(),
        true => list(&*kept.read()?, &wanted)?,
    };
    out.show(&found, || print::workflows(&found, out.width))
}

fn prefer(
    args: &WorkflowArgs,
    set: &[String],
    remove: Vec<String>,
    out: &Out,
) -> Result<Exit, CliError> {
    if set.is_empty() && remove.is_empty() {
        let rows = WorkflowPlace::named(&args.options.store.store)?.read()?;
        let id = find_workflow(&*rows, &args.workflow)?;
        let view = show(&*rows, &id)?.unwrap_or_default();
        let done = DataSet {
            workflow_id: id,
            value: view.workflow.preferences,
            already: true,
        };
        return out.show(&done, || preferences(&done));
    }
    let set = set.iter().map(|pair| {
        let (key, value) = pair
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| {
                CliError::usage(format!("{pair} is not KEY=VALUE"))
                    .hint("write, for example, language=German or depth=3")
            })?;
        let value = Json::parse(value).unwrap_or_else(|_| Json::string(value));
        Ok((key.to_owned(), value))
    });
    let set: Result<Vec<(String, Json)>, CliError> = set.collect();
    let mut writer = Writer::open(&args.options)?;
    let prefer = Prefer {
        workflow: writer.workflow(&args.workflow)?,
        set: set?,
        remove,
    };
    let done = writer.record(&prefer)?;
    out.show(&done, || preferences(&done))
}

fn preferences(done: &DataSet) -> String {
    let value = serde_json::to_string_pretty(&done.value.value()).unwrap_or_default();
    format!("{}\n", escape(&value, true))
}

fn step(
    args: &WorkflowArgs,
    said: String,
    run: Option<String>,
    payload: Option<String>,
    out: &Out,
) -> Result<Exit, CliError> {
    let mut writer = Writer::open(&args.options)?;
    let step = ImportantStep {
        workflow: writer.workflow(&args.workflow)?,
        run: run.map(|run| writer.run(&run)).transpose()?,
        text: text(said)?,
        payload: payload
            .as_deref()
            .map(|text| object("--payload", text))
            .transpose()?,
    };
    let done = writer.record(&step)?;
    out.show(&done, || {
        let id = escape(&done.workflow_id, false);
        format!("step recorded in workflow {id}\n")
    })
}

fn moved(
    args: &WorkflowArgs,
    to: impl FnOnce(String) -> Move,
    out: &Out,
) -> Result<Exit, CliError> {
    let mut writer = Writer::open(&args.options)?;
    let command = to(writer.workflow(&args.workflow)?);
    status(&writer.record(&command)?, out)
}

fn status(done: &StatusChange, out: &Out) -> Result<Exit, CliError> {
    out.show(done, || {
        let already = if done.already { " already" } else { "" };
        let mut text = format!(
            "workflow {} is{already} {}\n",
            done.workflow_id, done.status
        );
        for run in &done.cancelled_runs {
            text.push_str(&format!("run {run} is cancelled\n"));
        }
        escape(&text, true)
    })
}

fn turned(done: &TurnResult, what: &str, out: &Out) -> Result<Exit, CliError> {
    dropped(done.dropped);
    out.show(done, || {
        let already = if done.already { ", as before" } else { "" };
        escape(&format!("run {} {what}{already}\n", done.run_id), true)
    })
}

fn dropped(messages: u32) {
    if messages > 0 {
        say(&note(&format!(
            "the {messages} oldest messages were dropped from the context without a summary. `prosescope workflow finish --summary` records a summary; --tail keeps more messages"
        )));
    }
}

/// Returns the text of an argument. The argument `-` means the text on standard input.
pub(super) fn text(argument: String) -> Result<String, CliError> {
    if argument != "-" {
        return Ok(argument);
    }
    String::from_utf8(input::standard()?)
        .map_err(|cause| CliError::usage(format!("standard input is not valid UTF-8: {cause}")))
}

/// Parses the JSON object of an option.
pub(super) fn object(option: &str, text: &str) -> Result<Json, CliError> {
    let wrong = |why: String| CliError::usage(why).hint("write a JSON object: '{\"key\": …}'");
    let json =
        Json::parse(text).map_err(|cause| wrong(format!("{option} is not valid JSON: {cause}")))?;
    match json.is_object() {
        true => Ok(json),
        false => Err(wrong(format!("{option} is not a JSON object"))),
    }
}
