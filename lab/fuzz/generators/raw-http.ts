import type { Generator, Input, Piece } from "../input.ts";
import type { Known } from "../known.ts";
import { oddJson, oddText } from "../odd-values.ts";
import { requestBytes } from "../request-bytes.ts";
import { oddTarget } from "../routes.ts";
import type { Tape } from "../tape.ts";
import { handshake } from "../web-socket-bytes.ts";

/** Raw HTTP: pipelined, chunked, truncated and badly framed requests, and upgrades while a response is pending. */
export const rawHttp: Generator = { name: "raw-http", groupSize: 200, make };

function make(tape: Tape, known: Known): Input {
  const requests = [request(tape, known), ...tape.some(tape.pick([0, 0, 2, 8, 70]), () => request(tape, known))];
  if (tape.oneIn(5)) requests.push(...upgradeWhilePending(tape, known));
  const bytes = damaged(tape, Buffer.concat(requests));
  const cut = tape.oneIn(4) ? tape.below(bytes.length + 1) : bytes.length;
  const pieces: Piece[] = [{ bytes: bytes.subarray(0, cut), awaitsReply: tape.oneIn(6) }];
  // The rest arrives later, or never.
  if (cut < bytes.length && tape.oneIn(2)) pieces.push({ bytes: bytes.subarray(cut) });
  return { pieces, ending: tape.pick(["half-close", "wait", "disconnect"]), requests: requests.length };
}

function request(tape: Tape, known: Known): Buffer {
  const { method, path } = oddTarget(tape);
  const end = tape.below(30) === 29 ? tape.pick(["\n", "\r", "\r\n ", "\n\r"]) : "\r\n";
  const version =
    tape.below(20) === 19
      ? tape.pick(["HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.2", "http/1.1", "", "SIP/2.0", "HTTP/1.1 x"])
      : "HTTP/1.1";
  const verb =
    tape.below(15) === 14
      ? tape.pick(["TRACE", "CONNECT", "PRI", "M-SEARCH", "get", "G ET", "", "A".repeat(70)])
      : method;
  const lines = [`${verb} ${path} ${version}`, ...hosts(tape), ...tape.some(3, () => header(tape, known))];
  const hasBody = method !== "GET" || tape.oneIn(8);
  const body = hasBody ? framed(tape, oddJson(tape)) : { lines: [], bytes: Buffer.alloc(0) };
  return Buffer.concat([
    Buffer.from([...lines, ...body.lines, "", ""].join(end), tape.oneIn(3) ? "latin1" : "utf8"),
    body.bytes,
  ]);
}

function hosts(tape: Tape): readonly string[] {
  return tape.pick([
    ["host: shop.example"],
    ["host: shop.example"],
    ["host: shop.example"],
    [],
    ["host:"],
    ["host: a", "host: b"],
    ["host: [::1"],
    ["host: a b"],
  ]);
}

function header(tape: Tape, known: Known): string {
  return tape.pick([
    () => `connection: ${tape.pick(["close", "keep-alive", "upgrade", "close, keep-alive", "te", ""])}`,
    () => `authorization: Bearer ${tape.pick(known.accessTokens)}`,
    () => `cookie: ${tape.pick(known.cookies)}`,
    () => `expect: ${tape.pick(["100-continue", "200-ok", "", "100-Continue, x"])}`,
    () => `accept: ${tape.pick(["text/html", "text/event-stream", "*/*", ";;;", ",".repeat(200)])}`,
    () => `accept-encoding: ${tape.pick(["gzip", "br, gzip;q=0", "*;q=0", ",,,"])}`,
    () => `content-type: ${tape.pick(["application/json", "multipart/form-data", 'a/b;c="', ""])}`,
    () => `if-none-match: ${tape.pick(["*", '"', "W/", '"a","b"'])}`,
    () => `range: bytes=${tape.pick(["0-", "-1", "0-0,1-1", "9-1"])}`,
    () => `upgrade: ${tape.pick(["websocket", "h2c", "TLS/1.0", "websocket, h2c"])}`,
    () => `http2-settings: AAMAAABk`,
    () => `te: trailers, deflate`,
    () => `x-http-method-override: DELETE`,
    () => `${oddText(tape)}: ${oddText(tape)}`,
    () => `x-padding: ${"a".repeat(tape.below(17_000))}`,
    () => ` folded: line`,
    () => `name : value`,
  ])();
}

