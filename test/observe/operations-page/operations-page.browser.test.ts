import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import {
  ConfigurationError,
  type Gate,
  HttpException,
  Metrics,
  type OperationsPageOptions,
  operationsPage,
  PorticoApp,
  Router,
} from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { describe, expect, it, onTestFinished } from "vitest";
import { axeFindings } from "../../axe.ts";
import { isBrowserMissing, visit } from "../../browser.ts";
import { expectFinished } from "../../looks.ts";
import { overBoth } from "../../matrix.ts";

const BROWSER = { headers: { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" } };

const noErrors = { operations: {}, routes: {} };

/** Lets those in who bring the word. */
const word: Gate<true> = {
  required: true,
  scopes: ["jwt"],
  check(ctx) {
    if (ctx.request.headers["x-word"] !== "sesame")
      throw new HttpException(401, "Sign in first", { code: "UNAUTHENTICATED" });
  },
};

describe("the operations page", () => {
  overBoth(
    "answers browsers with a page and others with the totals, at one address",
    () => shop({ auth: false }).app,
    async ({ get, post }) => {
      await post("/graphql", { body: { query: "query Books { books }" } });

      const [page, figures] = [await get("/operations", BROWSER), await get("/operations")];

      expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(page.text()).toContain("<h1>Operations</h1>");
      expect(figures.headers).toMatchObject({ "cache-control": "no-store", vary: "Accept" });
      expect(figures.json()).toMatchObject({
        operations: { Books: { count: 1, errors: 0 } },
        routes: { "POST /graphql": { count: 1, errors: 0, refused: 0, open_sockets: 0 } },
      });
    },
  );

  overBoth(
    "is behind its gate, and so are its figures",
    () => shop({ auth: word }).app,
    async ({ get }) => {
      const open = { "x-word": "sesame" };

      const refused = await get("/operations", BROWSER);
      expect([refused.status, refused.headers["content-type"]]).toEqual([401, "text/html; charset=utf-8"]);
      expect(refused.text()).toContain("You must sign in");
      expect(refused.text()).not.toContain("<a ");
      expect((await get("/operations")).headers["content-type"]).toMatch("application/problem+json");
      expect((await get("/operations")).status).toBe(401);
      expect((await get("/operations", { headers: { ...BROWSER.headers, ...open } })).status).toBe(200);
      expect((await get("/operations", { headers: open })).json()).toMatchObject({ operations: {} });
    },
  );

  overBoth(
    "sends a browser that it rejects to the page where users sign in",
    () => shop({ auth: word, signInUrl: '/sign-in?to="x"&y=<1>' }).app,
    async ({ get }) => {
      const page = await get("/operations", BROWSER);

      expect(page.text()).toContain('<a href="/sign-in?to=&quot;x&quot;&amp;y=&lt;1&gt;">Sign in</a>');
      expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
      expect(page.headers["vary"]).toBe("Accept");
    },
  );

  overBoth(
    "tells a caller without the permission so",
    () => shop({ auth: () => false, signInUrl: "https://id.example/" }).app,
    async ({ get }) => {
      const page = await get("/operations", BROWSER);

      expect(page.text()).toContain(page.status === 403 ? "no permission" : "You must sign in");
    },
  );

  overBoth(
    "runs its own script and style and no other, and cannot be framed",
    () => shop({ auth: false }).app,
    async ({ get }) => {
      const answer = await get("/operations", BROWSER);

      const policy = String(answer.headers["content-security-policy"]).split("; ");
      const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(answer.text()) ?? [];
      const [, script = ""] = /<script>([\s\S]*?)<\/script>/.exec(answer.text()) ?? [];
      expect(policy).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          `script-src '${sha256(script)}'`,
          `style-src '${sha256(style)}'`,
          "connect-src 'self'",
          "frame-ancestors 'none'",
        ]),
      );
      expect(policy.join()).not.toContain("unsafe");
    },
  );

  it("requires the option auth", () => {
    const make = (options: object) => () => operationsPage(new Metrics(), options as OperationsPageOptions);

    expect(make({})).toThrow(ConfigurationError);
    expect(make({})).toThrow(/operationsPage\.auth must be true, false, a function of the user/);
    expect(make({ auth: undefined })).toThrow("operationsPage.auth");
    expect(make({ auth: "jwt" })).toThrow("operationsPage.auth");
    expect(make({ auth: true })).not.toThrow();
    expect(make({ auth: false, refreshSeconds: 0 })).toThrow(
      "operationsPage.refreshSeconds must be a number of seconds from 0.5 to 60",
    );
    for (const signInUrl of ["javascript:alert(1)", "//elsewhere.example", "sign-in", ""])
      expect(make({ auth: false, signInUrl })).toThrow("operationsPage.signInUrl must be a path such as /sign-in");
  });

  it("is a router, so it has no address until it is mounted", () => {
    expect(operationsPage(new Metrics(), { auth: false })).toBeInstanceOf(Router);
  });
});

