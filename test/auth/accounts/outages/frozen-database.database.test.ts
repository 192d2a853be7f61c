import { openDatabase, userModel } from "portico/sql";
import { expect, it, onTestFinished } from "vitest";
import { TcpProxy } from "../../../../lab/servers/tcp-proxy.ts";
import { migratedPlace } from "../../../sql/accounts/databases.ts";
import { accountHarness, ann, password } from "../account-harness.ts";

it("the right password works at once after PostgreSQL was frozen during more sign-ins than are allowed", async () => {
  const place = await migratedPlace("PostgreSQL");
  onTestFinished(() => place.remove());
  const proxy = await TcpProxy.start(Number(new URL(place.url).port));
  onTestFinished(() => proxy.close());
  const limits = { poolSize: 3, timeoutSeconds: 1, statementSeconds: 1 };
  const database = openDatabase(proxy.through(place.url), limits);
  onTestFinished(() => database.destroy());
  const { app, post, users } = accountHarness({ users: userModel(database) });
  onTestFinished(() => app.close());
  await users.objects.createUser(ann);
  const signIn = async () => (await post("/login", { identifier: "ann", password })).status;

  proxy.silence();
  const during: number[] = [];
  for (let n = 0; n < 8; n++) during.push(await signIn());
  proxy.endSilence();
  const after: number[] = [];
  // The pool replaces the frozen connections, which also takes attempts that end with 503.
  while (after.at(-1) !== 200 && after.length < 30) after.push(await signIn());

  expect(new Set(during)).toEqual(new Set([503]));
  expect(after.filter((status) => status !== 503)).toEqual([200]);
});
