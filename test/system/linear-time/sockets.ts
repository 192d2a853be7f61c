import type { TestSocket } from "portico/testing";
import type { Everything } from "./everything.ts";
import { BODY, BODY_MS, type Reader, repeating } from "./reader.ts";

/** Messages on sockets: those of an application, and those of `graphql-transport-ws`. */
export function socketReaders({ live }: Everything): readonly Reader[] {
  const echo = (name: string, pieces: (text: string) => readonly (string | Uint8Array)[]): Reader => ({
    name,
    most: BODY,
    mostMs: BODY_MS,
    texts: [repeating("a"), (size) => "\u00E9".repeat(size / 2)],
    async read(text) {
      const socket = await live.socket("/echo");
      for (const piece of pieces(text)) socket.send(piece);
      await socket.next();
      socket.terminate();
      return 200;
    },
    outcomes: [200],
  });
  const graphql = (
    name: string,
    texts: Reader["texts"],
    messages: (text: string) => readonly string[],
    outcomes: Reader["outcomes"],
  ): Reader => ({
    name,
    most: BODY,
    mostMs: BODY_MS,
    texts,
    async read(text) {
      const socket = await live.socket("/graphql", { protocols: ["graphql-transport-ws"] });
      const answers = await Promise.race([socket.closed.then(({ code }) => code), answered(socket, messages(text))]);
      socket.terminate();
      return answers;
    },
    outcomes,
  });
  return [
    echo("a text message", (text) => [text]),
    echo("a binary message", (text) => [Buffer.from(text)]),
    graphql(
      "a message that is none",
      [repeating("["), repeating("1"), repeating('{"a":'), repeating("\\", '"')],
      (text) => [text],
      [4400],
    ),
    graphql(
      "the credential of connection_init",
      [repeating("a", "Bearer "), repeating("a.", "Bearer "), repeating(" ", "Bearer "), repeating("a", "", " ")],
      (text) => [JSON.stringify({ type: "connection_init", payload: { authorization: text } })],
      [200, 4403],
    ),
    graphql(
      "the API key of connection_init",
      [repeating("a", "pk_")],
      (text) => [JSON.stringify({ type: "connection_init", payload: { "x-api-key": text } })],
      [4403],
    ),
    graphql(
      "the payload of connection_init",
      [(size) => Array.from({ length: size / 12 }, (_, at) => `"k${at}":0`).join()],
      (text) => [`{"type":"connection_init","payload":{${text}}}`],
      [200],
    ),
    graphql(
      "the payload of a ping",
      [repeating("a")],
      (text) => [`{"type":"ping","payload":{"a":${JSON.stringify(text)}}}`],
      [200],
    ),
    graphql(
      "the id of an operation",
      [repeating("a")],
      (text) => [INIT, JSON.stringify({ type: "subscribe", id: text, payload: {} })],
      [4400],
    ),
    graphql(
      "the variables of an operation",
      [repeating("a")],
      (text) => [
        INIT,
        JSON.stringify({
          type: "subscribe",
          id: "1",
          payload: { query: "query ($x: String) { echo(text: $x) }", variables: { x: text } },
        }),
      ],
      [200],
    ),
  ];
}

const INIT = '{"type":"connection_init"}';

/** Sends each message when the one before it was answered: an operation before the acknowledgement would be refused unread. */
async function answered(socket: TestSocket, messages: readonly string[]): Promise<number> {
  for (const message of messages) {
    socket.send(message);
    await socket.next();
  }
  return 200;
}
