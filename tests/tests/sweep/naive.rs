//! A naive interpreter of programs. It knows only `help vm`, the indentation of lines and their first words, and the
//! output of commands.

use std::collections::BTreeMap;

use crate::by_next;
use crate::driver::{Stop, Vm};
use crate::lines::{Line, bound, names, read, word};
use crate::log::{branch, first};
use crate::plan::{After, Fail, Mishaps};
use prosescope_test_support::random::Chance;

/// Maximum depth of nested block calls. A deeper call ends at once.
const DEEPEST: usize = 3;

/// How a statement or a body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Done,
    Failed,
    /// The block returns a value, which ends everything inside it.
    Returned,
}

pub(crate) struct Naive<'a> {
    pub(crate) vm: &'a mut Vm,
    pub(crate) chance: Chance,
    blocks: BTreeMap<String, Vec<Line>>,
    fail: Option<Fail>,
    reject: bool,
    leaves: usize,
    pub(crate) depth: usize,
    /// The branch or item in which statements run.
    pub(crate) item: Option<String>,
    values: usize,
    outwards: bool,
}

/// Records a run to its end.
pub(crate) fn interpret(
    vm: &mut Vm,
    program: &str,
    seed: u64,
    mishaps: Mishaps,
) -> Result<(), Stop> {
    let lines = read(program);
    let mut naive = Naive {
        vm,
        chance: Chance::new(seed),
        blocks: BTreeMap::new(),
        fail: mishaps.fail,
        reject: mishaps.reject,
        leaves: 0,
        depth: 0,
        item: None,
        values: 0,
        outwards: false,
    };
    naive.declare(&lines);
    if naive.body(&lines)? != Flow::Failed {
        naive.vm.go("finish", "")?;
        return Ok(());
    }
    naive.vm.go("finish failed", "")?;
    if naive.outwards {
        // `help vm` explains how to continue: reopen the run, retry the failed statement, then follow `next`.
        naive.vm.go("resume --begin", "")?;
        return by_next::interpret(naive.vm, seed, Mishaps::default());
    }
    Ok(())
}

