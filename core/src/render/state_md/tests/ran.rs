//! Round trips of generated programs that are stopped at any point: state.md must give back what it can represent of
//! their rows (docs/reference/formats.md).

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::chance::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::decode::{folder, gates_json};
use crate::model::{Execution, Gate, Program, Run, RunStatus};
use crate::program::{Listing, scan};
use crate::render::state_md::{RenderOptions, from_run};
use crate::sqlite::MemorySource;
use crate::trace::{NodeId, NodeKind, NodeStatus, Trace, fold};

/// A statement of a generated program.
#[derive(Debug, Clone)]
enum Made {
    Session {
        named: bool,
    },
    Parallel(Vec<Made>),
    Loop {
        max: u8,
        body: Vec<Made>,
    },
    Try {
        body: Vec<Made>,
        catch: Vec<Made>,
    },
    If(Vec<Made>),
    Gate,
    /// A call of a block, by the block's number.
    Call(u8),
}

fn session() -> impl Strategy<Value = Made> {
    any::<bool>().prop_map(|named| Made::Session { named })
}

fn body() -> impl Strategy<Value = Vec<Made>> {
    let leaf = prop_oneof![
        4 => session(),
        1 => Just(Made::Gate),
        2 => (0..2u8).prop_map(Made::Call),
    ];
    let any = leaf.prop_recursive(3, 16, 3, |inner| {
        let few = || proptest::collection::vec(inner.clone(), 1..4);
        // At most one branch is a call, so that two frames of one block never run at the same time.
        let branches = (
            proptest::collection::vec(session(), 1..3),
            proptest::option::of((0..2u8).prop_map(Made::Call)),
        );
        prop_oneof![
            branches.prop_map(|(mut all, call)| {
                all.extend(call);
                Made::Parallel(all)
            }),
            (1..4u8, few()).prop_map(|(max, body)| Made::Loop { max, body }),
            (few(), few()).prop_map(|(body, catch)| Made::Try { body, catch }),
            few().prop_map(Made::If),
        ]
    });
    proptest::collection::vec(any, 1..5)
}

/// Keeps only the first call of each block, because the call stack does not record for which call an outer frame waits.
fn once(body: Vec<Made>, called: &mut [bool; 2]) -> Vec<Made> {
    let one = |made: Made| match made {
        Made::Call(block) => {
            let slot = called.get_mut(block as usize);
            if slot.is_some_and(|c| std::mem::replace(c, true)) {
                Made::Session { named: false }
            } else {
                Made::Call(block)
            }
        }
        Made::Parallel(all) => Made::Parallel(once(all, called)),
        Made::Loop { max, body } => Made::Loop {
            max,
            body: once(body, called),
        },
        Made::If(body) => Made::If(once(body, called)),
        Made::Try { body, catch } => {
            let body = once(body, called);
            let catch = once(catch, called);
            Made::Try { body, catch }
        }
        other => other,
    };
    body.into_iter().map(one).collect()
}

/// The source of a generated program, with the number of its lines and statements so far.
#[derive(Default)]
struct Writer {
    source: String,
    line: u32,
    count: u32,
}

/// A statement with its line and its text.
#[derive(Debug, Clone)]
struct Placed {
    line: u32,
    text: String,
    name: String,
    kind: Kind,
}

impl Placed {
    /// Returns the text and line for a row.
    fn said(&self) -> (&str, u32) {
        (&self.text, self.line)
    }
}

#[derive(Debug, Clone)]
enum Kind {
    Session,
    Parallel(Vec<Placed>),
    Loop(u8, Vec<Placed>),
    Try(Vec<Placed>, Vec<Placed>),
    If(Vec<Placed>),
    Gate,
    Call(u8),
}

impl Writer {
    fn line(&mut self, depth: usize, text: &str) {
        self.line += 1;
        let _ = writeln!(self.source, "{}{text}", "  ".repeat(depth));
    }

    fn all(&mut self, depth: usize, made: &[Made], in_parallel: bool) -> Vec<Placed> {
        made.iter()
            .map(|made| self.one(depth, made, in_parallel))
            .collect()
    }

