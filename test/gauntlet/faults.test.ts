import type { Server } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { type Result, type RunOptions, rows, runGauntlet } from "../../packages/graphql-gauntlet/src/index.ts";
import { plantedFaults } from "./planted-faults.ts";
import { type Fault, refusal, serveReference } from "./reference-server.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(fault?: Fault): Promise<{ readonly url: string; readonly server: Server }> {
  const served = await serveReference(fault);
  servers.push(served.server);
  return served;
}

async function resultsOf(fault: Fault | undefined, options: RunOptions): Promise<readonly Result[]> {
  return (await runGauntlet((await serve(fault)).url, { timeoutSeconds: 30, ...options })).results;
}

const binding = rows.filter(({ severity }) => severity === "must").map(({ id }) => id);
const overHttp = binding.filter((id) => !id.startsWith("STREAM"));

describe("the rows", () => {
  it("have ids of their own", () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  });

  it("name a specification or an advisory if they are binding", () => {
    const sources = rows.filter(({ severity }) => severity === "must").map(({ source }) => source.name);

    expect(sources.filter((name) => !/^(?:GraphQL over HTTP|GraphQL|RFC 9110|CVE-|GHSA-)/.test(name))).toEqual([]);
  });

  it("each have a planted fault if they are binding", () => {
    expect(overHttp.filter((id) => plantedFaults[id] === undefined)).toEqual([]);
    expect(Object.keys(plantedFaults).filter((id) => !overHttp.includes(id))).toEqual([]);
  });

  it("pass on a server that keeps the rules", async () => {
    const results = await resultsOf(undefined, { only: overHttp });

    expect(results.filter(({ outcome }) => outcome !== "passed").map(({ row, note }) => [row.id, note])).toEqual([]);
  });

  it.each(overHttp)("%s fails on a server that breaks this rule", async (id) => {
    const [result] = await resultsOf(plantedFaults[id], { only: [id] });

    expect([result?.row.id, result?.outcome]).toEqual([id, "failed"]);
  });

  it.each([
    ["STREAM-02", "graphql-transport-ws", "next"],
    ["STREAM-03", "graphql-ws", "data"],
  ])("%s fails on a server that runs operations before connection_init", async (id, protocol, type) => {
    const { url, server } = await serve();
    const sockets = new WebSocketServer({
      server,
      handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
    });
    sockets.on("connection", (socket: WebSocket) => {
      socket.on("message", () => socket.send(JSON.stringify({ id: "1", type, payload: { data: {} } })));
    });

    const { results } = await runGauntlet(url, { only: [id], timeoutSeconds: 30 });

    expect(results.map(({ outcome }) => outcome)).toEqual(["failed"]);
  });
});

describe("a run", () => {
  it("fails a row after which responses are different", async () => {
    let isPolluted = false;
    const results = await resultsOf(
      async ({ body }, correct) => {
        isPolluted ||= body.includes("__proto__");
        const reply = await correct();
        return isPolluted ? { ...reply, body: reply.body.replace('"data":{', '"data":{"polluted":1,') } : reply;
      },
      { only: ["NAME-01", "NAME-05"] },
    );

    expect(results.map(({ outcome, note }) => [outcome, note])).toEqual([
      ["failed", expect.stringContaining("stopped responding correctly")],
      ["skipped", "the server stopped responding"],
    ]);
  });

  it("does not wait longer than the timeout for a response", async () => {
    const [result] = await resultsOf(
      ({ body }, correct) => (body.includes("fragment F26") ? new Promise(() => {}) : correct()),
      { only: ["DOC-04"], timeoutSeconds: 3 },
    );

    expect([result?.outcome, result?.note]).toEqual(["failed", "no response within 3 s"]);
  });

  it("skips a row to which the server responds with 429 every time, and one that needs something it lacks", async () => {
    const limited: Fault = ({ body }, correct) =>
      body.includes("@gauntlet") ? { ...refusal(429), headers: { "retry-after": "0" } } : correct();

    const results = await resultsOf(limited, { only: ["DOC-07", "BATCH-03", "STREAM-02"] });

    expect(results.map(({ outcome, note }) => [outcome, note])).toEqual([
      ["skipped", expect.stringContaining("429")],
      ["skipped", "the server executes no batches"],
      ["skipped", "the server has no WebSocket with graphql-transport-ws"],
    ]);
  });

  it("reports a broken recommendation as advice", async () => {
    const [result] = await resultsOf(async (_, correct) => ({ ...(await correct()), headers: {} }), {
      only: ["MEDIA-20"],
    });

    expect([result?.outcome, result?.note]).toEqual(["advice", "the response has no x-content-type-options header"]);
  });

  it("sends the headers of the caller", async () => {
    const secured: Fault = ({ authorization }, correct) => (authorization === "Bearer x" ? correct() : refusal(401));
    const only = ["MEDIA-06"];

    const [result] = await resultsOf(secured, { only, headers: { Authorization: "Bearer x" } });

    expect(result?.outcome).toBe("passed");
    await expect(resultsOf(secured, { only })).rejects.toMatchObject({
      name: "CannotRun",
      message: expect.stringContaining("401") as unknown,
    });
  });
});
