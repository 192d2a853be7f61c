import type { OpenAPIDocument } from "portico";
import { github } from "portico/auth";
import { expect, it } from "vitest";
import { accountHarness } from "../auth/accounts/account-harness.ts";

type Operation = NonNullable<OpenAPIDocument["paths"][string]["get"]>;

/** The part of the document that the routes of accounts make, as text with one line for each part of an operation. */
function textOf({ paths, components }: OpenAPIDocument): string {
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      ...partsOf(operation).map((line) => `  ${line}`),
      "",
    ]),
  );
  const shared = Object.entries(components ?? {}).flatMap(([kind, members]) =>
    Object.entries(members as object).map(([name, value]) => `${kind} ${name} ${JSON.stringify(value)}`),
  );
  return `${[...lines, ...shared].join("\n")}\n`;
}

function partsOf({ responses, ...parts }: Operation): readonly string[] {
  const described = Object.entries(responses).map(([status, { description, ...more }]) => {
    const text = JSON.stringify(more);
    return `${status}: ${description}${text.includes("/Problem") ? "" : ` ${text}`}`;
  });
  const others = Object.entries(parts).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [...others, ...described];
}

it("describes every account route: its body, its responses and its errors", async () => {
  const { app } = accountHarness({
    account: {
      providers: [github({ clientId: "id", clientSecret: "secret" })],
      passkeys: { rpName: "Shop" },
      signInMails: true,
      impersonation: { permission: "users.impersonate" },
    },
  });

  await expect(textOf(app.openapi())).toMatchFileSnapshot("__snapshots__/account-document.txt");
  await app.close();
});
