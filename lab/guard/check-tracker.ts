import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { sql } from "kysely";
import { Client } from "pg";
import { policyStatements } from "../../src/sql/guard/policy-statements.ts";
import type { Database } from "../../src/sql/index.ts";
import { testClient } from "../../src/testing/index.ts";
import { waysAround } from "../servers/ways-around.ts";
import { createTracker, guardedTracker, OPEN, openTracker, type TrackerTables } from "./guarded-tracker.ts";

export type GuardedEngineName = "PostgreSQL" | "SQLite";

export interface TrackerOptions {
  readonly operations: number;
  readonly seed: number;
  /** Whether the tables have no rules, so that the check must find faults. */
  readonly isOpen?: boolean;
  /** Whether the rules are also policies of PostgreSQL. */
  readonly hasPolicies?: boolean;
}

export interface TrackerReport {
  readonly operations: number;
  /** Responses by what they were for, and how many of them had data of the caller's own tenant. */
  readonly counts: Readonly<Record<string, number>>;
  readonly faults: readonly string[];
}

const tenants = ["north", "south"] as const;
type Tenant = (typeof tenants)[number];
const other = (tenant: Tenant): Tenant => (tenant === "north" ? "south" : "north");
const SIZE = 8;
/** Operations between two comparisons of the tables. */
const PHASE = 200;
const AT_ONCE = 8;

/**
 * Sends random operations to a tracker whose handlers check nothing. In each phase, one tenant reads and writes, and the other one
 * only reads, so that its rows must stay as they are. No response may contain a byte of the other tenant.
 */
export async function checkTracker(
  name: GuardedEngineName,
  { operations, seed, isOpen = false, hasPolicies = false }: TrackerOptions,
): Promise<TrackerReport> {
  const place = await openPlace(name, isOpen, hasPolicies);
  try {
    return await new TrackerCheck(place.database, seed).run(operations);
  } finally {
    await place.close();
  }
}

const SERVER = "postgres://postgres@127.0.0.1:5432/test";

async function openPlace(
  name: GuardedEngineName,
  isOpen: boolean,
  hasPolicies: boolean,
): Promise<{ readonly database: Database<TrackerTables>; close(): Promise<void> }> {
  const id = `portico_tracker_${randomUUID().slice(0, 8)}`;
  const file = join(tmpdir(), `${id}.db`);
  const onServer = async (text: string): Promise<void> => {
    const client = new Client({ connectionString: SERVER });
    await client.connect();
    await client.query(text);
    await client.end();
  };
  if (name === "PostgreSQL") await onServer(`create schema ${id}`);
  const options = encodeURIComponent(`-c search_path=${id} -c synchronous_commit=off`);
  const url = name === "PostgreSQL" ? `${SERVER}?options=${options}` : `sqlite:${file}`;
  const owner = openTracker(url, {
    ...(isOpen && { guard: OPEN }),
    ...(hasPolicies && { policies: true, poolSize: 2 }),
  });
  const asOwner = owner.asSystem("the tables of the tracker");
  await createTracker(asOwner);
  if (hasPolicies) {
    // The role owns nothing.
    await onServer(`create role ${id} login`);
    await sql.raw(`grant usage on schema ${id} to ${id}`).execute(asOwner);
    await sql.raw(`grant all on all tables in schema ${id} to ${id}`).execute(asOwner);
    const { up } = await policyStatements(owner, false, null);
    for (const statement of up) await sql.raw(statement).execute(asOwner);
  }
  const database = hasPolicies ? openTracker(url.replace("//postgres@", `//${id}@`), { policies: true }) : owner;
  return {
    database,
    async close() {
      await database.destroy();
      if (hasPolicies) await owner.destroy();
      if (name === "PostgreSQL") await onServer(`drop schema ${id} cascade`);
      if (hasPolicies) await onServer(`drop role ${id}`);
      if (name === "SQLite") for (const ending of ["", "-wal", "-shm"]) rmSync(`${file}${ending}`, { force: true });
    },
  };
}

/** A request, and what it is for. */
interface Operation {
  readonly name: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: unknown;
  /** Whether it must be refused, because it is a way around the guard. */
  readonly isRefused?: boolean;
}

class TrackerCheck {
  readonly #all: Database<TrackerTables>;
  readonly #client: ReturnType<typeof testClient>;
  readonly #random: () => number;
  readonly #counts = new Map<string, number>();
  readonly #faults: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  #sent = 0;
  #made = 0;

  constructor(database: Database<TrackerTables>, seed: number) {
    this.#all = database.asSystem("the rows of the tracker");
    this.#client = testClient(guardedTracker(database));
    const [numbers] = fc.sample(fc.infiniteStream(fc.nat({ max: 2 ** 30 - 1 })), { numRuns: 1, seed });
    this.#random = () => ((numbers as Iterator<number>).next().value as number) / 2 ** 30;
  }

