import assert from "node:assert/strict";
import { test } from "node:test";
import { testClient } from "portico/testing";
import { app, signUp } from "./test-api.ts";

interface Page {
  items: { id: string; text: string }[];
  pagination: { next_cursor: string };
}

test("anonymous callers can't read or add notes", async () => {
  const anonymous = testClient(app);

  const { errors } = await anonymous.graphql("{ notes { nodes { text } } }");

  assert.equal((await anonymous.get("/notes")).status, 401);
  assert.equal((await anonymous.post("/notes", { body: { text: "Buy milk" } })).status, 401);
  assert.equal(errors?.[0]?.extensions?.["code"], "UNAUTHENTICATED");
});

test("a cursor of the route works in GraphQL", async () => {
  const ann = await signUp("ann");
  await ann.graphql('mutation { addNote(text: "Buy milk") { id } }');
  await ann.post("/notes", { body: { text: "Call Eve" } });

  const first = (await ann.get("/notes", { query: { page_size: "1" } })).json() as Page;
  const { data } = await ann.graphql("query ($after: String) { notes(after: $after) { nodes { text } } }", {
    after: first.pagination.next_cursor,
  });

  assert.equal(first.items[0]?.text, "Call Eve");
  assert.deepEqual(data, { notes: { nodes: [{ text: "Buy milk" }] } });
});

test("users don't see the notes of others", async () => {
  const [bob, eve] = [await signUp("bob"), await signUp("eve")];
  const note = (await bob.post("/notes", { body: { text: "Buy milk" } })).json() as { id: string };

  const { data } = await eve.graphql("{ me notes { nodes { text } } }");

  assert.equal((await bob.get(`/notes/${note.id}`)).status, 200);
  assert.equal((await eve.get(`/notes/${note.id}`)).status, 404);
  assert.deepEqual(data, { me: "eve", notes: { nodes: [] } });
});

test("a note has between 1 and 1,000 characters", async () => {
  const kim = await signUp("kim");

  const { errors } = await kim.graphql('mutation { addNote(text: " ") { id } }');

  assert.equal((await kim.post("/notes", { body: { text: "x".repeat(1001) } })).status, 422);
  assert.equal(errors?.[0]?.extensions?.["code"], "BAD_USER_INPUT");
});
