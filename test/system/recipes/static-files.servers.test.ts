import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PorticoApp, type Router } from "portico";
import { AuthenticationMiddleware, SimpleUser } from "portico/auth";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { pageProgram } from "../../docs/page-program.ts";

const { faults, load } = await pageProgram("docs/recipes/static-files.md");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portico-files-"));
  const files = {
    "index.html": "<h1>Shop</h1>",
    "private.txt": "private",
    "assets/app-3f9a.js": "run()",
    "assets/.env": "SECRET=1",
    "user-ann/7.pdf": "%PDF",
    "8.pdf": "private",
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(folder, name, ".."), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  vi.stubEnv("PUBLIC_DIR", folder);
  vi.stubEnv("INVOICES_DIR", folder);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  vi.unstubAllEnvs();
});

it("compiles", () => {
  expect(faults).toEqual([]);
});

describe("the front end", () => {
  const get = async (path: string) => {
    const { app } = await load<{ readonly app: PorticoApp }>("app.ts");
    return testClient(app).get(path);
  };

  it("has files that browsers keep for a year", async () => {
    const file = await get("/assets/app-3f9a.js");

    expect([file.status, file.headers["cache-control"]]).toEqual([200, "public, max-age=31536000, immutable"]);
    expect(file.headers).toMatchObject({ etag: expect.any(String), "last-modified": expect.any(String) });
    expect(file.text()).toBe("run()");
  });

  it("has one page for every other path", async () => {
    const found = await Promise.all(["/", "/orders/7"].map(get));

    expect(found.map((response) => [response.status, response.headers["cache-control"], response.text()])).toEqual(
      found.map(() => [200, "no-cache", "<h1>Shop</h1>"]),
    );
  });

  it("has no page below /assets and /api", async () => {
    const found = await Promise.all(["/assets/none.js", "/assets/.env", "/api/none"].map(get));

    expect(found.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await get("/api/books")).json()).toEqual([{ title: "Emma" }]);
  });

  it.each(["/assets/../private.txt", "/assets/..%2fprivate.txt", "/assets/%2e%2e/private.txt"])(
    "does not leave its folder for %s",
    async (path) => {
      expect((await get(path)).text()).not.toContain("private");
    },
  );
});

it("private files belong to one user", async () => {
  const { invoices } = await load<{ readonly invoices: Router }>("invoices.ts");
  const app = new PorticoApp({ logger: false });
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: [] })).mount("", invoices);
  const get = async (name: string, path: string) => testClient(app).as(new SimpleUser(name)).get(path);

  const own = await get("ann", "/invoices/7");

  expect([own.status, own.text(), own.headers["content-length"]]).toEqual([200, "%PDF", "4"]);
  expect([
    (await testClient(app).get("/invoices/7")).status,
    (await get("ben", "/invoices/7")).status,
    (await get("ann", "/invoices/8")).status,
    (await get("ann", "/invoices/..%2f8")).status,
    (await get("..", "/invoices/8")).status,
  ]).toEqual([401, 404, 404, 404, 404]);
});
