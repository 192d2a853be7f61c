import { equal, ok } from "node:assert/strict";
import { type Arbitrary, array, assert, asyncProperty, constantFrom, nat, record } from "fast-check";
import { revoked, type Stores } from "portico";
import { manualClock, testClient } from "portico/testing";
import { expect, it } from "vitest";
import { RecordingStore } from "../../auth/sessions/recording-store.ts";
import { cookieOf, sessionApp, signIn } from "../../auth/sessions/session-app.ts";
import { schedules, step } from "./schedules.ts";

type Kind = "use" | "sign in" | "sign in again" | "sign out" | "revoke" | "revoke others" | "revoke all";
interface Act {
  readonly kind: Kind;
  /** The session whose cookie the request brings. */
  readonly by: number;
  /** The session that `revoke` names. */
  readonly target: number;
}
const act: Arbitrary<Act> = record({
  kind: constantFrom<Kind>("use", "sign in", "sign in again", "sign out", "revoke", "revoke others", "revoke all"),
  by: nat(2),
  target: nat(2),
});

/** The sessions, of three at the start, that an act may end. */
function mayEnd({ kind, by, target }: Act): readonly number[] {
  if (kind === "sign out" || kind === "sign in again") return [by];
  if (kind === "revoke") return [target];
  if (kind === "revoke others") return [0, 1, 2].filter((n) => n !== by);
  return kind === "revoke all" ? [0, 1, 2] : [];
}

it("signs in, renews, signs out and revokes in any order without reviving or losing a session", async () => {
  const run = asyncProperty(schedules(), array(act, { minLength: 2, maxLength: 4 }), async (s, acts) => {
    const clock = manualClock(1_000_000);
    const store = new RecordingStore({ clock });
    const app = sessionApp({ durable: store, clock });
    const client = testClient(app);
    const sessions = [await signIn(client, "ann"), await signIn(client, "ann"), await signIn(client, "ann")];
    const bob = await signIn(client, "bob");
    const listed = (await client.get("/sessions", sessions[0])).json() as readonly { readonly id: string }[];
    const handles = listed.map(({ id }) => id).toReversed();
    const told = revocations(app.stores);
    const at = (n: number) => sessions[n] ?? {};
    const isLive = async (request: object): Promise<boolean> => (await client.get("/me", request)).status === 200;
    store.before = (operation) => step(s, operation);

    const answers = await s.waitFor(
      Promise.all(
        acts.map(async ({ kind, by, target }) => {
          await step(s, kind);
          if (kind === "sign in") return client.post("/login/ann");
          if (kind === "sign in again") return client.post("/login/ann", at(by));
          if (kind === "sign out") return client.post("/logout", at(by));
          if (kind === "revoke") return client.delete(`/sessions/${handles[target]}`, at(by));
          if (kind === "revoke others") return client.post("/revoke-others", at(by));
          return kind === "revoke all" ? client.post("/revoke-all", at(by)) : client.get("/me", at(by));
        }),
      ),
    );
    store.before = () => {};

    const done = acts.map((each, index) => {
      const { status } = answers[index] ?? {};
      const isDone = each.kind.startsWith("revoke ") ? answers[index]?.json() !== 0 : status === 200 || status === 204;
      return { ...each, isDone, status };
    });
    const [ended, doubtful] = [done.filter(({ isDone }) => isDone).flatMap(mayEnd), acts.flatMap(mayEnd)];
    const live = await Promise.all(sessions.map(isLive));
    for (const n of ended) equal(live[n], false, `session ${n} was ended`);
    for (const n of [0, 1, 2].filter((session) => !doubtful.includes(session)))
      equal(live[n], true, `session ${n} was not ended`);
    for (const n of ended) ok(told.includes(`session:${handles[n]}`), "a revocation was not published");
    for (const { kind, by, status } of done)
      if (kind === "use" && !doubtful.includes(by)) equal(status, 200, "a use of a live session");

    const started = answers.flatMap((answer, index) =>
      acts[index]?.kind.startsWith("sign in") ? [{ status: answer.status, cookie: cookieOf(answer) ?? "" }] : [],
    );
    const sweeps = acts.filter(({ kind }) => kind === "revoke others" || kind === "revoke all").length;
    const fresh = await Promise.all(started.map(({ cookie }) => isLive({ headers: { cookie } })));
    for (const [index, { status }] of started.entries()) {
      ok(status === 200 || sweeps >= 3);
      if (sweeps === 0) equal(fresh[index], true, "a new session that nothing has ended");
    }
    const living = [
      ...sessions.filter((_, index) => live[index]),
      ...started.filter((_, index) => fresh[index]).map(({ cookie }) => ({ headers: { cookie } })),
    ];
    for (const session of living)
      equal(((await client.get("/sessions", session)).json() as readonly unknown[]).length, living.length);
    if (living[0] !== undefined) await client.post("/revoke-all", living[0]);
    for (const session of living) equal(await isLive(session), false, "after the last revocation");
    equal(await isLive(bob), true);
  });

  await expect(assert(run, { numRuns: 150 })).resolves.toBeUndefined();
});

/** The credentials that are published as revoked. */
function revocations({ bus }: Stores): readonly string[] {
  const told: string[] = [];
  void (async () => {
    for await (const { credential } of bus.subscribe(revoked)) told.push(credential ?? "");
  })();
  return told;
}
