import { Metrics, operationsPage, PorticoApp, PorticoError, TooManyRequests } from "portico";
import { AuthenticationFailed, PermissionDenied } from "portico/auth";
import { logCatcher } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { isBrowserMissing, visit } from "../../browser.ts";
import { expectFinished } from "../../looks.ts";

const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="4"/></svg>';
const SECRET = "sk_live_4711";
const errors: readonly (readonly [path: string, status: number, error: Error | null, text: string])[] = [
  ["/private", 401, new AuthenticationFailed(SECRET), "You must sign in to see this page."],
  ["/staff", 403, new PermissionDenied(SECRET), "Your account has no permission to see this page."],
  ["/nowhere", 404, null, "This page doesn't exist, or you can't see it."],
  ["/limited", 429, new TooManyRequests(SECRET.length), "Wait a moment, then try again."],
  ["/broken", 500, new Error(SECRET), "The page could not be shown. The error has been recorded."],
  [
    "/unavailable",
    503,
    new PorticoError("STORE_UNAVAILABLE", SECRET, { status: 503 }),
    "The page is unavailable at the moment. Try again soon.",
  ],
];

// Pictures of all pages: .cache/pictures/errors.
describe.skipIf(isBrowserMissing)("the pages of errors", { timeout: 120_000 }, () => {
  it("look finished, are accessible, and show a correlation id and nothing else of the error", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ title: "Bookshop", logger: log, brand: { logo: "/logo.svg" } });
    app.get("/logo.svg", ({ response }) => response.bytes(Buffer.from(LOGO), "image/svg+xml"));
    for (const [path, , error] of errors)
      if (error !== null)
        app.get(path, () => {
          throw error;
        });
    app.mount("/operations", operationsPage(new Metrics(), { auth: () => false, signInUrl: "/sign-in" }));
    const { url } = await app.listen({ port: 0 });
    onTestFinished(() => app.close());
    const { page, picture, elsewhere, violations } = await visit(url);

    for (const [path, status, , text] of errors) {
      const logged = log.lines.length;
      const answer = await page.goto(url + path);
      expect(answer?.status()).toBe(status);
      const ids = log.lines.slice(logged).flatMap((line) => line["correlation_id"] ?? []);
      expect(await page.locator("main p").allTextContents()).toEqual([
        text,
        ...ids.map((id) => `Reference: ${id as string}`),
      ]);
      expect([path, ids.length === 0]).toEqual([path, !["/broken", "/unavailable"].includes(path)]);
      expect(await page.content()).not.toContain(SECRET);
      await expectFinished({ page, picture }, path.slice(1), "errors");
    }
    await page.goto(`${url}/operations`);
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    await expectFinished({ page, picture }, "operations-refused", "errors");
    expect([...violations, ...elsewhere]).toEqual([]);
  });
});
