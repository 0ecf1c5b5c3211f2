// Generated from the doc comments and structs of core/src/pages/view by `cargo xtask docs`: the JSON of `prosescope … --json`.
// In the JavaScript package, integers from 2^53 on are texts.

/** An agent whose memory is at a path that the program declares. */
export type AgentElsewhere = {
  /** The name that the program gives the agent. */
  name: string;
  /** The path, as the program writes it (`persist: "path"`). */
  path: string;
  /** The command that reads the memory at that path. */
  command: string;
};

/** The persistent agent that carries out a task. */
export type AgentOfTask = {
  /** The name of the agent. */
  name: string;
  /** How long the memory lives: `execution`, `project`, `user` or `custom`. */
  scope: AgentScope;
  /** The path of the memory, if the program declares one (scope `custom`). */
  path: string | null;
};

/** How long an agent's memory lives. A row may record a word that OpenProse does not define. */
export type AgentScope = "execution" | "project" | "user" | "custom" | (string & {});

/** An agent, with its memory and segments. */
export type AgentView = {
  /** Index into the run's agents. Callers open the memory by this index. */
  agent: number;
  /** The name of the agent with this memory. */
  name: string;
  /** How long the memory lives: `execution`, `project`, `user` or `custom`. */
  scope: AgentScope;
  /** The store that the agent was read from: `state.db`, `agents/captain/`, or outside of the run `project: .prose/agents.db`. */
  store: string;
  /** Whether the run uses an agent of the same name and scope from another store instead of this agent. */
  shadowed: boolean;
  /** Whether the record of the memory and its times was not readable. The agent may then have a memory although `memory_len` is `null`. */
  memory_unread: boolean;
  /** Whether some of the agent's invocations could not be read. */
  segments_unread: boolean;
  /** Bytes of the memory; `null` if the agent has none. */
  memory_len: number | null;
  /** The beginning of the memory, on one line. */
  memory_preview: string;
  /** When the memory was first written; `null` if not recorded. */
  created: Stamp | null;
  /** When the memory was last written; `null` if not recorded. */
  updated: Stamp | null;
  /** The agent's invocations, in order. */
  segments: Array<SegmentView>;
};

/** An agent whose memory was written, or that got a segment. */
export type AgentWritten = {
  /** The run's id; `null` for an agent of the project, of the user, or in a custom store. */
  run: string | null;
  /** The name of the agent that got the memory or the segment. */
  agent: string;
  /** How long the agent's memory lives: `execution`, `project`, `user` or `custom`. */
  scope: string;
  /** The database or folder that keeps the agent; `null` if the run keeps the agent. */
  store: string | null;
  /** The number of the segment that was added; `null` if the memory was written. */
  segment: number | null;
  /** Whether the memory replaced an earlier one, which is kept as history. */
  replaced: boolean;
};

/** The agents of a run. */
export type AgentsView = {
  /** The agents: first the run's own, then the project's, then the user's. */
  agents: Array<AgentView>;
  /** Agents whose memory is at a path that the program declares. A run's data does not include that memory. */
  elsewhere: Array<AgentElsewhere>;
};

/** A binding that a statement wrote. */
export type AnswerView = {
  /** The binding; `overwritten` means that its present value is from a later write. */
  binding: BindingRef;
  /** The first lines of the value that the statement wrote, not of a later value; `null` if that value was not kept. */
  value: Excerpt | null;
  /** The statement that replaced the value, if that statement is known. */
  replaced_by: NodeRef | null;
  /** A note which says whether the value was replaced, and whether the run keeps the earlier value; `null` without a note. */
  note: string | null;
};

/** The agent of a session, as the program declares it. The run's records of the agent may differ. */
export type AskedAgent = {
  /** The name under which the program declares the agent. */
  name: string;
  /** The model that the agent requests; `null` if the program does not name a model. */
  model: string | null;
  /** The agent's own prompt, which precedes the prompt of each session; `null` without a prompt. */
  prompt: Excerpt | null;
};

/** Another attempt at an execution that failed. */
export type AttemptBegun = {
  /** The run in which the failed execution is attempted again. */
  run: string;
  /** The id of the execution that failed and is attempted again. */
  id: number;
  /** The text of the statement that is attempted again. */
  statement: string;
  /** The line of the program that is attempted again, from 1; `null` if the program has no such statement. */
  line: number | null;
  /** The number of the attempt, from 2. */
  attempt: number;
  /** The limit for the number of attempts, the first one included; `null` if the program sets no limit. */
  max: number | null;
  /** The work for a subagent; `null` if the statement is not a session. */
  task: TaskView | null;
};

/** An attempt to carry out a statement. */
export type AttemptView = {
  /** The number of the attempt, from 1. */
  number: number;
  /** The id of the first row that records the attempt. */
  id: number;
  /** The status of the attempt, in words. */
  status: StatementStatus;
  /** When the attempt began; `null` if that is not recorded. */
  started: Stamp | null;
  /** When the attempt ended; `null` if that is not recorded. */
  ended: Stamp | null;
  /** The error of the attempt, cut at 400 characters, if any. */
  error: string | null;
};

/** An event of a gate. A row may record a word that OpenProse does not define. */
export type AuditEventKind = "created" | "viewed" | "approved" | "rejected" | "timeout" | "resumed" | "overridden" | "forced" | (string & {});

/** The last sealed row of a run. */
export type AuditHead = {
  /** The run whose audit log contains the row. */
  run: string;
  /** How many rows the run's chain has: the `seq` of the last row. */
  count: number;
  /** The hash of the last row. */
  hash: string;
};

/** A row of the audit log. */
export type AuditRow = {
  /** The row's id. */
  id: number;
  /** The id of the gate that the row is about. */
  gate: string;
  /** The run that the row belongs to. */
  run: string;
  /** The event: `created`, `approved`, `rejected` … */
  event: AuditEventKind;
  /** The principal that caused the event: a claim that is not verified; `null` if not recorded. */
  principal: string | null;
  /** The principal on whose behalf `principal` acted (`--for`, errata G4), if any. */
  on_behalf_of: string | null;
  /** The context of the event, or its reason; `null` if not recorded. */
  comment: string | null;
  /** When the event was recorded; `null` if not recorded. */
  timestamp: Stamp | null;
  /** The column `metadata`, as recorded, if any. */
  metadata: string | null;
  /** Whether the row is part of the chain of sealed rows. */
  sealed: boolean;
};

/** The audit log, with the result of its verification. */
export type AuditView = {
  /** The log's rows, by id. */
  rows: Array<AuditRow>;
  /** The state of the chain of sealed rows: `consistent`, `unsealed`, `partly sealed`, `broken`, `empty`, `contradicted` (a gate differs from its sealed rows), or `gone` (the run shows that there was a log). */
  chain: ChainState;
  /** The reason for the state in `chain`, in one sentence, with the first bad row. The text never claims a "proof", because anyone can compute hashes. */
  chain_reason: string;
  /** The log's head, as commands print it after a decision; absent if the rows are from several runs. */
  head: AuditHead | null;
  /** The issues that the verification found. */
  issues: Array<Issue>;
};

/** The time during which a row was running. */
export type Bar = {
  /** The index in the trace of the row that the bar shows. */
  node: number;
  /** Where the bar begins on the axis. */
  from: number;
  /** Where the bar ends on the axis. */
  until: number;
  /** How the end of the bar is known. */
  end: BarEnd;
  /** Whether the run's end waited for this row. */
  critical: boolean;
};

/** How the end of a bar is known. */
export type BarEnd = "recorded" | "inner" | "open" | "unknown";

/** The kind of a binding. A row may record a word that OpenProse does not define. */
export type BindingKind = "input" | "output" | "let" | "const" | (string & {});

/** A link to a binding, with the facts that lists show beside the link. */
export type BindingRef = {
  /** Index into the run's bindings. */
  binding: number;
  /** The name of the binding that the link leads to. */
  name: string;
  /** The execution id of the binding's frame; `null` is the root. */
  execution_id: number | null;
  /** Among a node's bindings: whether a later write replaced the value that the node wrote. */
  overwritten: boolean;
  /** Among a node's bindings: whether the writer was inferred from names and order, because times are not recorded. */
  inferred: boolean;
};

