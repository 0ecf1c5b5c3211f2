//! Looks up statements by the name that they bind or declare, and returns the prompts of sessions and the memories of
//! agents that a program declares.

use super::lex::{Tok, tokens_of_text};
use super::value::{inside_quotes, text_of};
use super::{Listing, Statement, StatementKind};
use crate::model::AgentScope;

impl Listing {
    /// Returns the only statement that binds a name (`let`, `const`, `input`, `output`); `None` if several statements
    /// bind the name.
    pub fn binder(&self, name: &str) -> Option<&Statement> {
        let mut found = self
            .statements
            .iter()
            .filter(|s| s.name.as_deref() == Some(name) && s.binds.is_some());
        found.next().filter(|_| found.next().is_none())
    }

    /// Returns whether the program contains a name anywhere, also in texts and comments. Of a dotted name such as
    /// `research.findings`, the program must contain all parts.
    pub(crate) fn contains_name(&self, name: &str) -> bool {
        let between = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'));
        name.split('.').all(|part| {
            let mut words = self.lines.iter().flat_map(|line| line.text.split(between));
            words.any(|word| word == part || word.trim_matches('-') == part)
        })
    }

    /// Returns the prompt of a session or a resumed agent: its `prompt:`, otherwise the quoted text after its
    /// keyword.
    pub fn asked(&self, statement: u32) -> Option<String> {
        let own = self.get(statement)?;
        if !matches!(own.kind, StatementKind::Session | StatementKind::Resume) {
            return None;
        }
        let prompt = own.property("prompt").map(str::to_owned);
        prompt.or_else(|| self.title(statement))
    }

    /// Returns the quoted text after the keyword of a statement: `X` of `session "X"`.
    pub(crate) fn title(&self, statement: u32) -> Option<String> {
        let text = self.own_text(statement);
        let quoted = tokens_of_text(&text)
            .into_iter()
            .find(|token| token.tok == Tok::Str)?;
        text.get(quoted.start..quoted.end).map(text_of)
    }

    /// Returns the question of an `input` statement to a person, as one line: the text in quotes or asterisks behind the
    /// name. `None` for other statements, and for an input without a question.
    pub(crate) fn question(&self, statement: u32) -> Option<String> {
        self.get(statement)
            .filter(|own| own.kind == StatementKind::Input)?;
        let text = self.own_text(statement);
        let mut tokens = tokens_of_text(&text).into_iter();
        let asked = tokens.find(|token| matches!(token.tok, Tok::Str | Tok::Cond))?;
        let asked = text.get(asked.start..asked.end)?;
        let asked =
            asked.trim_matches(|sign: char| "*\"'“”".contains(sign) || sign.is_whitespace());
        let words: Vec<&str> = asked.split_whitespace().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Returns whether a quotation mark in a statement's own text is not closed.
    pub(crate) fn has_open_quote(&self, statement: u32) -> bool {
        let text = self.own_text(statement);
        tokens_of_text(&text).into_iter().any(|token| {
            let own = text.get(token.start..token.end).unwrap_or_default();
            token.tok == Tok::Str && inside_quotes(own).is_some_and(|(_, closed)| !closed)
        })
    }

    /// Returns the prompt of a session if the statement's own text contains it completely: the quotes are closed, and
    /// the text does not end in dots, as shortened texts do.
    pub fn asked_whole(&self, statement: u32) -> Option<String> {
        let asked = self.asked(statement)?;
        let text = self.own_text(statement);
        let is_cut =
            |text: &str| text.trim_end().ends_with('…') || text.trim_end().ends_with("...");
        let is_whole = tokens_of_text(&text).into_iter().any(|token| {
            let own = text.get(token.start..token.end).unwrap_or_default();
            let closed = inside_quotes(own).is_some_and(|(inner, closed)| closed && !is_cut(inner));
            token.tok == Tok::Str && closed && text_of(own) == asked
        });
        (is_whole && !is_cut(&text)).then_some(asked)
    }

    /// Returns the statements with a kind and a name, in program order.
    pub(crate) fn named(&self, kind: StatementKind, name: &str) -> &[u32] {
        let key = |at: &u32| self.get(*at).map(|s| (s.kind, s.name.as_deref()));
        let named = self.named.get_or_init(|| {
            let all = (0..).zip(&self.statements);
            let named = all.filter(|(_, s)| s.name.is_some());
            let mut named: Vec<u32> = named.map(|(at, _)| at).collect();
            // The sort is stable, so statements of equal kind and name keep program order.
            named.sort_by_key(key);
            named
        });
        let wanted = Some((kind, Some(name)));
        let from = named.partition_point(|at| key(at) < wanted);
        let to = named.partition_point(|at| key(at) <= wanted);
        named.get(from..to).unwrap_or_default()
    }

    /// Returns the gates with a name, in program order.
    pub(crate) fn gates_named(&self, name: &str) -> &[u32] {
        self.named(StatementKind::Gate, name)
    }

    /// Returns the first block with a name.
    pub fn block_named(&self, name: &str) -> Option<u32> {
        self.named(StatementKind::Block, name).first().copied()
    }

    /// Returns the first declaration of an agent.
    pub(crate) fn agent(&self, name: &str) -> Option<&Statement> {
        self.get(*self.named(StatementKind::Agent, name).first()?)
    }

    /// Whether a statement may be the gate with this id: the statement is a gate with that name, or without a name.
    pub(crate) fn may_be_gate(&self, statement: u32, id: &str) -> bool {
        self.get(statement).is_some_and(|s| {
            let name = s.name.as_deref();
            s.kind == StatementKind::Gate
                && name.is_none_or(|name| name == crate::model::visit(id).0)
        })
    }

    /// Returns how long an agent's memory lasts, as declared by `persist:`; `None` if the program does not declare
    /// the agent. A path is [`AgentScope::Custom`]; such a memory is only opened if the user names it (errata F10).
    pub fn agent_scope(&self, agent: &str) -> Option<AgentScope> {
        Some(match self.agent(agent)?.property("persist") {
            None | Some("true" | "false" | "") => AgentScope::Execution,
            Some("project") => AgentScope::Project,
            Some("user") => AgentScope::User,
            Some(_) => AgentScope::Custom,
        })
    }

    /// Returns the path of an agent's memory, as declared by `persist: "path"`.
    pub fn agent_path(&self, agent: &str) -> Option<&str> {
        let custom = self.agent_scope(agent) == Some(AgentScope::Custom);
        self.agent(agent).filter(|_| custom)?.property("persist")
    }
}

#[cfg(test)]
mod tests {
    use crate::model::AgentScope;

