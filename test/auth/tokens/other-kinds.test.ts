import { expect, it, vi } from "vitest";
import { accountHarness, ann, password, tokenOf } from "../accounts/account-harness.ts";
import { servers } from "../servers.ts";

const serve = servers();

it("[auth:AU-025] neither a token from an email nor a token of another kind is accepted as a credential", async () => {
  const accounts = accountHarness({ account: { verifyEmail: true } });
  const { app, mails } = accounts;
  const client = await serve(app);
  const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await client.get("/account/me", { headers })).status;
  await accounts.post("/register", ann);
  await vi.waitFor(() => expect(mails).toHaveLength(1), 60_000);
  const verify = tokenOf(mails, "verify");
  expect(await status({ authorization: `Bearer ${verify}` })).toBe(401);
  // It was good all the while.
  expect((await accounts.post("/verify", { token: verify, password })).status).toBe(204);
  await accounts.post("/password/reset", { email: ann.email });
  await vi.waitFor(() => expect(mails.some(({ kind }) => kind === "reset")).toBe(true), 60_000);
  const { access_token, refresh_token } = (await accounts.post("/token", { identifier: "ann", password })).json() as {
    readonly access_token: string;
    readonly refresh_token: string;
  };

  expect(await status({ authorization: `Bearer ${access_token}` })).toBe(200);
  for (const token of [tokenOf(mails, "reset"), verify, refresh_token]) {
    expect(await status({ authorization: `Bearer ${token}` })).toBe(401);
    expect(await status({ "x-api-key": token })).toBe(401);
    expect(await status({ cookie: `__Host-portico_session=${token}` })).toBe(401);
  }
  expect(await status({ "x-api-key": access_token })).toBe(401);
  expect(await status({ cookie: `__Host-portico_session=${access_token}` })).toBe(401);
});
