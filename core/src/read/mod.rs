//! Takes the bytes of files and the rows of databases, and gives a [`crate::model::Run`] with its issues.

pub mod decode;
pub mod gate;
pub mod sqlite;
pub mod transcript;