describe.skipIf(isBrowserMissing)("in a browser, the operations page", () => {
  it.each(["light", "dark"] as const)(
    "(%s) shows the busiest, slowest and most failing, and follows them",
    async (colorScheme) => {
      const { app, metrics } = shop({ auth: false, refreshSeconds: 0.5 });
      const { url } = await app.listen({ port: 0, host: "127.0.0.1" });
      onTestFinished(() => app.close());
      const { page, elsewhere, complaints, picture } = await visit(url, {
        colorScheme,
        viewport: { width: 1280, height: 1000 },
      });

      await load(url, 1);
      await page.goto(`${url}/operations`);
      for (let round = 1; round <= 12; round++) {
        await load(url, 1 + (round % 5));
        await page.waitForTimeout(400);
      }
      await page.getByRole("status").filter({ hasText: "Live, every 0.5 s" }).waitFor();
      // The page has asked again since the last of them.
      const total = Object.values(metrics.snapshot()).reduce((sum, { count }) => sum + count, 0);
      await page.locator("#tile-rate small", { hasText: `${total} operations` }).waitFor();
      await picture(`operations-${colorScheme}`);

      expect(await names(page, "busiest")).toEqual(["BookList", "SearchBooks", "AuthorPage", "Checkout", "<rejected>"]);
      // Which of them is the slowest depends on the machine.
      const bySlowness = Object.entries(metrics.snapshot()).toSorted(
        ([, one], [, other]) => other.average_seconds - one.average_seconds,
      );
      expect((await names(page, "slowest"))[0]).toBe(bySlowness[0]?.[0]);
      expect(await names(page, "failing")).toEqual(["Checkout", "<rejected>"]);
      expect(await names(page, "codes")).toEqual(["PAYMENT_REQUIRED", "GRAPHQL_VALIDATION_FAILED"]);
      const { correlation_id: id } = metrics.figures().errors.operations["PAYMENT_REQUIRED"] ?? {};
      expect(await page.locator("#codes small").first().textContent()).toBe(id);
      await page.getByRole("button", { name: "Last minute" }).click();
      expect(await page.locator("#busiest .value").first().textContent()).toMatch(/^[\d.]+\/s$/);

      await page.getByRole("button", { name: "Routes" }).click();
      expect(await names(page, "busiest")).toContain("POST /graphql");
      await page.getByRole("button", { name: "Operations", exact: true }).click();
      await page.getByRole("button", { name: "Since startup" }).click();
      await page.getByRole("button", { name: "Pause" }).click();
      const { BookList } = metrics.snapshot();
      expect(await page.locator("#rows tr").count()).toBe(5);
      expect(await page.locator("#busiest .value").first().textContent()).toBe(String(BookList?.count));
      await page.getByRole("button", { name: "With errors" }).click();
      expect(await page.locator("#rows td").first().textContent()).toBe("Checkout");

      await page.getByRole("button", { name: "Resume" }).click();
      metrics.reset();
      await load(url, 1);
      await page.locator("#tile-rate small", { hasText: "20 operations" }).waitFor();
      expect(elsewhere).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  it("looks finished, is accessible and fits on one screen", async () => {
    const { app, metrics } = shop({ auth: false, refreshSeconds: 60 });
    const { url } = await app.listen({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => app.close());
    await load(url, 2);
    const { page, picture, violations } = await visit(url);

    await page.goto(`${url}/operations`);
    await page.locator("#codes li").first().waitFor();
    expect(metrics.figures().saturation).not.toEqual([]);
    await expectFinished({ page, picture }, "operations", "operations");
    await page.setViewportSize({ width: 1280, height: 800 });
    // The table of all rows is below the first screen.
    const bottom = await page.locator(".panels").evaluate((panels) => panels.getBoundingClientRect().bottom);
    expect(bottom).toBeLessThanOrEqual(800);

    await page.getByRole("button", { name: "Routes" }).click();
    expect(await axeFindings(page)).toEqual([]);
    expect(violations).toEqual([]);
  });

  it("links to sections of the documentation that exist", async () => {
    const { app, metrics } = shop({ auth: false });
    const { url } = await app.listen({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => app.close());
    await load(url, 1);
    const html = await (await fetch(`${url}/operations`, BROWSER)).text();

    const links = [...html.matchAll(/href="(https:[^"]+)"/g)].map(([, link = ""]) => link);
    const codes = Object.values(metrics.figures().errors.operations).flatMap(({ docs }) => docs ?? []);
    expect(codes).toHaveLength(1);
    expect(links).toHaveLength(3);
    for (const link of [...links, ...codes]) {
      const [file = "", section = ""] = link.slice(link.indexOf("/docs/") + 1).split("#");
      const text = await readFile(new URL(`../../../${file}`, import.meta.url), "utf8");
      const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
        heading.toLowerCase().replaceAll(" ", "-"),
      );
      const isThere = section === "" || headings.includes(section) || text.includes(`| \`${section}\` |`);
      expect([link, isThere]).toEqual([link, true]);
    }
  });

  it("counts subscriptions, but not in the slowest and the mean duration", async () => {
    const row = { errors: 0, average_cost: 1, p50_seconds: 0, p95_seconds: 0, p99_seconds: 0 };
    const operations = {
      Live: { ...row, count: 8, average_seconds: 0, slowest_seconds: 0 },
      BookList: { ...row, count: 2, average_seconds: 0.5, slowest_seconds: 0.7 },
    };
    const figures = () => ({ operations, routes: {}, errors: noErrors, saturation: [] });
    const app = new PorticoApp({ logger: false }).mount("/operations", operationsPage({ figures }, { auth: false }));
    const { url } = await app.listen({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => app.close());
    const { page } = await visit(url);

    await page.goto(`${url}/operations`);
    await page.getByRole("status").filter({ hasText: "Live" }).waitFor();

    await page.locator("#tile-rate small", { hasText: "10 operations" }).waitFor();
    expect(await names(page, "slowest")).toEqual(["BookList"]);
    expect(await names(page, "busiest")).toEqual(["Live", "BookList"]);
    expect(await page.locator("#tile-time strong").textContent()).toBe("500 ms");
  });

  it("shows faults, and how much of each limit is in use", async () => {
    const saturation = [
      { name: "Check writes", value: 0, limit: 1, state: "failed" },
      { name: "Requests in flight", value: 40, limit: 160, state: "ok" },
      { name: "Connections to db:5432/shop", value: 10, limit: 10, state: "high" },
      { name: "Event loop utilization", value: 0.256, limit: 1, state: "ok" },
    ] as const;
    const figures = () => ({ operations: {}, routes: {}, errors: noErrors, saturation });
    const app = new PorticoApp({ logger: false }).mount("/operations", operationsPage({ figures }, { auth: false }));
    const { url } = await app.listen({ port: 0, host: "127.0.0.1" });
    onTestFinished(() => app.close());
    const { page } = await visit(url);

    await page.goto(`${url}/operations`);
    await page.locator("#saturation li").first().waitFor();

    const rows = await page
      .locator("#saturation li")
      .evaluateAll((items) =>
        items.map((item) => [
          item.querySelector(".name")?.textContent,
          item.querySelector(".value")?.textContent,
          item.querySelector<HTMLElement>(".bar i")?.style.width,
          item.className,
        ]),
      );
    expect(rows).toEqual([
      ["Check writes", "failed", "100%", "fail"],
      ["Requests in flight", "40 of 160", "25%", "busy"],
      ["Connections to db:5432/shop", "10 of 10", "100%", "slow"],
      ["Event loop utilization", "25.6 %", "25.6%", "busy"],
    ]);
  });

  it("shows that the server no longer responds", async () => {
    const { app } = shop({ auth: false, refreshSeconds: 0.5 });
    const { url } = await app.listen({ port: 0, host: "127.0.0.1" });
    const { page } = await visit(url);
    await page.goto(`${url}/operations`);
    await page.getByRole("status").filter({ hasText: "Live" }).waitFor();

    await app.close();

    const status = page.getByRole("status").filter({ hasText: "Not refreshed" });
    await status.waitFor();
    expect(await status.getAttribute("data-state")).toBe("late");
  });
});

function shop(options: OperationsPageOptions): { readonly app: PorticoApp; readonly metrics: Metrics } {
  const metrics = new Metrics();
  const app = new PorticoApp({ logger: false, load: { report: true } }).onRequest(metrics);
  const query = {
    books: field(t.string, { cost: 3 })(() => "books"),
    search: field(t.string, { cost: 20 })(async () => {
      await new Promise((resolve) => setTimeout(resolve, 25));
      return "found";
    }),
    author: field(t.string)(async () => {
      await new Promise((resolve) => setTimeout(resolve, 6));
      return "author";
    }),
    pay: field(t.nullable(t.string), { params: { card: t.int } })(({ card }) => {
      if (card % 2 === 1) throw new HttpException(402, "The card was declined", { code: "PAYMENT_REQUIRED" });
      return "paid";
    }),
  };
  new Graph(schema({ query })).onOperation(metrics).mount(app);
  app.mount("/operations", operationsPage(metrics, options));
  return { app, metrics };
}

/** Twenty operations, as many times. */
async function load(url: string, times: number): Promise<void> {
  const ask = (query: string): Promise<unknown> =>
    fetch(`${url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    }).then((answer) => answer.arrayBuffer());
  const one = [
    ...Array.from({ length: 8 }, () => "query BookList { books }"),
    ...Array.from({ length: 5 }, () => "query SearchBooks { search }"),
    ...Array.from({ length: 4 }, () => "query AuthorPage { author }"),
    "query Checkout { pay(card: 1) }",
    "query Checkout { pay(card: 3) }",
    "{ nothing }",
  ];
  await Promise.all(
    Array.from({ length: times }, () => one)
      .flat()
      .map(ask),
  );
}

function names(page: Page, panel: string): Promise<readonly string[]> {
  return page.locator(`#${panel} .name`).allTextContents();
}

function sha256(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
