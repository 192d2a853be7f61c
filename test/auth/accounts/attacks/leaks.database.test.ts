import { createHash } from "node:crypto";
import { logCatcher } from "portico/testing";
import { expect, it, vi } from "vitest";
import { CredentialCatcher } from "../../../../scripts/log-scan/credential-catcher.ts";
import { cookieHeader } from "../../../sign-in.ts";
import { ann, tokenOf } from "../account-harness.ts";
import { accountsIn, SERVERS } from "../account-places.ts";

const passwords = {
  first: "the first pass phrase of ann / ü",
  wrong: "a wrong pass phrase of a stranger",
  short: "sevench",
  second: "the second pass phrase of ann",
  third: "the third pass phrase of ann",
};

accountsIn(SERVERS, (accounts, place) => {
  it("[REQ-01] [REQ-02] [REQ-12] [auth:AU-097] [auth:AU-146] [auth:AU-147] neither stores nor logs a password, token, cookie, key or link in any encoding", async () => {
    const log = logCatcher();
    const { post, mails, client, events } = accounts({ isOwned: true, app: { logger: log } });
    const caught = new CredentialCatcher();
    const dumps: string[] = [];
    const bodies: string[] = [];
    const step = async (path: string, body: object, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await post(path, body, `198.51.100.${dumps.length + 1}`, headers);
      caught.addAnswer(answer.cookies, answer.text());
      if (answer.status >= 400) bodies.push(answer.text());
      dumps.push(await place().dump());
      return answer;
    };
    const mailed = async (kind: Parameters<typeof tokenOf>[1]): Promise<string> => {
      await vi.waitFor(() => expect(mails.some((mail) => mail.kind === kind)).toBe(true), 60_000);
      const token = tokenOf(mails, kind);
      caught.add(token);
      return token;
    };

    const statuses: number[] = [];
    const told = async (path: string, body: object, headers?: Readonly<Record<string, string>>) => {
      const answer = await step(path, body, headers);
      statuses.push(answer.status);
      return answer;
    };
    await told("/register", { ...ann, password: passwords.short });
    await told("/register", { ...ann, password: passwords.first });
    await told("/register", { ...ann, username: "ann2", password: passwords.wrong });
    await told("/login", { identifier: "ann", password: passwords.wrong });
    await told("/login", { identifier: "nobody", password: passwords.first });
    const session = cookieHeader(
      await told("/login", { identifier: "ann", password: passwords.first, remember: true }),
    );
    const pair = (await told("/token", { identifier: "ann", password: passwords.first })).json() as Tokens;
    const next = (await told("/refresh", { refresh_token: pair.refresh_token })).json() as Tokens;
    await told("/refresh", { refresh_token: `${next.refresh_token}x` });
    await told("/refresh", { refresh_token: pair.access_token });
    const { key } = (await told("/keys", {}, session)).json() as { readonly key: string };
    await client.get("/account/me", { headers: { "x-api-key": key } });
    await client.get("/account/me", { headers: { "x-api-key": `${key}x` } });
    await client.get("/account/me", { headers: { authorization: `Bearer ${next.access_token}x` } });
    await told("/password", { current_password: passwords.wrong, new_password: passwords.second }, session);
    const renewed = cookieHeader(
      await told("/password", { current_password: passwords.first, new_password: passwords.second }, session),
    );
    await told("/email", { email: "ann@new.example" }, renewed);
    await told("/email/confirm", { token: await mailed("change_email") }, renewed);
    await told("/password/reset", { email: "ann@new.example" });
    const reset = await mailed("reset");
    await client.get(`/reset-password?token=${reset}`);
    await client.get(`/account/me?token=${reset}&access_token=${next.access_token}`);
    await told("/password/reset/confirm", { token: `${reset}x`, password: passwords.third });
    await told("/password/reset/confirm", { token: reset, password: passwords.third });
    await told("/password/reset/confirm", { token: reset, password: passwords.third });
    await told("/logout", { refresh_token: next.refresh_token }, renewed);
    await vi.waitFor(() => expect(mails.at(-1)?.kind).toBe("password_changed"), 60_000);

    expect(statuses.slice(0, 10)).toEqual([422, 202, 202, 401, 401, 200, 200, 200, 401, 401]);
    expect(statuses.slice(10)).toEqual([201, 401, 204, 202, 204, 202, 400, 204, 400, 204]);
    const stored = dumps.join("\n");
    const everything = [stored, log.text, bodies.join("\n"), JSON.stringify(events)].join("\n");
    expect(stored.match(/\$argon2id\$v=19\$m=19456,t=2,p=1\$/g)?.length).toBeGreaterThan(10);
    expect(log.lines.length).toBeGreaterThan(30);
    expect(caught.size).toBeGreaterThan(8);
    for (const text of Object.values(passwords))
      for (const form of formsOf(text)) expect(everything.includes(form), `${form} is readable`).toBe(false);
    expect(caught.leaksIn(everything)).toEqual([]);
    // The hash of a password is in the store alone.
    expect([log.text, bodies.join(), JSON.stringify(events)].join()).not.toContain("argon2");
  });
});

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** The password in encodings, and in hashes that a list of passwords is compared with in no time. */
function formsOf(text: string): readonly string[] {
  const bytes = [Buffer.from(text), Buffer.from(text, "utf16le"), Buffer.from(text.normalize("NFKC"))];
  const encodings = ["hex", "base64", "base64url", "latin1"] as const;
  const encoded = bytes.flatMap((buffer) =>
    encodings.map((encoding) => buffer.toString(encoding).replace(/.?.?=*$/, "")),
  );
  const hashed = ["md5", "sha1", "sha256", "sha512"].flatMap((name) =>
    (["hex", "base64", "base64url"] as const).map((encoding) => createHash(name).update(text).digest(encoding)),
  );
  const reversed = text.split("").toReversed().join("");
  return [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), reversed, ...encoded, ...hashed];
}
