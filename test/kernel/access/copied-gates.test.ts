import { ConfigurationError, every, type Gate, HttpException, isNull, not, PorticoApp, Router, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { testClient } from "portico/testing";
import { expect, it } from "vitest";

/** A gate with the members of another one, and a check that refuses every caller. */
const closed: Gate<true> = {
  ...useAuth(),
  check() {
    throw new HttpException(403, "Closed");
  },
};

it("asks the check of a copied gate, and not that of the original, in every place", async () => {
  const Note: ObjectType<{ readonly id: string }> = object("Note", { id: t.id }, { auth: closed });
  const query = {
    closed: field(t.string, { auth: closed })(() => "in"),
    every: field(t.string, { auth: every(true, closed) })(() => "in"),
    note: field(Note)(() => ({ id: "1" })),
  };
  const app = new PorticoApp({ logger: false })
    .get("/closed", { auth: closed }, () => "in")
    .get("/every", { auth: every(true, closed) }, () => "in")
    .get("/not", { auth: every(true, not(closed)) }, () => "in")
    .mount(
      "/inner",
      new Router({ auth: useAuth() }).get("/", { auth: closed }, () => "in"),
    )
    .mount(
      "/outer",
      new Router({ auth: closed }).get("/", { auth: true }, () => "in"),
    );
  new Graph(schema({ query })).mount(app);
  const client = testClient(app).as(new SimpleUser("ann"));

  for (const path of ["/closed", "/every", "/inner", "/outer"]) expect((await client.get(path)).status).toBe(403);
  expect((await client.get("/not")).status).toBe(200);
  const { data, errors } = await client.graphql("{ closed every note { id } }");
  expect(data).toEqual({ closed: null, every: null, note: null });
  expect(errors?.map(({ message }) => message)).toEqual(["Closed", "Closed"]);
});

it("rejects a copy of a rule with other members", () => {
  const visible = rule<{ readonly id: string }>({ name: "note.visible", allows: () => true });
  const make = (auth: typeof visible) => () =>
    object<{ readonly id: string }, never>("Note", { id: t.id } as never, { auth });

  expect(make({ ...visible })).not.toThrow();
  for (const changed of [{ allows: () => false }, { where: () => isNull("id") }, { anonymous: true }]) {
    expect(make({ ...visible, ...changed })).toThrow(ConfigurationError);
    expect(() => every(true, { ...visible, ...changed } as never)).toThrow(
      "the rule note.visible was copied with another allows, where, reads or anonymous: make the new rule with rule()",
    );
  }
});
