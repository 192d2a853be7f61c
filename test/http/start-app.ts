import { PorticoApp, type PorticoAppOptions } from "portico";
import { type LiveClient, liveClient } from "portico/testing";
import { onTestFinished } from "vitest";

/** Listens with the routes that `declare` adds, until the test ends. */
export async function startApp(
  declare: (app: PorticoApp) => unknown,
  options: PorticoAppOptions = {},
): Promise<LiveClient> {
  const app = new PorticoApp({ logger: false, ...options });
  declare(app);
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  return client;
}
