import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type RawConnection, rawConnection } from "../raw-connection.ts";
import { type ReadResponse, readFrames, readResponses } from "../read-responses.ts";

// Every pair of messages that can share a connection, with everything that can happen between and after them. Whatever a client
// sends, the process lives, a response that was due comes intact, and nothing is held for a connection that is gone.

export const MODES = ["listen", "handler", "plugin"] as const;
export type Mode = (typeof MODES)[number];

/** A message and the responses that it gets. */
interface Message {
  readonly bytes: string;
  readonly expected?: readonly Expected[];
  /** How many responses are waited for; `expected` are what they must be. @default as many as are expected */
  readonly answers?: number;
  /** Nothing that follows on the connection is served. */
  readonly isLast?: true;
  /** What comes back in the place of an end, where the response has none. */
  readonly endless?: string;
  /** A server that is not ours closes the connection on its own, whatever is pending on it. */
  readonly isMalformed?: true;
  /** More has to follow; a client that leaves instead has sent something malformed. */
  readonly isUnfinished?: true;
}
interface Expected {
  readonly status: number;
  readonly method?: "HEAD";
  readonly body?: string | RegExp;
}

const request = (line: string, headers: readonly string[] = [], body = ""): string =>
  `${[`${line} HTTP/1.1`, "Host: x", ...headers].join("\r\n")}\r\n\r\n${body}`;
const get = (path: string, ...headers: string[]): string => request(`GET ${path}`, headers);
const JSON_BODY = "Content-Type: application/json";
const post = (path: string, body: string, ...headers: string[]): string =>
  request(`POST ${path}`, [JSON_BODY, `Content-Length: ${body.length}`, ...headers], body);
const chunked = (path: string, body: string): string =>
  request(`POST ${path}`, [JSON_BODY, "Transfer-Encoding: chunked"], body);
const HANDSHAKE = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
const UPGRADE = ["Upgrade: websocket", "Connection: Upgrade"];
const upgrade = (path: string, ...headers: string[]): string => get(path, ...UPGRADE, ...HANDSHAKE, ...headers);
const graphUpgrade = upgrade("/graphql", "Sec-WebSocket-Protocol: graphql-transport-ws");
const listen = (to: number): string =>
  post("/graphql", JSON.stringify({ query: `subscription { ticks(to: ${to}) }` }), "Accept: text/event-stream");

/** A frame of a client: masked, by zeros. */
function frame(payload: string, first = 0x81): string {
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.from([first, ...length, 0, 0, 0, 0]).toString("latin1") + payload;
}
const say = (message: object): string => frame(JSON.stringify(message));