/** A binding in a list. */
export type BindingRow = {
  /** Index into the run's bindings. Callers open the value by this index. */
  binding: number;
  /** The name by which the program uses the value. */
  name: string;
  /** The execution id of the binding's frame; `null` is the root. */
  execution_id: number | null;
  /** The scope in words: `root`, a call by its block and its first argument (`translate("4.2 Torque tables")`), or a frame by its number (`frame 43`). */
  scope: string;
  /** The calls that lead to the frame, outermost first: `do process(data) #41 › do process(half) #42`; empty at the root. */
  frame_path: string;
  /** The index of the frame's node in the trace; `null` if the trace does not contain the frame. */
  frame_node: number | null;
  /** The binding's kind as recorded (`let`, `output` …). */
  kind: BindingKind;
  /** Bytes of the value; `null` if the value is NULL or missing. */
  len: number | null;
  /** How the value is stored: `text`, `blob`, `null`, `file`, `missing` … */
  stored: StoredAs;
  /** The beginning of the value on one line, at most 160 characters. */
  preview: string;
  /** The statement that made the value, as recorded; `null` if not recorded. */
  source: string | null;
  /** When the binding was first written; `null` if not recorded. */
  created: Stamp | null;
  /** When the binding was last written; `null` if not recorded. */
  updated: Stamp | null;
  /** The node that wrote the value: the node that was running when the value was written. `null` if no node was running, or if several may have written the value. */
  written_by: NodeRef | null;
  /** Whether `written_by` was inferred from names and order, because times are not recorded. */
  writer_inferred: boolean;
  /** The column `attachment_path`, as recorded; `null` without an attachment. */
  attachment: string | null;
  /** Fields in the header of the binding's file that OpenProse does not define (`agent`, `exit_code`, `stderr`), in order; the first 20. */
  fields: Array<[string, string]>;
  /** Whether the missing value or attachment may exist after all: only single files of the run were opened, not its folder. */
  not_given: boolean;
  /** Bytes of the attachment; `null` if no path is recorded, or if the file is missing. */
  attachment_len: number | null;
  /** How many rows have this name and frame (errata S2); more than 1 only if the table has no uniqueness constraint. */
  versions: number;
  /** How many earlier values of the binding the store keeps (errata B6). */
  earlier: number;
  /** Whether a later row has the same name and frame. */
  superseded: boolean;
};

/** A binding that was written. */
export type BindingWritten = {
  /** The run that the binding was written to. */
  run: string;
  /** The name of the binding that got the value. */
  name: string;
  /** The frame that the binding belongs to; `null` is the root. */
  execution_id: number | null;
  /** The binding's kind: `input`, `output`, `let` or `const`. */
  kind: string;
  /** Where the value is kept: a file, or a row of a database. */
  location: string;
  /** The value's summary: `--summary`, or the value's first line. */
  summary: string;
  /** The file inside the run that contains the value; `null` if the binding contains the value itself. */
  attachment: string | null;
  /** Whether the value replaced an earlier one, which is kept as history. */
  replaced: boolean;
  /** The execution that was completed with the value; `null` if none was. */
  completed: number | null;
  /** The number of the agent's segment that was added with the value (`--segment`); `null` if none was. */
  segment: number | null;
  /** Notes if the value is empty or the program does not contain its name; one sentence each. */
  notes: Array<string>;
};

/** Some consecutive rows of the list of bindings. */
export type BindingsPage = {
  /** How many bindings there are in all. The list has the root's bindings first, then the bindings of each frame. */
  total: number;
  /** The position of the first row in the whole list, from 0. */
  from: number;
  /** The bindings of this page of the list. */
  rows: Array<BindingRow>;
};

/** The status of a branch at the join. */
export type BranchStatus = {
  /** The branch's name. */
  branch: string;
  /** The branch's status; `pending` if the branch never began. */
  status: string;
};

/** A binding that a name could mean, with the outcome of the resolution. */
export type CandidateView = {
  /** The candidate's binding. */
  row: BindingRow;
  /** How many frames outward the candidate is; `null` for the root and for frames that are not searched. */
  distance: number | null;
  /** Whether the candidate wins, is hidden, or is out of reach. */
  outcome: Outcome;
  /** The reason for the outcome, in one sentence. */
  reason: string;
};

/** The type with which a cell is stored. */
export type CellType = "null" | "integer" | "real" | "text" | "blob";

/** The state of an audit log after its verification. */
export type ChainState = "empty" | "gone" | "consistent" | "partly sealed" | "unsealed" | "contradicted" | "broken";

/** The result of checking runs. */
export type CheckReport = {
  /** The number of issues of each severity, in all runs. */
  counts: Counts;
  /** The runs, in the order in which the caller named them. */
  runs: Array<CheckedRun>;
  /** The rules of the issues that were found, by name, with their meaning. */
  rules: Array<RuleView>;
};

/** The result of checking one run. */
export type CheckedRun = {
  /** The run's id, or the name of its folder if the run has no id; empty for a program that was checked by its file. */
  run: string;
  /** The program's name; `null` if not recorded. */
  program: string | null;
  /** The status that the checked run most likely has; empty for a program that was checked by its file. */
  status: RunStatus;
  /** The path of the folder to which the issues' file names are relative, in the notation of the program that runs the check. */
  folder: string;
  /** The file in that folder to which issues without a file refer: the database, or else the state file. */
  store: string;
  /** The number of issues of each severity in this run. */
  counts: Counts;
  /** The issues: errors first, then by rule, then in the order found. */
  issues: Array<IssueView>;
  /** Why the run could not be opened, with what to do next; `null` if the run was opened. After an error, all other fields except `run` and `folder` are empty. */
  error: string | null;
};

/** A column of a table. */
export type ColumnInfo = {
  /** The name of the column. */
  name: string;
  /** The declared type; may be empty. */
  declared: string;
  /** Whether OpenProse defines the column. */
  known: boolean;
};

/** The tokens of a run. Money is never computed, because no record has prices. */
export type CostView = {
  /** Where the numbers are from: `reported`, as receipts claim them. */
  source: string;
  /** The sum over all executions with numbers. */
  total: TokenCount;
  /** How many executions have no numbers, because no model ran or none were recorded. */
  unknown: number;
  /** The tokens of each node, the most expensive first. */
  by_node: Array<TokenCount>;
  /** The tokens of each model, the most expensive first. */
  by_model: Array<TokenCount>;
};

/** The number of issues of each severity. */
export type Counts = {
  /** How many errors there are. */
  error: number;
  /** How many warnings there are. */
  warning: number;
  /** How many notes there are. */
  note: number;
};

/** The load in a part of the axis. */
export type Dense = {
  /** How many statements were running, in percent of the busiest part. */
  busy: number;
  /** Whether a statement failed in this part. */
  failed: boolean;
};

/** A part of a rule's example. */
export type ExamplePart = {
  /** The title of the part: `state.md`, `SQL on an empty database`; empty for prose. */
  title: string;
  /** The language of the text: `sql`, `markdown`, `json`, `text`; empty for prose. */
  language: string;
  /** The text of the part. */
  text: string;
};

/** The first lines of a text. */
export type Excerpt = {
  /** The beginning of the text: at most ten lines and 1,200 bytes. For a value that is not text, its first bytes in hexadecimal. */
  text: string;
  /** Bytes of the whole text. */
  len: number;
  /** Whether `text` is shorter than the whole text. */
  cut: boolean;
  /** The format in which the text is best displayed. */
  format: ValueFormat;
};

/** A statement, loop, parallel or branch that began. */
export type ExecutionBegun = {
  /** The run in which the statement began. */
  run: string;
  /** The statement's execution id. Later commands take it as `EXECUTION`. */
  id: number;
  /** The text of the statement that began. */
  statement: string;
  /** The line of the program that began, from 1; `null` if the program has no such statement. */
  line: number | null;
  /** The execution that the statement runs in; `null` at the root. */
  parent: number | null;
  /** The `loop_id` of a loop, the `parallel_id` of a parallel, the name of a branch; `null` for other statements. */
  name: string | null;
  /** The block that the statement calls; `null` if the statement calls no block. */
  block: string | null;
  /** The depth of that call in frames, from 1; `null` if the statement calls no block. */
  depth: number | null;
  /** The work for a subagent; `null` if the statement is not a session. */
  task: TaskView | null;
  /** What to do next; `null` if the statement is a session. */
  next: NextStep | null;
  /** Notes, one sentence each: the statement was recorded out of the program's order or without a line, or an item began with it. */
  notes: Array<string>;
};

/** An execution that ended. */
export type ExecutionEnded = {
  /** The run in which the execution ended. */
  run: string;
  /** The execution's id. */
  id: number;
  /** The status that was recorded: `completed`, `failed` or `skipped`; `joined` for a parallel; `iteration` for the end of a loop's round, `exited` for the end of a loop. */
  status: string;
  /** The text of the statement that the execution ran. */
  statement: string;
  /** The line of the program that the execution ran, from 1; `null` if the program has no such statement. */
  line: number | null;
  /** The name of the branch; `null` if the execution is not a branch. */
  branch: string | null;
  /** Notes if the execution lacks something that its program says, such as rounds; one sentence each. */
  notes: Array<string>;
};

