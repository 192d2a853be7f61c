import { eq } from "drizzle-orm";
import type { FastifyRequest } from "fastify";
import { jwtVerify, SignJWT } from "jose";
import type { Database } from "../shared/database.ts";
import { type CustomerRow, customers } from "../shared/tables.ts";

const ISSUER = "shop";
const AUDIENCE = "shop";
const LIFETIME = "1h";

export function signToken(customer: CustomerRow, secret: string): Promise<string> {
  return new SignJWT({})
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setSubject(customer.id)
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setIssuedAt()
    .setExpirationTime(LIFETIME)
    .sign(Buffer.from(secret));
}

/** Returns the customer who sent the request, or `null` if the token is missing or invalid. */
export async function customerOf(request: FastifyRequest, db: Database, secret: string): Promise<CustomerRow | null> {
  const [scheme, token] = request.headers.authorization?.split(" ") ?? [];
  if (scheme?.toLowerCase() !== "bearer" || token === undefined) return null;
  let id: string | undefined;
  try {
    const { payload } = await jwtVerify(token, Buffer.from(secret), {
      algorithms: ["HS256"],
      issuer: ISSUER,
      audience: AUDIENCE,
    });
    id = payload.sub;
  } catch {
    return null;
  }
  if (id === undefined) return null;
  const [customer] = await db.select().from(customers).where(eq(customers.id, id));
  return customer ?? null;
}
