//! Builders and drivers for the end-to-end suite.
