//! Prepares texts for the page, independent of the browser: amounts and times in words, Markdown as a tree, the axis of
//! a timeline, filters, the breaks of wrapped texts, and the visible part of a list.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

pub(crate) mod axis;
pub(crate) mod filter;
pub(crate) mod flow;
pub(crate) mod markdown;
pub(crate) mod statement;
pub(crate) mod window;
pub(crate) mod words;