    fn one(&mut self, depth: usize, made: &Made, in_parallel: bool) -> Placed {
        self.count += 1;
        let name = format!("n{}", self.count);
        let text = match made {
            Made::Session { .. } if in_parallel => format!("{name} = session \"{name}\""),
            Made::Session { named: true } => format!("let {name} = session \"{name}\""),
            Made::Session { named: false } => format!("session \"{name}\""),
            Made::Parallel(_) => "parallel:".to_owned(),
            Made::Loop { max, .. } => format!("loop until **{name}** (max: {max}):"),
            Made::Try { .. } => "try:".to_owned(),
            Made::If(_) => format!("if **{name}**:"),
            Made::Gate => format!("approve {name}:"),
            Made::Call(block) if in_parallel => format!("{name} = do b{block}({name})"),
            Made::Call(block) => format!("do b{block}({name})"),
        };
        self.line(depth, &text);
        let line = self.line;
        let kind = match made {
            Made::Session { .. } => Kind::Session,
            Made::Parallel(branches) => Kind::Parallel(self.all(depth + 1, branches, true)),
            Made::Loop { max, body } => Kind::Loop(*max, self.all(depth + 1, body, false)),
            Made::If(body) => Kind::If(self.all(depth + 1, body, false)),
            Made::Try { body, catch } => {
                let body = self.all(depth + 1, body, false);
                self.line(depth, "catch:");
                Kind::Try(body, self.all(depth + 1, catch, false))
            }
            Made::Gate => {
                self.line(depth + 1, "prompt: \"?\"");
                Kind::Gate
            }
            Made::Call(block) => Kind::Call(*block),
        };
        Placed {
            line,
            text,
            name,
            kind,
        }
    }
}

/// A simulated run, as rows of the append-only form.
struct Runner<'p> {
    blocks: &'p [Vec<Placed>],
    choices: std::vec::IntoIter<u8>,
    /// How many more rows are written before the run is cut off.
    left: usize,
    rows: Vec<Value>,
    gates: Vec<Gate>,
    depth: u32,
    catching: u32,
}

/// The reason why a body ended early.
#[derive(Debug, PartialEq)]
enum Left {
    /// The run is cut off.
    Cut,
    Failed,
}

type Ran = Result<(), Left>;

