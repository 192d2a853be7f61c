import { type ManualClock, manualClock } from "portico/testing";
import { type SessionLimits, SessionStore } from "../../../src/auth/sessions/session-store.ts";
import { RecordingStore } from "./recording-store.ts";

export const HOUR = 3_600_000;
export const DAY: number = 24 * HOUR;
export const START = 1_800_000_000_000;

export const limits: SessionLimits = {
  plain: { idleMs: 2 * HOUR, absoluteMs: DAY },
  remembered: { idleMs: 14 * DAY, absoluteMs: 30 * DAY },
  maxPerUser: 3,
};

export const draft = { user: "ann", device: "test", address: "::1", isRemembered: false } as const;

/** Sessions with these limits, in a store that records its calls. The time is {@link START}. */
export function recordedSessions(): {
  readonly clock: ManualClock;
  readonly store: RecordingStore;
  readonly sessions: SessionStore;
} {
  const clock = manualClock(START);
  const store = new RecordingStore({ clock });
  return { clock, store, sessions: new SessionStore(store, clock, limits) };
}
