import type { AppProcess } from "./app-process.ts";
import type { FaultAppSettings } from "./fault-app.ts";

/** What breaks. */
export const RESOURCES = [
  "standard output",
  "disk",
  "memory",
  "descriptors",
  "clock",
  "DNS",
  "CPU",
  "PostgreSQL",
  "PostgreSQL replica",
  "PgBouncer",
  "Redis",
  "Redis replica",
  "Redis Sentinel",
  "Redis Cluster",
  "NATS",
  "MariaDB",
  "SQLite",
  "load balancer",
  "clients",
] as const;
export type Resource = (typeof RESOURCES)[number];

/** How it breaks. */
export const FAULTS = [
  "gone",
  "frozen",
  "slow",
  "full",
  "partitioned",
  "flapping",
  "refusing",
  "answering wrongly",
] as const;
export type Fault = (typeof FAULTS)[number];

/**
 * The requests that the program sends. `session` reads a session, `store` writes to the durable store, and `revoke` is a write
 * that must survive a failover. `upload` is only sent to an application with uploads.
 */
export const PROBES = ["read", "write", "session", "store", "revoke", "publish", "upload"] as const;
export type Probe = (typeof PROBES)[number];

/** What an operator sees, a few seconds after something broke or, if the fault ends by itself, after its end. */
export interface Seen {
  /** The status of each request that the fault may concern, 0 without a response. The others are 200. */
  readonly probes?: Readonly<Partial<Record<Probe, number>>>;
  /** No request of other clients fails, also while it breaks. @default those in the first seconds may fail */
  readonly isUnnoticed?: boolean;
  /** The status of `/readyz`, 0 without a response. @default 200 */
  readonly ready?: 0 | 200 | 503;
  /** Whether `/livez` responds. @default true */
  readonly isLive?: boolean;
  /** The checks that `/readyz` and the metric `portico_check_up` show as failed. @default none */
  readonly checks?: readonly string[];
  /** A part of a line in the log. */
  readonly log?: string;
  /** Series in the metrics, each with its value (`0`, `< 50`, `> 1`), which is otherwise any but 0. */
  readonly metrics?: readonly string[];
  /** A part of a line that `portico doctor` prints, such as `failed database`. */
  readonly doctor?: string;
  /** Why neither the process, nor `portico doctor` if there is a line in the log, can name the cause of a fault that requests notice. */
  readonly blind?: string;
  /** The application does not start, and the error says this. */
  readonly startError?: string;
  /** The process ends by itself. */
  readonly ends?: boolean;
  /** A shutdown takes until its deadline, because something waits that can't be told to stop. @default it exits with 0 */
  readonly isForced?: boolean;
}

/** A place with something that can break. */
export interface Scene {
  readonly settings: FaultAppSettings;
  /** The standard output of the process. @default a file, which is searched for `log` */
  readonly output?: "pipe" | number;
  /** The program and arguments that start the command after them. @default none */
  readonly under?: readonly string[];
  /** Options for Node. @default none */
  readonly node?: readonly string[];
  /** Returns the port that clients connect to, when the application listens. @default the application's */
  front?(port: number): Promise<number>;
  break(app: AppProcess): unknown;
  /** Ends the fault. It is called when the process has ended, before what it acknowledged is compared with what is there. */
  end?(): unknown;
  /** The rows that are there. @default they are not kept */
  rows?(): Promise<readonly number[]>;
  /** The revocations that are there. @default they are not kept */
  revocations?(): Promise<readonly number[]>;
  /** What else was acknowledged and is not there. @default nothing */
  losses?(): Promise<readonly string[]>;
  remove(): Promise<unknown>;
}

interface Place {
  readonly resource: Resource;
  readonly fault: Fault;
}

export interface RunCell extends Place {
  /** Tells the cells of one pair apart. @default the only one, or the plain one */
  readonly how?: string;
  readonly sees: Seen;
  /** A fault of the product that makes this cell fail. */
  readonly defect?: string;
  readonly start: () => Promise<Scene>;
}

/** A pair that cannot happen, and why. */
interface ImpossibleCell extends Place {
  readonly impossible: string;
}

export type Cell = RunCell | ImpossibleCell;

/** What the program calls it. */
export function cellName(cell: Cell): string {
  const how = "how" in cell ? ` (${cell.how})` : "";
  return `${cell.resource} ${cell.fault}${how}`;
}
