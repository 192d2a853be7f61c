import { generateKeyPairSync } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { PorticoRequest } from "portico";
import { JWTAuthBackend, publicKeySet } from "portico/auth";
import { testClient } from "portico/testing";
import { expect, it } from "vitest";
import { backendFor, bearing, claims, encode, forge, OTHER_SECRET, tokenApp } from "../tokens/token-app.ts";

const TOKENS = 20_000;
/** 50 bytes for each of them. */
const MAX_GROWTH_BYTES = 1024 ** 2;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const heldBytes = (): number => {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
};
const carrying = (token: string): PorticoRequest =>
  ({ headers: { authorization: `Bearer ${token}` } }) as Partial<PorticoRequest> as PorticoRequest;

it("20,000 invalid tokens leave no memory behind", async () => {
  const keys = publicKeySet(generateKeyPairSync("ed25519").privateKey);
  const backends = [backendFor({ cache: 1_000 }), new JWTAuthBackend({ jwks: keys, identifier: "sub", cache: 1_000 })];
  const tail = forge(claims, undefined, OTHER_SECRET).split(".").slice(1).join(".");
  /** Each has a different header, claims or format. Every fourth is rejected only by its signature. */
  const bad = (count: number): string => {
    if (count % 4 === 0) return forge({ ...claims, jti: `${count}` }, undefined, OTHER_SECRET);
    const header = { alg: count % 2 === 0 ? "EdDSA" : "HS512", kid: `key ${count}` };
    return count % 3 === 0 ? `${count}.${encode(header)}` : `${encode(header)}.${tail}`;
  };
  const send = async (from: number, to: number): Promise<void> => {
    for (let count = from; count < to; count++)
      for (const backend of backends) expect((await backend.authenticate(carrying(bad(count)))).success).toBe(false);
  };
  await send(0, 2_000);

  const before = heldBytes();
  await send(2_000, 2_000 + TOKENS / backends.length);

  expect(heldBytes() - before).toBeLessThan(MAX_GROWTH_BYTES);
  const { app } = tokenApp(backends);
  expect((await testClient(app).get("/gated", bearing(forge(claims)))).status).toBe(200);
});
