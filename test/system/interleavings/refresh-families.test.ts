import { equal, notEqual, ok } from "node:assert/strict";
import { type Arbitrary, array, assert, asyncProperty, boolean, constantFrom } from "fast-check";
import {
  AuthenticationFailed,
  revokeRefreshToken,
  revokeRefreshTokensOf,
  rotateRefreshToken,
  SimpleUser,
  TokenForUser,
} from "portico/auth";
import { manualClock } from "portico/testing";
import { expect, it } from "vitest";
import { RecordingStore } from "../../auth/sessions/recording-store.ts";
import { SECRET } from "../../auth/tokens/token-app.ts";
import { schedules, step } from "./schedules.ts";

type Kind = "refresh" | "revoke" | "revoke all" | "sign in";
const kinds: Arbitrary<readonly Kind[]> = array(
  constantFrom<Kind>("refresh", "refresh", "refresh", "revoke", "revoke all", "sign in"),
  { minLength: 2, maxLength: 5 },
);

it("leaves one successor or no family at all, in any order of refreshes, revocations and sign-ins", async () => {
  const run = asyncProperty(schedules(), kinds, boolean(), async (s, acts, strictRefresh) => {
    const clock = manualClock(1_800_000_000_000);
    const store = new RecordingStore({ clock });
    let reuses = 0;
    const options = { secret: SECRET, clock, refreshStore: store, strictRefresh, onReuse: () => void reuses++ };
    const ann = new SimpleUser("ann");
    const begin = async (): Promise<string> =>
      (await new TokenForUser(ann, options).tokenPair()).refresh_token as string;
    /** The successor, or `null` if the token is rejected. */
    const refresh = async (token: string): Promise<string | null> => {
      try {
        return (await rotateRefreshToken(token, SimpleUser, options)).refresh_token as string;
      } catch (error) {
        if (error instanceof AuthenticationFailed) return null;
        throw error;
      }
    };
    const first = await begin();
    let time = 0;
    store.before = (operation) => step(s, operation);

    const done = await s.waitFor(
      Promise.all(
        acts.map(async (kind) => {
          await step(s, kind);
          const from = ++time;
          const result =
            kind === "refresh"
              ? await refresh(first)
              : kind === "sign in"
                ? await begin()
                : kind === "revoke"
                  ? await revokeRefreshToken(first, options)
                  : await revokeRefreshTokensOf("ann", options);
          return { kind, result, from, to: ++time };
        }),
      ),
    );
    store.before = () => {};

    const of = (kind: Kind) => done.filter((each) => each.kind === kind);
    const successors = of("refresh").flatMap(({ result }) => (typeof result === "string" ? [result] : []));
    const isRevoked = of("revoke").some(({ result }) => result === true) || of("revoke all").length > 0;
    const isReused = strictRefresh && of("refresh").length > 1;
    ok(new Set(successors).size <= 1, "two successors");
    if (strictRefresh) ok(successors.length <= 1, "a strict token was used twice");
    if (!isRevoked) equal(successors.length, strictRefresh ? Math.min(1, of("refresh").length) : of("refresh").length);
    ok(reuses <= 1);
    if (isReused && !isRevoked) equal(reuses, 1);
    const [successor] = successors;
    if (successor !== undefined) equal((await refresh(successor)) !== null, !isRevoked && !isReused);
    if (isRevoked || isReused) equal(await refresh(first), null);

    for (const { result, from, to } of of("sign in")) {
      const next = await refresh(result as string);
      if (of("revoke all").some((sweep) => to < sweep.from)) equal(next, null);
      else if (of("revoke all").every((sweep) => sweep.to < from)) notEqual(next, null);
    }
  });

  await expect(assert(run, { numRuns: 250 })).resolves.toBeUndefined();
});
