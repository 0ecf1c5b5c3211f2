//! Text for a page, without a page: amounts and times in words, Markdown as a tree.

#![cfg_attr(not(target_family = "wasm"), allow(dead_code))]

pub(crate) mod markdown;
pub(crate) mod window;
pub(crate) mod words;
