import { JWTAuthBackend, TokenForUser } from "portico/auth";
import type { PersonUser } from "./person-user.ts";

const secret = process.env["SECRET"] ?? "a secret for development only, 32 bytes";
const issuer = "helpdesk";

/** Accepts the tokens of the login route, including those that were issued before Portico was added. */
export const tokenBackend = new JWTAuthBackend({ secretKey: secret, issuer, identifier: "sub" });

export async function issueToken(user: PersonUser): Promise<string> {
  const { access_token } = await new TokenForUser(user, { secret, issuer, accessSeconds: 8 * 3600 }).tokenPair();
  return access_token;
}
