import { memoryStores } from "portico";
import { github } from "portico/auth";
import { manualClock, type TestResponse } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { MemoryKeyValue } from "../../../src/stores/memory-key-value.ts";
import { type AccountHarness, accountHarness, ann, type HarnessOptions, password } from "./account-harness.ts";

const DAY = 86_400_000;

interface World extends AccountHarness {
  readonly clock: ReturnType<typeof manualClock>;
  readonly login: (cookie?: string, path?: "/login" | "/token", from?: string) => Promise<TestResponse>;
}

async function world(account: HarnessOptions["account"] = {}): Promise<World> {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const harness = accountHarness({
    stores: { ...memoryStores(), durable: new MemoryKeyValue({ clock }) },
    app: { clock },
    account: {
      knownDevices: true,
      signInMails: true,
      providers: [github({ clientId: "id", clientSecret: "secret" })],
      ...account,
    },
  });
  onTestFinished(() => harness.app.close());
  await harness.users.objects.createUser(ann);
  const login: World["login"] = (cookie, path = "/login", from = "203.0.113.1") =>
    harness.post(path, { identifier: "ann", password }, from, cookie === undefined ? {} : { cookie });
  return { ...harness, clock, login };
}

/** The cookie with this name: its pair, and its sorted attributes. */
function cookieIn({ cookies }: TestResponse, name: string): readonly [pair: string, attributes: readonly string[]] {
  const [pair = "", ...attributes] =
    cookies.find((cookie) => cookie.startsWith(`__Host-portico_${name}=`))?.split("; ") ?? [];
  return [pair, attributes.toSorted()];
}

const attributesFor = (seconds: number): readonly string[] => [
  "HttpOnly",
  `Max-Age=${seconds}`,
  "Path=/",
  "SameSite=Lax",
  "Secure",
];

describe("the cookie of a known device", () => {
  it("lasts half a year, and keeps its value", async () => {
    const { login } = await world();
    const [pair, attributes] = cookieIn(await login(), "device");

    expect(pair).toMatch(/^__Host-portico_device=[\w-]{43}$/);
    expect(attributes).toEqual(attributesFor(182 * 86_400));
    expect(cookieIn(await login(pair), "device")).toEqual([pair, attributes]);
  });

  it.each([
    ["too short", (pair: string) => pair.slice(0, -1)],
    ["too long", (pair: string) => `${pair}A`],
    ["sent twice", (pair: string) => `${pair}; ${pair}`],
    ["another cookie", (pair: string) => pair.replace("device", "gadget")],
  ])("gets a new value if it is %s", async (_, change) => {
    const { login } = await world();
    const [pair] = cookieIn(await login(), "device");
    const [next] = cookieIn(await login(change(pair)), "device");

    expect(next).toMatch(/^__Host-portico_device=[\w-]{43}$/);
    expect(next).not.toBe(pair);
  });

  it("is forgotten half a year after the last sign-in", async () => {
    const { login, clock, mails, app, events } = await world();
    const [pair] = cookieIn(await login(), "device");
    clock.advance(182 * DAY - 1);
    await login(pair);
    clock.advance(182 * DAY - 1);
    await login(pair);
    expect(events.filter(({ kind }) => kind === "new_device")).toEqual([]);
    clock.advance(182 * DAY);
    await login(pair);
    await app.close();

    expect(events.filter(({ kind }) => kind === "new_device")).toHaveLength(1);
    expect(mails).toMatchObject([{ to: ann.email, kind: "new_device", url: null }]);
  });

  it("is not sent to an app, which is known by its name and network", async () => {
    const { login, events } = await world();
    const first = await login(undefined, "/token");
    await login(undefined, "/token");
    const known = events.filter(({ kind }) => kind === "new_device").length;
    await login(undefined, "/token", "198.51.100.1");

    expect(first.cookies).toEqual([]);
    expect([known, events.filter(({ kind }) => kind === "new_device").length]).toEqual([0, 1]);
  });
});

it("an app with another name in the same network is a new device", async () => {
  const { post, events } = await world();
  const body = { identifier: "ann", password };
  for (const name of ["Shop/1.0", "Shop/1.0", "Till/1.0"])
    await post("/token", body, undefined, { "user-agent": name });

  expect(events.filter(({ kind }) => kind === "new_device")).toMatchObject([{ device: "Unknown device" }]);
});

describe("the cookie of a sign-in by email", () => {
  it("lasts ten minutes, has a new value for each email, and is deleted with its use", async () => {
    const { post, mails } = await world();
    const first = cookieIn(await post("/sign-in-mail", { email: ann.email }), "sign_in");
    const again = await post("/sign-in-mail", { email: ann.email }, undefined, { cookie: first[0] });
    const second = cookieIn(again, "sign_in");
    await expect.poll(() => mails.filter(({ kind }) => kind === "sign_in")).toHaveLength(2);
    const done = await post("/sign-in-mail/confirm", { code: mails.at(-1)?.code }, undefined, { cookie: second[0] });

    expect([first[1], second[1]]).toEqual([attributesFor(600), attributesFor(600)]);
    expect(second[0]).not.toBe(first[0]);
    expect(done.status).toBe(200);
    expect(cookieIn(done, "sign_in")).toEqual(["__Host-portico_sign_in=", expect.arrayContaining(["Max-Age=0"])]);
  });
});

describe("the cookie of a sign-in with a provider", () => {
  it("lasts ten minutes, and keeps its value, so that several tabs can sign in", async () => {
    const { client } = await world();
    const first = cookieIn(await client.get("/account/providers/github"), "provider");
    const second = cookieIn(
      await client.get("/account/providers/github", { headers: { cookie: first[0] } }),
      "provider",
    );

    expect(first[1]).toEqual(attributesFor(600));
    expect(second).toEqual(first);
  });
});
