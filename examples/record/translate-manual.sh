#!/bin/sh
# A run that failed inside a loop, three calls deep in a block that calls itself. In place (sqlite-earlier.md): each
# statement is one row that is updated, and the tables are those of the earlier document.
. "$(dirname "$0")/lib.sh"
schema=$examples/record/sqlite-earlier.sql

# begin LINE STATEMENT PARENT METADATA: prints the row's id. The row keeps the statement's first line.
begin() {
  sql <<SQL
INSERT INTO execution (statement_index, statement_text, status, started_at, parent_id, metadata)
VALUES ($(line "$1"), $(text "${2%%
*}"), 'executing', datetime('now'), $3, $(text "$4"));
SELECT last_insert_rowid();
SQL
}

complete() { echo "UPDATE execution SET status = 'completed', completed_at = datetime('now') WHERE id = $1;" | sql; }

# fail ID MESSAGE
fail() {
  sql <<SQL
UPDATE execution
SET status = 'failed',
    error_message = $(text "$2"),
    completed_at = datetime('now')
WHERE id = $1;
SQL
}

# round LOOP_ID N: round N begins. (Errata X1: execution has no updated_at.)
round() {
  sql <<SQL
UPDATE execution
SET metadata = json_set(metadata, '$.current_iteration', $2)
WHERE json_extract(metadata, '$.loop_id') = '$1';
SQL
}

# retry ID ATTEMPT MAX
retry() {
  sql <<SQL
UPDATE execution
SET metadata = json_set(metadata, '$.retry_attempt', $2, '$.max_retries', $3)
WHERE id = $1;
SQL
}

size='let size = session "How many tokens has this part, and at which headings could it be cut?"'
pieces='let pieces = session "Cut the part at its headings"'
restyle='let style = session "What does this chapter ask for in style, beyond the general rule?"'
draft='let draft = session: translator
      prompt: "Translate"
      context: { part, glossary, style }'
findings='let findings = resume: terminologist
        prompt: "Which terms contradict the glossary?"
        context: draft'
mend='draft = session: translator
        prompt: "Mend these terms and nothing else"
        context: { draft, findings }
        retry: 3
        backoff: "exponential"'
no_term='**no term contradicts the glossary**'

at 2026-01-18 20:15:30
open_run 20260118-201530-z4t9wa translate-manual.prose "$schema"
binding manual NULL input 'input manual: "The manual, German"' <<'END'
docs/turbine-service-manual-de.md, 1,412 pages, 9 chapters
END
binding style NULL const 'const style = "Short sentences. Warnings stay warnings."' <<'END'
Short sentences. Warnings stay warnings.
END
r=$(begin 'let glossary' 'let glossary = session: terminologist' NULL '{}')
at 2026-01-18 20:21:44
binding glossary NULL let 'let glossary = session: terminologist
  prompt: "Make a glossary from the table of contents and the parts list"
  context: manual' <<'END'
| German            | English            | note                                   |
|-------------------|--------------------|----------------------------------------|
| Nabe              | hub                |                                        |
| Gondel            | nacelle            |                                        |
| Azimutantrieb     | yaw drive          |                                        |
| Blattlager        | pitch bearing      | never "blade bearing"                  |
| Anzugsmoment      | tightening torque  |                                        |
| Vorspannkraft     | preload            |                                        |
| Rüstzustand       | service position   | 2019 edition: "maintenance condition"  |
| … 403 more        |                    |                                        |
END
memory terminologist execution <<'END'
# Glossary, service manual

410 terms. One German term, one English term.
"Blattlager" is "pitch bearing". "Rüstzustand" is "service position".
END
segment terminologist 1 'Make a glossary from the table of contents and the parts list' <<'END'
- Read: table of contents, parts list (410 terms)
- Decided: "service position" for Rüstzustand, against the 2019 edition
END
complete "$r"

f1=$(begin 'do translate(manual)' 'do translate(manual)' NULL '{"block": "translate", "depth": 1}')
binding part "$f1" input 'do translate(manual)' <<'END'
docs/turbine-service-manual-de.md
END
r=$(begin 'let size' "$size" "$f1" '{}')
at 2026-01-18 20:22:30
binding size "$f1" let "$size" <<'END'
1,180,000 tokens. Could be cut at 9 chapter headings.
END
complete "$r"
r=$(begin 'let style = session' "$restyle" "$f1" '{}')
at 2026-01-18 20:23:02
binding style "$f1" let "$restyle" <<'END'
Short sentences. Warnings stay warnings. The manual speaks to a trained technician: no "please".
END
complete "$r"
r=$(begin 'let pieces' "$pieces" "$f1" '{}')
at 2026-01-18 20:24:10
binding pieces "$f1" let "$pieces" <<'END'
["1 Safety", "4 Bolted joints", "7 Yaw system"]

Chapters 2, 3, 5, 6, 8 and 9 did not change since the last translation.
END
complete "$r"
l1=$(begin 'for piece' 'for piece in pieces:' "$f1" '{"loop_id": "l1", "max_iterations": 3, "current_iteration": 0}')

# Chapter 1 fits in one pass.
round l1 1
f2=$(begin 'do translate(piece)' 'do translate(piece)' "$l1" '{"block": "translate", "depth": 2}')
binding part "$f2" input 'do translate(piece)' <<'END'
1 Safety
END
r=$(begin 'let size' "$size" "$f2" '{}')
at 2026-01-18 20:24:51
binding size "$f2" let "$size" <<'END'
11,400 tokens. No need to cut.
END
complete "$r"
r=$(begin 'let draft' "$draft" "$f2" '{}')
at 2026-01-18 20:29:16
binding draft "$f2" let "$draft" <<'END'
# 1 Safety

**DANGER.** Lock the rotor before you enter the hub. A rotor that is braked is not locked.

Work in the nacelle only in service position. Two persons. Harness on before the hatch is opened.
END
complete "$r"
l2=$(begin 'loop until' "loop until $no_term (max: 4):" "$f2" \
  "{\"loop_id\": \"l2\", \"max_iterations\": 4, \"current_iteration\": 0, \"condition\": \"$no_term\"}")
round l2 1
r=$(begin 'let findings' "$findings" "$l2" '{}')
at 2026-01-18 20:30:40
binding findings "$f2" let "$findings" <<'END'
None.
END
segment terminologist 2 'Which terms contradict the glossary?' <<'END'
- Chapter 1: none of 87 terms
END
complete "$r"
complete "$l2"
binding result "$f2" output 'do translate(piece)' <<'END'
1 Safety: translated, 14 pages, 0 terms against the glossary.
END
complete "$f2"

# Chapter 4 is cut once more.
round l1 2
f3=$(begin 'do translate(piece)' 'do translate(piece)' "$l1" '{"block": "translate", "depth": 2}')
binding part "$f3" input 'do translate(piece)' <<'END'
4 Bolted joints
END
r=$(begin 'let size' "$size" "$f3" '{}')
at 2026-01-18 20:31:35
binding size "$f3" let "$size" <<'END'
96,000 tokens. Could be cut at 2 headings: 4.1, 4.2.
END
complete "$r"
r=$(begin 'let style = session' "$restyle" "$f3" '{}')
at 2026-01-18 20:32:12
binding style "$f3" let "$restyle" <<'END'
Short sentences. Warnings stay warnings. Tables stay tables: no row is merged, no number is rounded, units stay SI.
END
complete "$r"
r=$(begin 'let pieces' "$pieces" "$f3" '{}')
at 2026-01-18 20:33:00
binding pieces "$f3" let "$pieces" <<'END'
["4.1 Tools", "4.2 Torque tables"]
END
complete "$r"
l3=$(begin 'for piece' 'for piece in pieces:' "$f3" '{"loop_id": "l3", "max_iterations": 2, "current_iteration": 0}')

round l3 1
f4=$(begin 'do translate(piece)' 'do translate(piece)' "$l3" '{"block": "translate", "depth": 3}')
binding part "$f4" input 'do translate(piece)' <<'END'
4.1 Tools
END
r=$(begin 'let draft' "$draft" "$f4" '{}')
at 2026-01-18 20:37:49
binding draft "$f4" let "$draft" <<'END'
# 4.1 Tools

Use only torque wrenches that were calibrated within the last 12 months. Hydraulic wrenches: see the plate for the
pressure at each tightening torque.
END
complete "$r"
binding result "$f4" output 'do translate(piece)' <<'END'
4.1 Tools: translated, 6 pages.
END
complete "$f4"

round l3 2
f5=$(begin 'do translate(piece)' 'do translate(piece)' "$l3" '{"block": "translate", "depth": 3}')
binding part "$f5" input 'do translate(piece)' <<'END'
4.2 Torque tables
END
r=$(begin 'let size' "$size" "$f5" '{}')
at 2026-01-18 20:38:20
binding size "$f5" let "$size" <<'END'
31,000 tokens, 28,000 of them in 17 tables. No heading to cut at.
END
complete "$r"
r=$(begin 'let draft' "$draft" "$f5" '{}')
at 2026-01-18 20:46:33
binding draft "$f5" let "$draft" <<'END'
# 4.2 Torque tables

Table 4.2-1: blade bearing, inner ring, M36 × 320, grade 10.9

| step | tightening torque [Nm] | preload [kN] |
|-----:|-----------------------:|-------------:|
|    1 |                    800 |          185 |
|    2 |                  1,600 |          370 |
|    3 |                  2,400 |          553 |
END
complete "$r"
l4=$(begin 'loop until' "loop until $no_term (max: 4):" "$f5" \
  "{\"loop_id\": \"l4\", \"max_iterations\": 4, \"current_iteration\": 0, \"condition\": \"$no_term\"}")
round l4 1
r=$(begin 'let findings' "$findings" "$l4" '{}')
at 2026-01-18 20:48:05
binding findings "$f5" let "$findings" <<'END'
Two, in 9 of 17 tables: "blade bearing" should be "pitch bearing"; "maintenance condition" should be "service position".
END
segment terminologist 3 'Which terms contradict the glossary?' <<'END'
- Chapter 4.2: two terms, in 9 of 17 tables
- Next: look again after they are mended
END
complete "$r"
r=$(begin '      draft = session' "$mend" "$l4" '{}')
at 2026-01-18 20:57:20
binding draft "$f5" let "$mend" <<'END'
# 4.2 Torque tables

Table 4.2-1: pitch bearing, inner ring, M36 × 320, grade 10.9

| step | tightening torque [Nm] | preload [kN] |
|-----:|-----------------------:|-------------:|
|    1 |                    800 |          185 |
|    2 |                  1,600 |          370 |
|    3 |                  2,400 |          553 |
END
complete "$r"
round l4 2
r=$(begin 'let findings' "$findings" "$l4" '{}')
at 2026-01-18 20:58:44
binding findings "$f5" let "$findings" <<'END'
One: "maintenance condition" is left in table 4.2-11, in a footnote.
END
memory terminologist execution <<'END'
# Glossary, service manual

410 terms. One German term, one English term.
"Blattlager" is "pitch bearing". "Rüstzustand" is "service position": the translator falls back to the 2019 edition's
"maintenance condition" in footnotes. Look at footnotes first.
END
segment terminologist 4 'Which terms contradict the glossary?' <<'END'
- Chapter 4.2: one term left, in a footnote of table 4.2-11
END
complete "$r"
r=$(begin '      draft = session' "$mend" "$l4" '{}')
at 2026-01-18 21:06:02
retry "$r" 2 3
at 2026-01-18 21:14:31
retry "$r" 3 3
at 2026-01-18 21:23:40
fail "$r" 'Output was cut off in the middle of table 4.2-14 (32,768 tokens). Attempt 3 of 3: the whole section is written again for one footnote.'
fail "$l4" 'A statement in round 2 failed.'
fail "$f5" 'translate("4.2 Torque tables") failed.'
fail "$l3" 'A statement in round 2 failed.'
fail "$f3" 'translate("4 Bolted joints") failed.'
fail "$l1" 'A statement in round 2 failed.'
fail "$f1" 'translate(manual) failed.'
run_status failed
