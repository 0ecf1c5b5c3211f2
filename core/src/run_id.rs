//! Run ids: `{YYYYMMDD}-{HHMMSS}-{random6}` (errata "Run ids").
