//! Facts as text: state.md, and the plain text of the terminal.
