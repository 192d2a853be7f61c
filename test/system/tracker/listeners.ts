import { setTimeout as sleep } from "node:timers/promises";
import type { LiveClient } from "portico/testing";
import type { Attack } from "./attack.ts";
import { ada, anonymous, bea, type Caller, outsider } from "./callers.ts";
import { database } from "./database.ts";
import type { Operation } from "./generated-document.ts";
import { exchanged, marked } from "./marks.ts";
import { idOf } from "./seed.ts";
import type { Snapshot } from "./snapshot.ts";

/** How many subscriptions were open, and how many of a member of A or B received rows of that tenant. */
export interface Heard {
  opened: number;
  ofA: number;
  withA: number;
  ofB: number;
  withB: number;
}

interface Listener {
  readonly caller: Caller;
  readonly request: string;
  readonly frames: readonly string[];
  stop(): unknown;
}

/** Opens subscriptions over sockets and event streams while members of A and B change rows, and checks every event. */
export class Listeners {
  readonly heard: Heard = { opened: 0, ofA: 0, withA: 0, ofB: 0, withB: 0 };
  readonly #client: LiveClient;
  readonly #attack: Attack;
  /** The rows of B, with the changes of its own member. */
  readonly expected: Map<string, string>;
  #written = 70_000;

  constructor(client: LiveClient, attack: Attack, before: Snapshot) {
    this.#client = client;
    this.#attack = attack;
    this.expected = new Map(before);
  }

  async run(count: number): Promise<void> {
    while (this.heard.opened < count) {
      const size = Math.min(AT_ONCE, count - this.heard.opened);
      const opened = await Promise.all(Array.from({ length: size }, () => this.#open()));
      this.heard.opened += size;
      // A socket does not report when its subscription has started.
      await sleep(100);
      for (let round = 0; round < 3; round++) await this.#change();
      await sleep(100);
      await Promise.all(opened.map((listener) => listener.stop()));
      for (const listener of opened) this.#check(listener);
    }
  }

  #check({ caller, request, frames }: Listener): void {
    const text = frames.join("\n");
    this.#attack.expectNoForeignMark(text, request, caller);
    // An event without its object would tell that another tenant has changed something.
    const hollow = frames.find((frame) => /"data":\{"\w+":(?:null|\[\])\}/.test(frame));
    if (hollow !== undefined) throw new Error(`${caller.name} received ${hollow} for ${request}`);
    const { heard } = this;
    if (caller === ada) {
      heard.ofA++;
      if (text.includes("A-canary-")) heard.withA++;
    }
    if (caller === bea) {
      heard.ofB++;
      if (text.includes("B-canary-")) heard.withB++;
    }
  }

  async #open(): Promise<Listener> {
    const { random, shots } = this.#attack;
    const caller = random.weighted([
      [72, ada],
      [20, bea],
      [4, outsider],
      [4, anonymous],
    ]);
    const operation = shots.subscription();
    const request = JSON.stringify(operation);
    const asked = caller === bea ? exchanged(request) : request;
    if (random.chance(0.5)) {
      const subscribed = await this.#attack.wire(caller).subscribe(asked);
      return { caller, request: asked, frames: subscribed.frames, stop: () => subscribed.stop() };
    }
    return this.#stream(caller, asked);
  }

  async #stream(caller: Caller, request: string): Promise<Listener> {
    const { query, variables } = JSON.parse(request) as Operation;
    const events = this.#client.subscribe(query, variables, { headers: caller.headers });
    await events.ready();
    const frames: string[] = [];
    const reading = (async () => {
      for await (const event of events) frames.push(JSON.stringify(event));
    })();
    const stop = async (): Promise<void> => {
      await events.return();
      await reading;
    };
    return { caller, request, frames, stop };
  }

  /** A member of each tenant edits an issue and adds a comment to it. */
  async #change(): Promise<void> {
    const at = this.#attack.random.below(120);
    for (const [caller, tenant] of [
      [bea, "B"],
      [ada, "A"],
    ] as const) {
      const issue = idOf(tenant, "issues", at);
      const text = `changed ${marked(tenant, this.#written++)}`;
      const { headers } = caller;
      const edited = await this.#client.graphql(EDIT, { issue, text }, { headers });
      if (tenant === "A") continue;
      if (edited.errors !== undefined) throw new Error(`B cannot change its own row: ${JSON.stringify(edited)}`);
      await this.#expect(issue, text, (edited.data as any).addComment.id);
    }
  }

  async #expect(issue: string, text: string, comment: string): Promise<void> {
    const row = JSON.parse(this.expected.get(`issue ${issue}`) ?? "null") as object;
    this.expected.set(`issue ${issue}`, JSON.stringify({ ...row, title: text }));
    const added = await database
      .selectFrom("comments")
      .selectAll()
      .where("id", "=", comment)
      .where("issue_id", "=", issue)
      .where("text", "=", text)
      .executeTakeFirstOrThrow();
    this.expected.set(`comment ${comment}`, JSON.stringify(added));
  }
}

const AT_ONCE = 20;
const EDIT = `mutation ($issue: ID!, $text: String!) {
  editIssue(id: $issue, title: $text) { id } addComment(issue: $issue, text: $text) { id }
}`;