/** The first failure of a run, and the failures that it caused (errata T9). */
export type Failure = {
  /** The node that failed first. */
  cause: NodeRef;
  /** The cause's error; `null` if no message is recorded. */
  error: string | null;
  /** The nodes that failed or stopped because of the cause, innermost first (the first 20). */
  because_of: Array<NodeRef>;
  /** How many nodes failed or stopped because of the cause in all. */
  because_of_count: number;
  /** The consequences in words: `it ended the 6 blocks around it`; empty if nothing else failed. For a completed run: why the run continued after the failure, if that is known. */
  because_words: string;
  /** How many percent of the run's duration the cause took, from its begin to its end; `null` if times are missing. */
  percent?: number;
};

/** A file of the run folder. */
export type FileInfo = {
  /** The path inside the run folder, with `/` as separator. */
  path: string;
  /** Size in bytes. */
  len: number;
  /** The part of the run as which the file was read: `state file`, `binding`, `program`, `attachment`, …; `null` for a file that no other part of the run refers to. */
  role: string | null;
};

/** Every file and every table of a run. */
export type FilesView = {
  /** The files of the run. */
  files: Array<FileInfo>;
  /** The tables of the run. */
  tables: Array<TableInfo>;
};

/** A call of a block. */
export type FrameView = {
  /** The execution id of the call. */
  id: number;
  /** The name of the block. */
  block: string;
  /** The depth of the call in frames, from 1. */
  depth: number;
};

/** An idle time in which no statement was running. */
export type Gap = {
  /** Where the idle time begins on the axis. */
  at: number;
  /** The length of the idle time as drawn on the axis. */
  drawn: number;
  /** When the idle time began. */
  from: Stamp;
  /** The real length, in milliseconds. */
  len_ms: number;
  /** The real length in words. */
  len: string;
};

/** A gate that was approved or rejected. */
export type GateDecided = {
  /** The run in which the gate was decided. */
  run: string;
  /** The id of the gate that was approved or rejected. */
  gate: string;
  /** The gate's new status: `approved` or `rejected`. */
  status: string;
  /** The principal that decided, as claimed (`--as`). */
  resolved_by: string;
  /** The principal for which that person acted, as claimed (`--for`); `null` if they acted for themselves. */
  on_behalf_of: string | null;
  /** Always true: the identity of the person is not verified. */
  claimed: boolean;
  /** Whether the gate was decided although its creation has no sealed row (`--override`). A separate log row records the override. */
  overridden: boolean;
  /** How long the gate waited, in milliseconds; `null` if the time of its creation is not recorded. */
  waited_ms: number | null;
  /** What the program does after the rejection; `null` after an approval, or if the program does not say. */
  on_reject: string | null;
  /** The execution that waited at the gate; `null` if none is recorded. */
  execution_id: number | null;
  /** The head of the audit log after the command. */
  head: AuditHead | null;
};

/** A gate that was created. */
export type GateOpened = {
  /** The run in which the gate was created. */
  run: string;
  /** The gate's id, which `approve` and `reject` take: `ID#2` for the second visit of gate `ID`. */
  gate: string;
  /** The number of this visit to the gate, from 1. */
  visit: number;
  /** The execution that waits at the gate. */
  execution_id: number;
  /** The text of the statement that asks at the gate. */
  statement: string;
  /** The line of the program that asks at the gate, from 1; `null` if the program has no such statement. */
  line: number | null;
  /** The question to the approver. */
  prompt: string;
  /** Names in braces in the prompt that have no value. */
  open_names: Array<string>;
  /** Who may decide, in words: `anyone`, `ops-team or raymond`. */
  may_decide: string;
  /** The deadline; `null` without a time-out. */
  deadline: Stamp | null;
  /** The head of the audit log after the command. */
  head: AuditHead | null;
  /** Notes for the caller, such as a warning that statements before the gate are not recorded. */
  notes: Array<string>;
};

/** The status of a gate. A row may record a word that OpenProse does not define. */
export type GateStatus = "pending" | "approved" | "rejected" | "timeout" | (string & {});

/** A gate of a run: a place at which the program waits for a decision. */
export type GateView = {
  /** The run that the gate belongs to. */
  run: string;
  /** The run's place inside the source (see `RunSummary.place`); `null` except in lists over all runs. */
  place: string | null;
  /** The gate's id, which `approve` and `reject` take. */
  id: string;
  /** The gate's status as recorded. */
  status: GateStatus;
  /** The gate's status at `now`, in words: `pending`, `overdue: its time-out is not recorded yet`. */
  standing: string;
  /** The question that the program asks. */
  prompt: string;
  /** The names in the gate's `allow` list; empty if the list cannot be read. */
  allow: Array<string>;
  /** The principals that may decide, in words: `anyone`, `ops-team`, `nobody`, `nobody, because the list …`. */
  allow_words: string;
  /** The time-out, as the program writes it (`4h`); `null` without a time-out. */
  timeout: string | null;
  /** The time until which the gate can be decided; `null` without a deadline. */
  deadline: Stamp | null;
  /** Time until the deadline, or since: `expires in 3h 12m`, `expired 5m ago`. `null` without a deadline or after a decision. */
  remaining: string | null;
  /** Whether the deadline passed and the time-out is not recorded yet. */
  overdue: boolean;
  /** The program's reaction to a rejection; `null` if not recorded. */
  on_reject: string | null;
  /** When the gate was created; `null` if not recorded. */
  created: Stamp | null;
  /** When the gate was decided; `null` for a pending gate, or if not recorded. */
  resolved: Stamp | null;
  /** The principal that decided, as claimed: `ops`, or `ci, for ops`; `null` for a pending gate, or if not recorded. */
  resolved_by: string | null;
  /** The comment that was given with the decision, if any. */
  comment: string | null;
  /** How long the gate waited, or has been waiting, in milliseconds; `null` if a time is missing. */
  waited_ms: number | null;
  /** The waiting time in words: `2h 5m`; `null` if `waited_ms` is `null`. */
  waited: string | null;
  /** The id of the execution that waits at the gate; `null` if not recorded. */
  execution_id: number | null;
  /** The index of the gate's node in the trace; `null` if the trace does not contain the gate. */
  node: number | null;
  /** A warning that no sealed row of the audit log records the gate's creation; only in logs that seal creations. */
  unsealed: string | null;
  /** How the gate differs from the sealed rows of the audit log; `null` if it agrees, or without such rows. */
  contradicted?: string;
  /** The gate's rows of the audit log, by id. */
  history: Array<AuditRow>;
  /** The column `metadata`, as recorded, if any. */
  metadata: string | null;
  /** Whether the gate is in a shared copy: it is decided where the run is recorded, under the run's own name. */
  is_copy?: boolean;
  /** The gate's content. `view --allow-decisions` records a decision only if its page shows the present content. `null` after the decision, or if `allow` cannot be read. */
  seen: SeenGate | null;
  /** The command that records the time-out; `null` unless the gate is overdue. An overdue gate is not decided. */
  expire_command: string | null;
  /** The command that approves the gate. */
  approve_command: string;
  /** The command that rejects the gate. */
  reject_command: string;
};

/** The gates of a run. */
export type GatesView = {
  /** The gates, in the order in which they were created. */
  gates: Array<GateView>;
  /** The audit log, with the result of its verification. */
  audit: AuditView;
};

/** A name whose value a statement received as input. */
export type GivenName = {
  /** The name, as the statement uses it. */
  name: string;
  /** The binding that the name referred to; `null` if there is no such binding. */
  binding: BindingRef | null;
  /** The statement that wrote the received value. Only set if `seen` is `same` and a record identifies the writer. */
  written_by: NodeRef | null;
  /** Why the name referred to this binding, or to none. */
  why: string;
  /** Whether the present value is the value that the statement received. */
  seen: Received;
  /** Whether `seen` was inferred from the order of the statements, because the recorded times are not enough to know it. */
  inferred: boolean;
  /** The first lines of the received value, or of the present value if `seen` is `unknown`; `null` if the received value was not kept. */
  value: Excerpt | null;
  /** A note which says what replaced the value, or why it is unknown whether the value is the same; `null` without a note. */
  note: string | null;
};

/** An imported program that was registered. */
export type ImportRegistered = {
  /** The run that imports the program. */
  run: string;
  /** The handle by which the program uses the import. */
  alias: string;
  /** The name of the import's own run, which every command takes as RUN. `null` in a database, because it keeps no nested runs. */
  nested: string | null;
  /** Whether the handle was already registered. */
  again: boolean;
};

