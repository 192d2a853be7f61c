import type { LiveClient } from "portico/testing";
import { ada, anonymous, bea, both, type Caller, outsider } from "./callers.ts";
import { database } from "./database.ts";
import { GeneratedValues } from "./generated-values.ts";
import { foreignMark, type Tenant } from "./marks.ts";
import { Random } from "./random.ts";
import { seedTenant } from "./seed.ts";
import { mirrored, type Shot, Shots } from "./shots.ts";
import { differences, hashOf, type Snapshot, snapshot } from "./snapshot.ts";
import { trackerSchema } from "./tracker-app.ts";
import { Wire } from "./wire.ts";

/** What a run has seen. */
export interface Tally {
  shots: number;
  /** The operations of the member of A, those with data of A, and those with an error. */
  ofA: number;
  withA: number;
  /** The same operations as a member of B, and those with data of B. */
  ofB: number;
  withB: number;
  bytes: number;
  readonly codes: Map<string, number>;
}

/** Sends random operations as several callers at once, and checks every response. */
export class Attack {
  readonly tally: Tally = { shots: 0, ofA: 0, withA: 0, ofB: 0, withB: 0, bytes: 0, codes: new Map() };
  readonly random: Random;
  readonly values: GeneratedValues;
  readonly shots: Shots;
  readonly #seed: number;
  readonly #wires: ReadonlyMap<Caller, Wire>;

  constructor(client: LiveClient, seed: number) {
    this.#seed = seed;
    this.random = new Random(seed);
    this.values = new GeneratedValues(this.random);
    this.shots = new Shots(trackerSchema, this.random, this.values);
    this.#wires = new Map([ada, both, bea, outsider, anonymous].map((caller) => [caller, new Wire(client, caller)]));
  }

  wire(caller: Caller): Wire {
    return this.#wires.get(caller) as Wire;
  }

  /** Sends this many operations, with a check of the rows of B after every few hundred. */
  async run(count: number): Promise<void> {
    const before = await snapshot("B");
    for (let sent = 0; sent < count; sent += EACH) {
      await this.#volley(Math.min(EACH, count - sent));
      await this.expectUnchanged(before);
      // What the members of A have deleted.
      await seedTenant(database, "A", "B");
    }
  }

  /** Fails if a row of B differs. */
  async expectUnchanged(before: Snapshot): Promise<void> {
    const now = await snapshot("B");
    if (hashOf(now) !== hashOf(before))
      throw new Error(`${this.#place()}: rows of B have changed: ${differences(before, now).slice(0, 3).join("; ")}`);
  }

  /** Fails if a response has a mark of a tenant that the caller may not see. */
  expectNoForeignMark(response: string, request: string, caller: Caller): void {
    const mark = foreignMark(response, request, caller.mayRead);
    if (mark === null) return;
    const at = response.indexOf(mark);
    throw new Error(
      `${this.#place()}: ${caller.name} received ${mark}\nrequest: ${request}\nresponse: ...${response.slice(Math.max(0, at - 500), at + 200)}...`,
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#wires.values()].map((wire) => wire.close()));
  }

  #place(): string {
    return `PORTICO_SEED=${this.#seed}, after ${this.tally.shots} operations`;
  }

  async #volley(count: number): Promise<void> {
    let left = count;
    const worker = async (): Promise<void> => {
      while (left-- > 0) await this.#one();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  async #one(): Promise<void> {
    const { random, tally } = this;
    const chosen = random.weighted([
      [85, ada],
      [7, both],
      [5, outsider],
      [3, anonymous],
    ]);
    const shot = this.shots.next();
    // A member of A and C may move an issue of C to A, whose members then see it by right.
    const caller = chosen === both && shot.body?.includes("moveIssue") ? ada : chosen;
    const isMirrored = caller === ada && shot.kind !== "mutation" && shot.method !== "PATCH" && random.chance(0.15);
    tally.shots++;
    // The member of B sends the same operation at the same time, with the ids of B.
    const [response] = await Promise.all([
      this.#send(shot, caller),
      isMirrored && !shot.body?.includes("mutation") ? this.#send(mirrored(shot), bea) : null,
    ]);
    for (const [, code = ""] of response.matchAll(/"code":"([A-Z_]+)"/g))
      tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
  }

  async #send(shot: Shot, caller: Caller): Promise<string> {
    const response = await this.wire(caller).send(shot);
    this.expectNoForeignMark(response, `${shot.kind} ${shot.method} ${shot.target} ${shot.body ?? ""}`, caller);
    for (const line of response.split("\n"))
      if (line.startsWith("{") || line.startsWith("[")) this.values.keepCursors(listOf(shot), JSON.parse(line));
    this.tally.bytes += response.length;
    const has = (tenant: Tenant): number => (response.includes(`${tenant}-canary-`) ? 1 : 0);
    if (caller === ada) {
      this.tally.ofA++;
      this.tally.withA += has("A");
    }
    if (caller === bea) {
      this.tally.ofB++;
      this.tally.withB += has("B");
    }
    return response;
  }
}

/** The name of a route's list, for its cursors. */
const listOf = ({ target }: Shot): string => /^\/api\/([\w-]+)/.exec(target)?.[1] ?? "";

const EACH = 250;
const AT_ONCE = 8;
