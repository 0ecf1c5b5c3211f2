// Generated from the doc comments and structs of core/src/view by `cargo xtask docs`: the JSON of `prosescope … --json`.
// Integers beyond 2^53 are texts in the JavaScript package.

/** An agent that is kept at a path. */
export type AgentElsewhere = {
  /** Its name. */
  name: string;
  /** The path, as the program says it (`persist: "path"`). */
  path: string;
  /** The command that reads its memory there. */
  command: string;
};

/** The persistent agent of a task. */
export type AgentOfTask = {
  /** Its name. */
  name: string;
  /** How long its memory lives: `execution`, `project`, `user` or `custom`. */
  scope: AgentScope;
  /** The path of its memory, if the program declares one (scope `custom`). */
  path: string | null;
};

/** How long an agent's memory lives. A row may record a word unknown to OpenProse. */
export type AgentScope = "execution" | "project" | "user" | "custom" | (string & {});

/** An agent. */
export type AgentView = {
  /** Index into the run's agents: what a shell passes back to open its memory. */
  agent: number;
  /** Its name. */
  name: string;
  /** Its scope. */
  scope: AgentScope;
  /** Which store it was read from. */
  store: string;
  /** Another store of the same scope has an agent of this name, and the run uses that one. */
  shadowed: boolean;
  /** Its memory and its times are kept in what could not be read: that it has none must not be said. */
  memory_unread: boolean;
  /** Not all of its invocations could be read. */
  segments_unread: boolean;
  /** Bytes of its memory; `null`: it has none. */
  memory_len: number | null;
  /** The beginning of its memory on one line. */
  memory_preview: string;
  /** When it was first written. */
  created: Stamp | null;
  /** When its memory was last written. */
  updated: Stamp | null;
  /** Its invocations in order. */
  segments: Array<SegmentView>;
};

/** The agents. */
export type AgentsView = {
  /** The agents: the run's own, then the project's, then the user's. */
  agents: Array<AgentView>;
  /** Agents whose memory the program keeps at a path of its own: it is not opened from a run's data. */
  elsewhere: Array<AgentElsewhere>;
};

/** A binding that a statement wrote. */
export type AnswerView = {
  /** The binding; `overwritten` says that its present value is of a later write. */
  binding: BindingRef;
  /** The first lines of what the statement wrote; `null` where that is not kept. Never of a later value. */
  value: Excerpt | null;
  /** Who replaced the value, where that is known. */
  replaced_by: NodeRef | null;
  /** What to know: it was replaced, and whether it is kept. */
  note: string | null;
};

/** An agent that a session names, as the program declares it: what a record says of it may differ. */
export type AskedAgent = {
  /** Its name. */
  name: string;
  /** The model that it asks for; `null`: the program names none. */
  model: string | null;
  /** Its own prompt, which stands before that of each session. */
  prompt: Excerpt | null;
};

/** An attempt to carry a statement out. */
export type AttemptView = {
  /** Its number, from 1. */
  number: number;
  /** The row that tells of it first. */
  id: number;
  /** Its status in words. */
  status: StatementStatus;
  /** When it began; `null`: not recorded. */
  started: Stamp | null;
  /** When it ended; `null`: not recorded. */
  ended: Stamp | null;
  /** Its error, cut at 400 characters. */
  error: string | null;
};

/** What happened to a gate. A row may record a word unknown to OpenProse. */
export type AuditEventKind = "created" | "viewed" | "approved" | "rejected" | "timeout" | "resumed" | "overridden" | "forced" | (string & {});

/** A row of the audit log. */
export type AuditRow = {
  /** The row's id. */
  id: number;
  /** The gate. */
  gate: string;
  /** The run. */
  run: string;
  /** What happened. */
  event: AuditEventKind;
  /** Who, as claimed. */
  principal: string | null;
  /** Context or reason. */
  comment: string | null;
  /** When. */
  timestamp: Stamp | null;
  /** `metadata` as recorded. */
  metadata: string | null;
  /** Whether the row is part of the chain. */
  sealed: boolean;
};

/** The audit log. */
export type AuditView = {
  /** Its rows, by id. */
  rows: Array<AuditRow>;
  /** `consistent`, `unsealed`, `partly sealed`, `contradicted` (gates are not what the sealed rows record), `broken`, `empty`, `gone` (the run shows that there was a log). */
  chain: ChainState;
  /** The same in one sentence, with the first bad row: never "proof". */
  chain_reason: string;
  /** The last sealed row, as a decision prints it; absent where the log is of several runs. */
  head: Head | null;
  /** What the verification found. */
  issues: Array<Issue>;
};

/** When a row was worked on. */
export type Bar = {
  /** The row, by its place in the trace. */
  node: number;
  /** Where it begins on the axis. */
  from: number;
  /** Where it ends. */
  until: number;
  /** What is known of its end. */
  end: BarEnd;
  /** The run's end waited for it. */
  critical: boolean;
};

/** What is known of the end of a bar. */
export type BarEnd = "recorded" | "inner" | "open" | "unknown";

/** How a name was bound. A row may record a word unknown to OpenProse. */
export type BindingKind = "input" | "output" | "let" | "const" | (string & {});

/** A binding as a link. */
export type BindingRef = {
  /** Index into the bindings. */
  binding: number;
  /** Its name. */
  name: string;
  /** Its frame. */
  execution_id: number | null;
  /** Of a node's bindings: the node wrote it, and another write replaced the value since. */
  overwritten: boolean;
  /** Of a node's bindings: that the node wrote it follows from names and order, as times are not recorded. */
  inferred: boolean;
};

