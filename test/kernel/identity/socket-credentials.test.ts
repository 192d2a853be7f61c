import { AnonymousUser, type Identity, identify } from "portico";
import { SimpleUser } from "portico/auth";
import { field, schema, subscription, t } from "portico/graphql";
import type { SocketRefused, TestResponse } from "portico/testing";
import { describe, expect, it } from "vitest";
import { openGraph, rawSocket } from "../../graphql/subscriptions/open.ts";

const built = schema({
  query: { hello: field(t.string)(() => "world") },
  subscription: { none: subscription(t.int)(async function* () {}) },
});

/** Opens a socket as this caller. Returns the response that refuses it, or `null`. */
async function open(identity: Identity): Promise<TestResponse | null> {
  const { client } = await openGraph(built, {
    declare: (app) =>
      app.use(async (ctx, next) => {
        identify(ctx, identity);
        await next();
      }),
  });
  return rawSocket(client, { init: true }).then(
    () => null,
    (error: SocketRefused) => error.response,
  );
}

describe("a GraphQL socket", () => {
  it("is opened without a credential, and with a valid one, whatever else was sent", async () => {
    const user = new SimpleUser("ann");

    expect(await open({ user: new AnonymousUser(), auth: null })).toBeNull();
    expect(await open({ user, auth: "jwt" })).toBeNull();
    expect(await open({ user, auth: "jwt", isRejected: true, failure: new Error("a store is down") })).toBeNull();
  });

  it("is refused with 401 for an invalid credential, with its challenge", async () => {
    const anonymous = { user: new AnonymousUser(), auth: null, isRejected: true };
    const [plain, own] = [await open(anonymous), await open({ ...anonymous, challenge: 'Bearer realm="shop"' })];

    expect([plain?.status, plain?.text()]).toEqual([401, expect.stringContaining("The credential is not valid")]);
    expect([plain?.headers["www-authenticate"], own?.headers["www-authenticate"]]).toEqual([
      "Bearer",
      'Bearer realm="shop"',
    ]);
  });

  it("is refused with 503 while the credential cannot be verified", async () => {
    const refused = await open({ user: new AnonymousUser(), auth: null, failure: new Error("a store is down") });

    expect([refused?.status, refused?.headers["retry-after"], refused?.text()]).toEqual([
      503,
      "5",
      expect.stringContaining("Authentication is temporarily unavailable. Try again later."),
    ]);
  });
});
