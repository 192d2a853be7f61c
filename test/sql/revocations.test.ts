import { Depend, HttpException, memoryStores, PorticoApp, provide, revoked } from "portico";
import { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser, useAuth } from "portico/auth";
import { openDatabase } from "portico/sql";
import { testClient } from "portico/testing";
import { expect, it } from "vitest";
import { SECRET } from "../auth/sessions/session-app.ts";
import { signIn } from "../sign-in.ts";

it("publishes the end of a session even if the transaction of the request is rolled back", async () => {
  const database = openDatabase("sqlite::memory:");
  const unitOfWork = provide(async function* ({ ctx }) {
    const trx = await database.begin();
    try {
      yield trx;
    } finally {
      await trx.end(ctx.outcome);
    }
  });
  const stores = memoryStores();
  const app = new PorticoApp({ logger: false, stores });
  app.use(new SessionMiddleware({ secret: SECRET }));
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
  app.post("/login", ({ request }) => request.sessions.login(new SimpleUser("ann")));
  app.post("/end", { auth: useAuth(), params: { trx: Depend(unitOfWork) } }, async ({ request }) => {
    await request.sessions.revokeAll();
    throw new HttpException(409, "and yet");
  });
  const client = testClient(app);
  const heard = stores.bus.subscribe(revoked)[Symbol.asyncIterator]();
  const headers = await signIn(client);

  const answer = await client.post("/end", { headers });

  expect(answer.status).toBe(409);
  const news = await Promise.race([heard.next(), new Promise((resolve) => setTimeout(resolve, 500, "silence"))]);
  expect(news).toMatchObject({ value: { user: "ann", credential: expect.stringContaining("session:") } });
  await heard.return?.();
  await app.close();
  await database.destroy();
});
