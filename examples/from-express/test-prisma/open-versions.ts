import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Client } from "pg";
import { type Program, startProgram } from "../../../test/docs/program.ts";
import { StatementCounter } from "./statement-counter.ts";

export const folder: string = join(import.meta.dirname, "..");
export const SECRET = "the secret of both versions, with 32 bytes";
const DATABASE = "postgres://postgres@127.0.0.1:5432/test";

/** The status, the content type and the body of a response. */
export interface Reply {
  readonly status: number;
  readonly type: string | null;
  readonly body: string;
}

/** One of the two servers, over a socket. */
export class Version {
  readonly #program: Program;
  readonly counter: StatementCounter;

  constructor(program: Program, counter: StatementCounter) {
    this.#program = program;
    this.counter = counter;
  }

  async get(path: string, token?: string): Promise<Reply> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return read(await fetch(`${this.#program.url}${path}`, { headers }));
  }

  async post(path: string, body: object, token?: string): Promise<Reply> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return read(await this.#program.post(path, body, headers));
  }

  /** Returns the data of an operation and the codes of its errors. */
  async graphql(query: string, token?: string, variables: object = {}): Promise<{ data: any; codes: string[] }> {
    const { data, errors = [] } = JSON.parse((await this.post("/graphql", { query, variables }, token)).body);
    return { data, codes: errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code) };
  }

  async token(name: string): Promise<string> {
    const { body } = await this.post("/login", { email: `${name}@example.com`, password: "correct horse" });
    return JSON.parse(body).token as string;
  }

  async close(): Promise<number | null> {
    const code = await this.#program.end("SIGTERM");
    this.counter.close();
    return code;
  }
}

async function read(response: Response): Promise<Reply> {
  return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
}

/** Starts both versions on the same new tables. */
export async function openVersions(): Promise<{ before: Version; after: Version; close(): Promise<void> }> {
  const schema = `from_express_${randomBytes(6).toString("hex")}`;
  const start = async (name: string): Promise<Version> => {
    const counter = await StatementCounter.open(new URL(DATABASE));
    const url = new URL(DATABASE);
    url.port = String(counter.port);
    url.searchParams.set("schema", schema);
    const env = { DATABASE_URL: url.href, SECRET, NODE_OPTIONS: "--import ./entry-points.mjs" };
    return new Version(await startProgram(folder, `${name}/server.ts`, env), counter);
  };
  const started: Version[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(started.map((version) => version.close()));
    const client = new Client({ connectionString: DATABASE });
    await client.connect();
    await client.query(`drop schema if exists ${schema} cascade`);
    await client.end();
  };
  try {
    const before = await start("before");
    started.push(before);
    const after = await start("after");
    started.push(after);
    return { before, after, close };
  } catch (error) {
    await close();
    throw error;
  }
}
