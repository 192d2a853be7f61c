import { PorticoApp } from "portico";
import { AuthenticationFailed, PasswordHasher, type PasswordOptions } from "portico/auth";
import type { LogCatcher } from "portico/testing";

/** A cheap dummy, because tests of behaviour need no cost. */
export const CHEAP: NonNullable<PasswordOptions["legacyCosts"]> = { bcrypt: 4, scrypt: 1_024, pbkdf2: 1_000 };

/** An application with passwords and nothing else: `users` has what is stored of each. */
export function loginApp(
  users: Map<string, string>,
  { logger, ...options }: PasswordOptions & { readonly logger?: LogCatcher } = {},
): PorticoApp {
  const passwords = new PasswordHasher({ legacyCosts: CHEAP, ...options });
  const app = new PorticoApp({ logger: logger ?? false });
  const read = async (request: { json(): Promise<unknown> }): Promise<{ name: string; password: string }> =>
    (await request.json()) as { name: string; password: string };
  app.post("/sign-up", async ({ request }) => {
    const { name, password } = await read(request);
    users.set(name, await passwords.hash(password));
    return "welcome";
  });
  app.post("/login", async ({ request }) => {
    const { name, password } = await read(request);
    const { isRight, needsRehash } = await passwords.verify(password, users.get(name) ?? null);
    if (!isRight) throw new AuthenticationFailed("Incorrect username or password");
    return { needsRehash };
  });
  return app;
}