/** A binding in a list. */
export type BindingRow = {
  /** Index into the run's bindings: what a shell passes back. */
  binding: number;
  /** Its name. */
  name: string;
  /** Its frame; `null` is the root. */
  execution_id: number | null;
  /** The way to the frame, from the outside in: `do process(data) #41 › do process(half) #42`; empty at the root. */
  frame_path: string;
  /** The node of its frame in the trace, where it is there. */
  frame_node: number | null;
  /** The kind as written. */
  kind: BindingKind;
  /** Bytes; `null`: NULL, or missing. */
  len: number | null;
  /** How it is stored: `text`, `blob`, `null`, `file`, `missing` … */
  stored: StoredAs;
  /** The beginning of the value on one line, at most 160 characters. */
  preview: string;
  /** The statement that made it. */
  source: string | null;
  /** When it was first written. */
  created: Stamp | null;
  /** When it was last written. */
  updated: Stamp | null;
  /** The node that wrote the value: it was under way at that time. `null` when none was, or when several may have written it. */
  written_by: NodeRef | null;
  /** `written_by` follows from names and order, as times are not recorded. */
  writer_inferred: boolean;
  /** `attachment_path` as recorded. */
  attachment: string | null;
  /** Fields of its file's header that no document knows (`agent`, `exit_code`, `stderr`), in order; the first 20. */
  fields: Array<[string, string]>;
  /** What is missing of it was not given: single files of the run were opened, not its folder. */
  not_given: boolean;
  /** Whether the attachment is there: its bytes; `null` with a path means that it is missing. */
  attachment_len: number | null;
  /** How many rows claim this name and frame (errata S2): 1, unless the table lets it happen. */
  versions: number;
  /** How many earlier values the store keeps aside (errata B6). */
  earlier: number;
  /** A later row claims the same name and frame. */
  superseded: boolean;
};

/** A window of the bindings. */
export type BindingsPage = {
  /** How many there are in all, by scope: root first, then frame by frame. */
  total: number;
  /** The first row's place among them. */
  from: number;
  /** The rows. */
  rows: Array<BindingRow>;
};

/** A candidate of a resolution. */
export type CandidateView = {
  /** The binding. */
  row: BindingRow;
  /** Steps up; `null` for the root and for those out of reach. */
  distance: number | null;
  /** What became of it. */
  outcome: Outcome;
  /** Why, in one sentence. */
  reason: string;
};

/** A cell: its storage type, its beginning, and its length. */
export type Cell = {
  /** `null`, `integer`, `real`, `text`, `blob`. */
  type: CellType;
  /** The cell as text, possibly cut; a blob as hexadecimal digits. */
  text: string;
  /** Length of the whole cell in bytes. */
  len: number;
  /** Whether `text` is only the beginning. */
  cut: boolean;
};

/** The type with which a cell is stored. */
export type CellType = "null" | "integer" | "real" | "text" | "blob";

/** What the verification of an audit log says. */
export type ChainState = "empty" | "gone" | "consistent" | "partly sealed" | "unsealed" | "contradicted" | "broken";

/** What a check of runs found. */
export type CheckReport = {
  /** How many issues of each severity, in all runs. */
  counts: Counts;
  /** The runs, in the order they were asked for. */
  runs: Array<CheckedRun>;
  /** The rules that were found, by name, with their meaning. */
  rules: Array<RuleView>;
};

/** What a check of one run found. */
export type CheckedRun = {
  /** Its id, else its folder's name. */
  run: string;
  /** The program's name. */
  program: string | null;
  /** What is believed of its status. */
  status: RunStatus;
  /** The folder that its files are named from, as the shell would write it. */
  folder: string;
  /** The file in it that issues without a file speak of: the database, else the state file. */
  store: string;
  /** How many issues of each severity. */
  counts: Counts;
  /** The issues: errors first, then by rule, then in the order found. */
  issues: Array<IssueView>;
  /** Why it could not be opened, with what to do next; everything else is then empty. */
  error: string | null;
};

/** A column of a table. */
export type ColumnInfo = {
  /** Its name. */
  name: string;
  /** The declared type; may be empty. */
  declared: string;
  /** Whether OpenProse defines the column. */
  known: boolean;
};

/** Issues by severity. */
export type Counts = {
  /** Severity error. */
  error: number;
  /** Severity warning. */
  warning: number;
  /** Severity note. */
  note: number;
};

/** How much was worked on in a part of the axis. */
export type Dense = {
  /** How many statements, in percent of the part with the most. */
  busy: number;
  /** A statement failed in it. */
  failed: boolean;
};

/** A part of an example. */
export type ExamplePart = {
  /** What it is: `state.md`, `SQL on an empty database`; empty for words. */
  title: string;
  /** `sql`, `markdown`, `json`, `text`; empty for words. */
  language: string;
  /** The text. */
  text: string;
};

/** The first lines of a text. */
export type Excerpt = {
  /** The first lines, at most ten of them and 1,200 bytes; of what is no text, the first bytes as hexadecimal digits. */
  text: string;
  /** Bytes in all. */
  len: number;
  /** Whether `text` is not all of it. */
  cut: boolean;
  /** How it reads best. */
  format: ValueFormat;
};

/** What failed first, and what failed because of it (errata T9). */
export type Failure = {
  /** The first cause. */
  cause: NodeRef;
  /** Its error; `null`: no message was recorded. */
  error: string | null;
  /** Failed or stopped because of it, from the inside out (the first 20). */
  because_of: Array<NodeRef>;
  /** How many that are in all. */
  because_of_count: number;
  /** The same in words: `it ended the 6 blocks around it`; empty where nothing else failed. Of a completed run, why it went on, where that is known. */
  because_words: string;
};