const ok = (body: string | RegExp): Expected => ({ status: 200, body });
const slow: Expected = ok('"slow"');
const FIRST: Readonly<Record<string, Message>> = {
  "a response at once": { bytes: get("/now"), expected: [ok('"now"')] },
  "a slow response": { bytes: get("/slow"), expected: [slow] },
  "three responses": { bytes: get("/slow") + get("/now") + get("/slow"), expected: [slow, ok('"now"'), slow] },
  "a large response": { bytes: get("/large"), expected: [ok(/^"a{90000}"$/)] },
  "a stream": { bytes: get("/stream"), expected: [ok(/^one,two,b{90000}$/)] },
  HEAD: { bytes: request("HEAD /slow"), expected: [{ status: 200, method: "HEAD", body: "" }] },
  "a body": { bytes: post("/echo", '{"a":1}'), expected: [ok('{"a":1}')] },
  "a chunked body": { bytes: chunked("/echo", '4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n'), expected: [ok('{"a":1}')] },
  "a body after 100": { bytes: post("/echo", '{"a":1}', "Expect: 100-continue"), expected: [ok('{"a":1}')] },
  "a body that is not read": { bytes: post("/refused", '{"a":1}'), expected: [{ status: 409, body: /not here/ }] },
  "a missing path": { bytes: get("/missing"), expected: [{ status: 404 }] },
  "a query": { bytes: post("/graphql", '{"query":"{ hello }"}'), expected: [ok(/^{"data":{"hello":"world"}/)] },
  "a subscription": { bytes: listen(2), expected: [ok(/"ticks":1[^]*"ticks":2[^]*event: complete/)] },
  "an endless stream": { bytes: get("/endless"), endless: "again," },
  "an endless subscription": { bytes: listen(1_000), endless: '{"ticks":2}' },
  "an endless stream behind a response": { bytes: get("/slow") + get("/endless"), expected: [slow], endless: "again," },
  "a last response": { bytes: get("/slow", "Connection: close"), expected: [slow], isLast: true },
  "HTTP/1.0": { bytes: "GET /slow HTTP/1.0\r\n\r\n", expected: [slow], isLast: true },
};

const SECOND: Readonly<Record<string, Message>> = {
  "a request": { bytes: get("/now"), expected: [ok('"now"')] },
  HEAD: { bytes: request("HEAD /now"), expected: [{ status: 200, method: "HEAD" }] },
  "a body": { bytes: post("/echo", '{"a":1}'), expected: [ok('{"a":1}')] },
  "a stream": { bytes: get("/stream"), expected: [ok(/^one,two,b{90000}$/)] },
  "an endless stream": { bytes: get("/endless"), endless: "again," },
  "an endless subscription": { bytes: listen(1_000), endless: '{"ticks":2}' },
  "half a request line": { bytes: "GET /no", isUnfinished: true },
  "half a header": { bytes: "GET /now HTTP/1.1\r\nHost: x\r\nAcc", isUnfinished: true },
  "a body that breaks off": { bytes: post("/echo", '{"a":1}').slice(0, -3), isUnfinished: true },
  "chunks that break off": { bytes: chunked("/echo", "5\r\n[1,2"), isUnfinished: true },
  "a body that waits for 100": {
    bytes: request("POST /echo", [JSON_BODY, "Content-Length: 7", "Expect: 100-continue"]),
    isUnfinished: true,
  },
  "an unknown expectation": { bytes: get("/now", "Expect: miracles"), expected: [{ status: 417 }] },
  "HTTP/1.0": { bytes: "GET /now HTTP/1.0\r\n\r\n", expected: [ok('"now"')] },
  "no Host": { bytes: "GET /now HTTP/1.1\r\n\r\n", expected: [{ status: 400 }] },
  "two Hosts": { bytes: get("/now", "Host: y"), expected: [{ status: 400 }] },
  "a path that is none": { bytes: get("/%ZZ"), expected: [{ status: 400 }] },
  "a whole address": { bytes: get("http://x/now"), expected: [ok('"now"')] },
  "an upgrade": { bytes: upgrade("/talk"), answers: 1 },
  "an upgrade of a graph": { bytes: graphUpgrade, answers: 1 },
  "an upgrade of a route": { bytes: upgrade("/slow"), expected: [slow] },
  "an upgrade of nothing": { bytes: upgrade("/missing"), expected: [{ status: 404 }] },
  "an upgrade without a key": { bytes: get("/talk", ...UPGRADE), answers: 1 },
  "an upgrade of another version": { bytes: upgrade("/talk").replace("13", "99"), answers: 1 },
  "an upgrade with a body": { bytes: `${upgrade("/talk", "Content-Length: 5")}hello`, answers: 1 },
  "an upgrade with chunks": {
    bytes: `${upgrade("/talk", "Transfer-Encoding: chunked")}5\r\nhello\r\n0\r\n\r\n`,
    answers: 1,
  },
  "an upgrade that expects": { bytes: upgrade("/talk", "Expect: 100-continue"), answers: 1 },
  "an upgrade by POST": {
    bytes: request("POST /echo", [...UPGRADE, JSON_BODY, "Content-Length: 2"], "{}"),
    answers: 1,
  },
  "an upgrade to HTTP/2": { bytes: get("/now", "Upgrade: h2c", "Connection: Upgrade"), answers: 1 },
  "an upgrade and its frames": { bytes: upgrade("/talk") + frame("hello") + frame("", 0x88), answers: 1 },
  "two upgrades": { bytes: upgrade("/talk") + upgrade("/talk"), answers: 1 },
  CONNECT: { bytes: request("CONNECT x:1"), answers: 1, isMalformed: true },
  "the preface of HTTP/2": { bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", answers: 1, isMalformed: true },
  garbage: { bytes: "\0\u0001 garbage\r\n\r\n", answers: 1, isMalformed: true },
  "a malformed chunk": { bytes: chunked("/echo", "zz\r\nhello\r\n"), answers: 1, isMalformed: true },
  "a malformed chunk for a stream": {
    bytes: request("GET /endless", ["Transfer-Encoding: chunked"], "zz\r\nhello\r\n"),
    answers: 1,
    isMalformed: true,
  },
  "a large header": { bytes: get("/now", `X: ${"x".repeat(20_000)}`), answers: 1, isMalformed: true },
};

/** What a client does after it has upgraded; both sockets receive every message. */
const FRAMES: Readonly<Record<string, string>> = {
  nothing: "",
  "a text": frame("hello"),
  "a greeting": say({ type: "connection_init" }),
  "an operation":
    say({ type: "connection_init" }) +
    say({ type: "subscribe", id: "1", payload: { query: "subscription { ticks(to: 1000) }" } }),
  "an operation too early": say({ type: "subscribe", id: "1", payload: { query: "{ hello }" } }),
  "a ping": frame("", 0x89),
  "a close": frame("\u0003\u00e8", 0x88),
  "a close that is malformed": frame("\u0003", 0x88),
  "half a message": frame("hel", 0x01),
  "half a frame": frame("hello").slice(0, 8),
  "a continuation of nothing": frame("hello", 0x80),
  "a frame without a mask": "\u0081\u0005hello",
  "a frame of a reserved kind": frame("hello", 0x83),
  "a frame with reserved bits": frame("hello", 0xf1),
  "a frame that is too long": `\u0081\u00ff${"\u007f".repeat(8)}`,
  "text that is not UTF-8": frame("\u00ff\u00fe"),
  "a request": get("/now"),
  "another upgrade": upgrade("/talk"),
};

/** What the client does after its last byte: it stays for the responses, or leaves a moment later. */
const ENDINGS = ["one packet", "one after another", "half-closed", "reset", "left"] as const;
type Ending = (typeof ENDINGS)[number];
const MOMENT_MS = 3;

export interface Case {
  readonly name: string;
  run(port: number): Promise<void>;
}

export function pairs(mode: Mode): readonly Case[] {
  return Object.entries(FIRST).flatMap(([firstName, first], row) =>
    Object.entries(SECOND).flatMap(([secondName, second], column) =>
      // Of the two ways to be gone at once, one for each pair.
      ENDINGS.filter((ending) => ending !== ((row + column) % 2 === 0 ? "reset" : "left")).map((ending) => ({
        name: `${firstName}, then ${secondName}: ${ending}`,
        run: (port: number) => runPair(port, mode, first, second, ending),
      })),
    ),
  );
}

async function runPair(port: number, mode: Mode, first: Message, second: Message, ending: Ending): Promise<void> {
  const connection = await rawConnection(port);
  try {
    await send(connection, first.bytes, second.bytes, ending);
    const isServed = first.endless === undefined && first.isLast !== true;
    const expected = [...(first.expected ?? []), ...(isServed ? (second.expected ?? []) : [])];
    const read = (): ReturnType<typeof readResponses> =>
      readResponses(
        connection.received(),
        expected.map(({ method = "GET" }) => method),
      );
    const isStaying = ending === "one packet" || ending === "one after another";
    const isHosts = second.isMalformed ?? first.isLast ?? (second.isUnfinished === true && !isStaying);
    if (mode !== "listen" && isHosts) {
      if (isStaying) await answered(connection, () => false);
      return;
    }
    if (isStaying) {
      const wanted = Math.max(expected.length, (first.expected?.length ?? 0) + (isServed ? (second.answers ?? 0) : 0));
      const endless = first.endless ?? (isServed ? second.endless : undefined) ?? "";
      await answered(
        connection,
        () => countEnds(read().responses) >= wanted && connection.received().includes(endless),
      );
    }
    const { responses, rest } = read();
    matches(responses, expected, isStaying);
    readFrames(rest ?? "");
  } finally {
    connection.socket.destroy();
    await connection.closed;
  }
}

/** Sends both, and leaves as the ending says. */
async function send({ socket, closed }: RawConnection, first: string, second: string, ending: Ending): Promise<void> {
  if (ending === "one after another") {
    socket.write(first, "latin1");
    await sleep(MOMENT_MS);
    socket.write(second, "latin1");
    return;
  }
  socket.write(first + second, "latin1");
  if (ending === "one packet") return;
  await sleep(MOMENT_MS);
  if (ending === "reset") socket.resetAndDestroy();
  else if (ending === "left") socket.destroy();
  else {
    socket.end();
    await Promise.race([closed, sleep(4 * MOMENT_MS)]);
  }
}

const countEnds = (responses: readonly ReadResponse[]): number =>
  responses.filter(({ isComplete }) => isComplete).length;

/** Waits for what must come, or for the end of the connection. */
async function answered(connection: RawConnection, isAnswered: () => boolean): Promise<void> {
  const late = sleep(10_000, "late" as const, { ref: false });
  while (!connection.socket.closed && !isAnswered()) {
    const event = await Promise.race([once(connection.socket, "data"), connection.closed, late]);
    if (event === "late") throw new Error(`no response within 10 s, after: ${brief(connection.received())}`);
  }
}

function matches(responses: readonly ReadResponse[], expected: readonly Expected[], isAll: boolean): void {
  for (const [index, { status, body }] of expected.entries()) {
    const response = responses[index];
    if (!isAll && response?.isComplete !== true) return;
    const isIntact =
      response?.isComplete === true &&
      response.status === status &&
      (body === undefined || (typeof body === "string" ? response.body === body : body.test(response.body)));
    if (!isIntact)
      throw new Error(
        `response ${index + 1} is not ${status}, whole: ${brief(JSON.stringify(responses.map((got) => ({ ...got, body: brief(got.body) }))))}`,
      );
  }
}

const brief = (text: string): string => (text.length > 2_000 ? `${text.slice(0, 2_000)}...` : text);

export function sockets(): readonly Case[] {
  return [["a socket", upgrade("/talk")] as const, ["a socket of a graph", graphUpgrade] as const].flatMap(
    ([name, opening]) =>
      Object.entries(FRAMES).flatMap(([frames, bytes]) =>
        ENDINGS.map((ending) => ({
          name: `${name}, then ${frames}: ${ending}`,
          run: (port: number) => runSocket(port, opening, bytes, ending),
        })),
      ),
  );
}

async function runSocket(port: number, opening: string, bytes: string, ending: Ending): Promise<void> {
  const connection = await rawConnection(port);
  try {
    await send(connection, opening, bytes, ending);
    if (ending === "one packet" || ending === "one after another") {
      await connection.until("\r\n\r\n");
      await sleep(MOMENT_MS);
    }
    const { responses, rest } = readResponses(connection.received(), []);
    if (responses.length > 0) matches(responses, [{ status: 101 }], true);
    readFrames(rest ?? "");
  } finally {
    connection.socket.destroy();
    await connection.closed;
  }
}

/** What is not finished in time, on a server of ours that does not wait long. */
export function timeouts(): readonly Case[] {
  const finished = Object.entries(FIRST).filter(([, { endless, isLast }]) => endless === undefined && isLast !== true);
  const unfinished = Object.entries(SECOND).filter(([, { isUnfinished }]) => isUnfinished === true);
  return finished.flatMap(([firstName, first]) =>
    unfinished.map(([secondName, second]) => ({
      name: `${firstName}, then ${secondName}: never finished`,
      run: async (port: number) => {
        const expected = [...(first.expected ?? []), { status: 408 }];
        const connection = await rawConnection(port);
        await send(connection, first.bytes, second.bytes, "one packet");
        await answered(connection, () => false);
        matches(
          readResponses(
            connection.received(),
            expected.map(({ method = "GET" }) => method),
          ).responses,
          expected,
          true,
        );
      },
    })),
  );
}

/** Packets that are cut at each byte, by a reset and by an end in turn. */
const CUT: Readonly<Record<string, string>> = {
  "a response and an upgrade": get("/slow") + upgrade("/talk") + frame("hello"),
  "an upgrade of a graph, and an operation": graphUpgrade + FRAMES["an operation"],
  "a chunked body and a request": chunked("/echo", '4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n') + get("/stream"),
  "a body after 100 and a subscription": post("/echo", '{"a":1}', "Expect: 100-continue") + listen(1_000),
};

export function cuts(): readonly Case[] {
  return Object.entries(CUT).flatMap(([name, bytes]) =>
    Array.from({ length: bytes.length }, (_, length) => ({
      name: `${name}, cut after ${length} bytes`,
      run: async (port: number) => {
        const { socket, closed } = await rawConnection(port);
        socket.write(Buffer.from(bytes.slice(0, length), "latin1"));
        await sleep(1);
        if (length % 2 === 0) socket.resetAndDestroy();
        else socket.destroy();
        await closed;
      },
    })),
  );
}
