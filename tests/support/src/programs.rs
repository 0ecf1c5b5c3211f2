//! Generates programs with every construct, randomly nested; the same seed gives the same program.

use crate::random::Chance;

/// Maximum depth of nested statements.
const DEEPEST: usize = 3;

/// Returns the program that is generated from a seed.
pub fn program(seed: u64) -> String {
    let mut maker = Maker {
        chance: Chance::new(seed),
        text: String::new(),
        names: 0,
        values: vec!["topic".to_owned()],
        within: Within::default(),
    };
    maker.whole();
    maker.text
}

/// The context that a statement is generated in.
#[derive(Debug, Clone, Copy, Default)]
struct Within {
    depth: usize,
    /// Whether the statement is in a block. A statement in a block does not call other blocks.
    block: bool,
    /// Whether the statement may run several times or in parallel. Such a statement is never an input.
    many: bool,
    in_try: bool,
}

struct Maker {
    chance: Chance,
    text: String,
    names: usize,
    /// The names that have a value when the next statement runs.
    values: Vec<String>,
    within: Within,
}

impl Maker {
    fn whole(&mut self) {
        self.line(0, "# Made by the sweep");
        self.line(0, "use \"@harbour/soundings\" as soundings");
        self.line(0, "input topic: \"What it is about\"");
        for line in [
            "agent writer:",
            "  model: sonnet",
            "  prompt: \"You write\"",
            "agent keeper:",
            "  model: opus",
            "  persist: true",
            "const LIMIT = 3",
        ] {
            self.line(0, line);
        }
        self.block();
        self.line(0, "let items = [\"a\", \"b\"]");
        self.values.push("items".to_owned());
        let statements = 3 + self.chance.below(4);
        for _ in 0..statements {
            self.statement(0);
        }
        let value = self.value();
        match self.chance.below(3) {
            0 => self.line(0, &format!("output result = {value}")),
            1 => self.line(0, "output result = session \"Sum up\""),
            _ => self.line(0, "output result = do work(topic, 1)"),
        }
    }

    /// Adds a block with parameters that calls itself.
    fn block(&mut self) {
        self.line(0, "block work(part, depth):");
        let before = std::mem::replace(&mut self.values, vec!["part".to_owned()]);
        let outer = std::mem::replace(
            &mut self.within,
            Within {
                depth: 1,
                block: true,
                many: true,
                in_try: false,
            },
        );
        if self.chance.once_in(2) {
            self.line(1, "let piece = session \"Cut {part}\"");
            self.values.push("piece".to_owned());
        }
        self.statement(1);
        self.line(1, "if **more is left** and depth > 0:");
        match self.chance.below(3) {
            0 => self.line(2, "do work(part, depth - 1)"),
            1 => self.line(2, "let rest = do work(part, depth - 1)"),
            _ => {
                self.line(2, "parallel for one in part:");
                self.line(3, "do work(one, depth - 1)");
            }
        }
        match self.chance.below(4) {
            0 => self.line(1, "return part"),
            1 => self.line(1, "output part"),
            2 => self.line(1, "session \"Close {part}\""),
            _ => {}
        }
        self.within = outer;
        self.values = before;
    }

    fn statement(&mut self, indent: usize) {
        let deep = self.within.depth >= DEEPEST;
        let kinds = if deep { 9 } else { 22 };
        match self.chance.below(kinds) {
            0 | 1 => self.session(indent),
            2 => self.named(indent, "session \"Write about {topic}\""),
            3 => self.named(indent, "\"a text\""),
            4 => self.line(
                indent,
                "session \"Plan\" -> session \"Do\" -> session \"Look\"",
            ),
            5 => self.named(indent, "session \"Plan\" -> session \"Do\""),
            6 => self.named(indent, "exec \"ls -l\""),
            7 => self.line(indent, "exec \"make\""),
            8 => self.called(indent),
            9 | 10 => self.parallel(indent),
            11 => self.parallel_for(indent),
            12 => self.pipe(indent),
            13 | 14 => self.attempt(indent),
            15 | 16 => self.condition(indent),
            17 => self.choice(indent),
            18 | 19 => self.looped(indent),
            20 => self.sequence(indent),
            _ => self.asked(indent),
        }
    }