/** A file of the run folder. */
export type FileInfo = {
  /** Path inside the run folder, with `/` as separator. */
  path: string;
  /** Size in bytes. */
  len: number;
  /** What the file was read as: `state file`, `binding`, `program`, `attachment`, …; `null` for a file that no other part of the run refers to. */
  role: string | null;
};

/** Every file and every table. */
export type FilesView = {
  /** The files. */
  files: Array<FileInfo>;
  /** The tables. */
  tables: Array<TableInfo>;
};

/** A stretch in which nothing was worked on. */
export type Gap = {
  /** Where it begins on the axis. */
  at: number;
  /** How long it is drawn. */
  drawn: number;
  /** When it began. */
  from: Stamp;
  /** How long it was, in milliseconds. */
  len_ms: number;
  /** The same in words. */
  len: string;
};

/** How a gate stands. A row may record a word unknown to OpenProse. */
export type GateStatus = "pending" | "approved" | "rejected" | "timeout" | (string & {});

/** A gate. */
export type GateView = {
  /** The run it belongs to. */
  run: string;
  /** Where that run lies (see `RunSummary.place`); set in lists over all runs. */
  place: string | null;
  /** Its id. */
  id: string;
  /** Its status as recorded. */
  status: GateStatus;
  /** Its status at `now`, in words: `pending`, `overdue: its time-out is not recorded yet`. */
  standing: string;
  /** What the approver is asked. */
  prompt: string;
  /** Who may decide. */
  allow: Array<string>;
  /** Who may decide, in words: `anyone`, `ops-team`, `nobody`, `unreadable: refused`. */
  allow_words: string;
  /** The duration as the program wrote it. */
  timeout: string | null;
  /** The deadline. */
  deadline: Stamp | null;
  /** `expires in 3h 12m`, `expired 5m ago`; `null` without a deadline, or once it was decided. */
  remaining: string | null;
  /** Past its deadline and nobody recorded it. */
  overdue: boolean;
  /** What the program does on a rejection. */
  on_reject: string | null;
  /** When it was created. */
  created: Stamp | null;
  /** When it was decided. */
  resolved: Stamp | null;
  /** Who decided: a claim. */
  resolved_by: string | null;
  /** The comment of who decided. */
  comment: string | null;
  /** How long it waited, or waits; milliseconds. */
  waited_ms: number | null;
  /** The same in words. */
  waited: string | null;
  /** The execution row that waits at it. */
  execution_id: number | null;
  /** Its node in the trace. */
  node: number | null;
  /** What it means that no sealed row of the log records its creation, where the run's log seals creations. */
  unsealed: string | null;
  /** Its history, by id. */
  history: Array<AuditRow>;
  /** `metadata` as recorded. */
  metadata: string | null;
  /** What a decision that is made elsewhere is compared with; `null` once the gate was decided, or where `allow` cannot be read. */
  seen: Seen | null;
  /** Past its deadline: the command that records the time-out. A decision is refused then. */
  expire_command: string | null;
  /** The command that approves it. */
  approve_command: string;
  /** The command that rejects it. */
  reject_command: string;
};

/** The gates of a run. */
export type GatesView = {
  /** The gates, in order of creation. */
  gates: Array<GateView>;
  /** The audit log and what its verification says. */
  audit: AuditView;
};

/** A name that a statement was given. */
export type GivenName = {
  /** The name. */
  name: string;
  /** The binding that it meant. */
  binding: BindingRef | null;
  /** The statement that wrote the value that it was given, where `seen` is `same` and a record tells which. */
  written_by: NodeRef | null;
  /** Why it meant this one, or none. */
  why: string;
  /** Whether the value there now is the one that was given. */
  seen: Seen;
  /** `seen` follows from the order of the statements, as times do not decide it. */
  inferred: boolean;
  /** The first lines of what it was given; where `seen` is `unknown`, of the value that is there now; `null` where what it was given is not kept. */
  value: Excerpt | null;
  /** What to know: what replaced the value, or why it is not known whether it is the one. */
  note: string | null;
};

/** The last sealed row of a run. */
export type Head = {
  /** The run. */
  run: string;
  /** How many rows its chain has: the `seq` of the last. */
  count: number;
  /** The hash of the last. */
  hash: string;
};

/** An imported program. */
export type ImportView = {
  /** The handle it is used by. */
  alias: string;
  /** Where it came from. */
  source_url: string | null;
  /** When it was fetched. */
  fetched: Stamp | null;
  /** The inputs' schema, JSON as recorded. */
  inputs_schema: string | null;
  /** The outputs' schema, JSON as recorded. */
  outputs_schema: string | null;
  /** The place of its nested run, to open it; `null`: there is none. */
  place: string | null;
  /** What is known of the nested run without opening it whole. */
  nested_status: string | null;
  /** Bindings of this run that carry its prefix, at most 200; of several imports with one handle, the first lists them. */
  bindings: Array<BindingRef>;
  /** A cycle, or nested deeper than 50: it is not opened. */
  note: string | null;
};

/** The imports of a run. */
export type ImportsView = {
  /** The imports, in the store's order. */
  imports: Array<ImportView>;
  /** The chain of runs above this one, when it is nested itself: places, from the outside in. */
  above: Array<string>;
};

/** Something odd, with its place and what to do about it. */
export type Issue = {
  /** The rule's name, kebab-case, such as `orphan-parent`. Tests and scripts rely on it. */
  rule: string;
  /** How much it matters. */
  severity: Severity;
  /** Where it was found. */
  location: Location;
  /** What was found, in one sentence. */
  message: string;
  /** What it means or what to do, in one sentence; may be empty. */
  hint: string;
};

