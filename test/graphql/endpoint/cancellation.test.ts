import { Depend, type Outcome, PorticoApp, provide } from "portico";
import { field, Graph, type GraphOptions, type ObjectType, object, schema, t } from "portico/graphql";
import { type LiveClient, type LogCatcher, liveClient, logCatcher } from "portico/testing";
import { afterEach, expect, it } from "vitest";
import { rawConnection } from "../../http/raw-connection.ts";

interface Seen {
  readonly aborted: string[];
  readonly resolved: string[];
  readonly closed: Outcome[];
  begun: number;
}

let client: LiveClient | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
});

/** A field that waits to be told, above one that must then not be resolved. */
async function serve(
  options: GraphOptions = {},
): Promise<{ readonly live: LiveClient; readonly seen: Seen; readonly log: LogCatcher }> {
  const [seen, log]: [Seen, LogCatcher] = [{ aborted: [], resolved: [], closed: [], begun: 0 }, logCatcher()];
  const connection = provide(async function* ({ ctx }) {
    try {
      yield "open";
    } finally {
      seen.closed.push(ctx.outcome);
    }
  });
  const Slow: ObjectType<{ id: string }> = object("Slow", {
    id: t.id,
    below: field(t.string)(() => {
      seen.resolved.push("below");
      return "below";
    }),
  });
  const slow = field(Slow, { params: { db: Depend(connection) } })(async ({ ctx }) => {
    seen.begun++;
    await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    seen.aborted.push((ctx.signal.reason as Error).name);
    return { id: "1" };
  });
  const app = new PorticoApp({ logger: log });
  new Graph(schema({ query: { slow } }), options).mount(app);
  client = await liveClient(app);
  return { live: client, seen, log };
}

const body = JSON.stringify({ query: "{ slow { id below } }" });
const request = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

it("aborts the signal when the client disconnects, resolves no more fields and closes the dependencies", async () => {
  const { live, seen, log } = await serve();
  const raw = await rawConnection(live.port);

  raw.socket.write(request);
  await expect.poll(() => seen.begun).toBe(1);
  raw.socket.destroy();

  await expect.poll(() => seen.closed).toEqual(["failure"]);
  expect(seen).toMatchObject({ aborted: ["AbortError"], resolved: [], closed: ["failure"] });
  await expect
    .poll(() => log.lines.filter(({ msg }) => msg === "The operation timed out or was cancelled").length)
    .toBe(1);
});

it("returns 503 as a GraphQL response after the timeout, and cancels the rest of the operation", async () => {
  const { live, seen } = await serve({ timeoutSeconds: 0.1 });

  const answer = await live.post("/graphql", { body });
  const typed = await live.post("/graphql", { body, headers: { "content-type": "application/json" } });

  expect(answer.status).toBe(415);
  expect([typed.status, typed.headers["content-type"]]).toEqual([503, "application/json; charset=utf-8"]);
  expect(typed.json()).toMatchObject({ errors: [{ extensions: { code: "HANDLER_TIMEOUT" } }] });
  await expect.poll(() => seen.closed).toEqual(["failure"]);
  expect(seen).toMatchObject({ aborted: ["TimeoutError"], resolved: [], closed: ["failure"] });
});

it("keeps nothing of 50 operations whose clients disconnected", async () => {
  const { live, seen } = await serve();

  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const raw = await rawConnection(live.port);
      raw.socket.write(request);
      await expect.poll(() => seen.begun).toBe(50);
      raw.socket.destroy();
    }),
  );

  await expect.poll(() => seen.closed.length).toBe(50);
  expect(new Set(seen.closed)).toEqual(new Set(["failure"]));
});