    fn session(&mut self, indent: usize) {
        match self.chance.below(4) {
            0 => {
                self.line(indent, "session \"Look at {topic}\"");
                if self.chance.once_in(2) {
                    let value = self.value();
                    self.line(indent + 1, &format!("context: {value}"));
                }
            }
            1 => {
                self.line(indent, "session: writer");
                self.line(indent + 1, "prompt: \"Write it\"");
                self.line(indent + 1, "retry: 2");
            }
            2 => {
                self.line(indent, "session: keeper");
                self.line(indent + 1, "prompt: \"Keep it\"");
                self.line(indent, "resume: keeper");
                self.line(indent + 1, "prompt: \"Go on\"");
            }
            _ => {
                self.named(indent, "session: writer");
                self.line(indent + 1, "prompt: \"Write {topic}\"");
            }
        }
    }

    fn called(&mut self, indent: usize) {
        if self.within.block {
            return self.line(indent, "session \"Stay\"");
        }
        match self.chance.below(3) {
            0 => self.line(indent, "do work(topic, 2)"),
            1 => self.named(indent, "do work(\"this\", 1)"),
            _ => self.named(indent, "soundings(topic: \"deep\")"),
        }
    }

    fn parallel(&mut self, indent: usize) {
        let head = self.chance.one(&[
            "parallel:",
            "parallel:",
            "parallel (\"any\", count: 1):",
            "parallel (\"first\"):",
            "parallel (on-fail: \"continue\"):",
        ]);
        let head = head.copied().unwrap_or_default();
        self.line(indent, head);
        let branches = 2 + self.chance.below(2);
        self.inside(true, |maker| {
            for _ in 0..branches {
                maker.branch(indent + 1);
            }
        });
    }

    fn branch(&mut self, indent: usize) {
        match self.chance.below(10) {
            0 | 1 => {
                let name = self.fresh();
                self.line(indent, &format!("{name} = session \"Branch\""));
                self.values.push(name);
            }
            2 => self.line(indent, "session \"Unnamed branch\""),
            3 if !self.within.block => {
                let name = self.fresh();
                self.line(indent, &format!("{name} = do work(topic, 1)"));
            }
            4 if self.within.depth < DEEPEST => self.parallel(indent),
            5 => self.attempt(indent),
            6 => self.condition(indent),
            7 => self.looped(indent),
            8 => self.choice(indent),
            _ => self.sequence(indent),
        }
    }

    fn parallel_for(&mut self, indent: usize) {
        let several = self.chance.once_in(2);
        self.line(indent, "parallel for item in items:");
        self.inside(true, |maker| {
            if several {
                let name = maker.fresh();
                maker.line(
                    indent + 1,
                    &format!("let {name} = session \"First {{item}}\""),
                );
                maker.statement(indent + 1);
            } else {
                maker.line(indent + 1, "session \"Only {item}\"");
            }
        });
    }

    fn pipe(&mut self, indent: usize) {
        let name = self.fresh();
        let body = |maker: &mut Maker, several: bool| {
            maker.line(indent + 1, "session \"Take {item}\"");
            if several {
                maker.line(indent + 1, "session \"Then {item}\"");
            }
        };
        let several = self.chance.once_in(3);
        match self.chance.below(5) {
            0 => self.line(indent, &format!("let {name} = items | map:")),
            1 => self.line(indent, &format!("let {name} = items | filter:")),
            2 => self.line(indent, &format!("let {name} = items | reduce(sum, item):")),
            3 => self.line(indent, &format!("let {name} = items | pmap:")),
            _ => {
                self.line(indent, &format!("let {name} = items | filter:"));
                body(self, false);
                self.line(indent, "| map:");
            }
        }
        body(self, several);
        self.values.push(name);
    }