/** An issue with the page that shows its place. */
export type IssueView = {
  /** The node of the trace that it speaks of. */
  node: number | null;
  /** The binding that it speaks of. */
  binding: number | null;
  /** Where, in words: `execution row 12`, `state.md line 40`. */
  place: string;
  /** The rule's name, kebab-case, such as `orphan-parent`. Tests and scripts rely on it. */
  rule: string;
  /** How much it matters. */
  severity: Severity;
  /** Where it was found. */
  location: Location;
  /** What was found, in one sentence. */
  message: string;
  /** What it means or what to do, in one sentence; may be empty. */
  hint: string;
};

/** The issues of a run. */
export type IssuesView = {
  /** How many of each severity. */
  counts: Counts;
  /** The issues: errors first, then in the order found. */
  issues: Array<IssueView>;
  /** The rules that they go by, with their meaning and what to do, without examples. */
  rules: Array<RuleView>;
};

/** How much of a kind was left out. */
export type LeftOutOfShare = {
  /** What. */
  what: string;
  /** How many. */
  count: number;
  /** Bytes together. */
  bytes: number;
};

/** Where in the run an issue was found. Every shell links it. */
export type Location = {
  /** File inside the run folder, or the database's name. */
  file?: string | null;
  /** Table of the database. */
  table?: string | null;
  /** Row id, or execution id. */
  row?: number | null;
  /** Column of the table, or key of a header. */
  column?: string | null;
  /** Line of the file, from 1. */
  line?: number | null;
};

/** The head that an audit log had. */
export type LogSealedAnew = {
  /** The run. */
  run: string;
  /** How many sealed rows it had. */
  count: number;
  /** The hash of its last one. */
  head: string;
};

/** A statement that took long. */
export type Longest = {
  /** The statement. */
  node: NodeRef;
  /** How long, in words. */
  took: string;
  /** The same in milliseconds. */
  took_ms: number;
};

/** Everything that is known of one node. */
export type NodeDetail = {
  /** The row of the trace. */
  row: TreeRow;
  /** What it lies in, from the outside in; the nearest hundred. */
  path: Array<NodeRef>;
  /** Its whole statement. */
  text: string;
  /** Its whole error. */
  error: string | null;
  /** Its rows in the store, in order, with every column. */
  rows: Array<RowView>;
  /** Which frame's bindings it sees first; `null` is the root. */
  frame: number | null;
  /** Why the tie to its line is a guess, as a clause; `null` when it is none. */
  line_why: string | null;
  /** What of its place in the tree was inferred, in a sentence; `null` when its rows record it. */
  inferred_why: string | null;
  /** What the program says of its statement: retries, conditions, prompts. */
  properties: Array<PropertyView>;
  /** What it was asked, what it was given, and what it answered. */
  work: NodeWork;
  /** Issues that speak of its rows. */
  issues: Array<Issue>;
};

/** What a row of the trace is. */
export type NodeKind = "statement" | "parallel" | "branch" | "loop" | "round" | "frame" | "gate";

/** A node of the trace as a link. */
export type NodeRef = {
  /** Index into the trace: what a shell passes back. */
  node: number;
  /** The id of its first row, where it has one. */
  id: number | null;
  /** `statement`, `parallel`, `branch`, `loop`, `round`, `frame`, `gate`. */
  kind: NodeKind;
  /** Its statement. */
  text: string;
  /** Its status in words. */
  status: StatementStatus;
  /** What it lies in, from the outside in: `loop › round 2 › do process(half)`; empty at the root. */
  path: string;
  /** Line in the program. */
  line: number | null;
  /** The tie to the line is a guess. */
  line_guessed: boolean;
  /** Its last error, cut at 400 characters; also that of an attempt that is being retried. */
  error: string | null;
};

/** What a statement was asked, what it was given, and what it answered. */
export type NodeWork = {
  /** What it was asked: as the program says it, or as its record has it where that tells more surely. */
  prompt: Excerpt | null;
  /** What to know of the prompt, or why it is not known. */
  prompt_note: string | null;
  /** The persistent agent that carried it out. */
  agent: AgentOfTask | null;
  /** The agent that it names, as the program declares it. */
  by: AskedAgent | null;
  /** The names that it was given, as they are resolved in its frame; the first fifty. */
  context: Array<GivenName>;
  /** How many more names there are. */
  more_context: number;
  /** What to know of all of them, or why they are not known. */
  context_note: string | null;
  /** The bindings that it wrote. */
  answers: Array<AnswerView>;
  /** Why there is no answer, or why it is not known. */
  answer_note: string | null;
  /** Its attempts, as far as rows tell of them; empty where there was one. */
  attempts: Array<AttemptView>;
  /** What the rows do not tell of its attempts. */
  attempts_note: string | null;
};

/** What became of a candidate. */
export type Outcome = "wins" | "shadowed" | "out-of-reach" | "superseded";

