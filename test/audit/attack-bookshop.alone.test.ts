import { beforeAll, describe, expect, it, vi } from "vitest";
import { attack } from "../../src/audit/attack/attack.ts";
import { bookshopCopy, fillBookshop } from "./attacked-bookshop.ts";
import type { Edit } from "./copy-bookshop.ts";

// An attack sends a thousand requests, which share the machine with other tests.
vi.setConfig({ testTimeout: 240_000 });
beforeAll(fillBookshop);

it("the bookshop has no differences, and every gate is reached", async () => {
  const report = await attack(await bookshopCopy());

  expect(report.differences).toEqual([]);
  expect(report.unreached).toEqual([]);
  expect(report.notes).toEqual([]);
  expect(report.places).toBeGreaterThan(30);
  expect(report.tried).toBeGreaterThan(1_000);
});

const faults: Readonly<Record<string, { readonly edits: readonly Edit[]; readonly sentence: RegExp }>> = {
  "a user class that grants everything": {
    edits: [
      {
        file: "accounts/user.ts",
        from: "  may(permission",
        to: "  override hasPermission(): boolean {\n    return true;\n  }\n\n  may(permission",
      },
    ],
    sentence: /^GET \/operations\/metrics: a user with no permission \(by token\) is let in \(200\) by HTTP, but/,
  },
  "middleware that signs in every socket": {
    edits: [
      {
        file: "app.ts",
        from: "import { PorticoApp,",
        to: 'import { SimpleUser } from "portico/auth";\nimport { identify, PorticoApp,',
      },
      {
        file: "app.ts",
        from: "  app.use(signIn(mailer));",
        to: `  app.use(signIn(mailer));
  app.use(async (ctx, next) => {
    const user = new SimpleUser("guest", ["sell:books"]);
    if (ctx.kind === "websocket" && !ctx.user.isAuthenticated) identify(ctx, { user, auth: "session" });
    await next();
  });`,
      },
    ],
    sentence:
      /^Subscription\.\w+: an anonymous caller is let in \(an open subscription\) by GraphQL WebSocket \/graphql, but/,
  },
  "a backend that reads tokens without looking at their expiry": {
    edits: [
      {
        file: "accounts/sign-in.ts",
        from: "authentication, ",
        to: "AuthenticationBackend, AuthResult, authentication, ",
      },
      {
        file: "accounts/sign-in.ts",
        from: "    mailer,",
        to: `    mailer,
    backends: [
      new (class extends AuthenticationBackend {
        readonly scope = "jwt";
        async authenticate({ headers }) {
          const [, payload] = headers.authorization?.split(".") ?? [];
          if (payload === undefined) return AuthResult.decline();
          return AuthResult.accept(JSON.parse(Buffer.from(payload, "base64url").toString()).sub, "jwt");
        }
      })(),
    ],`,
      },
    ],
    sentence: /^Query\.orders: an expired token is let in \(data\) by GraphQL batch \/graphql, but/,
  },
};

describe("a copy of the bookshop with a fault:", () => {
  it.each(Object.keys(faults))("%s", async (name) => {
    const { edits, sentence } = faults[name] as (typeof faults)[string];

    const { differences } = await attack(await bookshopCopy(edits));

    expect(differences.map((difference) => difference.sentence)).toContainEqual(expect.stringMatching(sentence));
  });
});
