//! The table of rules. A row is data: a description, keywords, a pattern, two texts in which the rule finds something
//! and two in which it does not. The texts serve as the row's tests (`tests/secrets/table.rs`) and its documentation
//! ([`rules`]).

mod assignments;
mod blocks;
mod cloud;
mod code;
mod heads;
mod models;
mod personal;
mod services;

use crate::rule::Rule;

/// Returns every rule, in the order of the documentation.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        models::RULES,
        code::RULES,
        cloud::RULES,
        services::RULES,
        blocks::RULES,
        heads::RULES,
        assignments::RULES,
        personal::RULES,
    ]
    .into_iter()
    .flatten()
}
