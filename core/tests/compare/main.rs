//! Two runs compared: what differs is named, and nothing is invented.

mod generated;
mod make;
mod pairs;
