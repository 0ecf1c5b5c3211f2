//! Generates random plausible programs from a seed.

use prosescope_damage::Dice;

/// A program: its source, its statements, and the blocks that they call.
#[derive(Default)]
pub(crate) struct Story {
    pub(crate) lines: Vec<String>,
    pub(crate) steps: Vec<Step>,
    pub(crate) blocks: Vec<(String, Vec<Step>)>,
    names: usize,
}

/// A statement of the program.
#[derive(Clone)]
pub(crate) struct Step {
    /// The line of the statement in the source.
    pub(crate) line: i64,
    /// The statement's number in a log; 0 inside a block, whose statements share the number of the call.
    pub(crate) number: i64,
    /// The text of the statement's first line.
    pub(crate) text: String,
    /// The name that the statement binds, or the id of its gate.
    pub(crate) name: String,
    pub(crate) what: What,
}

#[derive(Clone)]
pub(crate) enum What {
    Session,
    Parallel(Vec<Step>),
    Loop(u32, Vec<Step>),
    Call(String),
    Gate,
    Try(Vec<Step>, Vec<Step>),
    If(Vec<Step>),
}

const NAMES: [&str; 8] = [
    "plan", "draft", "check", "report", "tide", "chart", "sum", "note",
];

impl Story {
    pub(crate) fn new(dice: &mut Dice) -> Story {
        let mut story = Story::default();
        for block in ["work", "dig"].into_iter().take(dice.throw(3)) {
            story.lines.push(format!("block {block}():"));
            let body = story.steps(dice, 1, 1);
            story.blocks.push((block.to_owned(), body));
        }
        story.steps = story.steps(dice, 0, 2);
        // Some logs number every statement; others give inner statements the number of the outer one.
        let counts_all = dice.throw(2) == 0;
        let mut last = 0;
        for step in &mut story.steps {
            last += 1;
            number(step, &mut last, counts_all);
        }
        story
    }

    fn steps(&mut self, dice: &mut Dice, level: usize, least: usize) -> Vec<Step> {
        let count = least + dice.throw(3);
        (0..count).map(|_| self.step(dice, level)).collect()
    }

    fn step(&mut self, dice: &mut Dice, level: usize) -> Step {
        let deeper = level < 3;
        match dice.throw(if deeper { 12 } else { 5 }) {
            5 | 6 => {
                let mut step = self.write(level, "parallel:".to_owned(), String::new());
                let branches = 2 + dice.throw(2);
                let branches = (0..branches).map(|_| self.session(level + 1, true));
                step.what = What::Parallel(branches.collect());
                step
            }
            7 | 8 => {
                let max = 2 + dice.throw(3) as u32;
                let text = format!("loop until **done** (max: {max}):");
                let mut step = self.write(level, text, String::new());
                step.what = What::Loop(max, self.steps(dice, level + 1, 1));
                step
            }
            9 => {
                let mut step = self.write(level, "try:".to_owned(), String::new());
                let body = self.steps(dice, level + 1, 1);
                self.write(level, "catch:".to_owned(), String::new());
                step.what = What::Try(body, vec![self.session(level + 1, false)]);
                step
            }
            10 => {
                let mut step = self.write(level, "if **it is due**:".to_owned(), String::new());
                step.what = What::If(self.steps(dice, level + 1, 1));
                step
            }
            11 => {
                self.names += 1;
                let name = format!("gate{}", self.names);
                let mut step = self.write(level, format!("approve {name}:"), name);
                self.write(level + 1, "prompt: \"Go on?\"".to_owned(), String::new());
                step.what = What::Gate;
                step
            }
            4 if !self.blocks.is_empty() => {
                let block = dice.pick(&self.blocks).0.clone();
                let mut step = self.write(level, format!("do {block}()"), String::new());
                step.what = What::Call(block);
                step
            }
            kind => self.session(level, kind > 0),
        }
    }

    fn session(&mut self, level: usize, binds: bool) -> Step {
        self.names += 1;
        // Reuses names from time to time, so that some programs bind a name twice.
        let name = format!("{}{}", NAMES[self.names % NAMES.len()], self.names / 12);
        match binds {
            true => self.write(level, format!("let {name} = session \"Do {name}\""), name),
            false => self.write(level, format!("session \"See {name}\""), String::new()),
        }
    }

    fn write(&mut self, level: usize, text: String, name: String) -> Step {
        self.lines.push(format!("{}{text}", "  ".repeat(level)));
        Step {
            line: self.lines.len() as i64,
            number: 0,
            text,
            name,
            what: What::Session,
        }
    }
}

fn number(step: &mut Step, last: &mut i64, counts_all: bool) {
    step.number = *last;
    // Branches get no number of their own: in a log, a branch has its parallel block's number and a letter.
    let bodies: Vec<&mut Step> = match &mut step.what {
        What::Loop(_, body) | What::If(body) => body.iter_mut().collect(),
        What::Try(body, catch) => body.iter_mut().chain(catch).collect(),
        _ => Vec::new(),
    };
    for inner in bodies {
        *last += i64::from(counts_all);
        number(inner, last, counts_all);
    }
}
