import { jwtVerify, SignJWT } from "jose";
import { prisma } from "../database/prisma.ts";
import type { Person } from "../generated/client.ts";

const secret = new TextEncoder().encode(process.env["SECRET"] ?? "a secret for development only, 32 bytes");
const ISSUER = "helpdesk";

export async function issueToken(person: Person): Promise<string> {
  return new SignJWT({})
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(person.id)
    .setIssuer(ISSUER)
    .setIssuedAt()
    .setExpirationTime("8h")
    .sign(secret);
}

/** Returns the person whose token an `Authorization` header carries, or `null`. */
export async function personOf(authorization: string | null | undefined): Promise<Person | null> {
  const [scheme, token] = authorization?.split(" ") ?? [];
  if (scheme !== "Bearer" || token === undefined) return null;
  try {
    const { payload } = await jwtVerify(token, secret, { issuer: ISSUER, algorithms: ["HS256"] });
    if (payload.sub === undefined) return null;
    return await prisma.person.findUnique({ where: { id: payload.sub } });
  } catch {
    return null;
  }
}
