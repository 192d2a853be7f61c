import { closesWith, staysCalm } from "../checks.ts";
import { withHeaders } from "../requests.ts";
import type { Check, Row } from "../row.ts";
import { advisory, sse, transportWs } from "../sources.ts";
import type { Conversation } from "../talk.ts";

const SUBSCRIBE = { id: "1", payload: { query: "{__typename}" } };
const RESULT = /"type"\s*:\s*"(?:next|data)"/;
const ACKNOWLEDGEMENT = /"connection_ack"/;
const INIT = JSON.stringify({ type: "connection_init" });

const sendsNoResult: Check<Conversation> = ({ messages }) => {
  const result = messages.find((message) => RESULT.test(message));
  return result === undefined ? undefined : `the server sent ${result.slice(0, 120)}`;
};

const completesEvents: Check = ({ type, text }) =>
  type !== "text/event-stream" || (text.includes("event: next") && text.includes("event: complete"))
    ? undefined
    : `the stream is not that of the protocol: ${text.slice(0, 120)}`;

const isNotAcknowledged: Check<Conversation> = ({ messages }) =>
  messages.some((text) => ACKNOWLEDGEMENT.test(text)) ? "the upgrade was accepted" : undefined;

/** Server-Sent Events and WebSockets, if the server has them. */
export const streamRows: readonly Row[] = [
  {
    id: "STREAM-01",
    title: "sends a query as events `next` and `complete`, if it responds with an event stream",
    severity: "advice",
    source: sse,
    why: "Clients of the protocol wait for the second event.",
    requests: () => [withHeaders({ accept: "text/event-stream" })],
    expect: [staysCalm, completesEvents],
  },
  {
    id: "STREAM-02",
    title: "runs nothing over graphql-transport-ws before connection_init",
    severity: "must",
    source: advisory("GHSA-vpwc-v33q-mq89"),
    why: "The credentials of a socket are in that message: without it, anyone is let in.",
    needs: ["socket"],
    socket: {
      protocol: "graphql-transport-ws",
      messages: [JSON.stringify({ ...SUBSCRIBE, type: "subscribe" })],
      until: RESULT,
    },
    expect: [sendsNoResult],
  },
  {
    id: "STREAM-03",
    title: "runs nothing over the legacy protocol graphql-ws before connection_init",
    severity: "must",
    source: advisory("GHSA-vpwc-v33q-mq89"),
    why: "The client chooses the protocol, so a check in the newer one alone is worth nothing.",
    needs: ["legacySocket"],
    socket: {
      protocol: "graphql-ws",
      messages: [JSON.stringify({ ...SUBSCRIBE, type: "start" })],
      until: RESULT,
    },
    expect: [sendsNoResult],
  },
  {
    id: "STREAM-04",
    title: "closes with 4401 after an operation before connection_init",
    severity: "should",
    source: transportWs,
    why: "Clients decide by the code whether they connect again.",
    needs: ["socket"],
    socket: { protocol: "graphql-transport-ws", messages: [JSON.stringify({ ...SUBSCRIBE, type: "subscribe" })] },
    expect: [closesWith(4401)],
  },
  {
    id: "STREAM-05",
    title: "closes with 4429 after a second connection_init",
    severity: "should",
    source: transportWs,
    why: "A second message must not replace the credentials of an open socket.",
    needs: ["socket"],
    socket: { protocol: "graphql-transport-ws", messages: [INIT, INIT] },
    expect: [closesWith(4429)],
  },
  {
    id: "STREAM-06",
    title: "closes with 4400 after a message that is not JSON",
    severity: "should",
    source: transportWs,
    why: "An exception in the handler of messages has ended the process of servers.",
    needs: ["socket"],
    socket: { protocol: "graphql-transport-ws", messages: [INIT, "{"] },
    expect: [closesWith(4400)],
  },
  {
    id: "STREAM-07",
    title: "rejects the upgrade to a WebSocket from another site",
    severity: "advice",
    source: { name: "CWE-1385", url: "https://cwe.mitre.org/data/definitions/1385.html" },
    why: "Browsers attach cookies to an upgrade and ask for no permission, so any site could read a subscription.",
    needs: ["socket"],
    socket: {
      protocol: "graphql-transport-ws",
      messages: [INIT],
      until: ACKNOWLEDGEMENT,
      headers: { origin: "https://gauntlet.invalid", "sec-fetch-site": "cross-site" },
    },
    expect: [isNotAcknowledged],
  },
];
