import type { TestResponse } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AccountHarness, accountHarness, ann, password } from "./account-harness.ts";

type Headers = Readonly<Record<string, string>>;

async function world(knownDevices = true): Promise<AccountHarness & { readonly told: () => readonly string[] }> {
  const harness = accountHarness({ account: { knownDevices } });
  onTestFinished(() => harness.app.close());
  await harness.users.objects.createUser(ann);
  const { mails } = harness;
  return { ...harness, told: () => mails.flatMap(({ kind, device }) => (kind === "new_device" ? (device ?? "") : [])) };
}

/** The cookie of the device, without the session. */
const deviceOf = ({ cookies }: TestResponse): Headers => {
  const [cookie = ""] = cookies.filter((text) => text.startsWith("__Host-portico_device="));
  return { cookie: cookie.split(";")[0] ?? "" };
};
const firefox = { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };
const right = { identifier: ann.email, password };
const wrong = { identifier: ann.email, password: "not the password" };

describe("a sign-in", () => {
  it("[auth:AU-274] on a new device is told to the user, except for the first device of the account", async () => {
    const { post, told } = await world();
    const first = await post("/login", right);
    await post("/login", right, "203.0.113.2", deviceOf(first));
    const before = told();

    await post("/login", right, "203.0.113.3", firefox);

    await expect.poll(told).toEqual(["Firefox on Linux"]);
    expect(before).toEqual([]);
  });

  it("by tokens is told once for an app in a network", async () => {
    const { post, told, events } = await world();
    await post("/login", right);

    for (let n = 0; n < 3; n++) await post("/token", right, "198.51.100.7", { "user-agent": "Shop/1.0" });

    await expect.poll(told).toEqual(["Unknown device"]);
    expect(events.filter(({ kind }) => kind === "new_device")).toHaveLength(1);
  });

  it("that fails remembers nothing", async () => {
    const { post } = await world();

    expect((await post("/login", wrong)).cookies).toEqual([]);
  });

  it("on a known device of another user is told, too", async () => {
    const { post, users, told } = await world();
    await users.objects.createUser({ ...ann, email: "bob@example.org", username: "bob" });
    const device = deviceOf(await post("/login", right));
    await post("/login", { ...right, identifier: "bob" });

    await post("/login", { ...right, identifier: "bob" }, "203.0.113.4", { ...device, ...firefox });

    await expect.poll(told).toEqual(["Firefox on Linux"]);
  });
});

describe("attempts", () => {
  it("[auth:AU-275] of strangers do not lock the owner out of a known device, by either name, but out of a new one", async () => {
    const { post } = await world();
    const device = deviceOf(await post("/login", right));
    for (let n = 0; n < 60; n++) await post("/login", wrong, `198.51.100.${n}`);

    const known = await post("/login", right, "203.0.113.1", device);
    const unknown = await post("/login", right, "203.0.113.5");

    expect([known.status, unknown.status]).toEqual([200, 429]);
  });

  it("on a known device are limited as well", async () => {
    const { post } = await world();
    const device = deviceOf(await post("/login", right));
    const statuses: number[] = [];

    for (let n = 0; n < 12; n++) statuses.push((await post("/login", wrong, `198.51.100.${n}`, device)).status);

    expect(statuses.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 401));
    expect(statuses.slice(10)).toEqual([429, 429]);
  });

  it("[auth:AU-276] on the known device of another user count for the account", async () => {
    const { post, users } = await world();
    await users.objects.createUser({ ...ann, email: "bob@example.org", username: "bob" });
    const bobs = deviceOf(await post("/login", { ...right, identifier: "bob" }));
    for (let n = 0; n < 50; n++) await post("/login", wrong, `198.51.100.${n}`, bobs);

    expect((await post("/login", right, "203.0.113.5")).status).toBe(429);
  });
});

it("without the option there is no cookie and no email", async () => {
  const { post, mails } = await world(false);
  const answers = [await post("/login", right), await post("/login", right, "203.0.113.3", firefox)];

  expect(answers.map(({ cookies }) => cookies.length)).toEqual([1, 1]);
  expect(mails).toEqual([]);
});