  async run(operations: number): Promise<TrackerReport> {
    const { signal, frames } = this.#listen();
    for (let phase = 0; this.#sent < operations && this.#faults.length === 0; phase++) {
      const writer = tenants[phase % 2] as Tenant;
      await this.#seed();
      const before = await this.#rowsOf(other(writer));
      let left = Math.min(PHASE, operations - this.#sent);
      const worker = async (): Promise<void> => {
        while (left-- > 0) await this.#one(writer);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      const after = await this.#rowsOf(other(writer));
      if (after !== before)
        this.#faults.push(`${writer} has changed rows of the other tenant: ${difference(before, after)}`);
      await this.#expectSeparate();
      for (const tenant of tenants) this.#expectNone(tenant, frames[tenant].splice(0).join("\n"), "a subscription");
    }
    signal.abort();
    return { operations: this.#sent, counts: Object.fromEntries(this.#counts), faults: this.#faults };
  }

  /** Subscriptions of both tenants to the changes of both. */
  #listen(): { readonly signal: AbortController; readonly frames: Readonly<Record<Tenant, string[]>> } {
    const signal = new AbortController();
    const frames: Record<Tenant, string[]> = { north: [], south: [] };
    for (const tenant of tenants) {
      const headers = { "x-user": `${tenant}-1` };
      const events = this.#client.subscribe("subscription { changed { id title project { name } } }", {}, { headers });
      signal.signal.addEventListener("abort", () => void events.return());
      void (async () => {
        for await (const event of events) {
          frames[tenant].push(JSON.stringify(event));
          this.#count(`events of ${tenant}`);
        }
      })();
    }
    return { signal, frames };
  }

  async #seed(): Promise<void> {
    for (const table of ["comments", "tickets", "projects", "memberships"] as const)
      await this.#all.deleteFrom(table).execute();
    const numbers = Array.from({ length: SIZE }, (_, at) => at);
    for (const org of tenants) {
      await this.#all
        .insertInto("memberships")
        .values([1, 2].map((at) => ({ user_id: `${org}-${at}`, org })))
        .execute();
      const projects = numbers.map((at) => ({ id: `${org}-p${at}`, org, name: `${mark(org)} project ${at}` }));
      await this.#all.insertInto("projects").values(projects).execute();
      const tickets = numbers.flatMap((at) =>
        [0, 1].map((part) => ({
          id: `${org}-t${at * 2 + part}`,
          project_id: `${org}-p${at}`,
          org,
          title: `${mark(org)} ticket ${at * 2 + part}`,
          votes: 0,
        })),
      );
      await this.#all.insertInto("tickets").values(tickets).execute();
      const comments = tickets.map(({ id }, at) => ({
        id: `${org}-c${at}`,
        ticket_id: id,
        body: `${mark(org)} ${at}`,
      }));
      await this.#all.insertInto("comments").values(comments).execute();
    }
  }

  /** The rows of a tenant, as text. */
  async #rowsOf(org: Tenant): Promise<string> {
    const [projects, tickets, comments, memberships] = await Promise.all([
      this.#all.selectFrom("projects").selectAll().where("org", "=", org).orderBy("id").execute(),
      this.#all.selectFrom("tickets").selectAll().where("org", "=", org).orderBy("id").execute(),
      this.#all
        .selectFrom("comments as c")
        .innerJoin("tickets as t", "t.id", "c.ticket_id")
        .selectAll("c")
        .where("t.org", "=", org)
        .orderBy("c.id")
        .execute(),
      this.#all.selectFrom("memberships").selectAll().orderBy("user_id").execute(),
    ]);
    return [...projects, ...tickets, ...comments, ...memberships].map((row) => JSON.stringify(row)).join("\n");
  }

