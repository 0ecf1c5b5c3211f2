//! Gate timeouts: `30s 30m 4h 7d 2h30m` (sqlite.md "Timeout Parsing Rules"; errata "Timeouts").
