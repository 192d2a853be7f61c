import { memoryStores } from "portico";
import { UserExists } from "portico/auth";
import { expect, it, onTestFinished } from "vitest";
import { cookieHeader } from "../../../sign-in.ts";
import { factorHarness, type Problem } from "../../factors/factor-harness.ts";
import { RecordingStore } from "../../sessions/recording-store.ts";
import {
  type AccountHarness,
  accountHarness,
  ann,
  type HarnessOptions,
  owned,
  password,
  tokenOf,
} from "../account-harness.ts";
import { memoryUsers } from "../memory-users.ts";

const EXPIRED = { status: 401, code: "sign_in_expired" };
const INVALID = { status: 400, code: "link_invalid" };

async function world(options: HarnessOptions = {}): Promise<AccountHarness & { readonly store: RecordingStore }> {
  const store = new RecordingStore();
  const users = memoryUsers();
  const harness = accountHarness({ stores: { ...memoryStores(), durable: store }, users, ...options });
  onTestFinished(() => harness.app.close());
  const made = await users.objects.createUser(ann);
  if (options.isOwned === true) await users.objects.markVerified(made);
  return { ...harness, store };
}

it("a sign-in that waits for the second factor is completed once, by one of two codes", async () => {
  const { login, prove, enrol } = await factorHarness();
  const { recovery } = await enrol(cookieHeader(await login()));
  const { pending } = (await login()).json() as Problem;

  const both = await Promise.all([0, 1].map((place) => prove({ pending, code: recovery[place] })));
  const [first, second] = both.toSorted((a, b) => a.status - b.status);
  expect(first?.json()).toMatchObject({ email: ann.email });
  expect(second?.json()).toMatchObject(EXPIRED);
  expect(second?.cookies).toEqual([]);
});

it("a sign-in that waits for the second factor ends with the user", async () => {
  const { login, prove, enrol, users } = await factorHarness();
  const { recovery } = await enrol(cookieHeader(await login()));
  const { pending } = (await login()).json() as Problem;
  await users.objects.disable((await users.objects.get({ email: ann.email })) as never);

  expect((await prove({ pending, code: recovery[0] })).json()).toMatchObject(EXPIRED);
});

it("a newer sign-in replaces the one that waits for the second factor", async () => {
  const { login, prove, enrol } = await factorHarness();
  const { recovery } = await enrol(cookieHeader(await login()));
  const { pending } = (await login()).json() as Problem;
  const { pending: newer } = (await login()).json() as Problem;

  expect((await prove({ pending, code: recovery[0] })).json()).toMatchObject(EXPIRED);
  expect((await prove({ pending: newer, code: recovery[1] })).status).toBe(200);
});

it("a reset link is used once, even if it is redeemed while the password is checked", async () => {
  const { post, mails, events } = await world();
  await post("/password/reset", { email: ann.email });
  await expect.poll(() => mails).toHaveLength(1);
  const token = tokenOf(mails, "reset");

  const both = await Promise.all(
    ["a much better password", "another good password"].map((word) =>
      post("/password/reset/confirm", { token, password: word }),
    ),
  );
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 400]);
  expect(both.find(({ status }) => status === 400)?.json()).toMatchObject(INVALID);
  expect(events.filter(({ kind }) => kind === "password_reset")).toHaveLength(1);
});

it("a reset link is invalid if the address was changed since, and a verification link too", async () => {
  const { post, mails, users } = await world({ account: { verifyEmail: true } });
  await post("/password/reset", { email: ann.email });
  await post("/verify/request", { email: ann.email });
  await expect.poll(() => mails).toHaveLength(2);
  const user = (await users.objects.get({ email: ann.email })) as never;
  await users.objects.setEmail(user, "new@example.org");

  const reset = await post("/password/reset/confirm", { token: tokenOf(mails, "reset"), password: "a better one" });
  expect(reset.json()).toMatchObject(INVALID);
  expect((await post("/verify", { token: tokenOf(mails, "verify") })).json()).toMatchObject(INVALID);
});