/** An imported program. */
export type ImportView = {
  /** The handle by which the program uses the import. */
  alias: string;
  /** The address that the program was fetched from; `null` if not recorded. */
  source_url: string | null;
  /** When the program was fetched; `null` if not recorded. */
  fetched: Stamp | null;
  /** The schema of the inputs, JSON as recorded; `null` if not recorded. */
  inputs_schema: string | null;
  /** The schema of the outputs, JSON as recorded; `null` if not recorded. */
  outputs_schema: string | null;
  /** The place of the import's own run, by which callers open that run; `null` if the import has no run of its own. */
  place: string | null;
  /** The status of the import's own run, as far as known without reading the whole run. */
  nested_status: string | null;
  /** Bindings of this run whose names begin with the handle and a dot (`research.findings`), at most 200. If several imports share a handle, only the first import lists the bindings. */
  bindings: Array<BindingRef>;
  /** Why the import's own run is not opened: the imports form a cycle, or are nested deeper than 50; `null` otherwise. */
  note: string | null;
};

/** The imports of a run. */
export type ImportsView = {
  /** The imports, in the store's order. */
  imports: Array<ImportView>;
  /** Places of the runs that contain this run, outermost first; empty unless this run is an import itself. */
  above: Array<string>;
};

/** A value that a task receives. */
export type InputOfTask = {
  /** The name of the value in the program. */
  name: string;
  /** How the value can be read. */
  state: InputState;
  /** The command that prints the value, or a larger value that contains it; `null` if the value is not in a binding. */
  get: string | null;
  /** The value itself, if it is a text of the program or an error. Names in braces inside of it are inputs, too. */
  value: string | null;
  /** An explanation of the value, or why it is missing; `null` if `get` is enough. */
  note: string | null;
};

/** How the value of an input can be read. */
export type InputState = "bound" | "text" | "part" | "told" | "missing" | "unknown";

/** An odd finding in an input, with its place and advice. */
export type Issue = {
  /** The rule's name, kebab-case, such as `orphan-parent`. Tests and scripts rely on this name. */
  rule: string;
  /** The importance of the issue. */
  severity: Severity;
  /** The place where the issue was found. */
  location: Location;
  /** What was found, in one sentence. */
  message: string;
  /** What the finding means or what to do, in one sentence; may be empty. */
  hint: string;
};

/** An issue, with links to the pages that show its place. */
export type IssueView = {
  /** The index of the trace's node that the issue is about, if any. */
  node: number | null;
  /** The index of the binding that the issue is about, if any. */
  binding: number | null;
  /** The place of the issue in words: `execution row 12`, `state.md line 40`. */
  place: string;
  /** The rule's name, kebab-case, such as `orphan-parent`. Tests and scripts rely on this name. */
  rule: string;
  /** The importance of the issue. */
  severity: Severity;
  /** The place where the issue was found. */
  location: Location;
  /** What was found, in one sentence. */
  message: string;
  /** What the finding means or what to do, in one sentence; may be empty. */
  hint: string;
};

/** The issues of a run. */
export type IssuesView = {
  /** How many of the listed issues are errors, warnings and notes. */
  counts: Counts;
  /** The issues: errors first, then in the order found. */
  issues: Array<IssueView>;
  /** The rules of these issues, with meaning and advice, without examples. */
  rules: Array<RuleView>;
};

/** The size of one kind of data that was left out of the shared file. */
export type LeftOutOfShare = {
  /** The kind of data that was left out. */
  what: string;
  /** How many items were left out. */
  count: number;
  /** Bytes of all items that were left out. */
  bytes: number;
};

/** The place in the run where an issue was found. User interfaces link to this place. */
export type Location = {
  /** The file inside the run folder, or the database's name, if any. */
  file?: string | null;
  /** The table of the database, if any. */
  table?: string | null;
  /** The id of the row or of the execution, if any. */
  row?: number | null;
  /** The column of the table, or the key of a header, if any. */
  column?: string | null;
  /** The line of the file, from 1, if any. */
  line?: number | null;
};

/** The former head of an audit log whose seals were computed anew. */
export type LogSealedAnew = {
  /** The id that the shared copy gives the run of this log. */
  run: string;
  /** How many sealed rows the log had. */
  count: number;
  /** The hash of the log's last sealed row. */
  head: string;
};

/** One of the statements that took longest. */
export type Longest = {
  /** The statement that took long. */
  node: NodeRef;
  /** The duration in words. */
  took: string;
  /** The duration in milliseconds. */
  took_ms: number;
};

/** A loop that finished a round or was left. */
export type LoopRounds = {
  /** Number of finished rounds. */
  iteration: number;
  /** The limit for the number of rounds; `null` if the program sets no limit. */
  max: number | null;
  /** The run in which the execution ended. */
  run: string;
  /** The execution's id. */
  id: number;
  /** The status that was recorded: `completed`, `failed` or `skipped`; `joined` for a parallel; `iteration` for the end of a loop's round, `exited` for the end of a loop. */
  status: string;
  /** The text of the statement that the execution ran. */
  statement: string;
  /** The line of the program that the execution ran, from 1; `null` if the program has no such statement. */
  line: number | null;
  /** The name of the branch; `null` if the execution is not a branch. */
  branch: string | null;
  /** Notes if the execution lacks something that its program says, such as rounds; one sentence each. */
  notes: Array<string>;
};

/** A command that may come next. */
export type NextChoice = {
  /** The command. Words in capitals are placeholders. */
  command: string;
  /** Why the command comes next, or under which condition. */
  why: string;
};

/** What the VM does itself, without a subagent, after a statement has begun. */
export type NextStep = {
  /** The step, in a sentence. */
  say: string;
  /** The command that ends the execution after that step. */
  command: string;
};

/** The commands that may come next in a run. */
export type NextView = {
  /** The run that the commands are for, by the name that commands take. */
  run: string;
  /** The innermost open execution; `null` at the program's top. */
  execution: number | null;
  /** Commands that may be recorded now, the likeliest first. If there are several, the VM chooses one, for example by whether a loop's condition is met. */
  choices: Array<NextChoice>;
};

/** All facts about one node of the trace. */
export type NodeDetail = {
  /** The node's row in the trace. */
  row: TreeRow;
  /** The nodes around this node, outermost first; at most the hundred nearest. */
  path: Array<NodeRef>;
  /** The text of the node's statement, in full. */
  text: string;
  /** The node's error, in full; `null` if not recorded. */
  error: string | null;
  /** The node's rows in the store, in order, with every column. */
  rows: Array<RowView>;
  /** The execution id of the frame whose bindings the node sees first; `null` is the root. */
  frame: number | null;
  /** Why the line is a guess, as a clause; `null` if the line is recorded. */
  line_why: string | null;
  /** Which part of the position in the tree was inferred, in a sentence; `null` if the position is recorded. */
  inferred_why: string | null;
  /** Properties of the statement in the program: retries, conditions, prompts. */
  properties: Array<PropertyView>;
  /** The statement's prompt, inputs and answers. */
  work: NodeWork;
  /** Issues about the node's rows. */
  issues: Array<Issue>;
};

/** The kind of a row of the trace. */
export type NodeKind = "statement" | "parallel" | "branch" | "loop" | "round" | "frame" | "gate";

/** A link to a node of the trace, with the facts that lists show beside the link. */
export type NodeRef = {
  /** The node's index in the trace. Callers open the node by this index. */
  node: number;
  /** The execution id of the node's first row; `null` for derived nodes such as rounds. */
  id: number | null;
  /** The kind: `statement`, `parallel`, `branch`, `loop`, `round`, `frame` or `gate`. */
  kind: NodeKind;
  /** The text of the node's statement. */
  text: string;
  /** The node's status in words. */
  status: StatementStatus;
  /** The nodes around this node, outermost first: `loop › round 2 › do process(half)`; empty at the root. */
  path: string;
  /** The statement's line in the program; `null` if the line is not known. */
  line: number | null;
  /** Whether `line` is a guess, because the row does not record its line. */
  line_guessed: boolean;
  /** The node's last error, cut at 400 characters, also if another attempt is running. */
  error: string | null;
};

/** The prompt, inputs and answers of a statement. */
export type NodeWork = {
  /** The prompt as the program writes it, or as the statement's record has it if the record is more reliable. */
  prompt: Excerpt | null;
  /** A note on the prompt, or why the prompt is not known; `null` without a note. */
  prompt_note: string | null;
  /** The persistent agent that carried out the statement, if any. */
  agent: AgentOfTask | null;
  /** The statement's agent (`captain` of `session: captain`) as the program declares it, if any. */
  by: AskedAgent | null;
  /** The names whose values the statement received, resolved in the statement's frame (the first 50). */
  context: Array<GivenName>;
  /** How many more names the statement received. */
  more_context: number;
  /** A note on all names in `context`, or why the names are not known; `null` without a note. */
  context_note: string | null;
  /** The bindings that the statement wrote. */
  answers: Array<AnswerView>;
  /** Why the answer is missing or not known. For a gate: how the gate was decided. `null` otherwise. */
  answer_note: string | null;
  /** The attempts, as far as rows record them; empty if there was only one attempt. */
  attempts: Array<AttemptView>;
  /** Facts about the attempts that the rows do not record, if any. */
  attempts_note: string | null;
};