impl Runner<'_> {
    fn choose(&mut self, of: u8) -> u8 {
        self.choices.next().unwrap_or(0) % of
    }

    fn row(
        &mut self,
        parent: Option<i64>,
        at: (&str, u32),
        status: &str,
        metadata: Value,
    ) -> Result<i64, Left> {
        let (text, line) = at;
        self.left = self.left.checked_sub(1).ok_or(Left::Cut)?;
        let id = self.rows.len() as i64 + 1;
        let error = (status == "failed").then_some("no network");
        self.rows.push(
            json!({"id": id, "parent_id": parent, "statement_text": text, "statement_index": line, "status": status,
            "error_message": error, "metadata": metadata}),
        );
        Ok(id)
    }

    fn body(&mut self, parent: Option<i64>, body: &[Placed]) -> Ran {
        body.iter().try_for_each(|s| self.one(parent, s))
    }

    fn one(&mut self, parent: Option<i64>, at: &Placed) -> Ran {
        match &at.kind {
            Kind::Session => self.session(parent, at.said(), json!({})),
            Kind::Parallel(branches) => self.parallel(parent, at, branches),
            Kind::Loop(max, body) => {
                let meta = |more: Value| {
                    let mut meta = json!({"loop_id": at.name, "max": max, "condition": format!("**{}**", at.name)});
                    if let (Some(meta), Some(more)) = (meta.as_object_mut(), more.as_object()) {
                        meta.extend(more.clone());
                    }
                    meta
                };
                let own = self.row(parent, at.said(), "started", meta(json!({})))?;
                let rounds = 1 + self.choose(*max);
                for n in 1..=rounds {
                    let round = self.body(Some(own), body);
                    if round == Err(Left::Failed) {
                        self.left += 1;
                        self.row(parent, at.said(), "failed", meta(json!({})))?;
                    }
                    round?;
                    self.row(
                        parent,
                        at.said(),
                        "iteration",
                        meta(json!({"iteration": n})),
                    )?;
                }
                self.row(parent, at.said(), "exited", meta(json!({})))
                    .map(|_| ())
            }
            Kind::Try(body, catch) => match self.body(parent, body) {
                Err(Left::Failed) => {
                    self.catching += 1;
                    let ran = self.body(parent, catch);
                    self.catching -= 1;
                    ran
                }
                other => other,
            },
            Kind::If(body) => match self.choose(2) {
                0 => Ok(()),
                _ => self.body(parent, body),
            },
            Kind::Gate => {
                // A gate that is reached again has the number of the visit in its id: `deploy#2` (errata G1).
                let met = |g: &&Gate| crate::gate::visit(&g.id).0 == at.name;
                let id = match self.gates.iter().filter(met).count() {
                    0 => at.name.clone(),
                    n => format!("{}#{}", at.name, n + 1),
                };
                let meta = json!({"gate_id": id});
                let own = self.row(parent, at.said(), "waiting", meta.clone())?;
                let resolved = self.left > 0;
                let decided = format!("{{\"gate_id\":\"{id}\",\"decision\":\"approved\"}}");
                let decided = resolved.then_some(decided.as_str());
                let (gate, _) = gates_json::gate(&id, Some("{}"), decided);
                self.gates.extend(gate.map(|gate| Gate {
                    execution_id: Some(own),
                    ..gate
                }));
                if !resolved {
                    return Err(Left::Cut);
                }
                self.row(parent, at.said(), "completed", meta).map(|_| ())
            }
            Kind::Call(block) => self.call(parent, at.said(), *block),
        }
    }

    fn call(&mut self, parent: Option<i64>, text: (&str, u32), block: u8) -> Ran {
        let meta = || json!({"block": format!("b{block}")});
        let own = self.row(parent, text, "executing", meta())?;
        let body = self
            .blocks
            .get(block as usize)
            .map(Vec::as_slice)
            .unwrap_or_default();
        self.depth += 1;
        // Limits the depth of recursive calls, so that the run ends.
        let done = if self.depth > 4 {
            Ok(())
        } else {
            self.body(Some(own), body)
        };
        self.depth -= 1;
        match done {
            Ok(()) => self.row(parent, text, "completed", meta()).map(|_| ()),
            Err(Left::Failed) => {
                // A failure is recorded for the calls around it at once, even if the run is cut off.
                self.left += 1;
                self.row(parent, text, "failed", meta())?;
                Err(Left::Failed)
            }
            cut => cut,
        }
    }

    fn session(&mut self, parent: Option<i64>, text: (&str, u32), meta: Value) -> Ran {
        let with = |more: Value| {
            let mut meta = meta.clone();
            if let (Some(meta), Some(more)) = (meta.as_object_mut(), more.as_object()) {
                meta.extend(more.clone());
            }
            meta
        };
        let choice = self.choose(12);
        if choice.is_multiple_of(2) {
            self.row(parent, text, "executing", meta.clone())?;
        }
        match choice {
            10 => {
                self.row(parent, text, "failed", meta.clone())?;
                Err(Left::Failed)
            }
            // Statements in a `catch` are never skipped here: if all were, state.md could not show that the handler
            // ran.
            11 if self.catching == 0 => self.row(parent, text, "skipped", meta.clone()).map(|_| ()),
            9 => {
                self.row(parent, text, "failed", meta.clone())?;
                self.row(parent, text, "retry", with(json!({"attempt": 2, "max": 3})))?;
                self.row(parent, text, "completed", meta.clone())
                    .map(|_| ())
            }
            _ => self
                .row(parent, text, "completed", meta.clone())
                .map(|_| ()),
        }
    }

    fn parallel(&mut self, parent: Option<i64>, at: &Placed, branches: &[Placed]) -> Ran {
        let names: Vec<&str> = branches.iter().map(|b| b.name.as_str()).collect();
        let id = json!({"parallel_id": at.name, "branches": names});
        let own = self.row(parent, at.said(), "started", id)?;
        let meta = |b: &Placed| json!({"parallel_id": at.name, "branch": b.name});
        let mut begun = Vec::new();
        for branch in branches {
            if self.choose(4) > 0 {
                let text = format!("parallel:{}", branch.name);
                begun.push((
                    branch,
                    self.row(Some(own), (&text, branch.line), "executing", meta(branch))?,
                ));
            }
        }
        for (branch, row) in begun {
            let text = format!("parallel:{}", branch.name);
            if let Kind::Call(block) = branch.kind {
                let called = self.call(Some(row), branch.said(), block);
                if called == Err(Left::Failed) {
                    self.left += 1;
                    self.row(Some(own), (&text, branch.line), "failed", meta(branch))?;
                }
                if called == Err(Left::Failed) {
                    self.left += 1;
                    let id = json!({"parallel_id": at.name});
                    self.row(parent, at.said(), "failed", id)?;
                }
                called?;
            }
            self.row(Some(own), (&text, branch.line), "completed", meta(branch))?;
        }
        self.row(parent, at.said(), "joined", json!({"parallel_id": at.name}))
            .map(|_| ())
    }
}

