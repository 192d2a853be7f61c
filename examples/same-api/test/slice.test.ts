import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { createClient } from "graphql-ws";

// npm test: starts each version and tests it. With SLICE_URL, the same tests run against another server, such as the Portico version in
// docs/comparison.md.

/** Each version signs in at its library's own path, and names the fields in its own way. */
interface Version {
  readonly file?: string;
  readonly path: string;
  readonly user: string;
  readonly token: string;
}

const account: Version = { path: "/account/token", user: "identifier", token: "access_token" };
const versions: Readonly<Record<string, Version>> = process.env["SLICE_URL"]
  ? { [process.env["SLICE_URL"]]: account }
  : {
      nestjs: { ...account, file: "nestjs/dist/main.js" },
      yoga: { file: "yoga/src/server.ts", path: "/api/auth/sign-in/username", user: "username", token: "token" },
    };

interface Result {
  readonly data?: any;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}

for (const [name, version] of Object.entries(versions))
  suite(name, () => {
    let url = process.env["SLICE_URL"] ?? "";
    let stop = (): void => {};
    before(async () => {
      if (version.file === undefined) return;
      const child = spawn(process.execPath, [join(import.meta.dirname, "..", version.file)], {
        env: { ...process.env, PORT: "0" },
      });
      stop = () => child.kill();
      const [line] = await once(child.stdout, "data");
      url = /http\S+/.exec(String(line))?.[0] ?? "";
    });
    after(() => stop());

    async function signIn(
      user: string,
      password = "correct horse battery",
    ): Promise<{ status: number; token: string }> {
      const response = await fetch(`${url}${version.path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ [version.user]: user, password }),
      });
      const body = (await response.json()) as Record<string, string | undefined>;
      return { status: response.status, token: body[version.token] ?? "" };
    }

    async function ask(query: string, token = ""): Promise<Result> {
      const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
      const response = await fetch(`${url}/graphql`, { method: "POST", headers, body: JSON.stringify({ query }) });
      return (await response.json()) as Result;
    }

    test("signs in with the right password only", async () => {
      const right = await signIn("ann");
      const wrong = await signIn("ann", "wrong");

      assert.equal(right.status, 200);
      assert.notEqual(right.token, "");
      assert.equal(wrong.status, 401);
      assert.equal(wrong.token, "");
    });

    test("answers the query only for a user with the permission", async () => {
      const codeFor = async (token?: string) => (await ask("{ me }", token)).errors?.[0]?.extensions.code;

      assert.deepEqual((await ask("{ me }", (await signIn("ann")).token)).data, { me: "ann" });
      assert.equal(await codeFor((await signIn("ben")).token), "FORBIDDEN");
      assert.equal(await codeFor(), "UNAUTHENTICATED");
    });

    test("pages through the list, and rejects an invalid cursor and a negative size", async () => {
      const { token } = await signIn("ann");
      const page = (args: string) =>
        ask(`{ books${args} { edges { node { title } } pageInfo { hasNextPage endCursor } } }`, token);
      const titles = ({ data }: Result) => data.books.edges.map(({ node }: { node: { title: string } }) => node.title);

      const first = await page("");
      const { hasNextPage, endCursor } = first.data.books.pageInfo;
      const second = await page(`(after: "${endCursor}")`);

      assert.deepEqual([titles(first), hasNextPage], [["Emma", "Middlemarch"], true]);
      assert.deepEqual([titles(second), second.data.books.pageInfo.hasNextPage], [["Persuasion"], false]);
      assert.ok((await page('(after: "nonsense")')).errors);
      assert.ok((await page("(first: -1)")).errors);
      assert.ok((await ask("{ books { edges { node { title } } } }")).errors);
    });

    test("publishes a new book to signed-in subscribers only", async () => {
      const { token } = await signIn("ann");
      const subscribe = (authorization: string) => {
        const address = `${url.replace("http", "ws")}/graphql`;
        const client = createClient({ url: address, connectionParams: { authorization }, retryAttempts: 0 });
        return { client, events: client.iterate({ query: "subscription { bookAdded { title } }" }) };
      };

      const { client, events } = subscribe(`Bearer ${token}`);
      const event = events.next();
      const adding = setInterval(() => void ask('mutation { addBook(title: "Silas Marner") { id } }', token), 200);
      const { value } = await event;
      clearInterval(adding);
      await client.dispose();

      assert.deepEqual(value.data, { bookAdded: { title: "Silas Marner" } });
      await assert.rejects(async () => subscribe("").events.next());
    });
  });
