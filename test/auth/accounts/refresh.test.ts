import type { TokenPair } from "portico/auth";
import { manualClock } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { type AccountHarness, accountHarness, ann, password } from "./account-harness.ts";

async function signIn({ post }: AccountHarness): Promise<Required<TokenPair>> {
  await post("/register", ann);
  return (await post("/token", { identifier: "ann", password })).json() as Required<TokenPair>;
}

it("[BCK-28] revokes the session and all tokens when a thief and a victim take turns with a refresh token", async () => {
  const clock = manualClock();
  const harness = accountHarness({ app: { clock } });
  onTestFinished(() => harness.app.close());
  const { client, events, post } = harness;
  const { refresh_token: stolen } = await signIn(harness);
  const refresh = async (token: string): Promise<Partial<TokenPair>> => {
    clock.advance(300_000);
    return (await post("/refresh", { refresh_token: token })).json() as Partial<TokenPair>;
  };
  let [victim, thief] = [await refresh(stolen), await refresh(stolen)];
  const me = (): Promise<unknown> =>
    client
      .get("/account/me", { headers: { authorization: `Bearer ${victim.access_token}` } })
      .then(({ status }) => status);

  victim = await refresh(victim.refresh_token as string);
  expect(await me()).toBe(200);
  thief = await refresh(thief.refresh_token as string);

  expect(thief).toMatchObject({ status: 401 });
  expect(events.filter(({ kind }) => kind === "token_reused")).toHaveLength(1);
  await expect.poll(me).toBe(401);
  expect(await refresh(victim.refresh_token as string)).toMatchObject({ status: 401 });
});

it("revokes a sign-in at the first reuse with strictRefresh", async () => {
  const harness = accountHarness({ account: { strictRefresh: true } });
  onTestFinished(() => harness.app.close());
  const { refresh_token } = await signIn(harness);

  const next = await harness.post("/refresh", { refresh_token });
  const again = await harness.post("/refresh", { refresh_token });

  expect([next.status, again.status]).toEqual([200, 401]);
  const { refresh_token: successor } = next.json() as TokenPair;
  expect((await harness.post("/refresh", { refresh_token: successor })).status).toBe(401);
});
