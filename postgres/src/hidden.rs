//! Row security: a table that hides rows from the role is not read, as fewer rows than there are would look like all of them.
//!
//! PostgreSQL has a setting for this (`row_security = off`): a question about a table with policies for the role is then an error,
//! also where a policy is `USING (true)` and hides nothing. So a transaction begins with a look at the policies: where each table
//! that has some shows all of its rows to the role, they are left on. A policy that is added after this look is seen by the next
//! transaction.

/// The statement that a transaction begins with, behind its `search_path`. `$commands` are letters of `pg_policy.polcmd` (`r`ead,
/// `w`rite in place, `d`elete), `$tables` a condition on `pg_class AS c`. A command has all rows where a permissive policy says a
/// literal `true`, and each restrictive one does.
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
