import { APIKeys, type RefreshOptions, rotateRefreshToken, SimpleUser } from "portico/auth";
import { manualClock, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { SealedText } from "../../src/auth/factors/sealed-text.ts";
import { RecordingStore } from "./sessions/recording-store.ts";
import { COOKIE, sessionApp } from "./sessions/session-app.ts";
import { SECRET } from "./tokens/token-app.ts";

// A release must accept the credentials that the release before it has issued, and find its entries in the store.
// The texts below were written by version 0.0.0.

const START = 1_800_000_000_000;

async function storeWith(entries: Readonly<Record<string, string>>) {
  const clock = manualClock(START);
  const store = new RecordingStore({ clock });
  for (const [key, value] of Object.entries(entries)) await store.set(key, value);
  return { clock, store };
}

describe("credentials of an earlier release", () => {
  it("a refresh token is accepted, and has the same successor", async () => {
    const family = {
      identity: "ann",
      sid: "s1",
      epoch: "QtN9UHG-d0BWCreB",
      endsAt: 1_802_592_000_000,
      idleUntil: 1_801_209_600_000,
      generation: 0,
      newest: "k-4WmoOmr0XSg4CF2ifv-h_hfA5viEbPT_2u-4HKruI",
      spent: [],
    };
    const { clock, store } = await storeWith({
      "refresh-epoch:SZFeDX1LQC4wF9AQvBwOg8rGx5fWwW5mNA_jJoaTpqE": "QtN9UHG-d0BWCreB",
      "refresh:eqw0Wm7VWqQWJNTUDTza_LR-12EpMikF4JAAvbewa24": JSON.stringify(family),
    });
    const options: RefreshOptions = { secret: SECRET, refreshStore: store, clock };
    const token = "prt_PnzE8phgcMTrHxo8jUoJuAAAAAAClkMzBZNgd4SCFcTOfosyZrh4YITcWHVMHqI3QktT3X-OcFDnamHLCsYqDUuhYug";

    expect((await rotateRefreshToken(token, SimpleUser, options)).refresh_token).toBe(
      "prt_PnzE8phgcMTrHxo8jUoJuAAAAAHBlcFDUOng2XFyyfcgxGOxLaVWyCxCF6foVS4fwhquajZ5LMonti8moAeQUXGutpQ",
    );
    const stored = store.entries.get("refresh:eqw0Wm7VWqQWJNTUDTza_LR-12EpMikF4JAAvbewa24") as string;
    expect(JSON.parse(stored)).toEqual({
      ...family,
      generation: 1,
      newest: "zd2PfOs7SEhCHCNGYdxfZdgNVvaYbM0z1YwcWVqQrqE",
      spent: [[family.newest, START]],
    });
  });

  it("a session cookie is accepted, and its session is in the list of its user", async () => {
    const handle = "S7Bvjk46dxXSAdVz0KpCN2LlXavWGiwCJ4-lbMbSlOA";
    const record = {
      user: "ann",
      device: "Firefox on Linux",
      address: "203.0.113.1",
      isRemembered: false,
      issuedAt: START,
      seenAt: START,
      lifetimeMs: 86_400_000,
      isPending: false,
    };
    const { clock, store } = await storeWith({
      [`session:${handle}`]: JSON.stringify(record),
      "sessions-of:zseEWUcu7YufRiXxVf1wWtkG6uU1KnafXJpKB1q3514": JSON.stringify([handle]),
    });
    const cookie = `${COOKIE}=BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc.fVQY09_60lp8HbuNV3gCPByYehgKb33IRWyjgcMOcPI`;
    const client = testClient(sessionApp({ durable: store, clock }));

    expect((await client.get("/sessions", { headers: { cookie } })).json()).toEqual([
      {
        id: handle,
        current: true,
        device: "Firefox on Linux",
        address: "203.0.113.1",
        createdAt: new Date(START).toISOString(),
        lastSeenAt: new Date(START).toISOString(),
        expiresAt: new Date(START + 7_200_000).toISOString(),
      },
    ]);
  });

  it("an API key is accepted, and is in the list of its owner", async () => {
    const record = {
      user: "ann",
      hash: "Sr1nyvKkC1FJrA9slRNejH9USJnUQKZYbBr26a-QxwA",
      lastFour: "5Hk4",
      name: "backup",
      permissions: null,
      perMinute: null,
      createdAt: START,
      expiresAt: 1_831_536_000_000,
      lastUsedAt: null,
      previous: null,
      isPending: false,
    };
    const { clock, store } = await storeWith({
      "apikey:g8HspRgmlZw6": JSON.stringify(record),
      "apikeys-of:zseEWUcu7YufRiXxVf1wWtkG6uU1KnafXJpKB1q3514": '["g8HspRgmlZw6"]',
    });
    const keys = new APIKeys({ store, clock });

    expect(await keys.verify("pk_g8HspRgmlZw6_RSy4mP7PXZx0KfE9lQeEvQMxKtUY4knBUmPg7A2UXIL0D5Hk4")).toMatchObject({
      user: "ann",
      name: "backup",
    });
    expect((await keys.list(new SimpleUser("ann"))).map(({ id }) => id)).toEqual(["g8HspRgmlZw6"]);
  });

  it("the secret of an authenticator app is decrypted, for its own user only", () => {
    const keys = new SealedText([SECRET], "second factor");
    const sealed = "I2MePr4zk0crs_zWHVJBGGJfur5w5MZyL6YqVSfMi5R5HZSqLibazXJgYtQ";

    expect(keys.open(sealed, "ann")).toBe("GEZDGNBVGY3TQOJQ");
    expect(keys.open(sealed, "bob")).toBe(null);
    expect(new SealedText([SECRET], "another purpose").open(sealed, "ann")).toBe(null);
    const [short, empty] = [Buffer.alloc(27).toString("base64url"), keys.seal("", "ann")];
    expect([keys.open("", "ann"), keys.open(short, "ann"), keys.open(empty, "ann")]).toEqual([null, null, ""]);
  });
});
