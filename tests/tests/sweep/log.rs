//! Collects the facts that a trace must show, while a test carries out a program. The facts come from the recording
//! commands and the ids that these commands print.

use std::collections::BTreeMap;

/// The facts that the trace must show about one execution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Did {
    pub(crate) line: Option<u32>,
    pub(crate) status: &'static str,
    pub(crate) attempts: u32,
    pub(crate) rounds: u32,
    /// Whether the loop failed in the last of its `rounds`.
    in_round: bool,
    pub(crate) branch: Option<String>,
    pub(crate) wrote: Vec<String>,
}

/// The facts that the pages must show about a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    pub(crate) by_id: BTreeMap<i64, Did>,
    /// The gates in the order of their creation: id, line, decision.
    pub(crate) gates: Vec<(String, Option<u32>, &'static str)>,
    /// The items of parallels and lists, each with the line that began in the item. No command prints an item's id.
    pub(crate) items: Vec<(u32, String)>,
    loops: Vec<i64>,
    pub(crate) finished: Option<String>,
}

impl Log {
    /// Adds the effect of a command that succeeded.
    pub(crate) fn note(&mut self, args: &[String], printed: &str) {
        let word = |nth: usize| args.get(nth).map_or("", |word| &**word);
        let number = |nth: usize| word(nth).parse::<i64>().unwrap_or(-1);
        match (word(0), word(1)) {
            ("begin", line) if first(printed).is_some() => {
                let mut branches = printed.lines().skip(1).filter_map(branch).peekable();
                if let (Ok(line), Some(item)) = (line.parse(), option(args, "--item"))
                    && branches.peek().is_none()
                {
                    self.items.push((line, item.to_owned()));
                }
                // Only a loop has rounds.
                if printed.contains("`prosescope round ") {
                    self.loops.extend(first(printed));
                }
                self.begun(first(printed), line.parse().ok(), None);
                for (id, name) in branches {
                    self.begun(Some(id), None, Some(name));
                }
            }
            ("begin", _) if printed.starts_with("Import registered") => {}
            ("begin", line) => self.asked(printed, line.parse().ok()),
            ("gate", "create") => {
                let line = option(args, "--line").and_then(|line| line.parse().ok());
                self.asked(printed, line);
            }
            ("round", _) => self.round(number(1)),
            ("end", _) => {
                // A loop ends with its present round, if anything began in it. A round that failed counts, too.
                let rounds = printed.split_once(" exited after ");
                let rounds = rounds.and_then(|(_, of)| of.split(['/', '\n']).next()?.parse().ok());
                if let (Some(rounds), Some(did)) = (rounds, self.by_id.get_mut(&number(1))) {
                    did.rounds = did.rounds.max(rounds);
                }
                self.ended(number(1), "completed");
            }
            ("fail", _) => {
                // A failing loop fails in one of its rounds, so this round is counted.
                if self.loops.contains(&number(1)) {
                    self.round(number(1));
                    if let Some(did) = self.by_id.get_mut(&number(1)) {
                        did.in_round = true;
                    }
                }
                self.ended(number(1), "failed");
            }
            ("retry", _) => {
                if let Some(did) = self.by_id.get_mut(&number(1)) {
                    did.attempts += 1;
                    did.status = "executing";
                }
            }
            ("put", _) => self.put(args, printed),
            ("approve" | "reject", _) => {
                let id = word(2);
                let decided = if word(0) == "approve" {
                    "approved"
                } else {
                    "rejected"
                };
                for gate in self.gates.iter_mut().filter(|gate| gate.0 == id) {
                    gate.2 = decided;
                }
            }
            ("finish", status) => {
                let status = if status.is_empty() {
                    "completed"
                } else {
                    status
                };
                self.finished = Some(status.to_owned());
            }
            _ => {}
        }
    }

    fn asked(&mut self, printed: &str, line: Option<u32>) {
        let id = printed.lines().next().unwrap_or_default().trim().to_owned();
        self.gates.push((id, line, "pending"));
    }

    fn begun(&mut self, id: Option<i64>, line: Option<u32>, branch: Option<String>) {
        let Some(id) = id else { return };
        let did = Did {
            line,
            status: "executing",
            attempts: 1,
            branch,
            ..Did::default()
        };
        self.by_id.insert(id, did);
    }

    fn ended(&mut self, id: i64, status: &'static str) {
        if let Some(did) = self.by_id.get_mut(&id) {
            did.status = status;
        }
    }

    fn round(&mut self, id: i64) {
        if let Some(did) = self.by_id.get_mut(&id) {
            // A retried loop continues in the round that failed, so that round is counted once.
            did.rounds += u32::from(!std::mem::take(&mut did.in_round));
        }
    }

    fn put(&mut self, args: &[String], printed: &str) {
        let id = option(args, "--into").and_then(|id| id.parse::<i64>().ok());
        let Some(did) = id.and_then(|id| self.by_id.get_mut(&id)) else {
            return;
        };
        let name = printed
            .lines()
            .find_map(|line| line.strip_prefix("Binding written: "));
        did.wrote.extend(name.map(str::to_owned));
        did.status = "completed";
    }
}

/// Returns the value after an option such as `--item`.
pub(crate) fn option<'a>(args: &'a [String], name: &str) -> Option<&'a str> {
    let at = args.iter().position(|arg| arg == name)?;
    args.get(at + 1).map(|value| &**value)
}

/// Returns the id on the first line of a command's output.
pub(crate) fn first(printed: &str) -> Option<i64> {
    printed
        .lines()
        .next()?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Parses a branch as `begin` lists it: its id and its name.
pub(crate) fn branch(line: &str) -> Option<(i64, String)> {
    let (id, rest) = line.split_once(' ')?;
    let (name, _) = rest.split_once(": ")?;
    Some((id.parse().ok()?, name.to_owned()))
}
