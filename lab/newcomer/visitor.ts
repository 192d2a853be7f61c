import assert from "node:assert/strict";

interface Page {
  readonly items: readonly { readonly text: string }[];
  readonly pagination: { readonly links: { readonly next?: string } };
}

/** A client with cookies, which does what the README of a template shows. */
export class Visitor {
  readonly #url: string;
  #cookie = "";

  constructor(url: string) {
    this.#url = url;
  }

  async register(): Promise<void> {
    const password = "correct horse battery";
    await this.#send("/account/register", { email: "ann@example.org", username: "ann", password });
    const response = await this.#send("/account/login", { identifier: "ann", password });
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
    for (let next: string | undefined = `${this.#url}/notes?page_size=1`; next !== undefined; ) {
      const page = (await (await fetch(next, { headers: { cookie: this.#cookie } })).json()) as Page;
      texts.push(...page.items.map(({ text }) => text));
      next = page.pagination.links.next;
    }
    assert.deepEqual(texts.slice(0, 2), ["Call Eve", "Buy milk"]);
  }

  async #graphql(query: string): Promise<Readonly<Record<string, unknown>>> {
    const { data, errors } = (await (await this.#send("/graphql", { query })).json()) as Readonly<
      Record<string, object>
    >;
    assert.equal(errors, undefined, JSON.stringify(errors));
    return data as Readonly<Record<string, unknown>>;
  }

  async #send(path: string, body: object): Promise<Response> {
    const headers = { "content-type": "application/json", cookie: this.#cookie };
    const response = await fetch(`${this.#url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response;
  }
}
