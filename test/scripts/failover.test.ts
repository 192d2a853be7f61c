import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { Callers, type Session } from "../../lab/failover/callers.ts";
import { failoverTable } from "../../lab/figures/failover-table.ts";

/** A server that signs everyone in and out, and then answers `/who` as it is told. */
async function callersOf(status: number, name: string): Promise<{ callers: Callers; session: Session }> {
  const server = createServer((request, response) => {
    if (request.url === "/account/login") response.setHeader("set-cookie", "session=1; HttpOnly").end();
    else if (request.url === "/account/logout") response.writeHead(204).end();
    else response.writeHead(status).end(JSON.stringify({ name }));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const callers = new Callers([(server.address() as AddressInfo).port], ["ann"]);
  expect(await callers.signIn(0)).toBe(true);
  return { callers, session: callers.sessions[0] as Session };
}

it("counts nothing while the owner of an open session is named", async () => {
  const { callers, session } = await callersOf(200, "ann");

  expect(await callers.whoIs(0, session)).toBe(200);
  expect(callers).toMatchObject({ mistaken: 0, revived: 0, refused: 0 });
});

it("counts a response that names another user", async () => {
  const { callers, session } = await callersOf(200, "bob");

  await callers.whoIs(0, session);

  expect(callers).toMatchObject({ mistaken: 1, revived: 0, refused: 0 });
});

it("counts a session that works after its end", async () => {
  const { callers, session } = await callersOf(200, "ann");

  await callers.signOut(0, session);
  await callers.whoIs(0, session);

  expect(callers).toMatchObject({ mistaken: 0, revived: 1, refused: 0 });
});

it("counts an open session that is rejected, and none that was ended", async () => {
  const { callers, session } = await callersOf(401, "");

  await callers.whoIs(0, session);
  await callers.signOut(0, session);
  await callers.whoIs(0, session);

  expect(callers).toMatchObject({ mistaken: 0, revived: 0, refused: 1 });
});

it("shows losses in the table", () => {
  const verdict = {
    name: "Redis killed",
    requests: 9_000,
    rejected: 120,
    broken: 3,
    unexpected: 0,
    mistaken: 0,
    refused: 4,
    revived: 0,
    sessions: 1_200,
    lost: 2,
    lossWindowMs: 40,
    recoveryMs: 2_340,
    reconnects: 10,
  };
  const load = { perSecond: 500, sockets: 2_000, seconds: 10 };

  expect(failoverTable({ node: "v24.0.0", load, verdicts: [verdict] })).toContain(
    "| Redis killed | 9,000 | 120 | 3 | 0 | 0 | 2 of 1,200 | 2.3 s |",
  );
});