/** What happened, where it stopped and why: the first page. */
export type Overview = {
  /** The run's id. */
  run: string;
  /** The program's name or path. */
  program: string | null;
  /** What it was read as, in words: `SQLite, append-only`. */
  form: RunForm;
  /** What was opened, in words: a path, a dropped folder. */
  label: string;
  /** What is believed of its status. */
  status: RunStatus;
  /** Who says so. */
  status_source: string;
  /** Why, in one sentence. */
  status_reason: string;
  /** What each source says, when they disagree. */
  claims: Array<[string, string]>;
  /** One line: `Waiting at gate deploy since 25 Jan 2026, 13:04 UTC`. */
  headline: string;
  /** What is left to do, as a clause: `up to 13 statements, from line 32 on`; empty for a store of agents. */
  left: string;
  /** What to do next, as a clause: `go on at line 32`; empty for a store of agents. */
  next: string;
  /** The command that does it, or shows how; `null` where there is none. */
  next_command: string | null;
  /** Three sentences on what happened. */
  story: Array<string>;
  /** When it started; `null`: not recorded. */
  started: Stamp | null;
  /** What that was read from where nothing records a start: `the run's id, which names no time zone`. */
  started_from?: string | null;
  /** The last sign of life: the latest time that the run records. */
  last_sign: Stamp | null;
  /** What that was read from. */
  last_sign_from: string | null;
  /** How long ago that was, when `now` is given: `3d 4h ago`. */
  last_sign_ago: string | null;
  /** When a file of the run was last changed, where the run records no time at all. No sign of life: copies and checkouts reset it. */
  file_changed?: Stamp | null;
  /** Running, but a day without a sign of life. */
  stale: boolean;
  /** From the start to the last sign of life, where both are recorded; milliseconds. */
  duration_ms: number | null;
  /** The same in words. */
  duration: string | null;
  /** Whether any statement carries a time (errata X14). */
  times_recorded: boolean;
  /** Statements that started. One that ran several times counts each time; a block around others does not count. */
  statements: number;
  /** Those of them that finished. */
  statements_done: number;
  /** Statements of the program that may run, where its source is there. */
  statements_in_program: number | null;
  /** How many statements have which status, those that did not start included. */
  by_status: Array<StatusCount>;
  /** Nodes that were retried. */
  retried: number;
  /** Nodes that failed and were recovered. */
  recovered: number;
  /** Where the run stands (the first 20). */
  positions: Array<NodeRef>;
  /** How many places that are in all. */
  position_count: number;
  /** The first cause of a failure; of a completed run, what failed first and nothing recovered. */
  failure: Failure | null;
  /** Gates that wait for a decision. */
  pending_gates: Array<GateView>;
  /** What a completed run answered: its outputs at the root, as they were left (the first 20). */
  outputs: Array<BindingRef>;
  /** How many bindings there are. */
  bindings: number;
  /** Their values' bytes together. */
  bindings_bytes: number;
  /** How many of them name an attachment. */
  attachments: number;
  /** How many agents. */
  agents: number;
  /** How many gates. */
  gates: number;
  /** How many imports. */
  imports: number;
  /** How many rows the trace has, blocks and rounds included. */
  trace_nodes: number;
  /** How many tables and files. */
  tables: number;
  /** How many files. */
  files: number;
  /** Issues by severity. */
  issues: Counts;
  /** What of the run could not be read to its end; counts of these parts may be too low. */
  unread: Array<Unread>;
  /** No run row: what was found instead. */
  missing: string | null;
  /** What the run's own records say that no other field holds: `upstream` and `root` of a log, keys of run.json, header keys of a state file unknown to OpenProse. */
  facts: Array<[string, string]>;
  /** Other runs in the same database, by id. */
  other_runs: Array<string>;
};

/** A part of a run that a page or a command lists. */
export type Part = "program" | "statements" | "bindings" | "agents" | "gates" | "audit" | "imports";

/** A line of the program. */
export type ProgramLine = {
  /** Its number, from 1. */
  line: number;
  /** Its text. */
  text: string;
  /** The kind of the statement that begins here, kebab-case; empty elsewhere. */
  kind: string;
  /** `statement`, `property`, `continuation`, `comment`, `blank`. */
  role: "statement" | "property" | "continuation" | "comment" | "blank" | "text";
  /** What happened here, in words: `completed`, `failed`, `3 × completed, 1 × failed`. Where no record names the line: `not run` (its condition did not hold), `not recorded` (before the farthest record, or in a completed run), `not reached`, or the word of a branch that its parallel announced; empty where nothing is known, and for what does not run. */
  annotation: string;
  /** The status to colour it by, in words; empty where `annotation` is. */
  status: StatementStatus;
  /** Nodes of the trace that are tied to this line (the first 50). */
  nodes: Array<number>;
  /** How many there are in all. */
  node_count: number;
  /** Whether some tie is a guess. */
  guessed: boolean;
  /** What the statement that begins here says of itself (the first 50). */
  properties: Array<PropertyView>;
  /** Bindings written here (the first 50). */
  bindings: Array<BindingRef>;
  /** The run stands here. */
  position: boolean;
};

/** The program with what is known of each line. */
export type ProgramView = {
  /** Its name or path. */
  path: string | null;
  /** Where the source came from; `null`: there is no source, and the lines are those of the state file's trace. */
  source_from: string | null;
  /** What to know about it: `no program in this run`, `the run holds no program; this is its state file's trace`. */
  note: string | null;
  /** How many lines there are in all. */
  total: number;
  /** The first line's place among them. */
  from: number;
  /** The lines. */
  lines: Array<ProgramLine>;
};

/** A property of a statement. */
export type PropertyView = {
  /** Its name; those inside of another are joined to it by a dot (`permissions.bash`). */
  name: string;
  /** What it says, without quotes and asterisks, cut at 400 characters: `4h`, `the draft is good`, `a, b`. */
  text: string;
  /** `text`, `condition`, `number`, `flag`, `duration`, `list`, `word`, `raw`; empty when nothing stands after the name. */
  kind: "text" | "condition" | "number" | "flag" | "duration" | "list" | "word" | "raw" | "";
  /** Its line in the program. */
  line: number;
};

/** A column of an answer. */
export type QueryColumn = {
  /** Its name. */
  name: string;
  /** The type that its table declares; `null` for an expression or an undeclared type. */
  declared: string | null;
};

/** A table that a query may use. */
export type QueryTable = {
  /** Its name. */
  name: string;
  /** Whether the table belongs to the run's own database. The other tables are computed from the run, whatever its form. */
  own: boolean;
  /** What one row of the table describes; empty for the run's own tables. */
  about: string;
  /** Number of rows; `null` if they are not counted. */
  rows: number | null;
  /** Its columns, in order. */
  columns: Array<QueryColumn>;
};