impl Naive<'_> {
    fn declare(&mut self, lines: &[Line]) {
        for line in lines {
            if word(&line.text) == "block" {
                self.blocks
                    .insert(names(&line.text).to_owned(), line.below.clone());
            }
            self.declare(&line.below);
        }
    }

    /// Runs the statements of a body, one after the other.
    pub(crate) fn body(&mut self, lines: &[Line]) -> Result<Flow, Stop> {
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let (_, what) = bound(&line.text);
            let followers = lines.get(at + 1..).unwrap_or_default();
            let belongs: usize = match word(what) {
                "try" => followers
                    .iter()
                    .take_while(|l| is(l, &["catch", "finally"]))
                    .count(),
                "if" => followers
                    .iter()
                    .take_while(|l| is(l, &["elif", "else"]))
                    .count(),
                _ => followers
                    .iter()
                    .take_while(|l| l.text.starts_with('|'))
                    .count(),
            };
            let group = lines.get(at..=at + belongs).unwrap_or_default();
            let flow = self.statement(line, group)?;
            if flow != Flow::Done {
                return Ok(flow);
            }
            at += belongs + 1;
        }
        Ok(Flow::Done)
    }

    fn statement(&mut self, line: &Line, group: &[Line]) -> Result<Flow, Stop> {
        let (name, what) = bound(&line.text);
        let no = line.no;
        let pipes = [" | map", " | filter", " | reduce", " | pmap"];
        if pipes.iter().any(|pipe| line.text.contains(pipe)) {
            return self.pipe(group, name);
        }
        match word(what) {
            "agent" | "block" => Ok(Flow::Done),
            "use" | "import" => {
                self.vm.go(&format!("begin {no}"), "")?;
                Ok(Flow::Done)
            }
            "input" => {
                let value = self.value();
                self.vm.go(&format!("put {}", names(&line.text)), &value)?;
                Ok(Flow::Done)
            }
            "approve" | "gate" => self.gate(line),
            "do" if what.starts_with("do:") => self.sequence(line, name),
            "do" => self.call(line, name),
            "if" => self.condition(group),
            "choice" => self.choice(line),
            "try" => self.attempt(group),
            "loop" | "repeat" | "for" | "while" => self.looped(line),
            "parallel" if what.contains(" for ") => self.parallel_for(line),
            "parallel" => self.parallel(line),
            "throw" => {
                let id = self.run(no)?;
                self.vm.go(&format!("fail {id} thrown"), "")?;
                Ok(Flow::Failed)
            }
            "return" => {
                let id = self.run(no)?;
                self.vm.go(&format!("end {id}"), "")?;
                Ok(if self.depth > 0 {
                    Flow::Returned
                } else {
                    Flow::Done
                })
            }
            _ => {
                let id = self.run(no)?;
                self.leaf(id, line)
            }
        }
    }

    /// Ends a statement that has no body by writing its value, or fails the statement if the plan requires it.
    pub(crate) fn leaf(&mut self, id: i64, line: &Line) -> Result<Flow, Stop> {
        let (name, what) = bound(&line.text);
        self.leaves += 1;
        if let Some(fail) = self.fail.filter(|fail| fail.nth <= self.leaves) {
            self.fail = None;
            self.vm.go(&format!("fail {id} boom"), "")?;
            if fail.after == After::Outwards {
                self.outwards = true;
                return Ok(Flow::Failed);
            }
            self.vm.go(&format!("retry {id}"), "")?;
        }
        let runs = ["session", "resume", "exec", "do", "call"].contains(&word(what))
            || what.contains("->");
        self.end(id, name, runs)?;
        Ok(Flow::Done)
    }

    /// Ends an execution with a named value, an anonymous value, or no value.
    pub(crate) fn end(&mut self, id: i64, name: Option<&str>, anonymous: bool) -> Result<(), Stop> {
        let value = self.value();
        match name {
            Some(name) => self.vm.go(&format!("put {name} --into {id}"), &value)?,
            None if anonymous => self.vm.go(&format!("put --anon --into {id}"), &value)?,
            None => self.vm.go(&format!("end {id}"), "")?,
        };
        Ok(())
    }

    /// Ends a statement that has a body, in the same way as its body ended.
    pub(crate) fn close(&mut self, id: i64, name: Option<&str>, flow: Flow) -> Result<Flow, Stop> {
        match flow {
            Flow::Failed => {
                self.vm.go(&format!("fail {id} boom"), "")?;
            }
            _ => self.end(id, name, false)?,
        }
        Ok(flow)
    }

    /// Begins the statement of a line. Returns the number of its execution.
    pub(crate) fn run(&mut self, no: u32) -> Result<i64, Stop> {
        let item = self.in_item();
        self.begin(&format!("begin {no}{item}")).map(|(id, _)| id)
    }

    /// Runs a command that prints the number of an execution on its first line, and branches on the next lines.
    /// Returns the number and the branches.
    pub(crate) fn begin(&mut self, command: &str) -> Result<(i64, Vec<(i64, String)>), Stop> {
        let printed = self.vm.go(command, "")?;
        let id = first(&printed).ok_or_else(|| Stop::new(command, "prints no id"))?;
        Ok((id, printed.lines().skip(1).filter_map(branch).collect()))
    }

    pub(crate) fn in_item(&self) -> String {
        let item = self.item.as_ref();
        item.map_or(String::new(), |name| format!(" --item '{name}'"))
    }

    fn call(&mut self, line: &Line, name: Option<&str>) -> Result<Flow, Stop> {
        let id = self.run(line.no)?;
        self.called(id, line, name)
    }

    /// Runs the block that a line calls, in an execution that has begun.
    pub(crate) fn called(
        &mut self,
        id: i64,
        line: &Line,
        name: Option<&str>,
    ) -> Result<Flow, Stop> {
        let (_, what) = bound(&line.text);
        let block = names(what.split(" as ").next().unwrap_or_default());
        let body = self.blocks.get(block).cloned().unwrap_or_default();
        let mut flow = Flow::Done;
        if self.depth < DEEPEST {
            self.depth += 1;
            flow = self.body(&body)?;
            self.depth -= 1;
        }
        if flow == Flow::Returned {
            flow = Flow::Done;
        }
        self.close(id, name, flow)
    }

    /// Creates a gate and decides it. Adds an option for an id or a prompt that the program does not define.
    fn gate(&mut self, line: &Line) -> Result<Flow, Stop> {
        let name = match names(&line.text) {
            condition if condition.starts_with('*') => format!("g{}", line.no),
            name => name.to_owned(),
        };
        let asks = line.below.iter().any(|below| word(&below.text) == "prompt");
        let item = self.in_item();
        let command = if asks && !names(&line.text).starts_with('*') {
            format!("begin {}{item}", line.no)
        } else {
            format!(
                "gate create {name} --line {}{item} --prompt Proceed?",
                line.no
            )
        };
        let printed = self.vm.go(&command, "")?;
        let gate = printed.lines().next().unwrap_or_default().trim().to_owned();
        let approve = !self.reject || !self.chance.once_in(3);
        self.vm.decide(&gate, approve)?;
        let on_reject = line
            .below
            .iter()
            .find(|below| word(&below.text) == "on_reject");
        let goes_on = on_reject.is_some_and(|own| own.text.contains("continue"));
        Ok(if approve || goes_on {
            Flow::Done
        } else {
            Flow::Failed
        })
    }

    fn sequence(&mut self, line: &Line, name: Option<&str>) -> Result<Flow, Stop> {
        let id = self.run(line.no)?;
        let flow = self.body(&line.below)?;
        self.close(id, name, flow)
    }

    pub(crate) fn value(&mut self) -> String {
        self.values += 1;
        format!("value {}", self.values)
    }
}

/// Returns whether a line begins with one of these words.
fn is(line: &Line, words: &[&str]) -> bool {
    words.contains(&word(&line.text))
}
