import { AuthenticationMiddleware, JWTAuthBackend, limitLogin, PasswordHasher, TokenForUser } from "portico/auth";
import { database } from "../database.ts";
import { settings } from "../settings.ts";
import { User } from "./user.ts";

const { secret, audience } = settings;

/** Authenticates every request. It accepts the tokens that the old version issued, and the other way round. */
export const signIn = new AuthenticationMiddleware({
  userModel: User,
  backend: new JWTAuthBackend({ secretKey: secret, audience, identifier: "sub" }),
});

const passwords = new PasswordHasher({ accepts: ["bcrypt"], legacyCosts: { bcrypt: 10 } });

/** Returns an access token, or null if the email address or the password is incorrect. */
export async function accessToken(email: string, password: string): Promise<string | null> {
  const user = await limitLogin(email, async () => {
    const row = await database.selectFrom("users").selectAll().where("email", "=", email).executeTakeFirst();
    const { isRight } = await passwords.verify(password, row?.passwordHash ?? null);
    return isRight && row !== undefined ? new User(row) : null;
  });
  if (user === null) return null;
  return (await new TokenForUser(user, { secret, audience, accessSeconds: 3600 }).tokenPair()).access_token;
}
