#!/bin/sh
# A run as a folder (filesystem.md), interrupted: bindings of the root and of three frames, an agent with segments, an
# import that imports, an attachment, and an agent of the project.
. "$(dirname "$0")/lib.sh"

# put NAME KIND SOURCE [HEADER-LINES] <value: bindings/NAME.md below the current run. A frame's binding is NAME__FRAME.
put() {
  mkdir -p "$run/bindings"
  {
    printf '# %s\n\nkind: %s\n' "${1%%__*}" "$2"
    [ -z "${4-}" ] || printf '%s\n' "$4"
    printf '\nsource:\n```prose\n%s\n```\n\n---\n\n' "$3"
    cat
  } >"$run/bindings/$1.md"
}

# remember FOLDER <memory, and past FOLDER NUMBER PROMPT <what was done.
remember() {
  mkdir -p "$1"
  { printf '# Agent Memory: %s\n\n' "${1##*/}" && cat; } >"$1/memory.md"
}
past() {
  mkdir -p "$1"
  { printf '# Segment %s\n\ntimestamp: %sZ\nprompt: "%s"\n\n## Summary\n\n' "$2" "$(echo "$now" | tr ' ' T)" "$3" && cat; } \
    >"$1/${1##*/}-$2.md"
}

# annotated [LAST] <annotations, one a line, TEXT|ANNOTATION, in the program's order: its lines up to LAST.
annotated() {
  awk -F '|' -v program="$run/program.prose" -v last="${1-100000}" '
    { text[++n] = $1; note[n] = $2 }
    END {
      at = 1
      while ((getline line < program) > 0 && ++number <= last) {
        if (at <= n && index(line, text[at])) line = sprintf(length(line) > 43 ? "%s   # %s" : "%-44s # %s", line, note[at++])
        print line
      }
      if (at <= n) { print "no line with: " text[at] >"/dev/stderr"; exit 1 }
    }'
}

at 2026-01-15 08:32:14
id=20260115-083214-h5n2ye program=heat-the-school.prose
top=$prose/runs/$id
rm -rf "$top"

# The import's own import, two levels down.
run=$top/imports/survey--building-survey/imports/climate--degree-days
mkdir -p "$run"
cat >"$run/program.prose" <<'END'
# Heating degree days of a place, from the nearest weather station.

input place: "Where"

output degree_days = session "Mean heating degree days of the last ten years, base 15 °C inside, and the station"
END
put place input 'input place: "Where"' <<'END'
Ebersbach, 398 m above the sea
END
put degree_days output 'output degree_days = session "Mean heating degree days of the last ten years, base 15 °C inside, and the station"' <<'END'
2,710 K·d a year (2016 to 2025), station Löbau, 11 km away and 20 m higher.
END
cat >"$run/state.md" <<END
# Execution State

run: $id/survey--building-survey/climate--degree-days
program: degree-days.prose
started: 2026-01-15T08:33:10Z
updated: 2026-01-15T08:34:02Z
status: completed

## Execution Trace