/// Returns a run of a generated program, and the program's source.
fn made_run(blocks: &[Vec<Made>], main: &[Made], choices: Vec<u8>, left: usize) -> (Run, String) {
    let mut writer = Writer::default();
    let blocks: Vec<Vec<Placed>> = (0..)
        .zip(blocks)
        .map(|(n, body)| {
            writer.line(0, &format!("block b{n}(x):"));
            writer.all(1, &once(body.clone(), &mut [false; 2]), false)
        })
        .collect();
    let main = writer.all(0, main, false);
    let mut runner = Runner {
        blocks: &blocks,
        choices: choices.into_iter(),
        left,
        rows: Vec::new(),
        gates: Vec::new(),
        depth: 0,
        catching: 0,
    };
    let status = match runner.body(None, &main) {
        Ok(()) => "completed",
        Err(Left::Failed) => "failed",
        Err(Left::Cut) => "running",
    };
    let lines: Vec<String> = runner.rows.iter().map(Value::to_string).collect();
    let (executions, _): (Vec<Execution>, _) = gates_json::events(&lines.join("\n"));
    let run = Run {
        id: "r".into(),
        status: Some(RunStatus::parse(status)),
        program: Program {
            path: Some("program.prose".into()),
            ..Program::default()
        },
        executions,
        gates: runner.gates,
        ..Run::default()
    };
    (run, writer.source)
}

/// Returns the run that a rendered state file represents, together with its program and gates.
fn again(text: &str, source: &str, gates: &[Gate]) -> Run {
    let mut files = vec![
        ("state.md".to_owned(), text.as_bytes().to_vec()),
        ("program.prose".to_owned(), source.as_bytes().to_vec()),
    ];
    for gate in gates {
        let id = &gate.id;
        files.push((format!("gates/{id}.pending.json"), b"{}".to_vec()));
        if gate.status.word() != "pending" {
            let decision = format!("{{\"decision\":\"{}\"}}", gate.status.word());
            files.push((format!("gates/{id}.resolved.json"), decision.into_bytes()));
        }
    }
    folder::decode(&MemorySource::new("d", files), "")
}