/** Whether a candidate won, or why it lost. */
export type Outcome = "wins" | "shadowed" | "out-of-reach" | "superseded";

/** The first page of a run: what happened, where the run stopped, and why. */
export type Overview = {
  /** The run's id; for a store of agents, the name of its file. */
  run: string;
  /** The name or path of the program that the run executes; `null` if not recorded. */
  program: string | null;
  /** The form that the run was read as, in words: `SQLite, append-only`. */
  form: RunForm;
  /** The source that was opened, in words: a path, a dropped folder. */
  label: string;
  /** The run's most likely status. If its records disagree, `claims` contains what each says. */
  status: RunStatus;
  /** The source that decides the status, such as `run row` or `log`. */
  status_source: string;
  /** The reason for the status, in one sentence. */
  status_reason: string;
  /** The sources of the status, each with the status that it gives; empty unless they disagree. */
  claims: Array<[string, string]>;
  /** The result in one line: `Waiting at gate deploy since 25 Jan 2026, 13:04 UTC`. */
  headline: string;
  /** What the run first did against its program, in words: `went on past the rejected gate deploy`. */
  against?: string;
  /** The remaining work, as a clause: `up to 13 statements, from line 32 on`; empty for a store of agents. */
  left: string;
  /** The next action, as a clause: `go on at line 32`; empty for a store of agents. */
  next: string;
  /** The command that carries out the next action, or that shows how to carry it out; `null` without a command. */
  next_command: string | null;
  /** A description of what happened, in three sentences. */
  story: Array<string>;
  /** When the run started; `null` if that is not recorded. */
  started: Stamp | null;
  /** The source of `started` if the start itself is not recorded: `the run's id, which names no time zone`. */
  started_from?: string | null;
  /** The last sign of life, which is the latest time that the run records; `null` without a time. */
  last_sign: Stamp | null;
  /** The source of `last_sign`, in words: `execution 31`, `state file`; `null` if `last_sign` is `null`. */
  last_sign_from: string | null;
  /** The age of `last_sign`, if `now` is given: `3d 4h ago`. */
  last_sign_ago: string | null;
  /** Whether the run is running and gave a sign of life so recently that a model may still be carrying it out. */
  is_alive: boolean;
  /** For how many milliseconds the overview stays true while nothing is recorded: until a deadline passes, or, if the run is alive, until `last_sign_ago` changes. `null` if time alone does not make it wrong. */
  true_for_ms?: number;
  /** When a file of the run was last changed, if the run records no times. This time is weaker evidence than a sign of life, because copies and checkouts change it, too. */
  file_changed?: Stamp | null;
  /** Whether the run is recorded as running but has had no sign of life for a day. */
  stale: boolean;
  /** Time from the start to the last sign of life, in milliseconds; `null` unless both are recorded. */
  duration_ms: number | null;
  /** The time from the start to the last sign of life in words: `5m 3s`; `null` if `duration_ms` is `null`. */
  duration: string | null;
  /** Whether at least one statement has a time (errata X14). */
  times_recorded: boolean;
  /** How many statements started. A statement that ran several times counts each time; a block around others does not count. */
  statements: number;
  /** How many of the started statements finished. */
  statements_done: number;
  /** How many statements of the program may run; `null` without the source. */
  statements_in_program: number | null;
  /** How many statements have each status, including statements that did not start. */
  by_status: Array<StatusCount>;
  /** What the run cost; `null` if no record has tokens. */
  cost: CostView | null;
  /** How many nodes were retried. */
  retried: number;
  /** How many nodes failed and were recovered. */
  recovered: number;
  /** The nodes at the current positions of the run (the first 20). */
  positions: Array<NodeRef>;
  /** How many current positions the run has in all. */
  position_count: number;
  /** The first cause of a failure. In a completed run: the first failure that was not recovered; `null` without a failure. */
  failure: Failure | null;
  /** Gates that wait for a decision. */
  pending_gates: Array<GateView>;
  /** The questions to people that have no answer yet. */
  questions: Array<QuestionView>;
  /** The results of a completed run: its outputs at the root, with their last values (the first 20). */
  outputs: Array<BindingRef>;
  /** The value that the last statement wrote, in a completed run without such outputs; `null` if several branches ended the run. */
  last_value?: BindingRef;
  /** How many bindings the run has. */
  bindings: number;
  /** Bytes of all bindings' values together. */
  bindings_bytes: number;
  /** How many bindings have the path of an attachment. */
  attachments: number;
  /** How many agents the run has. */
  agents: number;
  /** How many gates the run has. */
  gates: number;
  /** How many imports the run has. */
  imports: number;
  /** How many rows the trace has, counting blocks and rounds. */
  trace_nodes: number;
  /** How many tables the run has. */
  tables: number;
  /** How many files the run has. */
  files: number;
  /** How many errors, warnings and notes the page of issues lists. */
  issues: Counts;
  /** The parts of the run that could not be read completely. The counts of these parts may be too low. */
  unread: Array<Unread>;
  /** A description of the database's content, if the database has no row for the run. */
  missing: string | null;
  /** Recorded facts that have no other field: `upstream` and `root` of a log, keys of run.json, header keys of a state file that OpenProse does not define, exit codes in the headers of values, runs whose results were reused. */
  facts: Array<[string, string]>;
  /** The ids of other runs in the same database. */
  other_runs: Array<string>;
};

/** A parallel that was joined. */
export type ParallelJoined = {
  /** The block's branches, in the order of the program. */
  branches: Array<BranchStatus>;
  /** The run in which the execution ended. */
  run: string;
  /** The execution's id. */
  id: number;
  /** The status that was recorded: `completed`, `failed` or `skipped`; `joined` for a parallel; `iteration` for the end of a loop's round, `exited` for the end of a loop. */
  status: string;
  /** The text of the statement that the execution ran. */
  statement: string;
  /** The line of the program that the execution ran, from 1; `null` if the program has no such statement. */
  line: number | null;
  /** The name of the branch; `null` if the execution is not a branch. */
  branch: string | null;
  /** Notes if the execution lacks something that its program says, such as rounds; one sentence each. */
  notes: Array<string>;
};

/** A parallel block whose branches have all begun. */
export type ParallelRunning = {
  /** The block's branches, in the order of the program. */
  branches: Array<ExecutionBegun>;
  /** The run in which the statement began. */
  run: string;
  /** The statement's execution id. Later commands take it as `EXECUTION`. */
  id: number;
  /** The text of the statement that began. */
  statement: string;
  /** The line of the program that began, from 1; `null` if the program has no such statement. */
  line: number | null;
  /** The execution that the statement runs in; `null` at the root. */
  parent: number | null;
  /** The `loop_id` of a loop, the `parallel_id` of a parallel, the name of a branch; `null` for other statements. */
  name: string | null;
  /** The block that the statement calls; `null` if the statement calls no block. */
  block: string | null;
  /** The depth of that call in frames, from 1; `null` if the statement calls no block. */
  depth: number | null;
  /** The work for a subagent; `null` if the statement is not a session. */
  task: TaskView | null;
  /** What to do next; `null` if the statement is a session. */
  next: NextStep | null;
  /** Notes, one sentence each: the statement was recorded out of the program's order or without a line, or an item began with it. */
  notes: Array<string>;
};

/** A line of the program. */
export type ProgramLine = {
  /** The line number, from 1. */
  line: number;
  /** The text of the line. */
  text: string;
  /** The kind of the statement that begins on this line, kebab-case; empty if none begins. */
  kind: string;
  /** The role of the line: `statement`, `property`, `continuation`, `comment`, `blank`, or `text` (Markdown around a program). */
  role: "statement" | "property" | "continuation" | "comment" | "blank" | "text";
  /** The result of the line in words: `completed`, `failed`, `3 × completed, 1 × failed`. A line without a record has `not run` (its condition was false), `not recorded` (before the last recorded line, or in a completed run), `not reached`, or the word that a parallel recorded for the branch. Empty if nothing is known, or if the line is not executable. */
  annotation: string;
  /** The status word that decides the line's colour; empty if `annotation` is empty. */
  status: StatementStatus;
  /** The indices in the trace of the nodes that belong to this line (the first 50). */
  nodes: Array<number>;
  /** How many nodes belong to this line in all. */
  node_count: number;
  /** Whether the line of at least one node is a guess. */
  guessed: boolean;
  /** Properties of the statement that begins on this line (the first 50). */
  properties: Array<PropertyView>;
  /** Bindings that this line wrote (the first 50). */
  bindings: Array<BindingRef>;
  /** Whether this line is a current position of the run, at which the program continues. */
  position: boolean;
};

