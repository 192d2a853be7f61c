import type { Generator, Input } from "../input.ts";
import type { Known } from "../known.ts";
import { JSON_TYPE, requestBytes } from "../request-bytes.ts";
import type { Tape } from "../tape.ts";
import { handshake } from "../web-socket-bytes.ts";
import { caller } from "./graphql-operations.ts";
import { rawHttp } from "./raw-http.ts";

/** The same small input over hundreds of connections at once. */
export const floods: Generator = { name: "floods", groupSize: 1, make };

function make(tape: Tape, known: Known): Input {
  const copies = 100 + tape.below(300);
  const headers = caller(tape, known);
  const kind = tape.below(6);
  if (kind === 5) return { ...rawHttp.make(tape, known), copies };
  const bytes = [
    () => requestBytes({ path: "/livez" }),
    () => requestBytes({ path: "/books/newest", headers }),
    () => requestBytes({ path: "/graphql", headers: [...headers, JSON_TYPE], body: '{"query":"{ me { id } }"}' }),
    () => requestBytes({ path: "/account/me", headers }),
    () => handshake("/graphql"),
  ][kind];
  return {
    pieces: [{ bytes: bytes?.() ?? Buffer.alloc(0) }],
    ending: tape.pick(["wait", "disconnect"]),
    requests: 1,
    isAnswered: true,
    copies,
  };
}
