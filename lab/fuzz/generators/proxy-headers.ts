import type { Generator, Input } from "../input.ts";
import type { Known } from "../known.ts";
import { oddText } from "../odd-values.ts";
import { answeredRequest, type Header } from "../request-bytes.ts";
import type { Tape } from "../tape.ts";
import { caller } from "./graphql-operations.ts";

/** Headers that proxies set, from a client that is not a proxy. */
export const proxyHeaders: Generator = { name: "proxy-headers", groupSize: 300, make };

const NAMES = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-port",
  "x-forwarded-prefix",
  "forwarded",
  "x-real-ip",
  "via",
  "x-request-id",
  "traceparent",
  "x-original-url",
  "cf-connecting-ip",
  "true-client-ip",
];
const VALUES = [
  "127.0.0.1",
  "10.0.0.1, 127.0.0.1",
  "::1",
  "::ffff:127.0.0.1",
  "[::1]:80",
  "unknown",
  "_hidden",
  "256.256.256.256",
  "1.2.3.4:99999",
  "other.example",
  "other.example:443",
  "https",
  "https, http",
  "javascript",
  "for=1.2.3.4;proto=https",
  'for="[::1]:1";by=_x',
  'for="',
  "for=;;;",
  "00-00000000000000000000000000000000-0000000000000000-01",
  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff",
  "/../..",
  "1,".repeat(1_000),
  "a=b;".repeat(1_000),
];

function make(tape: Tape, known: Known): Input {
  const headers = [header(tape), ...tape.some(4, () => header(tape)), ...caller(tape, known)];
  return answeredRequest({
    path: tape.pick(["/books?page=2", "/books/newest", "/account/me", "/livez", "/orders", "/"]),
    headers,
  });
}

function header(tape: Tape): Header {
  return [tape.pick(NAMES), tape.oneIn(4) ? oddText(tape) : tape.pick(VALUES)];
}