/** The program, with the facts about each line. */
export type ProgramView = {
  /** The name or path of the program whose lines are shown; `null` if not recorded. */
  path: string | null;
  /** The origin of the source. `null` if the run has no source; the lines are then the trace in the state file. */
  source_from: string | null;
  /** A note about the source: `no program in this run`, `the program was not saved with the run; the lines are the trace …`; `null` without a note. */
  note: string | null;
  /** How many lines the program has in all. */
  total: number;
  /** The position of the first line in `lines`, from 0. */
  from: number;
  /** The lines, from `from` on. */
  lines: Array<ProgramLine>;
};

/** A property of a statement. */
export type PropertyView = {
  /** The property's name. A nested property has a dotted name (`permissions.bash`). */
  name: string;
  /** The value without quotes and asterisks, cut at 400 characters: `4h`, `the draft is good`, `a, b`. */
  text: string;
  /** The kind of value: `text`, `condition`, `number`, `flag`, `duration`, `list`, `word`, `raw`; empty for a property without a value. */
  kind: "text" | "condition" | "number" | "flag" | "duration" | "list" | "word" | "raw" | "";
  /** The property's line in the program. */
  line: number;
};

/** A column of an answer. */
export type QueryColumn = {
  /** The column's name. */
  name: string;
  /** The type that the column's table declares; `null` for an expression or an undeclared type. */
  declared: string | null;
};

/** A table that a query may use. */
export type QueryTable = {
  /** The table's name in SQL statements. */
  name: string;
  /** Whether the table belongs to the run's own database. The other tables are computed from the run, whatever its form. */
  own: boolean;
  /** What one row of the table describes; empty for the run's own tables. */
  about: string;
  /** Number of rows; `null` if they are not counted. */
  rows: number | null;
  /** The table's columns, in order. */
  columns: Array<QueryColumn>;
};

/** The tables and questions that SQL queries of a run can use. */
export type QueryTables = {
  /** The tables: first the tables with the run's interpreted data, then the run's own tables. */
  tables: Array<QueryTable>;
  /** The stored questions, which callers use by name. */
  questions: Array<StoredQuestion>;
};

/** The answer to an SQL query. */
export type QueryView = {
  /** The columns, in the order of the statement. */
  columns: Array<QueryColumn>;
  /** The rows, in the order of the statement. */
  rows: Array<Array<ShownCell>>;
  /** Number of rows in this answer. */
  returned: number;
  /** Whether the statement has more rows than this answer contains. */
  more: boolean;
  /** Number of cells that were cut. */
  cut: number;
  /** Remarks on the answer, in sentences: omitted rows, values that were not read. */
  notes: Array<string>;
};

/** A question of the program to a person: a mid-program `input` that has no answer yet. */
export type QuestionView = {
  /** The run that waits for the answer. */
  run: string;
  /** The name of the input, under which the answer is recorded. */
  input: string;
  /** The whole question; `null` if the program asks without words. */
  question: string | null;
  /** The row of the question. */
  node: NodeRef | null;
};

/** Whether the present value of a name is the value that a statement received. */
export type Received = "same" | "replaced" | "unknown" | "nothing";

/** The binding that a name means in a frame, with the reasons, in words and links. */
export type ResolutionView = {
  /** The name that was resolved. */
  name: string;
  /** The execution id of the frame in which the name was resolved; `null` is the root. */
  from: number | null;
  /** The frames that were searched, from the frame `from` outward to `root`; the middle of a long list is left out. */
  chain: Array<string>;
  /** The bindings with this name, the winner first. */
  candidates: Array<CandidateView>;
  /** How many more candidates there are, all farther away than the listed ones. */
  more: number;
  /** Issues in the records that changed which frames were searched. */
  issues: Array<Issue>;
};

/** The declared agent of a task. */
export type RoleOfTask = {
  /** The name of the agent. */
  name: string;
  /** The agent's own prompt; `null` if the declaration has none. */
  prompt: string | null;
};

/** A row of the store with every column. In a run that is read from a log: a line of the log, by its number. */
export type RowView = {
  /** The row's id. */
  id: number;
  /** Column names and values, in the table's order. */
  columns: Array<[string, ShownCell]>;
};

/** A rule by which checks find issues. */
export type RuleView = {
  /** The rule's name. */
  name: string;
  /** The title of the rule's page in docs/reference/checks. */
  area: string;
  /** The severities that issues of the rule can have, the usual one first. */
  severities: Array<Severity>;
  /** What the rule means, in one sentence. */
  meaning: string;
  /** Why such an issue matters: which facts may be wrong or missing, and which tools fail. */
  why: string;
  /** What to do about an issue of this rule. */
  fix: string;
  /** The document that the rule is from. */
  source: string;
  /** An input that produces an issue of this rule, in parts. */
  example: Array<ExamplePart>;
};

/** A run that ended, or was interrupted. */
export type RunFinished = {
  /** The run that was ended or interrupted. */
  run: string;
  /** The run's status: `completed`, `failed` or `interrupted`. */
  status: string;
};

/** The form that a run was read as, in words. Other versions may have further forms. */
export type RunForm = "SQLite, append-only" | "SQLite, in place" | "SQLite, both dialects" | "SQLite" | "SQLite, contract 2, receipts" | "SQLite, contract 2" | "PostgreSQL" | "PostgreSQL, contract 2, receipts" | "folder, state.md" | "folder, compact log" | "folder, vm.log.md" | "folder, receipts" | "folder, contract 2" | "folder, reactor" | "folder, run record of April 2026" | "folder, download of a hosted run" | "folder, unknown state file" | "folder, no state file" | "agents" | "unknown" | (string & {});

/** The runs of a source, the newest first. */
export type RunList = {
  /** The places that were searched for runs, in words. */
  label: string;
  /** How many runs the source has, including those that the filter excludes. */
  total: number;
  /** The runs that match the filter. */
  runs: Array<RunSummary>;
  /** Issues of the search itself: too many files, a database that cannot be opened … */
  issues: Array<Issue>;
};

/** A part of a run that pages and commands list. */
export type RunPart = "program" | "statements" | "bindings" | "agents" | "gates" | "audit" | "imports";

/** A shared file, or with `--report` the description of such a file. */
export type RunShared = {
  /** The ids of the shared runs. */
  runs: Array<string>;
  /** The file that was written; absent with `--report`. */
  file?: string;
  /** The format of the file: `html`, `zip`, `db` or `text`. */
  format: "html" | "zip" | "db" | "text";
  /** Bytes of the file; with `--report`, of the runs' parts together. */
  bytes: number;
  /** Whether secrets were left as they are (`--raw`). */
  raw: boolean;
  /** The replaced secrets, in order of place (the first 10,000); with `raw`, the secrets that would be replaced. */
  found: Array<SecretFound>;
  /** How often each rule replaced a secret, by kind of place. */
  replaced: Array<SecretsReplaced>;
  /** The parts of the runs that were left out. */
  left_out: Array<LeftOutOfShare>;
  /** The parts of the runs, the largest first. */
  parts: Array<SharedPart>;
  /** Audit logs whose seals were computed anew, each with its former head. */
  sealed_anew: Array<LogSealedAnew>;
  /** How many secrets are replaced where the rules find them, and not searched for in other forms or in the written file, because all together have more than 4 MB. The runs are shared only with `--anyway`. */
  unsearched: number;
  /** The names in gates and their log that stay: those who may decide a waiting gate, and the teams, people and agents that the program names. */
  staying: Array<string>;
};

/** The status of a run. `unknown` means that no status is recorded, `agents` that the source is a store of agents. A run may record a word that OpenProse does not define. */
export type RunStatus = "running" | "completed" | "failed" | "interrupted" | "waiting" | "unknown" | "agents" | (string & {});

