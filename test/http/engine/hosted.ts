import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type HttpContext, PorticoApp } from "portico";
import { onTestFinished } from "vitest";

export type Middleware = (ctx: HttpContext) => unknown;
export type Write = (response: ServerResponse, ctx: HttpContext) => unknown;

/** A server of Node whose responses `write` sends, after the application has identified the caller. */
export async function hosted(middleware: Middleware, write: Write): Promise<number> {
  const app = new PorticoApp({ logger: false });
  app.use(async (ctx, next) => {
    if (ctx.kind === "http") await middleware(ctx);
    await next();
  });
  const server = createServer((request, response) => {
    void app.identify(request, response).then((ctx) => write(response, ctx));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await app.close();
  });
  return (server.address() as AddressInfo).port;
}