/** What can be asked of a run in SQL. */
export type QueryTables = {
  /** The tables: those of what was understood of the run, then the run's own. */
  tables: Array<QueryTable>;
  /** Questions that have a name. */
  questions: Array<StoredQuestion>;
};

/** The answer to an SQL query. */
export type QueryView = {
  /** The columns, in the order of the statement. */
  columns: Array<QueryColumn>;
  /** The rows, in the order of the statement. */
  rows: Array<Array<Cell>>;
  /** Number of rows in this answer. */
  returned: number;
  /** Whether the statement has more rows than this answer. */
  more: boolean;
  /** Number of cells that were cut. */
  cut: number;
  /** Remarks on the answer, in sentences: omitted rows, values that were not read. */
  notes: Array<string>;
};

/** What a name means in a frame, and why, in words and links. */
export type ResolutionView = {
  /** The name that was asked for. */
  name: string;
  /** The frame it was asked from; `null` is the root. */
  from: number | null;
  /** The way that was walked, from the frame asked from outward, ending in `root`; cut in its middle when long. */
  chain: Array<string>;
  /** The candidates, the winner first. */
  candidates: Array<CandidateView>;
  /** How many more there are, farther away than these. */
  more: number;
  /** What bent the walk. */
  issues: Array<Issue>;
};

/** A row of the store, every column of it; of a run that a log tells of, a line of that log by its number. */
export type RowView = {
  /** The row's id. */
  id: number;
  /** Column names and values, in the table's order. */
  columns: Array<[string, Cell]>;
};

/** A rule. */
export type RuleView = {
  /** Its name. */
  name: string;
  /** The title of its page in docs/reference/checks. */
  area: string;
  /** The severities that its issues may have, the usual one first. */
  severities: Array<Severity>;
  /** What it means, in one sentence. */
  meaning: string;
  /** Why that is bad: what may be wrong or missing in what is shown, and which tools fail. */
  why: string;
  /** What to do. */
  fix: string;
  /** Where it is written. */
  source: string;
  /** An input that yields it, in parts. */
  example: Array<ExamplePart>;
};

/** What a run was read as, in words. Another version may know more. */
export type RunForm = "SQLite, append-only" | "SQLite, in place" | "SQLite, both dialects" | "SQLite" | "PostgreSQL" | "folder, state.md" | "folder, compact log" | "folder, vm.log.md" | "folder, receipts" | "folder, unknown state file" | "folder, no state file" | "agents" | "unknown" | (string & {});

/** The runs of a source, newest first. */
export type RunList = {
  /** What was looked through, in words. */
  label: string;
  /** How many runs there are, those that were not asked for included. */
  total: number;
  /** The runs. */
  runs: Array<RunSummary>;
  /** What was odd while looking (too many files, a database that cannot be opened …). */
  issues: Array<Issue>;
};

/** A shared file, or what it would hold. */
export type RunShared = {
  /** The runs, by id. */
  runs: Array<string>;
  /** The file that was written; absent with `--report`. */
  file?: string;
  /** The key that it is signed with, by its fingerprint: `SHA256:…`; absent where it is not signed. */
  signed?: string;
  /** `html`, `zip`, `db` or `text`. */
  format: "html" | "zip" | "db" | "text";
  /** Bytes of the file that was written, or of the runs' parts together. */
  bytes: number;
  /** Whether nothing was replaced. */
  raw: boolean;
  /** What is replaced, in order of place (the first 10,000); with `raw` what would be. */
  found: Array<SecretFound>;
  /** How often which rule replaced something, by place. */
  replaced: Array<SecretsReplaced>;
  /** What was left out. */
  left_out: Array<LeftOutOfShare>;
  /** The runs' parts, the largest first. */
  parts: Array<SharedPart>;
  /** Audit logs that were sealed anew, each with the head that it had. */
  sealed_anew: Array<LogSealedAnew>;
};

/** How a run stands. `unknown`: nothing in it records that; `agents`: it is a store of agents. A run may record a word unknown to OpenProse. */
export type RunStatus = "running" | "completed" | "failed" | "interrupted" | "waiting" | "unknown" | "agents" | (string & {});

/** One run in a list. */
export type RunSummary = {
  /** Its id, else its folder's name. */
  id: string;
  /** The name of its folder or file, which commands take. A copy of a run has the same id in a folder of another name. */
  name: string;
  /** Its place inside the source: the run folder, or the database file. What a shell passes back to open it. */
  place: string;
  /** The program's name. */
  program: string | null;
  /** What is believed of its status. */
  status: RunStatus;
  /** Running, but a day without a sign of life. */
  stale: boolean;
  /** Why, in one sentence. */
  reason: string;
  /** Of a failed run the error of what failed first, its first line; `null` where none is recorded or it was not looked at. */
  failure?: string;
  /** Of a completed run its first output at the root, with its size, and how many more there are: `verdict, 477 B`; `null` where there is none or it was not looked at. */
  wrote?: string;
  /** `SQLite, append-only`, `folder, state.md` … */
  form: RunForm;
  /** When it started. */
  started: Stamp | null;
  /** What that was read from where nothing records a start: `the run's id, which names no time zone`. */
  started_from?: string | null;
  /** How long ago it started, in the largest unit, when `now` is given: `322d`. */
  age?: string | null;
  /** The last sign of life: the latest time that the run records. */
  last_sign: Stamp | null;
  /** When a file of the run was last changed, where the run records no time at all. No sign of life: copies and checkouts reset it. */
  file_changed?: Stamp | null;
  /** From the start to the last sign of life, where both are recorded; milliseconds. */
  duration_ms: number | null;
  /** The same in words. */
  duration: string | null;
  /** Gates that wait for a decision. */
  pending_gates: number;
  /** Issues by severity. */
  issues: Counts;
  /** A large database, of which only the head was read: what was left out, in words. Its issues are then not all counted. */
  head_only?: string | null;
  /** Not all of it could be read: what stands here may be less than there is, its status too. */
  unread: boolean;
  /** Why it could not be opened, with what to do next; everything else is then empty. */
  error: string | null;
};

