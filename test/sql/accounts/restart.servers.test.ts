import { PorticoApp, PubSubGap, topic } from "portico";
import { AuthenticationBackend, AuthenticationMiddleware, AuthResult, useAuth } from "portico/auth";
import { migrate, openDatabase, sqlStores, userModel } from "portico/sql";
import { liveClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnPostgres, ownPostgres } from "../../../lab/servers/own-postgres.ts";

class TestBackend extends AuthenticationBackend {
  readonly scope = "jwt";
  override carries(): boolean {
    return true;
  }
  async authenticate(request: { readonly headers: Readonly<Record<string, unknown>> }): Promise<AuthResult> {
    return AuthResult.accept(String(request.headers["x-test"]), "jwt");
  }
}

describe("a PostgreSQL that crashes and restarts", () => {
  let server: OwnPostgres;
  beforeAll(async () => {
    server = await ownPostgres();
  });
  afterAll(() => server?.remove());

  it("causes 503, never 401, and is used again immediately with its stored data", async () => {
    const database = openDatabase(server.url, { poolSize: 4, timeoutSeconds: 2 });
    await migrate(database, "up");
    const { durable, bus } = sqlStores(database);
    const User = userModel(database);
    const ann = await User.objects.createUser({ email: "ann@x.example", username: "ann", password: "correct horse" });
    await durable.set("session", "ann");
    const iterator = bus.subscribe(topic("t"))[Symbol.asyncIterator]();
    await bus.settled();
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel: User, backend: new TestBackend() }))
      .get("/me", { auth: useAuth() }, async ({ user }) => ({
        name: user.displayName,
        kept: await durable.get("session"),
      }));
    const client = await liveClient(app);
    const ask = async () => (await client.get("/me", { headers: { "x-test": ann.identity } })).status;
    const trx = await database.begin();

    expect(await ask()).toBe(200);
    const during: number[] = [];
    const over = new AbortController();
    const traffic = Promise.all(
      [1, 2, 3, 4].map(async () => {
        while (!over.signal.aborted) during.push(await ask());
      }),
    );
    await server.kill();
    await expect(iterator.next()).rejects.toThrow(PubSubGap);
    await expect(trx.end("success")).rejects.toMatchObject({ status: 503 });
    const away = await ask();
    await server.start();
    await expect.poll(ask).toBe(200);
    over.abort();
    await traffic;

    expect(away).toBe(503);
    expect([...new Set(during)].toSorted((a, b) => a - b)).toEqual([200, 503]);
    expect(await durable.get("session")).toBe("ann");
    await client.close();
    await database.destroy();
  });
});
