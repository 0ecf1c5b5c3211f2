//! Detects tables that hide rows from the current role by row security. Such a table is not read, because a part of its
//! rows would look like all of them.
//!
//! PostgreSQL's setting for this (`row_security = off`) makes every query of a table with policies for the role an
//! error, even if a policy is `USING (true)` and hides nothing. So each transaction begins by reading the policies. If
//! all tables show all of their rows to the role, row security stays on. A policy that is added later is detected by
//! the next transaction.

/// Expands to the statement that sets `row_security` at the beginning of a transaction, after `search_path` was set.
///
/// `$commands` lists letters of `pg_policy.polcmd`: `r` select, `w` update, `d` delete. `$tables` is an SQL condition
/// on `pg_class AS c`. A command sees all rows if at least one permissive policy and all restrictive policies have the
/// literal condition `true`.
macro_rules! all_rows {
    ($commands:literal, $tables:literal) => {
        concat!(
            "SELECT set_config('row_security', CASE WHEN EXISTS (
                 SELECT FROM pg_policy AS p JOIN pg_class AS c ON c.oid = p.polrelid
                 WHERE p.polpermissive AND pg_get_expr(p.polqual, p.polrelid) = 'true' AND (",
            $tables,
            ")) AND NOT EXISTS (
                 SELECT FROM pg_class AS c CROSS JOIN unnest('{",
            $commands,
            "}'::\"char\"[]) AS asked(cmd)
                 CROSS JOIN LATERAL (
                     SELECT count(*) FILTER (WHERE p.polpermissive AND shows.all_rows) AS permits,
                            count(*) FILTER (WHERE NOT p.polpermissive AND NOT shows.all_rows) AS hides
                     FROM pg_policy AS p
                     CROSS JOIN LATERAL (SELECT pg_get_expr(p.polqual, p.polrelid) IS NOT DISTINCT FROM 'true') AS shows(all_rows)
                     WHERE p.polrelid = c.oid AND p.polcmd IN (asked.cmd, '*')
                       AND EXISTS (SELECT FROM unnest(p.polroles) AS of(id)
                                   WHERE of.id = 0 OR CASE WHEN of.id <> 0 THEN pg_has_role(of.id, 'USAGE') END)
                 ) AS policies
                 WHERE c.relrowsecurity AND c.relkind IN ('r', 'p') AND (",
            $tables,
            ") AND row_security_active(c.oid) AND (policies.permits = 0 OR policies.hides > 0)
             ) THEN 'on' ELSE 'off' END, true)"
        )
    };
}

pub(crate) use all_rows;
