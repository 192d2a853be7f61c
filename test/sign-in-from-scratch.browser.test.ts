import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { folderWithPackage } from "../scripts/package/built-package.ts";
import { pageSnippets } from "../scripts/snippets/snippets.ts";
import { addAuthenticator } from "./auth/pages/page-browser.ts";
import { isBrowserMissing, visit } from "./browser.ts";
import { startProgram } from "./docs/program.ts";

const page = "docs/guide/sign-in-from-scratch.md";

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** Writes the files of the page to a new folder, with ports that are free here. */
async function writePage(ports: Readonly<Record<string, string>>): Promise<string> {
  const folder = await folderWithPackage("sign-in-from-scratch");
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", dependencies: { portico: "*" } }));
  for (const { code } of pageSnippets(page)) {
    const file = /^\/\/ (?<name>\S+)\n/.exec(code)?.groups?.["name"] ?? "";
    await writeFile(
      join(folder, file),
      code.replaceAll(/\b[34]000\b/g, (port) => ports[port] ?? port),
    );
  }
  return folder;
}

// The package is built first, and a browser may start slowly on a busy machine.
it.skipIf(isBrowserMissing)(
  "the guide leads from an empty folder to a sign-in with a provider and a passkey",
  async () => {
    const [app, provider] = [await freePort(), await freePort()];
    const folder = await writePage({ "3000": app, "4000": provider });
    const programs = [
      await startProgram(folder, "provider.ts"),
      await startProgram(folder, "app.ts", { SECRET: "6dd3b9e9-4f5c-4d09-a0e3-2b6a6f1b2f6d" }),
    ];
    onTestFinished(async () => void (await Promise.all(programs.map((program) => program.end("SIGTERM")))));
    const [home, issuer] = [`http://localhost:${app}`, `http://localhost:${provider}`];
    const { page: tab } = await visit(home, {}, [issuer]);
    await addAuthenticator(tab);
    const press = (name: string): Promise<void> => tab.getByRole("button", { name, exact: true }).click();
    const acme = tab.getByRole("link", { name: "Sign in with Acme" });
    const payouts = (): Promise<unknown> => tab.evaluate('fetch("/payouts").then((response) => response.text())');

    await tab.goto(`${home}/sign-in`);
    await acme.click();
    await tab.locator("[name=login]").fill("ann");
    await tab.locator("[name=password]").fill("anything");
    await tab.locator("button[type=submit]").click();
    await press("Continue");
    await tab.waitForURL(`${home}/account`);
    await tab.locator("#who", { hasText: "ann@example.org" }).waitFor();
    expect(await payouts()).toContain("second_factor_required");

    await press("Add a passkey");
    await tab.locator("#recovery-title:focus").waitFor();
    expect(await tab.locator("#recovery-list li").count()).toBe(10);
    await press("Sign out");
    await acme.click();
    await press("Use a passkey");
    await tab.waitForURL(`${home}/account`);
    expect(await payouts()).toBe('"the payouts of ann@example.org"');
  },
  240_000,
);
