//! Gates: who may decide, deadlines, and the audit chain's verification (errata G1–G12).