/** One run in a list. */
export type RunSummary = {
  /** The run's id, or the name of its folder if the run has no id. */
  run: string;
  /** The name of the run's folder or file, which commands take. A copied run has the same id but another folder name. */
  name: string;
  /** The run's place inside the source: its folder, or its database file. Callers open the run by this place. */
  place: string;
  /** The program's name; `null` if not recorded. */
  program: string | null;
  /** The run's most likely status: `unknown` if none is recorded, `agents` for a store of agents. */
  status: RunStatus;
  /** Whether the run is recorded as running but has had no sign of life for a day. */
  stale: boolean;
  /** The reason for the status, in one sentence. */
  reason: string;
  /** The first line of a failed run's first error. `null` if no error is recorded, or if the list did not look for errors. */
  failure?: string;
  /** A completed run's first output at the root, with its size and the number of other outputs: `verdict, 477 B`. `null` if there is no output, or if the list did not look for outputs. */
  wrote?: string;
  /** What the run first did against its program, in words: `went on past the rejected gate deploy`. */
  against?: string;
  /** The form of the run in words: `SQLite, append-only`, `folder, state.md` … */
  form: RunForm;
  /** When the run started; `null` if no time is known. */
  started: Stamp | null;
  /** The source of `started` if the start itself is not recorded: `the run's id, which names no time zone`. */
  started_from?: string | null;
  /** Time since the start in its largest unit, if `now` is given: `322d`. */
  age?: string | null;
  /** The last sign of life, which is the latest time that the run records; `null` without a time. */
  last_sign: Stamp | null;
  /** When a file of the run was last changed, if the run records no times. This time is weaker evidence than a sign of life, because copies and checkouts change it, too. */
  file_changed?: Stamp | null;
  /** Time from the start to the last sign of life, in milliseconds; `null` unless both are recorded. */
  duration_ms: number | null;
  /** The time in `duration_ms` in words: `5m 3s`; `null` without that time. */
  duration: string | null;
  /** How many gates wait for a decision. */
  pending_gates: number;
  /** The first of them; `null` if none waits, or if the list did not read the gates. */
  waits?: WaitingGate;
  /** The tokens that the run's receipts report; `null` if none do. */
  tokens?: TokenCount;
  /** The issues that were found when the run was read, counted by severity. */
  issues: Counts;
  /** The parts that were left out, in words, if only the beginning of a large database was read. `issues` is then incomplete. */
  head_only?: string | null;
  /** Whether parts of the run could not be read. All other fields, even the status, may then be incomplete. */
  unread: boolean;
  /** Why the run could not be opened, with what to do next; `null` if the run was opened. After an error, `run`, `name` and `place` are the only other fields that are set. */
  error: string | null;
};

/** A place at which a secret is replaced. No field contains any part of the secret. */
export type SecretFound = {
  /** The name that replaces the secret in the shared file: `github-token #1`. `--keep` takes this name. */
  name: string;
  /** The rule that found the secret. */
  rule: string;
  /** The kind of secret: `secret` or `personal`. */
  kind: "secret" | "personal";
  /** The kind of place: `bindings.value`. */
  place: string;
  /** The row or file that contains the secret, and the line inside of that row or file. */
  at: string;
  /** The text before the secret on its line, without secrets. */
  before: string;
  /** The text after the secret on its line. */
  after: string;
};

/** How often a rule replaced a secret in one kind of place. */
export type SecretsReplaced = {
  /** The rule that found the secrets. */
  rule: string;
  /** The kind of secret: `secret` or `personal`. */
  kind: "secret" | "personal";
  /** The kind of place: `bindings.value`. */
  place: string;
  /** How many secrets were replaced. */
  count: number;
};

/** The state of a gate that a person saw when deciding it. */
export type SeenGate = {
  /** The SHA-256 of the prompt, as the audit log writes it: `sha256:` and 64 hex digits. */
  prompt_hash: string;
  /** The names in the gate's `allow` list. */
  allow: Array<string>;
  /** The last sealed row of the run's audit log; `null` in a log without sealed rows. */
  head: SeenHead | null;
};

/** The head of an audit log (how many sealed rows it has, and the hash of the last one), without the run's id. */
export type SeenHead = {
  /** How many sealed rows the log has. */
  count: number;
  /** The hash of the last sealed row. */
  hash: string;
};

/** An invocation of an agent, as its segment records it. */
export type SegmentView = {
  /** The segment's number, from 1. */
  number: number;
  /** When the segment was recorded; `null` if that is not recorded. */
  timestamp: Stamp | null;
  /** What the agent was asked; `null` if not recorded. */
  prompt: string | null;
  /** What the agent did; `null` if not recorded. */
  summary: string | null;
  /** Lines of the summary that are new since the previous segment (`+`), and lines that disappeared (`-`); empty for the first segment. */
  changes: Array<[string, string]>;
};

/** One property of a session or its agent. */
export type SettingOfTask = {
  /** The name in the program: `model`, `skills`, `permissions.bash`. */
  name: string;
  /** The value in the program. */
  value: string;
};

/** The importance of an issue. */
export type Severity = "note" | "warning" | "error";

/** A part of the shared runs, such as a file or a table. */
export type SharedPart = {
  /** The path of the part. */
  path: string;
  /** Bytes of the part. */
  bytes: number;
};

/** A cell: its storage type, its beginning, and its length. */
export type ShownCell = {
  /** The storage type of the cell: `null`, `integer`, `real`, `text`, `blob`. */
  type: CellType;
  /** The cell as text, possibly cut; a blob as hexadecimal digits. */
  text: string;
  /** The length of the whole cell in bytes. */
  len: number;
  /** Whether `text` contains only the beginning of the cell. */
  cut: boolean;
};

/** A recorded time: an instant if readable, else the recorded text. In JSON: RFC 3339 in UTC, or that text. */
export type Stamp = string;

/** A line of the comparison of the two versions of state.md. */
export type StateLine = {
  /** `=` if both versions have the line, `+` if only the rendered version has it, `-` if only the file has it. */
  mark: "=" | "+" | "-";
  /** The text of the line. */
  text: string;
};

/** state.md in two versions: rendered from the data, and as the folder contains it. */
export type StateMdView = {
  /** The version that was rendered from the data. */
  rendered: string;
  /** The text of the file in the folder, cut at 1 MiB; `null` if there is no file. */
  own: string | null;
  /** Both versions line by line; empty if there is no file or no difference. */
  lines: Array<StateLine>;
  /** Whether the two versions differ in content that OpenProse defines for state.md. */
  differs: boolean;
  /** Why a comparison is limited: the file has another form, is encrypted, or was cut; `null` otherwise. */
  note: string | null;
};

/** The status of a statement. `recovered`, `was executing`, `was waiting`, `abandoned`, `cut off` and `unknown` are derived. A row may record a word that OpenProse does not define. */
export type StatementStatus = "pending" | "executing" | "started" | "waiting" | "iteration" | "retry" | "completed" | "failed" | "skipped" | "approved" | "rejected" | "timeout" | "abandoned" | "cut off" | "unchanged" | "unknown" | "recovered" | "was executing" | "was waiting" | "joined" | "exited" | (string & {});

/** The number of statements with one status. */
export type StatusCount = {
  /** The status in words. */
  status: StatementStatus;
  /** How many statements have the status. */
  count: number;
};

/** How a value is stored: in a cell of some type, in a file, or not at all. */
export type StoredAs = "null" | "integer" | "real" | "text" | "blob" | "file" | "missing";

/** A question about a run that is stored as SQL under a name. */
export type StoredQuestion = {
  /** The question's name. */
  name: string;
  /** What the question answers. */
  about: string;
  /** The SQL statement. */
  sql: string;
};

/** A table of a database, whether OpenProse defines it or not. */
export type TableInfo = {
  /** The table's name in the database. */
  name: string;
  /** The kind of table: `table`, `view`, `virtual` or `shadow`. */
  kind: "table" | "view" | "virtual" | "shadow" | (string & {});
  /** The number of rows; `null` if counting would evaluate a view or take too long. */
  rows: number | null;
  /** Whether OpenProse defines the table; other tables are extensions (`x_…`) or foreign. */
  known: boolean;
  /** The columns of the table, in order. */
  columns: Array<ColumnInfo>;
};

/** A page of a table's rows. */
export type TableRows = {
  /** The name of the table that the rows are from. */
  table: string;
  /** The names of the columns. */
  columns: Array<string>;
  /** The number of further columns that are not included here. */
  more_columns: number;
  /** The index of the first row of the page, counted from 0. */
  from: number;
  /** The total number of rows, if counted. */
  total: number | null;
  /** The rows of the page. Each has one cell for each column. */
  rows: Array<Array<ShownCell>>;
};