interface Framed {
  readonly lines: readonly string[];
  readonly bytes: Buffer;
}

/** A body with its length, in chunks, or with a length that is wrong. */
function framed(tape: Tape, text: string): Framed {
  const bytes = Buffer.from(text);
  const type = "content-type: application/json";
  const right = `content-length: ${bytes.length}`;
  switch (tape.below(8)) {
    case 0:
    case 1:
      return { lines: [type, right], bytes };
    case 2:
    case 3:
      return { lines: [type, "transfer-encoding: chunked"], bytes: chunked(tape, bytes) };
    case 4:
      return { lines: [type, right, "transfer-encoding: chunked"], bytes: chunked(tape, bytes) };
    case 5:
      return { lines: [type, right, right.replace(/\d+/, tape.pick(["0", "1", "5", "99999"]))], bytes };
    case 6: {
      const wrong = tape.pick(["0", "1", "-1", "+5", "0x5", "1e3", "99999", "99999999999999999999", "", "5, 5", "5 5"]);
      return { lines: [type, `content-length: ${wrong}`], bytes };
    }
    default: {
      const coding = tape.pick([
        "gzip, chunked",
        "chunked, chunked",
        "chunked, identity",
        "xchunked",
        "identity",
        "Chunked",
        "",
        "\tchunked",
      ]);
      return { lines: [type, `transfer-encoding: ${coding}`], bytes: chunked(tape, bytes) };
    }
  }
}

function chunked(tape: Tape, bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const part = bytes.subarray(at, at + 1 + tape.below(bytes.length));
    at += part.length;
    const size =
      tape.below(25) === 24
        ? tape.pick(["zz", "-1", "fffffffffffffffff", "0x5", "", "5 ", "0"])
        : part.length.toString(16);
    const extension =
      tape.below(10) === 9 ? tape.pick([";a=b", `;${"x".repeat(tape.below(20_000))}`, ';a="', ";\t"]) : "";
    parts.push(Buffer.from(`${size}${extension}\r\n`), part, Buffer.from(tape.below(30) === 29 ? "" : "\r\n"));
  }
  const end = tape.pick([
    "0\r\n\r\n",
    "0\r\n\r\n",
    "0\r\n\r\n",
    "0\r\nx: y\r\ncontent-length: 5\r\n\r\n",
    "0\r\n",
    "",
    "00000\r\n\r\n",
  ]);
  return Buffer.concat([...parts, Buffer.from(end)]);
}

/** A request whose response takes a while, and an upgrade behind it on the same connection. */
function upgradeWhilePending(tape: Tape, known: Known): readonly Buffer[] {
  const token = ["authorization", `Bearer ${tape.pick(known.accessTokens)}`] as const;
  const slow = tape.pick([
    () => requestBytes({ path: "/orders", headers: [token] }),
    () => requestBytes({ path: "/books?page=50&page_size=100" }),
    () =>
      requestBytes({
        path: "/graphql",
        headers: [["content-type", "application/json"]],
        body: '{"query":"{ books(first: 50) { nodes { title author { name } } } }"}',
      }),
    () =>
      requestBytes({
        path: "/graphql",
        headers: [
          ["content-type", "application/json"],
          ["accept", "text/event-stream"],
        ],
        body: '{"query":"subscription { stockChanged(book: \\"book-1\\") }"}',
      }),
  ])();
  const upgrade = handshake(
    tape.pick(["/graphql", "/graphql", "/books", "/nowhere"]),
    tape.pick(["websocket", "websocket", "h2c", "x"]),
  );
  return [slow, upgrade, ...(tape.oneIn(2) ? [slow] : [])];
}

/** Single bytes that are changed. */
function damaged(tape: Tape, bytes: Buffer): Buffer {
  if (tape.below(6) !== 5) return bytes;
  const changed = Buffer.from(bytes);
  for (let left = 1 + tape.below(6); left > 0 && changed.length > 0; left--)
    changed[tape.below(changed.length)] = tape.below(256);
  return changed;
}