/** A place where something is replaced. Holds nothing of the secret. */
export type SecretFound = {
  /** What it is called in the shared file: `github-token #1`; `--keep` takes this name. */
  name: string;
  /** The rule. */
  rule: string;
  /** `secret` or `personal`. */
  kind: "secret" | "personal";
  /** The kind of place: `bindings.value`. */
  place: string;
  /** The row or file, and the line in it. */
  at: string;
  /** What stands before it on its line, without secrets. */
  before: string;
  /** What stands behind it. */
  after: string;
};

/** How often a rule replaced something in a kind of place. */
export type SecretsReplaced = {
  /** The rule. */
  rule: string;
  /** `secret` or `personal`. */
  kind: "secret" | "personal";
  /** The kind of place. */
  place: string;
  /** How often. */
  count: number;
};

/** What a person saw of a gate when they decided it. */
export type Seen = {
  /** The SHA-256 of the prompt, as the audit log writes it: `sha256:` and 64 hex digits. */
  prompt_hash: string;
  /** Who may decide, as recorded. */
  allow: Array<string>;
  /** The last sealed row of the run's audit log; `null` in a log without sealed rows. */
  head: SeenHead | null;
};

/** A head of an audit log, without its run. */
export type SeenHead = {
  /** How many sealed rows the log has. */
  count: number;
  /** The hash of the last one. */
  hash: string;
};

/** An invocation of an agent. */
export type SegmentView = {
  /** Its number. */
  number: number;
  /** When; `null`: not recorded. */
  timestamp: Stamp | null;
  /** What it was asked. */
  prompt: string | null;
  /** What it did. */
  summary: string | null;
  /** Lines of the summary that the one before did not have (`+`), and those that are gone (`-`); empty for the first. */
  changes: Array<[string, string]>;
};

/** How much an issue matters. */
export type Severity = "note" | "warning" | "error";

/** A part of what is shared. */
export type SharedPart = {
  /** Its path. */
  path: string;
  /** Bytes. */
  bytes: number;
};

/** A time as recorded: an instant when it can be read, else the text. As JSON RFC 3339 in UTC, or that text. */
export type Stamp = string;

/** A line of the comparison. */
export type StateLine = {
  /** `=` in both, `+` only rendered, `-` only in the file. */
  mark: "=" | "+" | "-";
  /** The text. */
  text: string;
};

/** state.md, as rendered from the data and as it lies in the folder. */
export type StateMdView = {
  /** Rendered from the data. */
  rendered: string;
  /** The file's own text, where there is one (cut at 1 MiB). */
  own: string | null;
  /** Both side by side, differences marked; empty when there is no file of its own, or no difference. */
  lines: Array<StateLine>;
  /** Whether they differ in what state.md carries. */
  differs: boolean;
  /** What to know: the file is of another form, encrypted, cut. */
  note: string | null;
};

/** How a statement stands. `recovered`, `was executing`, `was waiting`, `abandoned`, `cut off` and `unknown` are derived; a row may record a word unknown to OpenProse. */
export type StatementStatus = "pending" | "executing" | "started" | "waiting" | "iteration" | "retry" | "completed" | "failed" | "skipped" | "approved" | "rejected" | "timeout" | "abandoned" | "cut off" | "unknown" | "recovered" | "was executing" | "was waiting" | "joined" | "exited" | (string & {});

/** How many statements have a status. */
export type StatusCount = {
  /** The status in words. */
  status: StatementStatus;
  /** How many. */
  count: number;
};

/** How a value is stored: as a cell of which type, as a file, or not at all. */
export type StoredAs = "null" | "integer" | "real" | "text" | "blob" | "file" | "missing";

/** A question with a name. */
export type StoredQuestion = {
  /** Its name. */
  name: string;
  /** What it answers. */
  about: string;
  /** The statement. */
  sql: string;
};

/** A table of a database, defined by OpenProse or not. */
export type TableInfo = {
  /** Its name. */
  name: string;
  /** `table`, `view`, `virtual` or `shadow`. */
  kind: "table" | "view" | "virtual" | "shadow" | (string & {});
  /** Number of rows; `null` if counting would evaluate a view or take too long. */
  rows: number | null;
  /** Whether OpenProse defines the table; other tables are extensions (`x_…`) or foreign. */
  known: boolean;
  /** Its columns, in order. */
  columns: Array<ColumnInfo>;
};

/** A page of a table's rows. */
export type TableRows = {
  /** The table. */
  table: string;
  /** Its columns. */
  columns: Array<string>;
  /** Number of further columns that are not included here. */
  more_columns: number;
  /** Index of the first row. */
  from: number;
  /** Total number of rows, if counted. */
  total: number | null;
  /** The rows. */
  rows: Array<Array<Cell>>;
};

/** When each row of the trace was worked on.  Places on the axis are milliseconds of drawn time from its beginning: idle time is drawn shorter than it was. */
export type Timeline = {
  /** The first time that is recorded; `null`: none is. */
  from: Stamp | null;
  /** The last one. */
  until: Stamp | null;
  /** From the first to the last, in words. */
  took: string | null;
  /** The length of the axis. */
  len: number;
  /** Idle times that are drawn short, in order. */
  gaps: Array<Gap>;
  /** The rows with times, in the order of the trace. */
  bars: Array<Bar>;
  /** Rows without any time. */
  untimed: number;
  /** The statements that took longest, the longest first. */
  longest: Array<Longest>;
  /** How much was worked on along the axis, in parts of equal length; empty where a run has at most 2,000 rows. */
  dense: Array<Dense>;
  /** Nothing ran beside anything else: the run's end waited for every row. `null`: branches without times leave it open. */
  sequential: boolean | null;
};

