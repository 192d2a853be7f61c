import { graphqlDocument } from "../graphql-document.ts";
import type { Generator, Input, Piece } from "../input.ts";
import { CANARY, type Known } from "../known.ts";
import { mutateDocumentText } from "../mutate-document.ts";
import { mutateText, oddJson } from "../odd-values.ts";
import type { Tape } from "../tape.ts";
import { handshake, textFrame } from "../web-socket-bytes.ts";
import { caller } from "./graphql-operations.ts";

/** Messages of graphql-transport-ws, in and out of order, and changed. */
export const socketMessages: Generator = { name: "ws-messages", groupSize: 150, make };

const INIT = '{"type":"connection_init"}';

function make(tape: Tape, known: Known): Input {
  const messages = [...(tape.below(6) === 5 ? [] : [init(tape, known)]), ...tape.some(8, () => message(tape, known))];
  const more = tape.oneIn(6)
    ? ([["origin", tape.pick(["http://shop.example", "http://other.example", "null"])]] as const)
    : [];
  const pieces: Piece[] = [
    { bytes: handshake("/graphql", "websocket", [...caller(tape, known), ...more]), awaitsReply: !tape.oneIn(5) },
    ...messages.map((text, index) => ({ bytes: textFrame(text), awaitsReply: index === 0 || tape.oneIn(4) })),
  ];
  return { pieces, ending: tape.pick(["wait", "disconnect", "half-close"]), requests: 1 + messages.length };
}

function init(tape: Tape, known: Known): string {
  switch (tape.below(5)) {
    case 1:
      return `{"type":"connection_init","payload":{"authorization":"Bearer ${tape.pick(known.accessTokens)}"}}`;
    case 2:
      return `{"type":"connection_init","payload":{"authorization":"Bearer ${CANARY}"}}`;
    case 3:
      return `{"type":"connection_init","payload":${oddJson(tape)}}`;
    default:
      return INIT;
  }
}

function message(tape: Tape, known: Known): string {
  const id = tape.pick(["1", "1", "2", "", "__proto__", "a".repeat(500)]);
  const text = tape.pick([
    () => subscribe(tape, known, id),
    () => subscribe(tape, known, id),
    () => `{"type":"complete","id":${JSON.stringify(id)}}`,
    () => '{"type":"ping"}',
    () => `{"type":"pong","payload":${oddJson(tape)}}`,
    () => INIT,
    () => `{"type":"next","id":"1","payload":{}}`,
    () => `{"type":${oddJson(tape, 1)},"id":${oddJson(tape, 1)}}`,
    () => oddJson(tape),
    () => "[".repeat(tape.below(5_000)),
  ])();
  return tape.oneIn(6) ? mutateText(tape, text) : text;
}

function subscribe(tape: Tape, known: Known, id: string): string {
  const kind = tape.pick(["subscription", "subscription", "query", "mutation"] as const);
  const { text, variables } = graphqlDocument(tape, known.schema, known.cursors, kind);
  const query = tape.oneIn(4) ? mutateDocumentText(tape, text) : text;
  const payload = tape.oneIn(8) ? oddJson(tape) : `{"query":${JSON.stringify(query)},"variables":${variables}}`;
  return `{"type":"subscribe","id":${JSON.stringify(id)},"payload":${payload}}`;
}
