import type { Traffic } from "./client.ts";
import type { Figures } from "./figures.ts";

/** The server and its clients at one moment of the load. */
export interface Sample {
  /** Since the load began. */
  readonly seconds: number;
  readonly figures: Figures;
  readonly traffic: Traffic;
}

/** A whole run. */
export interface Run {
  /** Before the load. */
  readonly idle: Figures;
  readonly samples: readonly Sample[];
  /** After the load, once nothing changed any more. */
  readonly settled: Figures;
  /** After the application was closed. */
  readonly closed: Figures;
  /** What the process ended with by itself; `null` when it did not. */
  readonly exitCode: number | null;
  readonly traffic: Traffic;
  /** Actions in a second that were meant to be. */
  readonly rate: number;
  /** For how long the load was meant to last. */
  readonly plannedSeconds: number;
  /** Connections to servers that a pool may keep. */
  readonly pooled: number;
  /** People there are: each may leave a few entries in the store. */
  readonly people: number;
}

/** The share of the meant actions without which a run proves nothing. */
export const MIN_SHARE = 0.25;
/** What the heap may grow by over the second half of the load, by its trend: so much, or so much for each action in it. */
const MAX_BYTES: number = 2 * 1024 ** 2;
const MAX_BYTES_AN_ACTION = 100;
/** Objects of a kind that may be in memory: those that were used last are let go of when others are. */
const MAX_ALIVE = 8;
/** The entries that a signed-out user leaves in the store: the time of the sign-out, and lists that are swept later. */
const ENTRIES_A_PERSON = 3;
/** The resources of the process itself: the channel to its parent process, and its output. */
const OWN_KINDS: readonly string[] = ["PipeWrap", "TTYWrap"];
/** They are gone with the turn of the event loop, and another one comes with the next. */
const PASSING_KINDS: readonly string[] = ["Immediate"];
/** What each connection of a pool has. */
const POOL_KINDS: readonly string[] = ["TCPSocketWrap", "Timeout"];
/** Files that are opened when they are first needed. */
const MAX_DESCRIPTORS = 3;

/** What is wrong with a run, in a sentence each; nothing when it is clean. */
export function verdict(run: Run): readonly string[] {
  const { traffic, settled, closed, exitCode } = run;
  return [
    ...someOf("an answer was wrong", traffic.faults),
    ...Object.entries(traffic.statuses)
      .filter(([status]) => Number(status) >= 500)
      .map(([status, count]) => `${count} answers were ${status}`),
    ...someOf("it must not happen", closed.mishaps),
    ...tooLittle(run),
    ...leftOpen(run),
    ...leftAlive(run),
    ...growth(run),
    ...Object.entries(closed.resources)
      .filter(([kind]) => !OWN_KINDS.includes(kind))
      .map(([kind, count]) => `${count} of ${kind} are left after close()`),
    ...(closed.dependencies + closed.iterators > settled.dependencies + settled.iterators
      ? ["something was opened while it closed"]
      : []),
    ...(exitCode === 0 ? [] : [exitCode === null ? "the process does not end" : `the process ended with ${exitCode}`]),
  ];
}

/** By how many bytes the heap grew over the second half of the load: its trend, which a few odd values do not move. */
export function heapGrowth(samples: readonly Sample[]): number {
  const half = secondHalf(samples);
  const slopes = half.flatMap((a, index) =>
    half.slice(index + 1).map((b) => (b.figures.heap - a.figures.heap) / (b.seconds - a.seconds)),
  );
  const [first, last] = [half[0], half.at(-1)];
  if (first === undefined || last === undefined || slopes.length === 0) return 0;
  return median(slopes) * (last.seconds - first.seconds);
}

/** The share of the load's time for which the server could have run, but waited for a core. */
export function starvedShare(samples: readonly Sample[]): number {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || first === last) return 0;
  return (last.figures.starvedMicros - first.figures.starvedMicros) / 1e6 / (last.seconds - first.seconds);
}

