import { sqlStores, userModel } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { accountHarness, ann, password, tokenOf } from "../../auth/accounts/account-harness.ts";
import { engineNames, migratedPlace, type Place } from "./databases.ts";

describe.each(engineNames)("accounts on %s", (engine) => {
  let place: Place;
  beforeAll(async () => {
    place = await migratedPlace(engine);
  });
  afterAll(() => place?.remove());

  /** A separate process, which shares nothing in memory. */
  const process = () => {
    const database = place.open({ poolSize: 4 });
    return { database, ...accountHarness({ users: userModel(database), stores: sqlStores(database) }) };
  };

  it("[BCK-41] [REQ-02] keeps everything in the database: refresh tokens work in another process and after a restart, and no password is stored", async () => {
    const [one, two] = [process(), process()];
    expect((await one.post("/register", ann)).status).toBe(202);
    const login = await one.post("/token", { identifier: ann.email, password });
    expect(login.status).toBe(200);
    const refresh = async (harness: typeof one, refresh_token: unknown) =>
      (await harness.post("/refresh", { refresh_token })).json() as { refresh_token: string; access_token: string };

    const first = await refresh(two, (login.json() as { refresh_token: string }).refresh_token);
    const second = await refresh(one, first.refresh_token);
    await one.app.close();
    await two.app.close();
    const later = process();
    const third = await refresh(later, second.refresh_token);
    const me = await later.client.get("/account/me", { headers: { authorization: `Bearer ${third.access_token}` } });
    expect(me.status).toBe(200);

    const newPassword = "another long password";
    await later.post("/password/reset", { email: ann.email });
    await expect.poll(() => later.mails.find(({ kind }) => kind === "reset")).toBeDefined();
    const token = tokenOf(later.mails, "reset");
    const confirmed = await later.post("/password/reset/confirm", { token, password: newPassword });
    expect(confirmed.status).toBeLessThan(300);
    expect((await later.post("/login", { identifier: "ann", password: newPassword })).status).toBe(200);
    expect((await later.post("/refresh", { refresh_token: third.refresh_token })).status).toBe(401);

    const tables = ["users", "portico_entries", "portico_counters"] as const;
    const dump = JSON.stringify(
      await Promise.all(tables.map((table) => later.database.selectFrom(table).selectAll().execute())),
    );
    expect(dump).toContain("$argon2id$");
    for (const secret of [password, newPassword, third.refresh_token])
      for (const encoding of ["utf8", "hex", "base64", "base64url"] as const)
        expect(dump).not.toContain(Buffer.from(secret).toString(encoding).slice(0, -2));
    await later.app.close();
  });
});
