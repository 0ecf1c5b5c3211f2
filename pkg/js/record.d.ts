import type { ExecutionId } from './common.js';
import type {
  AgentWritten, AttemptBegun, BindingWritten, ExecutionBegun, ExecutionEnded, GateDecided, GateOpened, GateView, ImportRegistered,
  LoopRounds, NextView, ParallelJoined, ParallelRunning, RunFinished, TaskView,
} from './views.js';

/** Where runs are recorded, and by which program. */
export interface RecordingPlace {
  /** The project's folder, in which the program runs, as a path; the process's own without it. Relative paths start there. */
  folder?: string;
  /** The path of the program `prosescope`. Without it the one that npm installed with this package, else the one on the PATH. */
  executable?: string;
}

export interface StartOptions extends RecordingPlace {
  /** How the run is stored; `filesystem` without it. */
  state?: 'filesystem' | 'sqlite' | 'postgres';
  /** The run's id; without it the time and six random characters. */
  id?: string;
}

/** Records out of the program's order; recorded, too. */
export interface Force { force?: boolean }

/** Records what contradicts the program; recorded, too. */
export interface Insist extends Force { override?: boolean }

/** In which branch, or for which item, a statement runs. */
export interface InItem { parent?: ExecutionId; item?: string }

/** Options of `prosescope put`. `memory` and `segment` are paths of files. */
export interface PutOptions {
  into?: ExecutionId;
  kind?: 'input' | 'output' | 'let' | 'const';
  source?: string;
  summary?: string;
  notDone?: boolean;
  memory?: string;
  segment?: string;
  agent?: string;
}

/** Options of `prosescope gate create`: what is left out comes from the program. */
export interface GateOptions extends Insist, InItem {
  prompt?: string;
  allow?: string[];
  timeout?: string;
  onReject?: string;
  line?: number;
}

/** Options of `prosescope approve` and `reject`. The names are claims: nothing checks them. */
export interface Decider { as?: string; for?: string; recordTimeout?: boolean; override?: boolean }

export interface AgentScopeOptions { scope?: 'execution' | 'project' | 'user'; path?: string }

/** What one ended execution gives: of a parallel and a loop more than of another statement. */
export type Ended = ExecutionEnded | ParallelJoined | LoopRounds;

/** What `begin` gives: of a gate and an import there is no execution to put a value into. */
export type Begun = (ExecutionBegun & { branches?: undefined }) | ParallelRunning
  | ((GateOpened | ImportRegistered) & { id?: undefined; task?: undefined; branches?: undefined });

/** Starts a run of the program in a `.prose` file, by `prosescope init`. */
export function startRun(file: string, options?: StartOptions): Promise<Recording>;

/** Goes on recording in a run: its id, a path, or `postgres:ID`. The first call tells whether there is one. */
export function continueRun(run: string, place?: RecordingPlace): Recording;

/**
 * A run that is being recorded. Each method is one command of `prosescope` of nearly the same name, with its options in `camelCase` and
 * its JSON as the answer; `prosescope help COMMAND` explains them. Calls may run at the same time: the program queues them. Each rejects
 * with a `RecordError`; but for the codes `recorded` and `program-failed` nothing was recorded then.
 */
export class Recording {
  private constructor();
  /** The run's id, or the name that was given. */
  readonly run: string;
  /** What comes next in the program, and why. */
  next(): Promise<NextView>;
  /** The task of a session's subagent. */
  brief(execution: ExecutionId): Promise<TaskView>;
  /** Begins the statement at a line of the program, or a statement that the program lacks, by its text. */
  begin(statement: number | string, options?: Force & InItem & { program?: string }): Promise<Begun>;
  /** Writes a value, and completes its execution. With null for the name, under the next free name `anon_…`. */
  put(name: string | null, value: string | Uint8Array, options?: PutOptions): Promise<BindingWritten>;
  /** Ends an execution; without one the innermost that is open. */
  end(execution?: ExecutionId, options?: Force & { because?: string }): Promise<Ended>;
  /** Ends several executions in this order, or none of them. */
  end(executions: ExecutionId[], options?: Force & { because?: string }): Promise<Ended[]>;
  /** Begins another round of a loop; without one of the loop that is open. */
  round(loop?: ExecutionId, options?: Force): Promise<LoopRounds>;
  /** Records an error of an execution; without one of the innermost that is open. */
  fail(error: string, options?: { execution?: ExecutionId }): Promise<ExecutionEnded>;
  /** Begins the next attempt of an execution that failed. */
  retry(execution: ExecutionId, options?: Insist & { max?: number; error?: string }): Promise<AttemptBegun>;
  /** Records that the statement at a line is passed over. */
  skip(line: number, options?: Force & InItem & { because?: string }): Promise<ExecutionEnded>;
  /** Ends the run; as completed without a status. */
  finish(status?: 'completed' | 'failed' | 'interrupted', options?: Force & { error?: string; vacuum?: boolean }): Promise<RunFinished>;
  /** Records that the run waits at a gate of the program, or with null at the one of `line`. */
  createGate(gate: string | null, options?: GateOptions): Promise<GateOpened>;
  /**
   * Waits until a gate is approved. A `RecordError` has the rule `gate-rejected` or `gate-timed-out`, or `gate-waits` once the time `for`
   * is over, such as `30m`.
   */
  waitAtGate(gate: string, options?: { for?: string }): Promise<GateView>;
  /** Approves a gate for a person. */
  approve(gate: string, options?: Decider & { comment?: string }): Promise<GateDecided>;
  /** Rejects a gate for a person. */
  reject(gate: string, options: Decider & { reason: string }): Promise<GateDecided>;
  /** Writes an agent's memory. */
  setMemory(agent: string, memory: string | Uint8Array, options?: AgentScopeOptions): Promise<AgentWritten>;
  /** Adds the record of one invocation of an agent. */
  addSegment(agent: string, summary: string | Uint8Array, options: AgentScopeOptions & { prompt: string }): Promise<AgentWritten>;
}
