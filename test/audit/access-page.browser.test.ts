import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PorticoApp } from "portico";
import { describe, expect, it, onTestFinished } from "vitest";
import { isBrowserMissing, visit } from "../browser.ts";
import { runHere } from "../cli/run-portico.ts";
import { expectFinished } from "../looks.ts";

const config = join(import.meta.dirname, "fixtures/gates.config.ts");

// Pictures: .cache/pictures/access.
describe.skipIf(isBrowserMissing)("the access table as a page", () => {
  it("looks finished and is accessible, and its own policy lets it load nothing", async () => {
    const folder = await mkdtemp(join(tmpdir(), "access-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await runHere(["audit", "--html", "--config", config], { cwd: folder });
    const html = await readFile(join(folder, "access.html"), "utf8");
    const app = new PorticoApp({ logger: false }).get("/access", ({ response }) => response.html(html));
    const { url } = await app.listen({ port: 0 });
    onTestFinished(() => app.close());
    const { page, picture, elsewhere, violations, complaints } = await visit(url);

    await page.goto(`${url}/access`);
    await page.getByRole("heading", { name: "Changed since the last review" }).waitFor();
    await expectFinished({ page, picture }, "access", "access");
    expect([...violations, ...elsewhere, ...complaints]).toEqual([]);

    await page.evaluate("document.body.append(Object.assign(new Image(), { src: '/logo.png' }))");
    await expect.poll(() => violations).toEqual([`img-src ${url}/logo.png`]);
  });
});
