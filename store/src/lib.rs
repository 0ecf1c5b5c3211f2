//! Native stores: finding `.prose/`, run folders and SQLite files, opened without a trace.
