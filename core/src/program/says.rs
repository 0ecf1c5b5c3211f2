//! Derives a statement's effects and limits: its binding, attempts, rounds, and approvers. Recording follows these
//! effects and limits, and checking compares records with them.

use super::{Listing, Statement, StatementKind as Kind, ValueType};
use crate::model::BindingKind;

impl Statement {
    /// Returns the name and kind of the binding that the statement writes. Parallel blocks and loops write no binding.
    pub(crate) fn output(&self) -> Option<(&str, BindingKind)> {
        let name = self.name.as_deref()?;
        let constructs =
            self.kind == Kind::Parallel || self.kind.is_loop() || self.kind.is_declaration();
        if constructs || self.kind == Kind::Input {
            return None;
        }
        if let Some(binds) = &self.binds {
            return Some((name, BindingKind::parse(binds)));
        }
        // `x = session "…"` writes a binding; `session x:` and `catch as x` have a name, but write no binding.
        let rest = self.text.strip_prefix(name)?.trim_start();
        (rest.starts_with('=') && !rest.starts_with("==")).then_some((name, BindingKind::Let))
    }

    /// Returns the maximum number of attempts, from a property such as `retry: 3`.
    pub(crate) fn most_attempts(&self) -> Option<i64> {
        let most = self.number("retry").or_else(|| self.number("retries"));
        most.or_else(|| self.number("max-retries")).map(i64::from)
    }

    /// Returns the maximum number of rounds, from `(max: 3)` or `repeat 2:`.
    pub(crate) fn most_rounds(&self) -> Option<i64> {
        let most = match self.kind {
            Kind::Repeat => self.number("count"),
            _ => self
                .number("max")
                .or_else(|| self.number("max-iterations"))
                .or_else(|| self.number("count")),
        };
        most.map(i64::from)
    }

    /// Returns the end condition of a loop, as rows record it: `**done**`.
    pub(crate) fn until(&self) -> Option<String> {
        let condition = self.find("condition").filter(|_| self.kind.is_loop())?;
        Some(match condition.value {
            ValueType::Condition => format!("**{}**", condition.text),
            _ => condition.text.clone(),
        })
    }

    /// Returns the strategy by which a parallel block continues: after `all` branches, the `first` or `any`.
    pub(crate) fn strategy(&self) -> Option<&str> {
        self.property("strategy")
            .filter(|_| self.kind == Kind::Parallel)
    }

    /// Returns who may decide a gate; `Err` contains the value if it is not a list of names.
    pub(crate) fn allow(&self) -> Result<Option<Vec<String>>, &str> {
        let Some(allow) = self.find("allow") else {
            return Ok(None);
        };
        match &allow.value {
            ValueType::List(names) => Ok(Some(
                names.iter().map(|name| name.trim().to_owned()).collect(),
            )),
            ValueType::Text | ValueType::Word => Ok(Some(vec![allow.text.trim().to_owned()])),
            _ => Err(&allow.text),
        }
    }
}

impl Listing {
    /// Whether a statement's body runs once for each item: `parallel for x in items:`, `items | pmap:`.
    pub(crate) fn has_items(&self, statement: u32) -> bool {
        self.get(statement).is_some_and(|s| match s.kind {
            Kind::Parallel => s.find("each").is_some(),
            kind => kind == Kind::Pipe && s.end > s.line,
        })
    }

    /// Returns the only statement in the body that runs for each item, if one record can be both the item and that
    /// statement: a session, or a call without a value.
    pub(crate) fn only_work(&self, around: u32) -> Option<u32> {
        let mut children = self.children(around);
        let only = children.next().filter(|_| children.next().is_none())?;
        self.stands_alone(only).then_some(only)
    }

    /// Whether a single record can be both a branch and this statement. A statement with a body needs a record of its
    /// own inside the branch, and so does a call whose value belongs to another scope than the bindings of its frame.
    pub(crate) fn stands_alone(&self, statement: u32) -> bool {
        let own_command = |kind: Kind| {
            matches!(kind, Kind::Gate | Kind::Input | Kind::Parallel) || kind.is_declaration()
        };
        self.get(statement).is_some_and(|s| {
            let named_call = s.kind == Kind::Do
                && s.output().is_some()
                && s.parent.is_some_and(|at| self.has_items(at));
            !s.has_body() && !own_command(s.kind) && !named_call
        })
    }

    /// Whether each branch of a parallel block has its own value of a name: two branches bind that name, or each item
    /// binds it.
    pub(crate) fn own_in_branch(&self, parallel: u32, name: &str) -> bool {
        let binds = |at: u32| {
            let inside = (at..).map_while(|inner| self.get(inner).map(|s| (inner, s)));
            let mut inside =
                inside.take_while(|(inner, _)| *inner == at || self.contains(at, *inner));
            inside.any(|(_, s)| s.output().is_some_and(|(output, _)| output == name))
        };
        if self.has_items(parallel) {
            return self.children(parallel).any(binds);
        }
        // The alternatives of one branch (`if`, `elif`, `else`) count as one branch.
        let branches: std::collections::BTreeSet<u32> = self
            .children(parallel)
            .filter(|at| binds(*at))
            .map(|at| self.leader(at))
            .collect();
        branches.len() > 1
    }

    /// Whether a statement in a block binds a name.
    pub(crate) fn binds_in(&self, block: &str, name: &str) -> bool {
        let Some(at) = self.block_named(block) else {
            return false;
        };
        let inside = (at + 1..).take_while(|inner| self.contains(at, *inner));
        let mut inside = inside.filter_map(|inner| self.get(inner)?.output());
        inside.any(|(output, _)| output == name)
    }

    /// Returns the branches of a parallel block: name and statement. A branch without a name gets the name of its
    /// position: `branch_2`. Returns an empty list for a `parallel for`, because the items are known only when the
    /// block runs. `catch`, `finally`, `elif` and `else` belong to the branch of their `try` or `if`.
    pub(crate) fn branches(&self, parallel: u32) -> Vec<(String, u32)> {
        if self.get(parallel).is_none() || self.has_items(parallel) {
            return Vec::new();
        }
        self.children(parallel)
            .filter(|at| self.leader(*at) == *at)
            .enumerate()
            .filter_map(|(nth, at)| {
                let statement = self.get(at)?;
                let named = statement.output().map(|(name, _)| name.to_owned());
                let named = named.or_else(|| {
                    statement
                        .name
                        .clone()
                        .filter(|_| statement.kind == Kind::Session)
                });
                Some((named.unwrap_or_else(|| format!("branch_{}", nth + 1)), at))
            })
            .collect()
    }
}

/// Returns whether a parallel block of this strategy ends before all of its branches have.
pub(crate) fn needs_some(strategy: &str) -> bool {
    matches!(strategy, "first" | "any")
}

/// Returns the setting by which a parallel block continues after a failed branch: `on-fail: ignore`, `strategy:
/// first`; `None` if the block fails. The strategy in the block's rows, `recorded`, takes precedence over the
/// program's strategy.
pub(crate) fn allows_failure(
    recorded: Option<&str>,
    statement: Option<&Statement>,
) -> Option<String> {
    let on_fail = statement.and_then(|s| s.property("on-fail"));
    let on_fail = on_fail.filter(|word| matches!(*word, "continue" | "ignore"));
    let strategy = recorded.or_else(|| statement?.strategy());
    let strategy = strategy.filter(|word| needs_some(word));
    on_fail
        .map(|word| format!("on-fail: {word}"))
        .or_else(|| strategy.map(|word| format!("strategy: {word}")))
}
