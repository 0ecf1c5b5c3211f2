//! What is a secret in a text, and what replaces it.

pub mod shape;