\`\`\`prose
$(annotated <<'NOTES'
input place|--> bindings/place.md
output degree_days|--> bindings/degree_days.md
NOTES
)
\`\`\`

## Index

### Bindings

| Name | Kind | Path | Execution ID |
|------|------|------|--------------|
| place | input | bindings/place.md | (root) |
| degree_days | output | bindings/degree_days.md | (root) |
END

# The import.
run=$top/imports/survey--building-survey
cat >"$run/program.prose" <<'END'
# What a heating engineer must know of a building before anything else.

use "@energy/degree-days" as climate

input building: "The building, as a register describes it"

let envelope = session "Areas and U-values of walls, windows, roof, floor. Say which are guessed."
  context: building

let weather = climate(place: building)

output demand = session "Heat demand of a year, and the load on the coldest day"
  context: { envelope, weather }
END
put building input 'input building: "The building, as a register describes it"' <<'END'
School at the mill, built 1911, extended 1974. 2,350 m² heated. Gas boiler of 1998, 240 kW. Radiators.
END
put envelope let 'let envelope = session "Areas and U-values of walls, windows, roof, floor. Say which are guessed."
  context: building' <<'END'
| part            | area [m²] | U [W/m²K] | from                     |
|-----------------|----------:|----------:|--------------------------|
| walls, 1911     |     1,120 |      1.40 | brick, 42 cm, measured   |
| walls, 1974     |       640 |      1.10 | guessed from the year    |
| windows         |       410 |      1.30 | replaced 2012, data sheet|
| roof            |       980 |      0.22 | insulated 2016, invoice  |
| floor           |       980 |      0.80 | guessed                  |
END
put weather let 'let weather = climate(place: building)' <<'END'
climate.degree_days: 2,710 K·d a year
END
put demand output 'output demand = session "Heat demand of a year, and the load on the coldest day"
  context: { envelope, weather }' <<'END'
**315 MWh a year** (134 kWh/m²), **168 kW** at −14 °C. The two guessed U-values move the demand by ±9 %.
END
cat >"$run/state.md" <<END
# Execution State

run: $id/survey--building-survey
program: building-survey.prose
started: 2026-01-15T08:32:40Z
updated: 2026-01-15T08:37:55Z
status: completed

## Execution Trace

\`\`\`prose
$(annotated <<'NOTES'
input building|--> bindings/building.md
let envelope|--> bindings/envelope.md
let weather|--> bindings/weather.md
output demand|--> bindings/demand.md
NOTES
)
\`\`\`

## Index

### Bindings

| Name | Kind | Path | Execution ID |
|------|------|------|--------------|
| building | input | bindings/building.md | (root) |
| envelope | let | bindings/envelope.md | (root) |
| weather | let | bindings/weather.md | (root) |
| demand | output | bindings/demand.md | (root) |
END

# The run itself.
run=$top
cp "$examples/$program" "$run/program.prose"
put building input 'input building: "The building, as the town'\''s register describes it"' <<'END'
School at the mill, built 1911, extended 1974. 2,350 m² heated. Gas boiler of 1998, 240 kW. Radiators.
END
put budget input 'input budget: "What the council can spend, in euros"' <<'END'
450,000
END
put facts let 'let facts = survey(building: building)' <<'END'
survey.demand: 315 MWh a year, 168 kW at −14 °C, ±9 % for two guessed U-values.
END

librarian=$prose/agents/librarian
rm -rf "$librarian"
at 2025-11-03 15:20:08
past "$librarian" 001 'Which contracts of the town end in 2026?' <<'END'
- Found: gas (31 March 2026), street lights (30 June 2026), school bus (31 July 2026)
- Where: council minutes 2021, shelf 14; contracts, drawer B
END
at 2026-01-15 08:40:31
past "$librarian" 002 'What did the council decide about this building before?' <<'END'
- Found: minutes of 2016-05-12 (roof insulated) and of 2023-09-28 (heat pump put off, "no noise measurement")
- Where: council minutes, shelves 12 and 15
END
put archive let 'let archive = session: librarian
  prompt: "What did the council decide about this building before?"' <<'END'
Twice. 2016: insulate the roof (done). 2023-09-28: a heat pump was put off by 9 to 7 votes, because nobody could say how
loud it would be in the yard of No. 14.

The gas contract ends on 31 March 2026.
END
at 2026-01-15 08:52:19
past "$librarian" 003 'Which subsidies can be had, until when, under which conditions?' <<'END'
- Found: federal grant 35 %, state grant 10 % on top for schools, both until 30 June 2026
- Open: whether the two add up for a listed building
END
remember "$librarian" <<'END'
## What the archive holds

- Council minutes 2009 to 2025: shelves 9 to 15, one a year and a half
- Contracts: drawer B; the gas contract ends on 2026-03-31
- The school at the mill: 2016-05-12 roof, 2023-09-28 heat pump put off for lack of a noise measurement

## Open

- Do the federal and the state grant add up for a listed building? Asked the state on 2026-01-15.
END
put subsidies let 'subsidies = session: librarian
    prompt: "Which subsidies can be had, until when, under which conditions?"' <<'END'
Federal: 35 % of the cost, application before the order, until 30 June 2026. State: 10 % on top for schools. Whether both
can be had for a listed building is not settled; the state was asked today.
END

at 2026-01-15 08:44:50
past "$run/agents/adviser" 001 'What does the council need to know before it can decide?' <<'END'
- Read: survey, minutes of 2023
- Found: the vote of 2023 turned on noise, not on money
- Promised: a number in decibels at the fence of No. 14
- Next: two options over 20 years, then the objections
END
remember "$run/agents/adviser" <<'END'
## Current Understanding

The council said no in 2023 by 9 to 7, because of noise. It will ask for decibels first and for euros second.
The gas contract ends on 2026-03-31: doing nothing is an option that costs something too.

## Decisions Made

- 2026-01-15: Compare two options over 20 years, with what is guessed marked as guessed

## Open Concerns

- dB(A) at the fence of No. 14, at night
- Do both grants add up for a listed building?
END
put question let 'let question = session: adviser
  prompt: "What does the council need to know before it can decide?"
  context: { facts, archive }' <<'END'
1. How loud is it at the fence of No. 14, at night?
2. What does each option cost over 20 years, and what if gas stays as dear as it is?
3. What happens on 31 March 2026 if nothing is decided?
END
mkdir -p "$run/attachments"
awk 'BEGIN {
  print "# Heat load for every hour of a year [kW]\n"
  print "Day 1 is 1 January. Mean of 2016 to 2025, school days from 6 to 17 h, else lowered to 15 °C.\n"
  print "| day | " "0 to 23 h |\n|----:|---|"
  for (day = 1; day <= 365; day++) {
    cold = day < 183 ? 183 - day : day - 183
    row = sprintf("| %3d |", day)
    for (hour = 0; hour < 24; hour++) {
      school = (cold >= 60 && hour >= 6 && hour < 17 && day % 7 < 5) ? 60 : 0
      load = int(cold * 120 / 183 - 50 + school + (day * 7 + hour * 3) % 11)
      row = row sprintf(" %3d", load < 0 ? 0 : load)
    }
    print row " |"
  }
}' >"$run/attachments/load_profile.md"
put load_profile let 'load_profile = session: engineer
    prompt: "Heat load for every hour of a year"
    context: facts' 'attachment_path: attachments/load_profile.md' <<'END'
8,760 hours, 317 MWh; the peak of a mean year is 139 kW, in the first week of January. 95 % of the heat is needed below
98 kW: a heat pump of 100 kW and a boiler for the coldest days would do. All hours: see the attachment.
END

# Block estimate: frame 1 calls itself twice.
call='do estimate("heat pumps, air to water")'
cost='let cost = session: engineer
    prompt: "Cost over 20 years, and the two assumptions that matter most"
    context: { option, facts }'
variants='let variants = session: engineer
      prompt: "Name the variants"
      context: cost'
put option__1 input "$call" 'execution_id: 1' <<'END'
heat pumps, air to water
END
put cost__1 let "$cost" 'execution_id: 1' <<'END'
**€612,000 over 20 years** (without grants): €248,000 to build, €18,200 a year for electricity and service. What matters
most: the price of electricity (24 ct/kWh ± 6: ± €71,000) and the seasonal factor (3.1 with radiators as they are).
END
put variants__1 let "$variants" 'execution_id: 1' <<'END'
["one pump of 170 kW", "one pump of 100 kW, the boiler for the coldest days"]
END
put option__2 input 'do estimate(variant)' 'execution_id: 2
parent_execution_id: 1' <<'END'
one pump of 170 kW
END
put cost__2 let "$cost" 'execution_id: 2
parent_execution_id: 1' <<'END'
**€655,000 over 20 years**: €301,000 to build. 58 dB(A) at the fence of No. 14: too loud at night (45 allowed).
END
put option__3 input 'do estimate(variant)' 'execution_id: 3
parent_execution_id: 1' <<'END'
one pump of 100 kW, the boiler for the coldest days
END

cat >"$run/state.md" <<END
# Execution State

run: $id
program: heat-the-school.prose
started: 2026-01-15T08:32:14Z
updated: 2026-01-15T09:11:47Z
status: interrupted

## Execution Trace

\`\`\`prose
$(annotated $(($(line 'do estimate("district heating")') + 7)) <<'NOTES'
input building|--> bindings/building.md
input budget|--> bindings/budget.md
let facts|--> bindings/facts.md
let archive|--> bindings/archive.md
let question|--> bindings/question.md
let cost|<-- EXECUTING
let variants|--> bindings/variants__1.md
parallel:|(complete)
load_profile|--> bindings/load_profile.md (complete)
subsidies|--> bindings/subsidies.md (complete)
do estimate("heat pumps, air to water")|<-- EXECUTING
do estimate("district heating")|[...next...]
loop until|[not yet entered]
NOTES
)
\`\`\`

## Active Constructs

### Loop (lines $(line 'for variant')-$(line '      do estimate(variant)'))

- status: executing
- iteration: 2/2

### Loop (lines $(line 'loop until')-$(($(line 'context: objections'))))

- status: not yet entered
- iteration: 0/3
- condition: every objection of the council is answered

## Index

### Bindings

| Name | Kind | Path | Execution ID |
|------|------|------|--------------|
| building | input | bindings/building.md | (root) |
| budget | input | bindings/budget.md | (root) |
| facts | let | bindings/facts.md | (root) |
| archive | let | bindings/archive.md | (root) |
| question | let | bindings/question.md | (root) |
| load_profile | let | bindings/load_profile.md | (root) |
| subsidies | let | bindings/subsidies.md | (root) |
| option | input | bindings/option__1.md | 1 |
| cost | let | bindings/cost__1.md | 1 |
| variants | let | bindings/variants__1.md | 1 |
| option | input | bindings/option__2.md | 2 |
| cost | let | bindings/cost__2.md | 2 |
| option | input | bindings/option__3.md | 3 |

### Agents

| Name | Scope | Path |
|------|-------|------|
| adviser | execution | agents/adviser/ |
| librarian | project | .prose/agents/librarian/ |

## Call Stack

| execution_id | block | depth | status |
|--------------|-------|-------|--------|
| 3 | estimate | 2 | executing |
| 1 | estimate | 1 | waiting |
END

# The project's configuration. No secrets, and no address: one would be asked by nobody before it is trusted.
cat >"$prose/.env" <<'END'
# Read by the VM; the values below are examples.
OPENPROSE_TELEMETRY=disabled
USER_ID=user-a7b3c9d4e5f6
SESSION_ID=sess-1768466400000-x9y8z7
END
