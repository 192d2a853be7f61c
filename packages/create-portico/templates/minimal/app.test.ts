import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testClient } from "portico/testing";
import { app } from "./app.ts";

after(() => app.close());

async function signUp(username: string) {
  const client = testClient(app).withCookies();
  const password = "correct horse battery";
  const user = { email: `${username}@example.org`, username, password };
  const registered = await client.post("/account/register", { body: user });
  assert.equal(registered.status, 202, registered.text());
  const signedIn = await client.post("/account/login", { body: { identifier: username, password } });
  assert.equal(signedIn.status, 200, signedIn.text());
  return client;
}

test("anonymous callers can't read or add notes", async () => {
  const anonymous = testClient(app);

  const { errors } = await anonymous.graphql("{ notes { nodes { text } } }");

  assert.equal((await anonymous.get("/notes")).status, 401);
  assert.equal((await anonymous.post("/notes", { body: { text: "Buy milk" } })).status, 401);
  assert.equal(errors?.[0]?.extensions?.["code"], "UNAUTHENTICATED");
});

test("users page through their own notes, over REST and GraphQL", async () => {
  const [ann, bob] = [await signUp("ann"), await signUp("bob")];
  await ann.post("/notes", { body: { text: "Buy milk" } });
  await ann.graphql('mutation { addNote(text: "Call Eve") { id } }');

  const first = (await ann.get("/notes", { query: { page_size: "1" } })).json() as Page;
  const second = (await ann.get("/notes", { query: { cursor: first.pagination.next_cursor } })).json() as Page;
  const { data } = await bob.graphql("{ me notes { nodes { text } } }");

  assert.deepEqual(
    [first, second].map(({ items }) => items[0]?.text),
    ["Call Eve", "Buy milk"],
  );
  assert.deepEqual(data, { me: "bob", notes: { nodes: [] } });
});

interface Page {
  items: { text: string }[];
  pagination: { next_cursor: string };
}