/** A duration as programs write it, read. */
export type TimeoutView = {
  /** The text as it was written. */
  text: string;
  /** Its length in seconds. */
  seconds: number;
  /** What SQLite's `datetime('now', …)` takes, one modifier a unit. */
  sqlite_modifiers: Array<string>;
};

/** A window of the trace's visible rows. */
export type TracePage = {
  /** How many rows are visible with these folds. */
  total: number;
  /** The first row's place among them. */
  from: number;
  /** The rows. */
  rows: Array<TreeRow>;
  /** Why rows are missing, where what was executed is not readable, or what the rows do not say: `state.md is not readable: it is encrypted`. */
  note?: string | null;
  /** Lines of the log before the first statement that record none. */
  remarks?: Array<string>;
  /** Lines behind all statements that record none. */
  remarks_behind?: Array<string>;
};

/** A row of the trace. */
export type TreeRow = {
  /** Index into the trace. */
  node: number;
  /** The id of its first row; `null` for a round and for what is derived. */
  id: number | null;
  /** Its later rows. */
  aliases: Array<number>;
  /** Levels below the root. */
  level: number;
  /** Nodes below it. */
  descendants: number;
  /** Direct children. */
  children: number;
  /** Its place among its siblings, from 1, and how many there are (for `aria-posinset`). */
  place: [number, number];
  /** Whether its children are hidden by a fold. */
  folded: boolean;
  /** `statement`, `parallel`, `branch`, `loop`, `round`, `frame`, `gate`. */
  kind: NodeKind;
  /** Its statement, cut at 400 characters. */
  text: string;
  /** What is worth saying beside it: `all · 3 branches`, `round 2 of 5`, `frame 43 · depth 3`, `attempt 2 of 3`. */
  detail: string;
  /** Lines of the log after it that record no statement, as they stand there. */
  remarks?: Array<string>;
  /** Its status in words: as its rows have it, `recovered` of a failure that was made good, `was executing` and `was waiting` of what was under way when the run was interrupted or went silent. */
  status: StatementStatus;
  /** Attempts, 1 without a retry. */
  attempts: number;
  /** The most attempts or rounds. */
  max: number | null;
  /** The branch's name. */
  branch: string | null;
  /** The round's number. */
  round: number | null;
  /** The frame's depth. */
  depth: number | null;
  /** The gate's id. */
  gate: string | null;
  /** Of a call, the beginning of the first value that it was given; `null` where that is not recorded, or not asked for. */
  argument?: string | null;
  /** On a screen: how many of the blocks around it, from the outside in, hold the first cause of the failure, where that comes behind this row. */
  around_cause?: number;
  /** When it began; `null`: not recorded. */
  started: Stamp | null;
  /** When it ended; `null`: not recorded. */
  ended: Stamp | null;
  /** From its begin to its end, where both are recorded; milliseconds. */
  duration_ms: number | null;
  /** The same in words. */
  duration: string | null;
  /** Its error, cut at 400 characters. */
  error: string | null;
  /** Bindings that it wrote, as far as that can be told; also those whose value was overwritten later. */
  bindings: Array<BindingRef>;
  /** Line in the program. */
  line: number | null;
  /** The tie to the line is a guess. */
  line_guessed: boolean;
  /** Failed, but recovered. */
  recovered: boolean;
  /** Its place in the tree was inferred, wholly or in part. */
  inferred: boolean;
  /** It follows from others; no row says so. */
  derived: boolean;
  /** The run stands here. */
  position: boolean;
  /** The first cause of the failure; in a completed run, what failed first and nothing recovered. */
  first_cause: boolean;
  /** Failed because of the first cause. */
  because_of: boolean;
};

/** Something of a run that could not be read to its end. What it holds is unknown: "none" must not be said of it. */
export type Unread = {
  /** What could not be read: `table bindings of state.db`, `gates`. */
  what: string;
  /** Why. */
  why: string;
  /** What to do next; may be empty. */
  next: string;
  /** The parts of the run that are kept there; none where it is something else, such as the program. */
  parts: Array<Part>;
  /** Whether reading failed (no permission, a lock, an I/O error), so that another try may succeed; else what is there cannot be understood. */
  failed: boolean;
  /** It is encrypted: nothing failed and nothing is damaged, but only its owner can read it. */
  sealed: boolean;
  /** It lies around the run, as the agents of a project do: the run itself was read. */
  around: boolean;
};

/** How a value reads best. */
export type ValueFormat = "markdown" | "json" | "text" | "binary";

/** A value, opened. */
export type ValueView = {
  /** What it is a value of: a binding's name, an agent's memory, a file. */
  title: string;
  /** Its beginning, up to the length that was asked for; bytes that are no UTF-8 are replaced. */
  text: string;
  /** Bytes in all. */
  len: number;
  /** Whether `text` is not all of it. */
  cut: boolean;
  /** How it reads best. */
  format: ValueFormat;
  /** Where it lies: `state.db, bindings`, `bindings/a.md`, `attachments/report.md`. */
  from: string;
  /** The summary in the row, where the value itself is an attachment. */
  summary: string | null;
  /** What to know: the attachment is missing, bytes were replaced. */
  note: string | null;
  /** Why the value is not there: `text` is then empty, or what the row has in its place. */
  missing: string | null;
};
