//! An interpreter that does not read programs: it runs the commands that `next` offers, and replaces their placeholders
//! in capitals.

use std::collections::BTreeMap;

use crate::driver::{Stop, Vm, words};
use crate::log::option;
use crate::plan::{After, Fail, Mishaps};
use prosescope_test_support::random::Chance;

/// The number of steps after which the interpreter prefers commands that end something.
const LONG: usize = 160;
/// Maximum number of rounds of a loop, and of items of a parallel.
const MOST: usize = 3;

struct State<'a> {
    vm: &'a mut Vm,
    chance: Chance,
    fail: Option<Fail>,
    reject: bool,
    steps: usize,
    leaves: usize,
    rounds: BTreeMap<String, usize>,
    names: usize,
    /// Whether the failure is passed on to the enclosing statements. False again when the run is reopened.
    outwards: bool,
    /// The commands that retried an execution.
    retried: Vec<String>,
    thrown: bool,
}

/// Records a run to its end by following `next`.
pub(crate) fn interpret(vm: &mut Vm, seed: u64, mishaps: Mishaps) -> Result<(), Stop> {
    let mut state = State {
        vm,
        chance: Chance::new(seed),
        fail: mishaps.fail,
        reject: mishaps.reject,
        steps: 0,
        leaves: 0,
        rounds: BTreeMap::new(),
        names: 0,
        outwards: false,
        retried: Vec::new(),
        thrown: false,
    };
    while state.step()? {}
    Ok(())
}

impl State<'_> {
    /// Runs one command. Returns false if the run has ended.
    fn step(&mut self) -> Result<bool, Stop> {
        self.steps += 1;
        let next = self.vm.json("next")?;
        let choices: Vec<String> = next["choices"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|choice| choice["command"].as_str().map(str::to_owned))
            .collect();
        if choices.is_empty() {
            return match self.vm.log.finished.as_deref() {
                Some("completed") => Ok(false),
                _ => Err(Stop::new(
                    "next",
                    "offers nothing, and the run is not completed",
                )),
            };
        }
        let command = self.choose(&choices);
        let command = self.filled(&command);
        if command == "resume" {
            return Err(Stop::new(
                "next",
                format!("does not know: {}", next["choices"][0]["why"]),
            ));
        }
        if command.starts_with("finish failed") {
            return self.finish_failed(&command);
        }
        let args = words(&command);
        // `next` shows a gate that waits; the interpreter decides it as a person would.
        if let [verb, wait, _, gate, ..] = args.as_slice()
            && (verb.as_str(), wait.as_str()) == ("gate", "wait")
        {
            let gate = gate.clone();
            let approve = !self.reject || !self.chance.once_in(3);
            // The program throws at a gate that was rejected, unless it continues.
            self.thrown |= !approve;
            self.vm.decide(&gate, approve)?;
            return Ok(true);
        }
        let input = if args.first().is_some_and(|word| word == "put") {
            format!("value {}", self.steps)
        } else {
            String::new()
        };
        self.vm.go(&command, &input)?;
        Ok(!command.starts_with("finish"))
    }

    /// Ends the run as failed. If the program itself threw, returns false, because the run has ended. If the test
    /// caused the failure, resumes the run and returns true.
    fn finish_failed(&mut self, command: &str) -> Result<bool, Stop> {
        self.vm.go(command, "")?;
        if self.thrown && !self.outwards {
            return Ok(false);
        }
        self.outwards = false;
        let next = self.vm.json("next")?;
        let offered = next["choices"][0]["command"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if !offered.starts_with("prosescope resume --begin") {
            return Err(Stop::new("next", format!("after finish failed: {offered}")));
        }
        self.vm.go("resume --begin", "")?;
        Ok(true)
    }

    fn choose(&mut self, choices: &[String]) -> String {
        if let Some(failed) = self.failure(choices) {
            return failed;
        }
        let find = |part: &str| choices.iter().find(|choice| choice.contains(part)).cloned();
        if let Some(wait) = find("prosescope gate wait ") {
            return wait;
        }
        if let Some(retry) = find(" retry ") {
            let again = self.retried.contains(&retry);
            let out = choices.iter().find(|choice| !choice.contains(" retry "));
            match out {
                Some(out) if self.outwards || again => return out.clone(),
                _ => {
                    self.retried.push(retry.clone());
                    return retry;
                }
            }
        }
        if let Some(throws) = choices
            .first()
            .filter(|choice| choice.contains("prosescope fail "))
        {
            self.thrown |= !self.outwards;
            return throws.clone();
        }
        // The number of rounds and items is limited, so that the run ends.
        let again = choices
            .iter()
            .find(|choice| choice.contains(" round ") || choice.contains("--item NAME"));
        if let Some(again) = again {
            let count = self.rounds.entry(again.clone()).or_default();
            *count += 1;
            let most = if self.steps > LONG { 0 } else { MOST - 1 };
            let out = choices.iter().find(|choice| *choice != again);
            return match out {
                Some(out) if *count > most || self.chance.once_in(2) => out.clone(),
                _ => again.clone(),
            };
        }
        let last = choices.last().cloned().unwrap_or_default();
        if self.steps > LONG && !self.chance.once_in(4) {
            return last;
        }
        self.chance.one(choices).cloned().unwrap_or(last)
    }

    /// Returns a command that fails the statement that would write its value next, if the plan requires this now.
    fn failure(&mut self, choices: &[String]) -> Option<String> {
        let id = choices.iter().find_map(|choice| {
            let args = words(choice);
            let is_put = args.get(1).is_some_and(|word| word == "put");
            option(&args, "--into")
                .filter(|_| is_put)
                .map(str::to_owned)
        })?;
        self.leaves += 1;
        let fail = self.fail.filter(|fail| fail.nth == self.leaves)?;
        self.fail = None;
        self.outwards = fail.after == After::Outwards;
        Some(format!("prosescope fail {id} boom"))
    }

    /// Returns the words of a command without the program's name, with its placeholders filled in.
    fn filled(&mut self, command: &str) -> String {
        let words: Vec<String> = command
            .split(' ')
            .skip(1)
            .filter(|word| !matches!(*word, "<" | "FILE"))
            .map(|word| match word {
                "NAME" => {
                    self.names += 1;
                    format!("item{}", self.names)
                }
                "TEXT" => "boom".to_owned(),
                "RUN" => self.vm.run.clone(),
                word => word.to_owned(),
            })
            .collect();
        words.join(" ")
    }
}
