//! Names of the documents' tables and columns, the corrected DDL, and deviations as issues.
