import assert from "node:assert/strict";

interface Page {
  readonly items: readonly { readonly text: string }[];
  readonly pagination: { readonly links: { readonly next?: string } };
}

/** A client with cookies, which does what the README of a template shows. */
export class Visitor {
  /** Where the server listens, on a free port that a restart may change. */
  url: string;
  #cookie = "";

  constructor(url: string) {
    this.url = url;
  }

  async register(username: string): Promise<void> {
    const password = "correct horse battery";
    await this.#send("/account/register", { email: `${username}@example.org`, username, password });
    const response = await this.#send("/account/login", { identifier: username, password });
    this.#cookie = response.headers
      .getSetCookie()
      .map((line) => line.split(";")[0])
      .join("; ");
  }

  async queryAndMutate(): Promise<void> {
    for (const text of ["Buy milk", "Call Eve"]) await this.#graphql(`mutation { addNote(text: "${text}") { text } }`);
    const { me, notes } = await this.#graphql("{ me notes(first: 1) { nodes { text } } }");
    assert.deepEqual({ me, notes }, { me: "ann", notes: { nodes: [{ text: "Call Eve" }] } });
  }

  async pageThrough(): Promise<void> {
    const texts: string[] = [];
    for (let next: string | undefined = `${this.url}/notes?page_size=1`; next !== undefined; ) {
      const page = (await (await fetch(next, { headers: { cookie: this.#cookie } })).json()) as Page;
      texts.push(...page.items.map(({ text }) => text));
      next = page.pagination.links.next;
    }
    assert.deepEqual(texts.slice(0, 2), ["Call Eve", "Buy milk"]);
  }

  /** Adds a note, which the other user gets nowhere: not on its route, and not in the list, the total and the subscription. */
  async hideNoteFrom(other: Visitor): Promise<void> {
    const events = other.#events("subscription { noteAdded { text } }");
    await events.next();
    const { id } = (await (await this.#send("/notes", { text: "Buy milk" })).json()) as { readonly id: number };
    const found = await Promise.all([this, other].map((visitor) => visitor.#get(`/notes/${id}`)));
    assert.deepEqual(
      found.map(({ status }) => status),
      [200, 404],
    );
    const list = "{ notes { totalCount nodes { text } } }";
    assert.deepEqual(await this.#graphql(list), { notes: { totalCount: 1, nodes: [{ text: "Buy milk" }] } });
    assert.deepEqual(await other.#graphql(list), { notes: { totalCount: 0, nodes: [] } });
    await other.#send("/notes", { text: "Call Eve" });
    assert.match(String((await events.next()).value), /^event: next\ndata: \{"data":\{"noteAdded":\{"text":"Call Eve"/);
    await events.return();
  }

  /** The events of a subscription, without comments. The first is empty: the server listens. */
  async *#events(query: string): AsyncGenerator<string, void, undefined> {
    const headers = { accept: "text/event-stream", "x-portico-tell-listening": "1" };
    const { body } = await this.#send("/graphql", { query }, headers);
    let text = "";
    for await (const chunk of (body ?? new Blob().stream()).pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        if (part === ": listening") yield "";
        else if (!part.startsWith(":")) yield part;
      }
    }
  }

  #get(path: string): Promise<Response> {
    return fetch(`${this.url}${path}`, { headers: { cookie: this.#cookie } });
  }

  async #graphql(query: string): Promise<Readonly<Record<string, unknown>>> {
    const { data, errors } = (await (await this.#send("/graphql", { query })).json()) as Readonly<
      Record<string, object>
    >;
    assert.equal(errors, undefined, JSON.stringify(errors));
    return data as Readonly<Record<string, unknown>>;
  }

  async #send(path: string, body: object, more: Readonly<Record<string, string>> = {}): Promise<Response> {
    const headers = { "content-type": "application/json", cookie: this.#cookie, ...more };
    const response = await fetch(`${this.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response;
  }
}