function growth({ samples }: Run): readonly string[] {
  const half = secondHalf(samples);
  const actions = (half.at(-1)?.traffic.actions ?? 0) - (half[0]?.traffic.actions ?? 0);
  const most = Math.max(MAX_BYTES, MAX_BYTES_AN_ACTION * actions);
  const grown = heapGrowth(samples);
  if (half.length < 3) return ["there are too few samples for a trend of the heap"];
  return grown <= most
    ? []
    : [`the heap grows: ${megabytes(grown)} MB over ${actions} actions, where ${megabytes(most)} MB may be`];
}

/** A run that did nothing proves nothing. */
function tooLittle({ samples, traffic, rate, plannedSeconds, settled }: Run): readonly string[] {
  const seconds = samples.at(-1)?.seconds ?? 0;
  return [
    ...(traffic.actions < MIN_SHARE * rate * plannedSeconds
      ? [`only ${traffic.actions} actions were done in ${Math.round(seconds)} s, of ${rate} a second`]
      : []),
    ...(settled.opened === 0 ? ["no dependency was ever opened"] : []),
    ...[101, 200, 204, 400, 401, 403, 413, 429]
      .filter((status) => traffic.statuses[status] === undefined && traffic.actions > 1_000)
      .map((status) => `nothing was answered with ${status}`),
  ];
}

function leftOpen({ idle, settled, pooled, people }: Run): readonly string[] {
  const lasting = Object.entries(settled.resources).filter(([kind]) => !PASSING_KINDS.includes(kind));
  const kinds = lasting.map(([kind, count]) => {
    const most = (idle.resources[kind] ?? 0) + (POOL_KINDS.includes(kind) ? pooled : 0);
    return [`of ${kind}`, count, most] as const;
  });
  const counts: readonly (readonly [what: string, count: number, most: number])[] = [
    ["dependencies", settled.dependencies, 0],
    ["iterators", settled.iterators, 0],
    ["connections of clients", settled.connections, 0],
    ["connections of the pool in use", settled.pool.connections - settled.pool.idle, 0],
    ["callers that wait for the pool", settled.pool.waiting, 0],
    ["permits of transactions", settled.pool.permits, 0],
    ["temporary files", settled.temporaryFiles, 0],
    ["descriptors", settled.descriptors, idle.descriptors + pooled + MAX_DESCRIPTORS],
    ["entries of the store", settled.stored ?? 0, (idle.stored ?? 0) + ENTRIES_A_PERSON * people],
    // Of revocations and of changed users, once there was a socket.
    ["topics", settled.topics ?? 0, (idle.topics ?? 0) + 2],
    ...kinds,
  ];
  return counts
    .filter(([, count, most]) => count > most)
    .map(([what, count, most]) => `${count} ${what} are left, where ${most} may be`);
}

function leftAlive({ idle, settled, pooled }: Run): readonly string[] {
  const { timers, windows, alive } = settled;
  // Each connection of a pool has some of its own.
  const mostTimers = (idle.timers ?? 0) + (windows ?? 0) + 3 * pooled + MAX_ALIVE;
  const counts = Object.entries(alive).map(([kind, count]) => [kind, count, MAX_ALIVE] as const);
  return [...counts, ["timers", timers ?? 0, mostTimers] as const]
    .filter(([, count, most]) => count > most)
    .map(([kind, count, most]) => `${count} ${kind} are in memory, where ${most} may be`);
}

function secondHalf(samples: readonly Sample[]): readonly Sample[] {
  return samples.slice(Math.floor(samples.length / 2));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function megabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(2);
}

/** Alike ones are told once. */
export function someOf(what: string, texts: readonly string[]): readonly string[] {
  const groups = Object.groupBy(texts, (text) => text.slice(0, 60));
  return Object.values(groups).map((group = []) => `${what}, ${group.length} times: ${group[0]}`);
}
