import { generateKeyPairSync } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { PorticoApp } from "portico";
import { AuthenticationMiddleware, JWTAuthBackend, SimpleUser, useAuth } from "portico/auth";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { SECRET } from "./token-app.ts";

const exp = Math.floor(Date.now() / 1000) + 600;
const iat = exp - 600;

describe("a token for a stand-in", () => {
  it("is accepted by the backend that signed it, with its identifier, issuer and first audience", async () => {
    const backend = new JWTAuthBackend({
      secretKey: SECRET,
      identifier: "uid",
      issuer: "us",
      audience: ["shop", "api"],
    });
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }))
      .get("/me", { auth: useAuth() }, ({ user }) => user.identity);
    const token = (await backend.tokenFor("ann", { exp, iat })) ?? "";

    expect(decodeJwt(token)).toEqual({ sub: "ann", uid: "ann", iss: "us", aud: "shop", exp, iat });
    expect(decodeProtectedHeader(token)).toEqual({ alg: "HS256", typ: "at+jwt" });
    const answer = await testClient(app).get("/me", { headers: { authorization: `Bearer ${token}` } });
    expect([answer.status, answer.json()]).toEqual([200, "ann"]);
  });

  it("has no issuer and audience if the backend checks none", async () => {
    const token = await new JWTAuthBackend({ secretKey: SECRET, identifier: "sub" }).tokenFor("ann", { exp });

    expect(decodeJwt(token ?? "")).toEqual({ sub: "ann", exp });
  });

  it("is missing if the backend only has public keys", async () => {
    const { publicKey } = generateKeyPairSync("ed25519");
    const backend = new JWTAuthBackend({ jwks: { keys: [publicKey.export({ format: "jwk" })] }, audience: "shop" });

    expect(await backend.tokenFor("ann", { exp })).toBe(null);
  });
});
