import type { PorticoApp } from "portico";
import { type LiveClient, liveClient } from "portico/testing";
import { afterEach } from "vitest";

/** Serves apps over real sockets for the tests of this file, and ends them after each. */
export function servers(): (app: PorticoApp) => Promise<LiveClient> {
  const clients: LiveClient[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });
  return async (app) => {
    const client = await liveClient(app);
    clients.push(client);
    return client;
  };
}
