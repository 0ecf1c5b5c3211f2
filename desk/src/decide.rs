//! Makes a decision on a gate as a file and as commands, because the desk does not write to the run.

use prosescope_core::gate::decision::{Choice, DecisionFile, SeenHead};
use prosescope_core::write::{WriteError, principal};

use crate::Desk;
use crate::protocol::{DecisionMade, Trouble};

impl Desk {
    /// Returns a file with a decision on a gate, and the commands that record the same decision.
    pub(crate) fn decide(
        &mut self,
        place: &str,
        gate: &str,
        choice: Choice,
    ) -> Result<DecisionMade, Trouble> {
        // An invalid name is refused before the file is made, because `prosescope gates import` would refuse the file.
        for name in [Some(&choice.by), choice.on_behalf_of.as_ref()] {
            let name = name.map(|name| principal(name)).transpose();
            name.map_err(|error: WriteError| Trouble::new(error.to_string(), error.hint()))?;
        }
        let shared = self.source().and_then(|source| source.shared());
        let session = self.run(place)?;
        let run = session.run();
        let Some(gate) = run.gates.iter().find(|known| *known.id == *gate) else {
            return Err(Trouble::new(
                format!("The run has no gate {gate}."),
                "Choose a gate from the list on the page “Gates”.",
            ));
        };
        let of = gate.run_id.as_deref().unwrap_or(&run.id);
        let made = DecisionFile::new(of, gate, &run.audit, choice);
        let mut file = made.map_err(|why| {
            Trouble::new(
                format!("The decision cannot be made: {why}."),
                "Ask the run's owner for a newer copy of the run.",
            )
        })?;
        // A shared copy in which texts were replaced has an audit log that was sealed again, with other hashes. The
        // decision is for the original run, so the file gets the head of the original audit log, which the copy
        // records.
        let heads = shared.iter().flat_map(|shared| &shared.heads);
        if let Some(head) = heads.into_iter().find(|head| head.run == file.run) {
            file.seen.head = Some(SeenHead {
                count: head.count,
                hash: head.head.clone(),
            });
        }
        let name = session.name();
        Ok(DecisionMade {
            name: file.name(),
            text: file.text(),
            import_command: file.import_command(&name),
            command: file.command(&name),
        })
    }
}