/** The work of one session, for the subagent that carries it out. */
export type TaskView = {
  /** The name of the binding that the session writes; `null` for an anonymous binding (`put --anon`). */
  binding: string | null;
  /** The kind of the binding: `input`, `output`, `let` or `const`; `null` for an anonymous binding. */
  kind: string | null;
  /** The place of the output: a file, or a row of a database. */
  location: string;
  /** The frame in which the session's names are resolved; `null` is the root. */
  frame: FrameView | null;
  /** The persistent agent that carries out the session; `null` if no agent with a memory does. */
  agent: AgentOfTask | null;
  /** The agent that the program declares for the session; `null` if the session names no declared agent. */
  role: RoleOfTask | null;
  /** The session's prompt; `null` if the statement has no prompt. */
  prompt: string | null;
  /** What the program sets for the session or its agent, such as the model, skills and permissions. */
  settings: Array<SettingOfTask>;
  /** The error of the previous attempt; `null` if there was no previous attempt, or if its error was not recorded. */
  failed: string | null;
  /** The values that the session receives: the names in its prompt and its context. */
  inputs: Array<InputOfTask>;
  /** The command that writes the output and completes the execution. It reads the output from standard input. */
  put: string;
  /** The whole task as instructions for the subagent, in Markdown. */
  brief: string;
};

/** The times at which each row of the trace was running.  Positions on the axis are milliseconds of drawn time since the beginning. Idle time is drawn shorter than it was. */
export type Timeline = {
  /** The first recorded time; `null` if no time is recorded. */
  from: Stamp | null;
  /** The last recorded time; `null` if no time is recorded. */
  until: Stamp | null;
  /** The time from the first recorded time to the last recorded time, in words; `null` if no time is recorded. */
  took: string | null;
  /** The length of the axis, in milliseconds of drawn time. */
  len: number;
  /** Idle times that are drawn shorter, in order. */
  gaps: Array<Gap>;
  /** The rows with times, in the order of the trace. */
  bars: Array<Bar>;
  /** How many rows have no time. */
  untimed: number;
  /** The statements that took longest, the longest first. */
  longest: Array<Longest>;
  /** The load along the axis, in parts of equal length; empty for a run with at most 2,000 rows. */
  dense: Array<Dense>;
  /** Whether no two statements ran at the same time. The run's end then waited for every row. `null` if that is unknown, because branches have no times. */
  sequential: boolean | null;
};

/** A duration, parsed from the notation of programs (`4h`). */
export type TimeoutView = {
  /** The text of the duration, as the program writes it. */
  text: string;
  /** The length in seconds. */
  seconds: number;
};

/** Tokens of a node, of a model, or of a whole run. */
export type TokenCount = {
  /** The node or the model; empty for the whole run. */
  name: string;
  /** How many executions have numbers. */
  executions: number;
  /** Tokens that were read anew or written. */
  fresh: number;
  /** Tokens that a cache provided. */
  reused: number;
};

/** Some consecutive rows of the trace, counting only rows that are not hidden by a fold. */
export type TracePage = {
  /** How many rows are visible, which means not hidden by a fold. */
  total: number;
  /** The position of the first row among the visible rows, from 0. */
  from: number;
  /** The rows of this page of the trace. */
  rows: Array<TreeRow>;
  /** Why rows are missing, or which facts the rows lack: `state.md is not readable: it is encrypted`; `null` without a note. */
  note?: string | null;
  /** Lines of the log before the first statement that are not records of statements. */
  remarks?: Array<string>;
  /** Lines of the log after the last statement that are not records of statements. */
  remarks_behind?: Array<string>;
};

/** A row of the trace. */
export type TreeRow = {
  /** The index of the row's node in the trace. */
  node: number;
  /** The execution id of the row's first record; `null` for rounds and other derived rows. */
  id: number | null;
  /** The ids of the row's later records. */
  aliases: Array<number>;
  /** The depth in the tree; 0 for outermost rows. */
  level: number;
  /** How many nodes are below this row's node, at any depth. */
  descendants: number;
  /** How many nodes are directly below this row's node. */
  children: number;
  /** The row's position among its siblings, from 1, and the number of siblings (for `aria-posinset`). */
  place: [number, number];
  /** Whether the row is folded, so that its children are hidden. */
  folded: boolean;
  /** The kind: `statement`, `parallel`, `branch`, `loop`, `round`, `frame` or `gate`. */
  kind: NodeKind;
  /** The text of the row's statement, cut at 400 characters. */
  text: string;
  /** Short facts to show beside the text: `all · 3 branches`, `round 2 of 5`, `frame 43 · depth 3`, `attempt 2 of 3`. */
  detail: string;
  /** Lines of the log after this row that are not records of statements, word for word. */
  remarks?: Array<string>;
  /** The status in words, usually as recorded. `recovered` is a failure that a later attempt or a `catch` handled. `was executing` and `was waiting` are open rows of a run that was interrupted or became silent. */
  status: StatementStatus;
  /** How many attempts there were; 1 without a retry. */
  attempts: number;
  /** The limit on attempts of a statement, or on rounds of a loop; `null` if not recorded. */
  max: number | null;
  /** The branch's name, if the row is a branch. */
  branch: string | null;
  /** The round's number, if the row is a round. */
  round: number | null;
  /** The frame's depth, if the row is a call. */
  depth: number | null;
  /** The gate's id, if the row is a gate. */
  gate: string | null;
  /** The beginning of the first value that was passed to a call; `null` if the value is not recorded or was not requested. */
  argument?: string | null;
  /** For the trace on a screen: how many of the blocks around this row, from the outside in, also contain the first cause of the failure. 0 unless the cause comes after this row. */
  around_cause?: number;
  /** When the row began; `null` if that is not recorded. */
  started: Stamp | null;
  /** When the row ended; `null` if that is not recorded. */
  ended: Stamp | null;
  /** Time from begin to end, in milliseconds; `null` unless both are recorded. */
  duration_ms: number | null;
  /** The time from begin to end in words: `5m 3s`; `null` if `duration_ms` is `null`. */
  duration: string | null;
  /** The row's error, cut at 400 characters; `null` if not recorded. */
  error: string | null;
  /** Bindings that the row wrote, as far as the records show, including bindings that were overwritten later. */
  bindings: Array<BindingRef>;
  /** The statement's line in the program; `null` if the line is not known. */
  line: number | null;
  /** Whether `line` is a guess, because the row does not record its line. */
  line_guessed: boolean;
  /** Whether the row failed and was recovered. */
  recovered: boolean;
  /** Whether the position in the tree was inferred, at least in part. */
  inferred: boolean;
  /** Whether the row was derived from other rows, without a record of its own. */
  derived: boolean;
  /** Whether this row is a current position of the run, at which the program continues. */
  position: boolean;
  /** Whether this row is the first cause of the failure. In a completed run: the first failure that was not recovered. */
  first_cause: boolean;
  /** Whether the row failed because of the first cause. */
  because_of: boolean;
};

/** A part of a run that could not be read completely. Its content is unknown, so do not report it as empty. */
export type Unread = {
  /** The place that could not be read: `table bindings of state.db`, `gates`. */
  what: string;
  /** Why the place could not be read. */
  why: string;
  /** What to do next; may be empty. */
  next: string;
  /** The parts of the run that the unreadable place contains; empty for other data, such as a folder `workspace`. */
  parts: Array<RunPart>;
  /** Whether reading failed (permission denied, a lock, an I/O error), so that another try may succeed. False if the content was read and could not be understood. */
  failed: boolean;
  /** Whether the content is encrypted. Such content is not damaged, but only its owner can read it. */
  sealed: boolean;
  /** Whether the content lies outside of the run, like the agents of a project; the run itself was read. */
  around: boolean;
};

/** The format in which a value is best displayed. */
export type ValueFormat = "markdown" | "json" | "text" | "binary";

/** A value in full, up to the length that was asked for. */
export type ValueView = {
  /** What the value belongs to: a binding's name, an agent's memory, or a file. */
  title: string;
  /** The beginning of the value, up to the length that was asked for; bytes that are not UTF-8 are replaced. */
  text: string;
  /** Bytes of the whole value. */
  len: number;
  /** Whether `text` is shorter than the value. */
  cut: boolean;
  /** The format in which the value is best displayed. */
  format: ValueFormat;
  /** Where the value is stored: `state.db, bindings`, `bindings/a.md`, `attachments/report.md`. */
  from: string;
  /** The summary that the row contains, if the value itself is an attachment. */
  summary: string | null;
  /** A note for the reader: the attachment is missing, or bytes were replaced; `null` without a note. */
  note: string | null;
  /** Why the value is missing; `null` if the value exists. Without the value, `text` is empty, or the text that the row contains instead. */
  missing: string | null;
};

/** A gate that waits for a decision, in a list of runs. */
export type WaitingGate = {
  /** The gate's id. */
  gate: string;
  /** The principals that may decide, in words, as in `GateView`. */
  allow_words: string;
  /** The time until which the gate can be decided; `null` without a deadline. */
  deadline?: Stamp;
};
