//! `prosescope help TOPIC` prints texts that are not about one command: how a model records a run, and the licenses of
//! the libraries that this program, the viewer and the npm package contain.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::error::CliError;
use crate::exit::Exit;
use crate::out::Out;

/// The license texts, packed with gzip by `cargo xtask`. Empty in a build by plain cargo in a checkout.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/licenses.txt.gz"));

/// The text of `prosescope help vm`.
pub(super) const VM: &str = include_str!("vm.txt");

/// Prints a topic of `prosescope help`. Returns `None` if there is no topic of this name.
pub(crate) fn print(topic: &str, out: &Out) -> Option<Result<Exit, CliError>> {
    match topic {
        "vm" => Some(out.text(VM).map(|()| Exit::Done)),
        "licenses" => Some(licenses(out)),
        _ => None,
    }
}

fn licenses(out: &Out) -> Result<Exit, CliError> {
    if PACKED.is_empty() {
        return Err(CliError::not_found(
            "this prosescope was built without the licenses of its libraries",
        )
        .hint("install a release, or use `cargo install prosescope`; in a checkout, `cargo xtask install` collects the licenses"));
    }
    let mut text = String::new();
    GzDecoder::new(PACKED)
        .read_to_string(&mut text)
        .map_err(|error| {
            CliError::new(
                Exit::Unreadable,
                format!("the licenses in this program are damaged: {error}"),
            )
            .hint("install prosescope again")
        })?;
    out.text(&text)?;
    Ok(Exit::Done)
}
