import { createHmac } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PorticoApp } from "portico";
import { liveClient } from "portico/testing";
import { beforeAll, expect, it } from "vitest";
import { root } from "../../../scripts/package/repository.ts";
import { compileSnippets, pageSnippets } from "../../../scripts/snippets/snippets.ts";

const page = "docs/guide/write-your-own-backend.md";

let faults: readonly unknown[];
beforeAll(async () => {
  faults = await compileSnippets("own-backend-guide", pageSnippets(page));
});

const load = async <M>(file: string): Promise<M> =>
  (await import(
    pathToFileURL(join(root, ".cache/snippets/own-backend-guide/docs-guide-write-your-own-backend", file)).href
  )) as M;

it("the webhook of the guide authenticates the sender by the body, which the handler can read again", async () => {
  const { app } = await load<{ readonly app: PorticoApp }>("webhook-app.ts");
  const client = await liveClient(app);
  const secret = "a secret of the payment service and us";
  const signed = (body: string): string => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const send = (body: string, signature?: string): ReturnType<typeof client.post> =>
    client.post("/webhooks/payments", {
      body,
      headers: {
        "content-type": "application/json",
        ...(signature === undefined ? {} : { "x-hub-signature-256": signature }),
      },
    });
  const body = '{ "paid":  17 }';

  expect((await send(body, signed(body))).json()).toEqual({ from: "payments", event: { paid: 17 } });
  expect([
    (await send(body)).status,
    (await send(body, "")).status,
    (await send(body, signed('{"paid":17}'))).status,
    (await send(`${body} `, signed(body))).status,
  ]).toEqual([401, 401, 401, 401]);
  const large = JSON.stringify("x".repeat(1024 ** 2));
  expect((await send(large, signed(large))).status).toBe(413);
  const { paths, components } = app.openapi();
  expect(paths["/webhooks/payments"]?.post?.security).toEqual([{ webhook: [] }]);
  expect(components.securitySchemes).toMatchObject({ webhook: { type: "apiKey", name: "X-Hub-Signature-256" } });
  await client.close();
});

it("the backend of the guide compiles, and accepts only valid credentials", async () => {
  expect(faults).toEqual([]);
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