/// Describes what state.md represents of a trace: positions, the first failure, and open frames and loops.
fn carried(trace: &Trace, listing: &Listing) -> String {
    let mut out = format!("{}\n", trace.verdict.status);
    for at in &trace.positions {
        let node = &trace.nodes[*at];
        // The next statement is left out, because rows do not record it.
        if node.inferred && node.status == NodeStatus::Pending {
            continue;
        }
        let attempt = if node.status == NodeStatus::Retry {
            node.attempts
        } else {
            1
        };
        let _ = writeln!(
            out,
            "stands {} {:?} ×{attempt}",
            node.kind.word(),
            node.line
        );
    }
    // A state.md does not represent finished frames: a failure inside of one may appear at its call, or at the block's
    // last frame.
    let is_frame = |at: NodeId| matches!(trace.nodes[at].kind, NodeKind::Frame { .. });
    // A state.md does not represent earlier rounds either, so a recovered failure in one of them is lost.
    let ended = trace
        .first_cause
        .filter(|_| trace.verdict.status == "failed");
    let first = ended.map(|at| {
        let line = trace.nodes[at].line;
        let block = line.and_then(|line| listing.block_of(listing.statement_at(line)?));
        let branch = matches!(trace.nodes[at].kind, NodeKind::Branch { .. });
        let framed = branch || is_frame(at) || upward(trace, at).any(is_frame);
        if framed || block.is_some() {
            None
        } else {
            line
        }
    });
    let _ = writeln!(out, "failed {first:?}");
    for (at, node) in trace.nodes.iter_enumerated() {
        // A failure can leave a node open; such a node ended when a node around it ended.
        if !node.status.is_open() || upward(trace, at).any(|up| !trace.nodes[up].status.is_open()) {
            continue;
        }
        let lines = |at: NodeId| trace.nodes[at].line;
        match &node.kind {
            NodeKind::Frame { block, depth }
                if node.status != NodeStatus::Pending && node.id.is_some() =>
            {
                let _ = writeln!(out, "frame {:?} {block} {depth} {:?}", node.id, node.line);
            }
            NodeKind::Loop if node.status != NodeStatus::Pending => {
                let n = trace
                    .children(Some(at))
                    .filter_map(|n| match trace.nodes[n].kind {
                        NodeKind::Round { n } => Some(n),
                        _ => None,
                    });
                let _ = writeln!(out, "loop {:?} round {:?}", lines(at), n.max());
            }
            _ => {}
        }
    }
    out
}

fn upward(trace: &Trace, at: NodeId) -> impl Iterator<Item = NodeId> {
    trace.upward(Some(at)).skip(1)
}

/// Returns the ids and blocks of the open frames.
fn open_frames(trace: &Trace) -> Vec<(i64, String)> {
    let open = trace.nodes.iter_enumerated().filter(|(at, node)| {
        let over = |at: NodeId| !trace.nodes[at].status.is_open();
        node.status.is_open() && node.status != NodeStatus::Pending && !upward(trace, *at).any(over)
    });
    open.filter_map(|(_, node)| match &node.kind {
        NodeKind::Frame { block, .. } => Some((node.id?, block.to_string())),
        _ => None,
    })
    .collect()
}

/// Returns whether several frames ran one block.
fn is_called_again(trace: &Trace) -> bool {
    let mut seen = BTreeSet::new();
    trace.nodes.iter().any(|node| match &node.kind {
        NodeKind::Frame { block, .. } => !seen.insert(block),
        _ => false,
    })
}

fn rendered(run: &Run, listing: &Listing) -> (Trace, String) {
    let trace = fold(run, Some(listing), None);
    let text = from_run(run, &trace, Some(listing), &RenderOptions::default());
    (trace, text)
}

proptest! {
    #![proptest_config(cases(400, 20_260_213))]

    #[test]
    fn a_run_cut_anywhere_comes_back_from_its_state_file(
        blocks in proptest::collection::vec(body(), 2),
        main in body(),
        choices in proptest::collection::vec(any::<u8>(), 0..120),
        left in 1..40usize,
    ) {
        let (run, source) = made_run(&blocks, &main, choices, left);
        let listing = scan(&source);
        let (trace, text) = rendered(&run, &listing);
        let read = again(&text, &source, &run.gates);
        let (trace_again, text_again) = rendered(&read, &listing);
        prop_assert_eq!(open_frames(&trace_again), open_frames(&trace), "{}", text);
        // The file does not record to which of several frames of a block a mark belongs (errata E9).
        let several_calls = |block| source.matches(&format!("do b{block}(")).count() > 1;
        if is_called_again(&trace) || (0..blocks.len()).any(several_calls) {
            return Ok(());
        }
        prop_assert_eq!(carried(&trace_again, &listing), carried(&trace, &listing), "{}", text);
        prop_assert_eq!(text_again, text);
    }
}
