import { graphqlDocument } from "../graphql-document.ts";
import type { Generator, Input } from "../input.ts";
import type { Known } from "../known.ts";
import { mutateDocumentText } from "../mutate-document.ts";
import { oddText } from "../odd-values.ts";
import { JSON_TYPE, requestBytes } from "../request-bytes.ts";
import { escaped } from "../routes.ts";
import type { Tape } from "../tape.ts";
import { caller } from "./graphql-operations.ts";

/** Subscriptions and queries as Server-Sent Events, most of which end when the client leaves. */
export const eventStreams: Generator = { name: "sse", groupSize: 150, make };

const ACCEPTS = [
  "text/event-stream",
  "text/event-stream, application/json",
  "application/json, text/event-stream;q=0.1",
  "TEXT/EVENT-STREAM",
  "text/event-stream;q=0",
];

function make(tape: Tape, known: Known): Input {
  const kind = tape.pick(["subscription", "subscription", "subscription", "query"] as const);
  const { text, variables } = graphqlDocument(tape, known.schema, known.cursors, kind);
  const query = tape.oneIn(4) ? mutateDocumentText(tape, text) : text;
  const headers = [
    ["accept", tape.pick(ACCEPTS)] as const,
    ...(tape.oneIn(4) ? [["last-event-id", oddText(tape)] as const] : []),
    ...caller(tape, known),
  ];
  const bytes =
    tape.below(4) === 3
      ? requestBytes({ path: `/graphql?query=${escaped(query)}&variables=${escaped(variables)}`, headers })
      : requestBytes({
          path: "/graphql",
          headers: [...headers, JSON_TYPE],
          body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
        });
  // Another request behind it, which the stream keeps waiting.
  const next = tape.oneIn(4) ? [{ bytes: requestBytes({ path: "/livez" }) }] : [];
  return {
    pieces: [{ bytes, awaitsReply: !tape.oneIn(4) }, ...next],
    ending: tape.pick(["wait", "disconnect", "half-close"]),
    requests: 1 + next.length,
  };
}
