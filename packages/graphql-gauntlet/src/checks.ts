import { type Answer, describeAnswer, isExecuted } from "./answer.ts";
import type { Check } from "./row.ts";
import { GRAPHQL_RESPONSE } from "./send.ts";
import type { Conversation } from "./talk.ts";

const isBetween = (status: number, from: number, to: number): boolean => status >= from && status <= to;

/** The operation was executed, with a status of 2xx. */
export const succeeds: Check = (answer) =>
  isBetween(answer.status, 200, 299) && isExecuted(answer)
    ? undefined
    : `expected 2xx with data, received ${describeAnswer(answer)}`;

/** Nothing was executed, and the status says so: 4xx or 5xx. */
export const refuses: Check = (answer) =>
  isBetween(answer.status, 400, 599) && !isExecuted(answer)
    ? undefined
    : `expected 4xx or 5xx without data, received ${describeAnswer(answer)}`;

/** Nothing was executed, and the status says that the client is at fault: 4xx. */
export const blamesClient: Check = (answer) =>
  isBetween(answer.status, 400, 499) && !isExecuted(answer)
    ? undefined
    : `expected 4xx without data, received ${describeAnswer(answer)}`;

/** Nothing was executed, whatever the status is. */
export const executesNothing: Check = (answer) =>
  isExecuted(answer) ? `the operation was executed: ${describeAnswer(answer)}` : undefined;

/** The request did not break the server: no 5xx. */
export const staysCalm: Check = (answer) =>
  answer.status < 500 ? undefined : `expected no 5xx, received ${describeAnswer(answer)}`;

/** Any complete response in time: the runner itself complains if there is none, or if the next request fails. */
export const responds: Check = () => undefined;

/** One of these statuses. */
export function hasStatus(...statuses: readonly number[]): Check {
  return (answer) =>
    statuses.includes(answer.status)
      ? undefined
      : `expected ${statuses.join(" or ")}, received ${describeAnswer(answer)}`;
}

/** The media type of the response. */
export function hasType(type: string): Check {
  return (answer) => (answer.type === type ? undefined : `expected ${type}, received ${describeAnswer(answer)}`);
}

/** Exactly this data. */
export function returns(data: Readonly<Record<string, unknown>>): Check {
  const expected = JSON.stringify(data);
  return (answer) =>
    JSON.stringify(answer.data) === expected
      ? undefined
      : `expected the data ${expected}, received ${describeAnswer(answer)}`;
}

/** A 405 names the allowed methods, as RFC 9110 requires. */
export const allowsOn405: Check = (answer) =>
  answer.status !== 405 || (answer.headers["allow"] ?? "") !== "" ? undefined : "the 405 has no Allow header";

/** A list of at least one error, each with a message. */
export const listsErrors: Check = (answer) =>
  hasErrors(answer) ? undefined : `expected a list of errors with messages, received ${describeAnswer(answer)}`;

function hasErrors({ errors }: Answer): boolean {
  return (
    Array.isArray(errors) &&
    errors.length > 0 &&
    errors.every((error) => typeof (error as { readonly message?: unknown } | null)?.message === "string")
  );
}

/** No `data` entry, not even null: the operation was not executed. */
export const lacksData: Check = (answer) =>
  answer.data === undefined ? undefined : `expected no "data" entry, received ${describeAnswer(answer)}`;

/** A body that claims to be a GraphQL response is one. */
export const keepsPromise: Check = (answer) =>
  answer.type !== GRAPHQL_RESPONSE || answer.data !== undefined || hasErrors(answer)
    ? undefined
    : `the body is not a GraphQL response, but its type says so: ${describeAnswer(answer)}`;

/** A JSON body, whatever its media type. */
export const speaksJson: Check = (answer) =>
  answer.json === undefined ? `expected a JSON body, received ${describeAnswer(answer)}` : undefined;

/** No stack frame and no path of a file. */
export const hidesInternals: Check = ({ text }) => {
  const leak = /\\n\s+at .{1,200}:\d+:\d+|node_modules|file:\/\/\/|"stack(?:trace)?"\s*:/.exec(text);
  return leak === null ? undefined : `the response contains ${JSON.stringify(leak[0].slice(0, 80))}`;
};

/** No name of the schema is suggested. */
export const suggestsNothing: Check = ({ text }) => {
  const hint = /did you mean[^?]{0,80}/i.exec(text);
  return hint === null ? undefined : `the response contains ${JSON.stringify(hint[0])}`;
};

/** At most this many bytes. */
export function isAtMost(bytes: number): Check {
  return ({ text }) => {
    const size = Buffer.byteLength(text);
    return size <= bytes ? undefined : `expected at most ${bytes} bytes, received ${size}`;
  };
}

/** A header of the response that matches. */
export function hasHeader(name: string, pattern: RegExp): Check {
  return ({ headers }) => {
    const value = headers[name];
    if (value === undefined) return `the response has no ${name} header`;
    return pattern.test(value) ? undefined : `${name} is ${JSON.stringify(value)}`;
  };
}

/** The server closed the socket with this code. */
export function closesWith(code: number): Check<Conversation> {
  return ({ closeCode, messages }) =>
    closeCode === code
      ? undefined
      : `expected the socket to close with ${code}, it ${closeCode === undefined ? "stayed open" : `closed with ${closeCode}`}${messages.length > 0 ? ` after ${messages.join(" ").slice(0, 120)}` : ""}`;
}
