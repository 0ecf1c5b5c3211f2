use prosescope_core::pages::session::pages::{self, COMPARED, CompareOptions, NotComparable};

use super::{ended, markdown, unread};
use crate::args::diff::DiffArgs;
use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;
use crate::{locate, print};

pub(super) fn run(args: &DiffArgs, out: &Out) -> Result<Exit, CliError> {
    let options = CompareOptions {
        all: args.all,
        anyway: args.anyway,
    };
    if args.markdown {
        return markdown::compared(args, options, out);
    }
    let (a, b) = (locate::open(&args.a)?, locate::open(&args.b)?);
    let view = pages::compare(&a, &b, Some(locate::now()), options).map_err(refused)?;
    out.show(&view, || print::compared(&view, out.width))?;
    unread::require_parts(&a, &COMPARED)?;
    unread::require_parts(&b, &COMPARED)?;
    Ok(ended(&a).max(ended(&b)))
}

pub(super) fn refused(why: NotComparable) -> CliError {
    let message = why.to_string();
    match why {
        NotComparable::NoRun(_) => {
            CliError::not_found(message).hint("`prosescope runs` lists the runs")
        }
        NotComparable::Programs(_) => CliError::refused("different-programs", message)
            .hint("name two runs of one program; `prosescope runs --program TEXT` lists the runs of a program")
            .hint("--anyway compares runs of different programs, too"),
    }
}
