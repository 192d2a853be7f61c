import { randomBytes } from "node:crypto";
import { readJson } from "../../core/read-json.ts";
import type { KeyValueStore } from "../../stores/key-value-store.ts";
import { discard } from "../../stores/revoke.ts";
import { sha256 } from "../records/sha256.ts";

const CHALLENGE_MS = 300_000;

/** The purpose that a challenge was issued for. */
export interface ChallengePurpose {
  readonly kind: "register" | "sign-in" | "prove";
  /** Names the browser, the session or the pending sign-in that may use it. */
  readonly bound: string;
}

/** Issues a challenge that is valid once, for five minutes and for this purpose. */
export async function issueChallenge(
  store: KeyValueStore,
  purpose: ChallengePurpose,
): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = new Uint8Array(randomBytes(32));
  const text = Buffer.from(challenge).toString("base64url");
  await store.set(keyOf(text), textOf(purpose), CHALLENGE_MS);
  return challenge;
}

/** Spends the challenge that a browser signed, and returns it. Returns `null` if it is not valid for this purpose. */
export async function redeemChallenge(
  store: KeyValueStore,
  clientDataJSON: unknown,
  purpose: ChallengePurpose,
): Promise<string | null> {
  const challenge = challengeIn(clientDataJSON);
  if (challenge === null) return null;
  const issuedFor = await store.get(keyOf(challenge));
  const isOnce = await discard(store, keyOf(challenge));
  return isOnce && issuedFor === textOf(purpose) ? challenge : null;
}

function challengeIn(clientDataJSON: unknown): string | null {
  if (typeof clientDataJSON !== "string") return null;
  const { value } = readJson(Buffer.from(clientDataJSON, "base64url").toString());
  const challenge = (value as { readonly challenge?: unknown } | null | undefined)?.challenge;
  return typeof challenge === "string" ? challenge : null;
}

function textOf({ kind, bound }: ChallengePurpose): string {
  return `${kind}:${sha256(bound)}`;
}

function keyOf(challenge: string): string {
  return `passkey-challenge:${sha256(challenge)}`;
}
