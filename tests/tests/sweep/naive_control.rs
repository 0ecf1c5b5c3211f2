//! Implements the control flow of the naive interpreter: conditions, error handlers, rounds, branches and items.

use crate::driver::Stop;
use crate::lines::{Line, bound, word};
use crate::naive::{Flow, Naive};

/// Maximum number of rounds of a loop, and of items of a list.
const MOST: usize = 3;

impl Naive<'_> {
    pub(crate) fn condition(&mut self, ways: &[Line]) -> Result<Flow, Stop> {
        let otherwise = ways
            .iter()
            .any(|way| word(&way.text) == "else" && !way.text.contains("if"));
        let open = usize::from(!otherwise);
        let taken = self.chance.below(ways.len() + open);
        let Some(way) = ways.get(taken) else {
            return Ok(Flow::Done);
        };
        self.held(way)
    }

    /// Begins the statement of a line, runs the lines below it, and ends the statement.
    fn held(&mut self, line: &Line) -> Result<Flow, Stop> {
        let id = self.run(line.no)?;
        let flow = self.body(&line.below)?;
        self.close(id, bound(&line.text).0, flow)
    }

    pub(crate) fn choice(&mut self, line: &Line) -> Result<Flow, Stop> {
        let id = self.run(line.no)?;
        let option = self.chance.one(&line.below).cloned();
        let flow = option.map_or(Ok(Flow::Done), |option| self.held(&option))?;
        self.close(id, bound(&line.text).0, flow)
    }

    pub(crate) fn attempt(&mut self, group: &[Line]) -> Result<Flow, Stop> {
        let Some((own, rest)) = group.split_first() else {
            return Ok(Flow::Done);
        };
        let find = |what: &str| rest.iter().find(|line| word(&line.text) == what);
        let id = self.run(own.no)?;
        let mut flow = self.body(&own.below)?;
        if flow == Flow::Failed
            && let Some(catch) = find("catch")
        {
            flow = self.held(catch)?;
        }
        let flow = self.close(id, bound(&own.text).0, flow)?;
        if let Some(last) = find("finally") {
            self.held(last)?;
        }
        Ok(flow)
    }

    pub(crate) fn looped(&mut self, line: &Line) -> Result<Flow, Stop> {
        let item = self.in_item();
        let (id, _) = self.begin(&format!("begin {}{item}", line.no))?;
        let counted = line.text.strip_prefix("repeat ").map(word);
        let rounds = match counted.and_then(|count| count.parse().ok()) {
            Some(count) => count,
            None => 1 + self.chance.below(MOST),
        };
        for round in 0..rounds {
            if round > 0 {
                self.vm.go(&format!("round {id}"), "")?;
            }
            match self.body(&line.below)? {
                Flow::Failed => return self.close(id, None, Flow::Failed),
                Flow::Returned => {
                    self.vm.go(&format!("end {id}"), "")?;
                    return Ok(Flow::Returned);
                }
                Flow::Done => {}
            }
        }
        self.vm.go(&format!("end {id}"), "")?;
        Ok(Flow::Done)
    }

    pub(crate) fn parallel(&mut self, line: &Line) -> Result<Flow, Stop> {
        let item = self.in_item();
        let (id, branches) = self.begin(&format!("begin {}{item}", line.no))?;
        let mut groups: Vec<Vec<Line>> = Vec::new();
        for below in &line.below {
            match word(&below.text) {
                "catch" | "finally" | "elif" | "else" => {
                    if let Some(group) = groups.last_mut() {
                        group.push(below.clone());
                    }
                }
                _ => groups.push(vec![below.clone()]),
            }
        }
        if groups.len() != branches.len() {
            let error = format!(
                "{} branches, and the program has {}",
                branches.len(),
                groups.len()
            );
            return Err(Stop::new(format!("begin {}", line.no), error));
        }
        let (mut all, outer) = (Flow::Done, self.item.clone());
        for ((branch, name), group) in branches.into_iter().zip(groups) {
            self.item = Some(name);
            if self.branch(branch, &group)? == Flow::Failed {
                all = Flow::Failed;
            }
        }
        self.item = outer;
        let passes = ["continue", "ignore", "first", "any"]
            .iter()
            .any(|word| line.text.contains(word));
        if all == Flow::Failed && !passes {
            return self.close(id, None, all);
        }
        self.vm.go(&format!("end {id}"), "")?;
        Ok(Flow::Done)
    }

    fn branch(&mut self, id: i64, group: &[Line]) -> Result<Flow, Stop> {
        let Some(line) = group.first() else {
            return Ok(Flow::Done);
        };
        let (name, what) = bound(&line.text);
        match word(what) {
            "session" | "resume" | "exec" => self.leaf(id, line),
            "do" if !what.starts_with("do:") => self.called(id, line, name),
            _ => {
                let flow = self.body(group)?;
                self.close(id, None, flow)
            }
        }
    }

    pub(crate) fn parallel_for(&mut self, line: &Line) -> Result<Flow, Stop> {
        let item = self.in_item();
        let (id, _) = self.begin(&format!("begin {}{item}", line.no))?;
        let flow = self.items(&line.below)?;
        if flow == Flow::Failed {
            return self.close(id, None, flow);
        }
        self.vm.go(&format!("end {id}"), "")?;
        Ok(flow)
    }

    /// Runs `list | map:` and the operations that follow it.
    pub(crate) fn pipe(&mut self, group: &[Line], name: Option<&str>) -> Result<Flow, Stop> {
        let Some(line) = group.first() else {
            return Ok(Flow::Done);
        };
        let id = self.run(line.no)?;
        let body: Vec<Line> = group.iter().flat_map(|part| part.below.clone()).collect();
        let flow = self.items(&body)?;
        self.close(id, name, flow)
    }

    /// Runs a body several times, once for each item.
    fn items(&mut self, body: &[Line]) -> Result<Flow, Stop> {
        let outer = self.item.clone();
        let mut all = Flow::Done;
        for nth in 0..1 + self.chance.below(MOST) {
            self.item = Some(format!("item{nth}"));
            let flow = self.body(body)?;
            if body.len() > 1 {
                self.end_item(flow)?;
            }
            if flow != Flow::Done {
                all = flow;
                break;
            }
        }
        self.item = outer;
        Ok(all)
    }

    /// Ends an item of several lines with the command that `next` offers, because no command prints an item's id.
    fn end_item(&mut self, flow: Flow) -> Result<(), Stop> {
        let next = self.vm.json("next")?;
        let verb = if flow == Flow::Failed {
            " fail "
        } else {
            " end "
        };
        let choices = next["choices"].as_array().into_iter().flatten();
        let mut commands = choices.filter_map(|choice| choice["command"].as_str());
        let Some(command) = commands.find(|command| command.contains(verb)) else {
            return Err(Stop::new(
                "next",
                format!("offers no{verb}for an item: {}", next["choices"]),
            ));
        };
        let command = command
            .replacen("prosescope ", "", 1)
            .replace("TEXT", "boom");
        self.vm.go(&command, "")?;
        Ok(())
    }
}