  /** No row of a tenant has text of the other one, and none belongs to neither. */
  async #expectSeparate(): Promise<void> {
    for (const tenant of tenants) this.#expectNone(tenant, await this.#rowsOf(tenant), "the rows of the tenant");
    const strays = await this.#all
      .selectFrom("tickets")
      .select("id")
      .where("org", "not in", [...tenants])
      .execute();
    if (strays.length > 0) this.#faults.push(`tickets without a tenant: ${JSON.stringify(strays)}`);
  }

  async #one(writer: Tenant): Promise<void> {
    this.#sent++;
    const tenant = this.#random() < 0.7 ? writer : other(writer);
    const caller = this.#random() < 0.04 ? null : `${tenant}-${1 + this.#below(2)}`;
    const isWrite = caller !== null && tenant === writer && this.#random() < 0.5;
    const operation = this.#operation(tenant, isWrite);
    // Two writes of many rows would wait for each other's rows.
    const send = (): Promise<void> => this.#send(operation, tenant, caller);
    if (!isWrite) return send();
    this.#writing = this.#writing.then(send);
    return this.#writing;
  }

  async #send(operation: Operation, tenant: Tenant, caller: string | null): Promise<void> {
    const headers = caller === null ? {} : { "x-user": caller };
    const response = await this.#client.request(
      operation.method,
      operation.path,
      operation.body === undefined
        ? { headers }
        : { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(operation.body) },
    );
    const text = `${JSON.stringify(response.headers)}\n${response.text()}`;
    const request = `${operation.name} ${operation.method} ${operation.path} ${JSON.stringify(operation.body)}`;
    if (caller === null) this.#expectNone(null, text, request);
    else this.#expectNone(tenant, text, request);
    const isError = response.status === 500 || text.includes('"INTERNAL_SERVER_ERROR"');
    if (isError !== (operation.isRefused === true)) this.#faults.push(`${request}: ${text.slice(0, 600)}`);
    this.#count(operation.name);
    if (caller !== null && text.includes(mark(tenant))) this.#count(`${operation.name}, with data`);
    if (response.status === 403 || text.includes('"FORBIDDEN"')) this.#count(`${operation.name}, refused with 403`);
  }

  /** Fails if a text has data of a tenant that its reader does not belong to. */
  #expectNone(reader: Tenant | null, text: string, request: string): void {
    for (const tenant of tenants)
      if (tenant !== reader && text.includes(mark(tenant)))
        this.#faults.push(
          `${reader ?? "an anonymous caller"} received ${mark(tenant)}: ${request}\n${text.slice(0, 600)}`,
        );
  }

  #operation(tenant: Tenant, isWrite: boolean): Operation {
    const reads = [
      () => this.#get("a page by cursor", `/projects?page_size=${1 + this.#below(20)}`),
      () => this.#get("a page by number", `/tickets?page=${1 + this.#below(4)}`),
      () => this.#get("a row", `/tickets/${this.#id("t")}`),
      () => this.#get("a row of a loader", `/projects/${this.#id("p")}`),
      () => this.#get("joins", "/report"),
      () => this.#get("sums", "/sums"),
      () => this.#get("a stream", "/export"),
      () =>
        this.#graph(
          "lists",
          `{ projects(first: ${1 + this.#below(9)}) { totalCount edges { node { name tickets(first: 3) { totalCount edges { node { title comments(first: 2) { edges { node { body } } } } } } all { title } } } } }`,
        ),
      () =>
        this.#graph(
          "a loader",
          `{ ticket(id: "${this.#id("t")}") { title project { name } } comment(id: "${this.#id("c")}") { body } ticketsById(ids: ["${this.#id("t")}", "${this.#id("t")}"]) { title project { name } } }`,
        ),
      () =>
        this.#graph(
          "a loader without rules",
          `{ isThere(id: "${this.#id("t")}") project(id: "${this.#id("p")}") { name all { title } } }`,
        ),
      () => this.#batch([this.#read(), this.#read()]),
      () => ({
        ...this.#post("a way around", "/around", { way: this.#pick(Object.keys(waysAround)) }),
        isRefused: true,
      }),
    ];
    const title = `${mark(tenant)} ${this.#made++}`;
    const org = this.#random() < 0.5 ? tenant : other(tenant);
    const ticket = { id: this.#random() < 0.6 ? randomUUID() : this.#id("t"), org, project: this.#id("p"), title };
    const writes = [
      () => this.#post("an insert", "/tickets", ticket),
      () => ({ name: "an upsert", method: "PUT" as const, path: `/tickets/${ticket.id}`, body: ticket }),
      () => this.#post("an update from", "/votes", {}),
      () => this.#post("a takeover", "/takeover", { org }),
      () => ({ name: "a delete", method: "DELETE" as const, path: "/comments" }),
      () => this.#graph("an edit", this.#edit(title)),
      () =>
        this.#graph(
          "a move",
          `mutation { move(id: "${this.#id("t")}", project: "${this.#id("p")}", org: "${org}") { title } }`,
        ),
      () => this.#graph("a comment", `mutation { say(ticket: "${this.#id("t")}", body: "${title}") { body } }`),
      () => this.#graph("a deletion", `mutation { drop(id: "${this.#id("t")}") }`),
      () => this.#batch([this.#edit(title), this.#read()]),
    ];
    const chosen = this.#pick(isWrite ? writes : reads);
    return chosen();
  }

  #edit(title: string): string {
    return `mutation { edit(id: "${this.#id("t")}", title: "${title}") { title project { name } } }`;
  }
  #read(): string {
    return `{ tickets(first: 5) { totalCount edges { node { title } } } ticket(id: "${this.#id("t")}") { title } }`;
  }
  #get(name: string, path: string): Operation {
    return { name, method: "GET", path };
  }
  #post(name: string, path: string, body: unknown): Operation {
    return { name, method: "POST", path, body };
  }
  #graph(name: string, query: string): Operation {
    return this.#post(name, "/graphql", { query });
  }
  #batch(queries: readonly string[]): Operation {
    return this.#post(
      "a batch",
      "/graphql",
      queries.map((query) => ({ query })),
    );
  }
  /** An id of either tenant. */
  #id(kind: "p" | "t" | "c"): string {
    return `${this.#pick(tenants)}-${kind}${this.#below(kind === "p" ? SIZE : 2 * SIZE)}`;
  }
  #below(count: number): number {
    return Math.floor(this.#random() * count);
  }
  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }
  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}

/** Part of every text of a tenant, and of no id. */
function mark(tenant: Tenant): string {
  return `${tenant}-canary`;
}

function difference(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const [gone] = old.filter((line) => !now.includes(line));
  const [come] = now.filter((line) => !old.includes(line));
  return `${gone ?? "nothing"} became ${come ?? "nothing"}`;
}
