/** Where the server of a run keeps its things, and what it is to forget. */
export interface SoakSettings {
  /** For what `openDatabase` takes. */
  readonly database: string;
  /** Redis, with a prefix of this run's own; `null` is the memory of the process. */
  readonly redis: { readonly url: string; readonly prefix: string } | null;
  /** Where uploads are on disk. */
  readonly directory: string;
  /** What is leaked on purpose, to see that it is found. */
  readonly leak: Leak | null;
  /** Set in a run with faults. */
  readonly faults: FaultSettings | null;
}

interface FaultSettings {
  /** The port of the process that was killed, whose tables are there already; `null` at the first start. */
  readonly restartedOn: number | null;
}

/** Short ones, so that a frozen server is noticed within a run. */
export const DEADLINES = { timeoutSeconds: 2, statementSeconds: 2 } as const;

/** Something that a server can forget to let go of; `acknowledgement` responds to a write before it is committed, `identity` names another user. */
export type Leak = "heap" | "dependency" | "iterator" | "file" | "timer" | "acknowledgement" | "identity";

export const leaks: readonly Leak[] = [
  "heap",
  "dependency",
  "iterator",
  "file",
  "timer",
  "acknowledgement",
  "identity",
];

/** People that the server knows and the clients sign in as. */
export const people: People = {
  members: names("member", 16),
  visitors: names("visitor", 48),
  targets: names("target", 6),
  password: "correct horse battery staple",
};

export interface People {
  /** They hold tokens for as long as the run takes. */
  readonly members: readonly string[];
  /** They sign in and out, one visit after the other. */
  readonly visitors: readonly string[];
  /** A person who mistypes passwords. */
  readonly targets: readonly string[];
  readonly password: string;
}

/** How many notes there are. */
export const NOTES = 400;

function names(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}${index}`);
}
