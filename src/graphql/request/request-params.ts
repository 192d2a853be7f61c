import { readJson } from "../../core/read-json.ts";
import { BadRequest, HttpException } from "../../kernel/exceptions/http-exception.ts";

/** The parameters of one operation, with their types checked. */
export interface RequestParams {
  /** The document; `null` if the request only has the id of a stored one. */
  readonly query: string | null;
  /** The id of a stored document. */
  readonly documentId: string | null;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Reads the parameters of one operation. Ignores unknown keys; a wrong type is 400. */
export function readRequestParams(value: unknown): RequestParams {
  if (!isRecord(value)) throw new BadRequest("An operation must be an object with a query");
  return {
    query: readText(value, "query"),
    documentId: readText(value, "documentId"),
    operationName: readText(value, "operationName"),
    variables: readRecord(value, "variables"),
    extensions: readRecord(value, "extensions"),
  };
}

/**
 * Reads the parameters from the text of a URL or a form, where variables and extensions are JSON. An empty parameter is
 * like one that was left out.
 */
export function readTextParams(values: ReadonlyMap<string, string>): RequestParams {
  const entries = [...values]
    .filter(([, value]) => value !== "")
    .map(([name, value]) => [name, name === "variables" || name === "extensions" ? parse(name, value) : value]);
  return readRequestParams(Object.fromEntries(entries));
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readText(from: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = own(from, name);
  if (value === null || typeof value === "string") return value;
  throw new BadRequest(`${name} must be a string`);
}

function readRecord(from: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  const value = own(from, name);
  if (value === null) return {};
  if (isRecord(value)) return value;
  throw new BadRequest(`${name} must be an object`);
}

function own(from: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(from, name) ? (from[name] ?? null) : null;
}

function parse(name: string, text: string): unknown {
  const { value, fault } = readJson(text);
  if (fault === undefined) return value;
  throw fault === null ? new BadRequest(`${name} must be valid JSON`) : new HttpException(413, `${name}: ${fault}`);
}
