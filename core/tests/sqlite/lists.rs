//! Tables of any shape, rows of any type, and files that are no database of ours.