    #[test]
    fn a_session_says_what_it_asks() {
        let listing = crate::program::scan(
            "let a = session \"Find \\\"it\\\"\"\nsession: writer\n  prompt: \"Write\"\nresume: writer\nlet b = do x(\"y\")\n",
        );
        let asked: Vec<Option<String>> = (0..4).map(|at| listing.asked(at)).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(asked, [some("Find \"it\""), some("Write"), None, None]);
    }

    #[test]
    fn a_shortened_text_does_not_hold_all_that_is_asked() {
        for (text, whole) in [
            ("let a = session \"Step 40000\"", Some("Step 40000")),
            ("session: w\n  prompt: \"Write\"", Some("Write")),
            ("session \"\"\"Two\nlines\"\"\"", Some("Two\nlines")),
            ("session \"Step 4...\"", None),
            ("session \"Step 4…\"", None),
            ("session \"Step 4\"...", None),
            ("session \"Step 4", None),
            ("session: w", None),
            ("do \"Step 4\"", None),
        ] {
            let asked = crate::program::scan(text).asked_whole(0);
            assert_eq!(asked.as_deref(), whole, "{text}");
        }
    }

    #[test]
    fn a_program_says_how_long_a_memory_lives() {
        let listing = crate::program::scan(
            "agent a:\n  persist: true\nagent b:\n  persist: project\nagent c:\n  persist: user\nagent d:\n  persist: \"mem/d\"\nagent e:\n  model: opus\n",
        );
        let scope = |name| listing.agent_scope(name);
        assert_eq!(scope("a"), Some(AgentScope::Execution));
        assert_eq!(scope("b"), Some(AgentScope::Project));
        assert_eq!(scope("c"), Some(AgentScope::User));
        assert_eq!(scope("d"), Some(AgentScope::Custom));
        assert_eq!(scope("e"), Some(AgentScope::Execution));
        assert_eq!(scope("f"), None);
    }

    #[test]
    fn gates_of_a_name_are_in_the_order_of_the_program() {
        let listing = crate::program::scan(
            "gate b:\n  allow: [\"user\"]\ngate a:\nsession \"a\"\ngate b:\ngate ab:\ngate:\nlet a = session \"x\"\n",
        );
        let lines = |name: &str| -> Vec<u32> {
            let gates = listing.gates_named(name).iter();
            gates
                .filter_map(|at| Some(listing.get(*at)?.line))
                .collect()
        };
        let found = ["a", "b", "ab", "c", ""].map(lines);
        assert_eq!(found, [vec![3], vec![1, 5], vec![6], vec![], vec![]]);
    }
}
