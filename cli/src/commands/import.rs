use prosescope_core::render::text::escape;
use prosescope_core::write::AddImport;

use crate::args::record::ImportCommand;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::record::Recorder;

pub(super) fn run(command: ImportCommand, out: &Out) -> Result<Exit, CliError> {
    let ImportCommand::Add {
        alias,
        source,
        program,
        inputs,
        outputs,
        run,
    } = command;
    let program = match &program {
        Some(path) => Some((path, super::init::read_program(path)?)),
        None => None,
    };
    let name = program.as_ref().and_then(|(path, _)| path.file_name());
    let name = name.map(|name| name.to_string_lossy().into_owned());
    let mut recorder = Recorder::open(&run.name()?)?;
    let mut done = recorder.record(&AddImport {
        alias,
        source_url: source,
        inputs_schema: inputs,
        outputs_schema: outputs,
        name,
        program: program.map(|(_, source)| source),
    })?;
    // A run in a database has no nested runs, so the answer must not name one.
    done.nested = done.nested.filter(|_| !recorder.is_database());
    let its = done.nested.as_ref();
    let its = its.map_or(String::new(), |run| format!(" (nested run: {run})"));
    let text = format!("Import registered: {}{its}\n", done.alias);
    out.show(&done, || escape(&text, true))
}
