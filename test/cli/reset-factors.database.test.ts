import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { useAuth } from "portico/auth";
import { sqlStores, userModel } from "portico/sql";
import { expect, it, onTestFinished } from "vitest";
import { codeAt } from "../../scripts/clients/authenticator-app.ts";
import { accountHarness, password } from "../auth/accounts/account-harness.ts";
import { cookieHeader } from "../sign-in.ts";
import { migratedPlace } from "../sql/accounts/databases.ts";
import { runHere } from "./run-portico.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const login = { identifier: "ann", password };

/** A running application whose user ann has an authenticator app, and its folder. */
async function shop() {
  const place = await migratedPlace("SQLite");
  const database = place.open();
  const harness = accountHarness({ users: userModel(database), stores: sqlStores(database), isOwned: true });
  harness.app.get("/strong", { auth: useAuth({ level: "mfa" }) }, () => "strong");
  const cwd = await temporaryFolder();
  onTestFinished(async () => {
    await harness.app.close();
    await place.remove();
  });
  await harness.post("/register", { email: "ann@example.org", username: "ann", password });
  const weak = await harness.session("ann");
  const tokens = (await harness.post("/token", login)).json() as { access_token: string; refresh_token: string };
  const { secret } = (await harness.post("/factors/totp", {}, undefined, weak)).json() as { secret: string };
  const code = codeAt(secret, Date.now());
  const confirmed = await harness.post("/factors/totp/confirm", { code }, undefined, weak);
  const strong = cookieHeader(confirmed);
  await writeFile(join(cwd, "package.json"), '{ "type": "module" }');
  await writeFile(
    join(cwd, "portico.config.ts"),
    `
      import { appendFileSync } from "node:fs";
      import { PorticoApp } from "portico";
      import { authentication, useAuth } from "portico/auth";
      import { openDatabase, sqlStores, userModel } from "portico/sql";
      const url = ${JSON.stringify(place.url)};
      const note = (value: object) => appendFileSync(${JSON.stringify(join(cwd, "notes"))}, JSON.stringify(value) + "\\n");
      function app() {
        const database = openDatabase(url);
        return new PorticoApp({ logger: false, stores: sqlStores(database) }).use(
          authentication({
            userModel: userModel(database),
            secret: "a secret of the tests, which is long enough",
            audience: "bookshop",
            mailer: async (mail) => note(mail),
            onEvent: (event) => note(event),
          }),
        ).get("/strong", { auth: useAuth({ level: "mfa", freshSeconds: 60 }) }, () => "strong");
      }
      export default { app, database: url };`,
  );
  return { ...harness, cwd, strong, tokens, url: place.url };
}

it("removes the factors of a running application's user, ends all access, reports it and sends an email", async () => {
  const { cwd, strong, tokens, client, post } = await shop();
  expect((await client.get("/strong", { headers: strong })).text()).toContain("strong");
  expect((await post("/login", login)).status).toBe(403);

  const { code, out, err } = await runHere(["user", "reset-factors", "ann", "--yes"], { cwd });

  expect({ code, out, err }).toEqual({
    code: 0,
    out: "removed the second factors of ann, who has to sign in again\n",
    err: "",
  });
  expect((await client.get("/strong", { headers: strong })).status).toBe(401);
  expect(
    (await client.get("/account/me", { headers: { authorization: `Bearer ${tokens.access_token}` } })).status,
  ).toBe(401);
  expect((await post("/refresh", { refresh_token: tokens.refresh_token })).status).toBe(401);
  expect((await post("/login", login)).status).toBe(200);
  const notes = (await readFile(join(cwd, "notes"), "utf8")).trim().split("\n");
  expect(notes.map((line) => JSON.parse(line) as unknown)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: "second_factors_reset", actor: "operator", outcome: "success" }),
      { to: "ann@example.org", kind: "second_factors_reset", url: null },
    ]),
  );
});

it("why knows whether a user has a second factor, and says which sign-ins a gate accepts", async () => {
  const { cwd } = await shop();
  const why = async () => await runHere(["why", "ann", "GET /strong"], { cwd });

  expect(await why()).toEqual({
    code: 0,
    out: `route GET /strong
  depends: signed in with a second factor within the last 60 s
  after a sign-in, yes: any method (two factors, a moment ago)
  after a sign-in, no: any other sign-in
`,
    err: "",
  });
  await runHere(["user", "reset-factors", "ann", "--yes"], { cwd });
  expect(await why()).toEqual({
    code: 0,
    out: "route GET /strong\n  no: signed in with a second factor within the last 60 s\n",
    err: "ann has no second factor, so only sign-ins with one factor are considered.\n",
  });
});

it("changes nothing without a confirmation, without a factor, and where the store is not certain", async () => {
  const { cwd, strong, client, url } = await shop();
  const run = (...more: readonly string[]) => runHere(["user", "reset-factors", "ann", ...more], { cwd });

  expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining("Pass --yes") as string });
  expect(await runHere(["user", "reset-factors", "ann"], { cwd, answer: false })).toMatchObject({ code: 1 });
  expect(await run("--yes", "--stores", "redis")).toMatchObject({ code: 2 });
  const elsewhere = await temporaryFolder();
  expect(await runHere(["user", "reset-factors", "ann", "--yes", "--database", url], { cwd: elsewhere })).toMatchObject(
    { code: 2, err: expect.stringContaining("no store for sessions") as string },
  );
  expect((await client.get("/strong", { headers: strong })).status).toBe(200);

  expect((await run("--yes")).code).toBe(0);
  expect(await run("--yes")).toMatchObject({ code: 1, err: "portico: ann has no second factor\n" });
});
