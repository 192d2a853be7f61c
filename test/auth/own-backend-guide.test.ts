import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PorticoApp } from "portico";
import { liveClient } from "portico/testing";
import { expect, it } from "vitest";
import { root } from "../docs/repository.ts";
import { compileSnippets, pageSnippets } from "../docs/snippets.ts";

const page = "docs/guide/write-your-own-backend.md";

it("the backend of the guide compiles, and lets in what it should and nothing else", { timeout: 60_000 }, async () => {
  expect(await compileSnippets("own-backend-guide", pageSnippets(page))).toEqual([]);
  const load = async <M>(file: string): Promise<M> =>
    (await import(
      pathToFileURL(join(root, ".cache/snippets/own-backend-guide/docs-guide-write-your-own-backend", file)).href
    )) as M;
  const { app } = await load<{ readonly app: PorticoApp }>("app.ts");
  const { signature } = await load<{ readonly signature: (...parts: unknown[]) => string }>("partner-backend.ts");
  const client = await liveClient(app);
  const now = Math.floor(Date.now() / 1000);
  const secret = "a secret that only acme and we know";
  const sent = async (shown: string | undefined, path = "/stock"): Promise<number> =>
    (await client.get(path, shown === undefined ? {} : { headers: { "x-signature": shown } })).status;
  const right = signature(secret, "acme", "GET", "/stock", now);

  expect(await sent(right)).toBe(200);
  expect((await client.get("/stock", { headers: { "x-signature": right } })).json()).toEqual({
    for: "acme",
    books: 12,
  });
  expect([
    await sent(undefined),
    await sent(""),
    await sent("acme"),
    await sent(`${right}x`),
    await sent(`${right}, ${right}`),
    await sent(signature("another", "acme", "GET", "/stock", now)),
    await sent(signature(secret, "acme", "POST", "/stock", now)),
    await sent(signature(secret, "acme", "GET", "/other", now)),
    await sent(signature(secret, "acme", "GET", "/stock", now - 301)),
    await sent(signature(secret, "acme", "GET", "/stock", Number.NaN)),
    await sent(signature(secret, "eve", "GET", "/stock", now)),
  ]).toEqual(Array.from({ length: 11 }, () => 401));
  await client.close();
});