    fn attempt(&mut self, indent: usize) {
        self.line(indent, "try:");
        let outer = self.within.in_try;
        self.within.in_try = true;
        self.body(indent + 1);
        self.within.in_try = outer;
        if self.chance.once_in(4) {
            self.line(indent + 1, "if **it went wrong**:");
            self.line(indent + 2, "throw \"Gone wrong\"");
        }
        let caught = !self.chance.once_in(4);
        if caught {
            let head = if self.chance.once_in(2) {
                "catch as err:"
            } else {
                "catch:"
            };
            self.line(indent, head);
            self.line(indent + 1, "session \"Mend it\"");
        }
        if !caught || self.chance.once_in(2) {
            self.line(indent, "finally:");
            self.line(indent + 1, "session \"Clear away\"");
        }
    }

    fn condition(&mut self, indent: usize) {
        self.line(indent, "if **it is good**:");
        self.body(indent + 1);
        if self.chance.once_in(2) {
            self.line(indent, "elif **it is fair**:");
            self.body(indent + 1);
        }
        if self.chance.once_in(2) {
            self.line(indent, "else:");
            self.body(indent + 1);
        }
    }

    fn choice(&mut self, indent: usize) {
        self.line(indent, "choice **which way**:");
        for option in ["left", "right"] {
            self.line(indent + 1, &format!("option \"{option}\":"));
            self.body(indent + 2);
        }
    }

    fn looped(&mut self, indent: usize) {
        let heads = [
            "loop (max: 3):",
            "loop until **it is good** (max: 3):",
            "loop while **it is bad** (max: 4) as round:",
            "repeat 2:",
            "repeat 3 as n:",
            "for one in items:",
            "for one, at in items:",
        ];
        let head = self.chance.one(&heads).copied().unwrap_or_default();
        self.line(indent, head);
        self.inside(true, |maker| maker.body(indent + 1));
    }

    fn sequence(&mut self, indent: usize) {
        self.line(indent, "do:");
        self.body(indent + 1);
    }

    /// Adds a statement that waits for a person: a gate or an input. May add a session if `within.many`.
    fn asked(&mut self, indent: usize) {
        if self.within.many && self.chance.once_in(2) {
            return self.line(indent, "session \"Wait\"");
        }
        let name = self.fresh();
        if self.chance.once_in(2) && !self.within.many {
            self.line(indent, &format!("input {name}: \"Tell more\""));
            self.values.push(name);
            return;
        }
        self.line(indent, &format!("approve {name}:"));
        self.line(indent + 1, "prompt: \"Go on?\"");
        self.line(indent + 1, "allow: [\"owner\", \"captain\"]");
        if self.chance.once_in(2) {
            self.line(indent + 1, "timeout: \"4h\"");
        }
        let reject = self.chance.one(&["throw \"No\"", "continue"]).copied();
        self.line(
            indent + 1,
            &format!("on_reject: {}", reject.unwrap_or_default()),
        );
    }

    fn body(&mut self, indent: usize) {
        let statements = 1 + self.chance.below(2);
        let many = self.within.many;
        self.inside(many, |maker| {
            for _ in 0..statements {
                maker.statement(indent);
            }
        });
    }

    fn inside(&mut self, many: bool, make: impl FnOnce(&mut Maker)) {
        let outer = self.within;
        let values = self.values.clone();
        self.within.depth += 1;
        self.within.many = many;
        make(self);
        self.within = outer;
        self.values = values;
    }

    fn named(&mut self, indent: usize, what: &str) {
        let name = self.fresh();
        let bind = if self.chance.once_in(5) && !self.within.many {
            "const"
        } else {
            "let"
        };
        self.line(indent, &format!("{bind} {name} = {what}"));
        self.values.push(name);
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn value(&mut self) -> String {
        self.chance.one(&self.values).cloned().unwrap_or_default()
    }

    fn line(&mut self, indent: usize, text: &str) {
        self.text.push_str(&"  ".repeat(indent));
        self.text.push_str(text);
        self.text.push('\n');
    }
}
