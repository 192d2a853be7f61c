import { readdirSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import type { OperationResult } from "portico/graphql";
import { expect } from "vitest";
import type { Leases } from "../endpoint/fixture.ts";
import type { WireAnswer } from "./wire.ts";

// The invariants at the top of spec/corpus/graphql.md, as far as one answer shows them. Their numbers are those of that list.

/** One error of a response. */
export interface AnsweredError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string; readonly correlationId: string };
}

/** The response to one operation. */
export interface AnsweredOperation {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly AnsweredError[];
  readonly extensions?: { readonly cost?: Readonly<Record<string, number>> };
}

export interface Surroundings {
  /** Whether the schema may be read: otherwise no name is suggested. */
  readonly introspection: boolean;
  /** The lines logged since the request was sent. */
  readonly log: string;
  /** The `x-request-id` of the request. */
  readonly requestId: string;
}

/** 1 to 4: what any answer of the endpoint is. Gives the answers to the operations in it, one unless it was a batch. */
export function checkAnswer(answer: WireAnswer, surroundings: Surroundings): readonly AnsweredOperation[] {
  expect(answer.status, answer.text).toBeLessThan(500);
  expect(answer.headers["content-type"]).toMatch(/^application\/(graphql-response\+)?json; charset=utf-8$/);
  expect(answer.headers["x-content-type-options"]).toBe("nosniff");
  checkSecrecy(answer.text, surroundings.introspection);
  const parsed = JSON.parse(answer.text) as AnsweredOperation | readonly AnsweredOperation[];
  const operations = Array.isArray(parsed) ? (parsed as readonly AnsweredOperation[]) : [parsed as AnsweredOperation];
  const lines = linesById(surroundings.log);
  for (const operation of operations) checkOperation(operation, lines, surroundings.requestId);
  if (answer.status !== 200) expect(operations.every((operation) => !("data" in operation))).toBe(true);
  return operations;
}

/** 3: nothing of the inside. */
function checkSecrecy(text: string, introspection: boolean): void {
  expect(text).not.toMatch(/\\n\s+at |\bat \S+ \(|\.(?:ts|js):\d+:\d+/);
  expect(text).not.toContain("node_modules");
  expect(text).not.toContain("file://");
  for (const path of [process.cwd(), process.execPath, tmpdir()]) expect(text).not.toContain(path);
  expect(text).not.toMatch(/secret db|10\.0\.0\.1|s3cret/);
  if (!introspection) expect(text).not.toContain("Did you mean");
}

/** 2 and 4: a result or errors; each error has a code, and an id that is found in one line of the log. */
function checkOperation(operation: AnsweredOperation, lines: LinesById, requestId: string): void {
  if ("errors" in operation) expect(operation.errors).not.toHaveLength(0);
  else expect(operation.data, JSON.stringify(operation)).toBeTypeOf("object");
  for (const { extensions } of operation.errors ?? []) {
    expect(extensions.code).toMatch(/^[A-Z_]+$/);
    expect(extensions.correlationId).toMatch(/^[\w-]{16}$/);
    expect(lines.get(extensions.correlationId)).toEqual([requestId]);
  }
}

/** The request ids in the log lines of each correlation id. */
type LinesById = ReadonlyMap<unknown, readonly unknown[]>;

function linesById(log: string): LinesById {
  const lines = log.split("\n").filter((line) => line.includes("correlation_id"));
  const parsed = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  const byId = Map.groupBy(parsed, (line) => line["correlation_id"]);
  return new Map([...byId].map(([id, found]) => [id, found.map((line) => line["request_id"])]));
}

const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype];
const before = PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype));

/** 5: nothing was written to what all objects share. */
export function checkPrototypes(): void {
  expect(PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype))).toEqual(before);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
}

/** 2: a response to HEAD has no body. */
export function checkHead({ status, text }: WireAnswer): readonly AnsweredOperation[] {
  expect([status < 500, text]).toEqual([true, ""]);
  return [];
}

/** 6: the next request is answered. */
export function checkFollowUp({ status, text }: WireAnswer): void {
  expect([status, JSON.parse(text).data]).toEqual([200, { __typename: "Query" }]);
}

/** 7: of what was uploaded there is no file and no handle left. */
export function checkFiles(directory: string): void {
  expect(readdirSync(directory)).toEqual([]);
  expect(openFiles().filter((path) => path.startsWith(directory))).toEqual([]);
}

/** 7: each dependency was closed once. */
export function checkLeases({ opened, closed }: Leases): void {
  expect(closed).toBe(opened);
}

/** The open handles of this process; empty if the system does not report them. */
function openFiles(): readonly string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      // The directory itself was open while it was read.
      return [];
    }
  });
}

/** 8: the hook was told of each operation once, and whether it went well. */
export function checkHooks(
  hooked: readonly { readonly result: OperationResult }[],
  operations: readonly AnsweredOperation[],
  found: number,
): void {
  const isOk = hooked.map(({ result }) => result.ok);
  expect(isOk).toEqual(operations.slice(0, found).map(({ errors }) => errors === undefined));
}

/** 8: the codes of requests in which no operation was found: no hook runs for them. */
const WITHOUT_OPERATION: readonly string[] = [
  "BATCH_REFUSED",
  "BODY_NOT_JSON",
  "FILE_NAME_INVALID",
  "CROSS_SITE_REFUSED",
  "NOT_ACCEPTABLE",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "UPLOAD_INVALID",
  "UPLOAD_TYPE_REFUSED",
];
/** Those that are said before an operation is looked for, and after. */
const AMBIGUOUS: readonly string[] = ["BAD_REQUEST", "METHOD_NOT_ALLOWED", "UNAUTHENTICATED", "FORBIDDEN"];

/** 8: how many operations the request holds, by its answer; the test has to say so where that does not tell. */
export function countOperations(status: number, operations: readonly AnsweredOperation[]): number {
  if (status === 200) return operations.length;
  const code = operations[0]?.errors?.[0]?.extensions.code ?? "";
  if (AMBIGUOUS.includes(code)) throw new Error(`${code}: the test has to say how many operations there were`);
  return WITHOUT_OPERATION.includes(code) ? 0 : 1;
}
