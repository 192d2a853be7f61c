import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isInstance } from "../../../core/describe-error.ts";
import type { Graph } from "../../../graphql/graph/graph.ts";
import { CommandFailed, UsageError } from "../../output/command-failed.ts";

const TIMEOUT_MS = 10_000;

/** Reads a schema from a file, or asks the endpoint at the URL for it. */
export async function readOldSchema(from: string, cwd: string, headers: readonly string[]): Promise<Graph["schema"]> {
  const { readSchema, schemaQuery } = await import("../../../graphql/schema/read-schema.ts");
  const isUrl = /^https?:\/\//.test(from);
  if (!isUrl && headers.length > 0) throw new UsageError("--header is for a URL, and the older schema is a file");
  const text = isUrl ? await download(from, schemaQuery(), headers) : await readText(resolve(cwd, from));
  try {
    return readSchema(text);
  } catch (error) {
    throw new CommandFailed(`${shown(from)} is not a GraphQL schema: ${(error as Error).message}`);
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read: ${(error as Error).message}`);
  }
}

async function download(url: string, query: string, headers: readonly string[]): Promise<string> {
  const response = await post(url, query, headers);
  const text = await response.text();
  if (response.ok && hasData(text)) return text;
  throw new CommandFailed(
    `${shown(url)} did not return its schema (status ${response.status}): introspection may be disabled there. ` +
      "Pass a file that portico schema print has written",
  );
}

async function post(url: string, query: string, headers: readonly string[]): Promise<Response> {
  try {
    return await fetch(url, {
      method: "POST",
      headers: [["content-type", "application/json"], ["accept", "application/json"], ...headers.map(headerOf)],
      body: JSON.stringify({ query }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    if (isInstance(error, UsageError)) throw error;
    const { message, cause } = error as Error;
    throw new CommandFailed(`${shown(url)} cannot be reached: ${isInstance(cause, Error) ? cause.message : message}`);
  }
}

function headerOf(text: string): [name: string, value: string] {
  const [, name, value] = /^([^:\s]+):(.*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new UsageError('--header must be written as "name: value"');
  return [name, value.trim()];
}

function hasData(text: string): boolean {
  try {
    const { data } = JSON.parse(text) as { readonly data?: unknown };
    return typeof data === "object" && data !== null && "__schema" in data;
  } catch {
    return false;
  }
}

/** The place without a password. */
function shown(from: string): string {
  return from.replace(/^(https?:\/\/)[^/@]*@/, "$1");
}