it("an email change fails as an invalid link if the address is taken, and as an error if the model fails", async () => {
  let failure: Error | undefined;
  const change: HarnessOptions = {
    objects: { setEmail: async () => (failure === undefined ? undefined : Promise.reject(failure)) },
  };
  const { post, mails, session } = await world({ ...owned, ...change });
  const headers = await session();
  const confirm = async (error: Error | undefined) => {
    failure = error;
    const count = mails.filter(({ kind }) => kind === "change_email").length;
    await post("/email", { email: "new@example.org" }, undefined, headers);
    await expect.poll(() => mails.filter(({ kind }) => kind === "change_email")).toHaveLength(count + 1);
    return post("/email/confirm", { token: tokenOf(mails, "change_email") }, undefined, headers);
  };

  expect((await confirm(new UserExists("email"))).json()).toMatchObject(INVALID);
  expect((await confirm(new Error("the database is down"))).status).toBe(500);
  expect((await confirm(undefined)).status).toBe(204);
});

it("an email change ends if its user is disabled", async () => {
  const { post, mails, session, users } = await world();
  const headers = await session();
  await post("/email", { email: "new@example.org" }, undefined, headers);
  await expect.poll(() => mails).toHaveLength(1);
  await users.objects.disable((await users.objects.get({ email: ann.email })) as never);

  const confirmed = await post("/email/confirm", { token: tokenOf(mails, "change_email") }, undefined, headers);
  expect(confirmed.json()).toMatchObject({ status: 401, code: "unauthenticated" });
});

it("a password change fails if another one was first", async () => {
  let isBeaten = false;
  const { post, session, users } = await world({
    objects: {
      setPassword: async () => {
        isBeaten = true;
        return false;
      },
    },
  });
  const headers = await session();
  const change = { current_password: password, new_password: "a much better password" };

  expect((await post("/password", change, undefined, headers)).json()).toMatchObject({ code: "invalid_credentials" });
  expect(isBeaten).toBe(true);
  expect(await users.objects.authenticate("ann", password)).not.toBe(null);
});

it("a reset revokes everything that it can if one of its steps fails", async () => {
  const { post, mails, session, client, store, users } = await world(owned);
  const headers = await session();
  const { key } = (await post("/keys", {}, undefined, headers)).json() as { key: string };
  await post("/password/reset", { email: ann.email });
  await expect.poll(() => mails.filter(({ kind }) => kind === "reset")).toHaveLength(1);
  store.before = (operation, name) => {
    if (operation === "set" && name.startsWith("refresh-epoch:")) throw new Error("the store is full");
  };
  const reset = await post("/password/reset/confirm", { token: tokenOf(mails, "reset"), password: "a better one" });

  expect(reset.status).toBe(500);
  expect((await client.get("/account/me", { headers })).status).toBe(401);
  expect((await client.get("/account/me", { headers: { "x-api-key": key } })).status).toBe(401);
  expect(await users.objects.get({ email: ann.email })).toMatchObject({ isVerified: true });
});

it("a registration is refused if another user takes the username meanwhile, and accepted if one takes the address", async () => {
  let isTaken = true;
  const { post } = await world({
    objects: {
      createUser: async () => Promise.reject(isTaken ? new UserExists("username") : new UserExists("email")),
    },
  });
  const bob = { email: "bob@example.org", username: "bob", password };

  expect((await post("/register", bob)).json()).toMatchObject({ status: 409, code: "user_exists" });
  isTaken = false;
  expect((await post("/register", bob)).status).toBe(202);
});

it("a change to the address that the user already has is confirmed like any other", async () => {
  const { post, mails, session } = await world();
  await post("/email", { email: "ANN@example.org" }, undefined, await session());

  await expect.poll(() => mails).toMatchObject([{ kind: "change_email", to: "ANN@example.org" }]);
});
