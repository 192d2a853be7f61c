import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { CredentialCatcher } from "../../scripts/log-scan/credential-catcher.ts";
import { summary } from "../../scripts/scan-logs.ts";

const token = "eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl";

it.each([
  ["as it is", `{"msg":"refused ${token}"}`],
  ["in base64", `{"msg":"${Buffer.from(token).toString("base64")}"}`],
  ["in a URL", `{"url":"/?t=${encodeURIComponent("a password / with spaces")}"}`],
])("finds a credential %s", (_how, text) => {
  const catcher = new CredentialCatcher();
  catcher.addRequest({ authorization: `Bearer ${token}`, cookie: "a=b; c=another-credential", "x-api-key": "short" });
  catcher.add("a password / with spaces");

  expect(catcher.size).toBe(3);
  expect(catcher.leaksIn(text)).toHaveLength(1);
  expect(catcher.leaksIn('{"msg":"nothing here"}')).toEqual([]);
});

it("knows what an answer hands out", () => {
  const catcher = new CredentialCatcher();
  catcher.addAnswer(["a=cookie-value-of-a-session; Path=/"], '{"access_token":"the-token-of-ann","page":"1"}');

  expect(catcher.leaksIn("cookie-value-of-a-session the-token-of-ann")).toHaveLength(2);
});

it("tells the figures of all files in one line", () => {
  const figures = { credentials: 1_000, lines: 2, errorBodies: 3 };

  expect(summary([figures, figures])).toBe(
    "2,000 credentials looked for in 4 log lines and 6 error bodies of 2 test files",
  );
});

it("[auth:AU-183] finds no credential in what the tests of accounts log and answer", () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      "scripts/scan-logs.ts",
      "test/auth/accounts/account-routes.database.test.ts",
      "test/auth/accounts/keys.database.test.ts",
    ],
    { encoding: "utf8", env: { ...process.env, PORTICO_TEST_PLACES: "memory" } },
  );

  expect(status, stdout).toBe(0);
  expect(stdout.trimEnd()).toMatch(
    / credentials looked for in [\d,]+ log lines and [\d,]+ error bodies of 2 test files: none is there$/,
  );
});
