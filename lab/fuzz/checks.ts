import { CredentialCatcher } from "../../scripts/log-scan/credential-catcher.ts";
import { PROBE_MS } from "./fuzz-target.ts";
import { type Input, sizeOf } from "./input.ts";
import { CANARY, type Known, PASSWORD } from "./known.ts";
import type { Played } from "./play-input.ts";
import type { ProcessReport } from "./process-report.ts";

type CheckName = "alive" | "response" | "status" | "leak" | "log" | "next request" | "delay" | "cpu" | "memory";

/** What one input did wrong. */
export interface Fault {
  readonly check: CheckName;
  readonly detail: string;
}

/** The most CPU time for which an input may block the event loop, without garbage collection. */
export const MAX_DELAY_MS = 50;
/**
 * What each request of a flood adds to that. Node reads every connection that has data before it runs a timer, so the delay
 * grows with the flood: a server of Node alone is blocked for 420 ms by 60 pipelined requests on each of 396 connections.
 */
const FLOOD_DELAY_MS_PER_REQUEST = 0.05;
/** The bound on CPU time: linear in the number of requests and bytes. */
const CPU_MS = 25;
const CPU_MS_PER_REQUEST = 10;
const CPU_MS_PER_KIB = 1;

/** A stack trace, a path of a source file, an error of the database, a statement, a password hash. */
const LEAKS: readonly RegExp[] = [
  /\\?\n {2,8}at \S/,
  /\\n {2,8}at \S/,
  /[\w-]\.(?:[cm]?[jt]s):\d+:\d+/,
  /node_modules|file:\/\/\//,
  /syntax error at or near|invalid byte sequence|violates [\w-]+ constraint|duplicate key value/i,
  /\b(?:from|into|update|join|relation|column) \\?"\w+\\?"/i,
  /\$argon2/,
  /for development, which is not a real secret/,
];
const ERROR_LEVEL = 50;

/** The values that must not appear in the log or in a response. */
export function secretsOf({ accessTokens, refreshTokens, cookies, apiKeys }: Known): CredentialCatcher {
  const catcher = new CredentialCatcher();
  const sessions = cookies.map((cookie) => cookie.slice(cookie.indexOf("=") + 1));
  for (const secret of [CANARY, PASSWORD, ...accessTokens, ...refreshTokens, ...sessions, ...apiKeys])
    catcher.add(secret);
  return catcher;
}

/** Checks what the server sent for one input. */
export function checkPlayed(played: Played, secrets: CredentialCatcher): readonly Fault[] {
  const { input, responses, messages, closeCode, trouble } = played;
  const faults: Fault[] = [];
  if (trouble !== null) faults.push({ check: "response", detail: trouble });
  for (const { status, head, body } of responses) {
    if (status === 0) faults.push({ check: "response", detail: `not a response: ${brief(head)}` });
    if (status >= 500 && !isDocumented(status, head, body))
      faults.push({ check: "status", detail: `${status} ${brief(body)}` });
    const isPage = /\r\ncontent-type: *(?:text\/html|text\/javascript|text\/css)/i.test(head);
    if (!isPage) faults.push(...leaks(body, input));
    faults.push(...secretsIn(`${head}${body}`, secrets, "a response"));
  }
  for (const message of messages) faults.push(...leaks(message, input), ...secretsIn(message, secrets, "a message"));
  const internal = [...responses.map(({ body }) => body), ...messages].find((text) =>
    /internal_server_error/i.test(text),
  );
  if (internal !== undefined && !faults.some(({ check }) => check === "status"))
    faults.push({ check: "status", detail: brief(internal) });
  if (closeCode === 1011)
    faults.push({ check: "status", detail: `the socket was closed with 1011: ${messages.at(-1)}` });
  return faults;
}

/** A 503 says when to try again. The readiness check has no such time. */
function isDocumented(status: number, head: string, body: string): boolean {
  return status === 503 && (/\r\nretry-after: *\d/i.test(head) || body.startsWith('{"status":"not ready"'));
}

/** Checks the log of the process for the time in which the inputs were sent. */
export function checkLog({ log }: ProcessReport, secrets: CredentialCatcher): readonly Fault[] {
  const errors = log
    .filter((line) => (JSON.parse(line) as { readonly level: number }).level >= ERROR_LEVEL)
    .map((line) => ({ check: "log" as const, detail: briefLine(line) }));
  return [...errors, ...secretsIn(log.join("\n"), secrets, "the log")];
}

/** Checks the time that one input took. */
export function checkTime({ cpuMs, delayMs }: ProcessReport, input: Input): readonly Fault[] {
  const faults: Fault[] = [];
  if (delayMs > delayBound(input))
    faults.push({ check: "delay", detail: `the event loop was blocked for ${delayMs.toFixed()} ms` });
  const most = cpuBound(input);
  if (cpuMs > most)
    faults.push({ check: "cpu", detail: `${cpuMs.toFixed()} ms of CPU time, at most ${most.toFixed()} ms expected` });
  return faults;
}

export function checkProbe(fastestMs: number): readonly Fault[] {
  if (fastestMs <= PROBE_MS) return [];
  const time = Number.isFinite(fastestMs) ? `took ${fastestMs.toFixed()} ms` : "was not answered";
  return [{ check: "next request", detail: `an ordinary request ${time}` }];
}

function delayBound({ requests, copies = 1 }: Input): number {
  return copies === 1 ? MAX_DELAY_MS : MAX_DELAY_MS + FLOOD_DELAY_MS_PER_REQUEST * requests * copies;
}

function cpuBound(input: Input): number {
  const requests = input.requests * (input.copies ?? 1);
  return CPU_MS + CPU_MS_PER_REQUEST * requests + (CPU_MS_PER_KIB * sizeOf(input)) / 1_024;
}

/** A response may repeat what the input itself contains. */
function leaks(text: string, { pieces }: Input): readonly Fault[] {
  const found = LEAKS.map((pattern) => pattern.exec(text)?.[0]).filter((match) => match !== undefined);
  if (found.length === 0) return [];
  const sent = Buffer.concat(pieces.map(({ bytes }) => bytes)).toString();
  return found
    .filter((match) => !sent.includes(match))
    .map((match) => ({ check: "leak", detail: `${JSON.stringify(match)} in ${brief(text)}` }));
}

function secretsIn(text: string, secrets: CredentialCatcher, where: string): readonly Fault[] {
  return secrets
    .leaksIn(text)
    .map((secret) => ({ check: "leak", detail: `a credential in ${where}: ${secret.slice(0, 24)}…` }));
}

function brief(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function briefLine(line: string): string {
  const { msg, err } = JSON.parse(line) as { readonly msg?: string; readonly err?: { readonly stack?: string } };
  return `${msg}: ${err?.stack?.slice(0, 600) ?? ""}`;
}
