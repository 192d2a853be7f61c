import type { PorticoApp } from "portico";
import { liveClient, type TestClient, testClient } from "portico/testing";
import { it } from "vitest";

/** Runs one body twice: straight to the routes, and over a real socket. Both tests have the title, with the clauses in it. */
export function overBoth(title: string, build: () => PorticoApp, body: (client: TestClient) => Promise<void>): void {
  it(`${title} (by inject)`, async () => {
    const app = build();
    try {
      await body(testClient(app));
    } finally {
      await app.close();
    }
  });
  it(`${title} (over a socket)`, async () => {
    const client = await liveClient(build());
    try {
      await body(client);
    } finally {
      await client.close();
    }
  });
}
