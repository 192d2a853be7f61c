import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Mail } from "../src/auth/accounts/mailer.ts";
import { authentication } from "../src/auth/preset/authentication.ts";
import { pathsType } from "../src/cli/commands/client/paths-type.ts";
import { PorticoApp } from "../src/portico-app.ts";
import { openDatabase } from "../src/sql/database/open/open-database.ts";
import { migrate } from "../src/sql/migrations/migrate.ts";
import { userModel } from "../src/sql/users/user-model.ts";
import type { Connect } from "../tools/openapi-clients/account-client.ts";
import { accountLife } from "../tools/openapi-clients/account-life.ts";
import { codeAt } from "./clients/authenticator-app.ts";
import { checkedFetch, describedResponses } from "./clients/checked-fetch.ts";

// Generates clients from the OpenAPI document of the account routes, type-checks them, and runs the life of an account with each
// of them against a server. Every response is checked against the document. The generators do not work with TypeScript 7, so
// they are a package of their own: run "npm ci --prefix tools/openapi-clients" first.
const tools = join(import.meta.dirname, "../tools/openapi-clients");
const generated = join(tools, "generated");
const node = (...args: readonly string[]): void => void execFileSync(process.execPath, args, { stdio: "inherit" });

const mails: Mail[] = [];
const database = openDatabase("sqlite::memory:");
await migrate(database, "up");
const document = accounts().openapi();

rmSync(generated, { recursive: true, force: true });
mkdirSync(generated);
writeFileSync(join(generated, "openapi.json"), JSON.stringify(document));
writeFileSync(join(generated, "paths.d.ts"), pathsType(document));
node(join(tools, "generate.ts"));
node(join(tools, "node_modules/typescript/bin/tsc"), "-p", tools);

try {
  for (const name of ["openapi-fetch", "hey-api"]) await live(name);
} finally {
  await database.destroy();
}

/** Runs the life of an account with one of the clients, in an application of its own: the limits count per address. */
async function live(name: string): Promise<void> {
  const { connect } = (await import(join(tools, `${name}-client.ts`))) as { readonly connect: Connect };
  const { fetch, seen } = checkedFetch(document);
  const app = accounts();
  const { url } = await app.listen({ port: 0 });
  try {
    await accountLife(connect(url, fetch), name, mailed, codeOf);
  } finally {
    await app.close();
  }
  console.log(`${name}: ${seen.size} of ${describedResponses(document).length} described responses seen`);
}

function accounts(): PorticoApp {
  return new PorticoApp({ title: "Accounts", logger: false }).use(
    authentication({
      userModel: userModel(database),
      secret: "a secret of the generated clients, 0123456789",
      audience: "accounts",
      verifyEmail: true,
      passkeys: { rpName: "Accounts" },
      mailer: async (mail) => void mails.push(mail),
    }),
  );
}

function codeOf(secret: string, steps: number): string {
  return codeAt(secret, Date.now() + steps * 30_000);
}

/** Mails are sent after the response. */
async function mailed(kind: Mail["kind"]): Promise<string> {
  for (let tries = 0; tries < 500; tries++) {
    const at = mails.findIndex((mail) => mail.kind === kind);
    const [mail] = at === -1 ? [] : mails.splice(at, 1);
    if (mail !== undefined) return new URL(mail.url ?? "").searchParams.get("token") ?? "";
    await sleep(10);
  }
  throw new Error(`no mail of the kind ${kind}`);
}
