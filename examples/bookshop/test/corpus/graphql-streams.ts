import { once } from "node:events";
import type { TestSocket } from "portico/testing";
import { expect } from "vitest";
import { type Header, JSON_TYPE, type Rows } from "../../../../test/system/corpus/answer.ts";
import { bytesOf, dial } from "../../../../test/system/corpus/wire.ts";
import { listeners } from "../open-shop.ts";
import { as, post, send, sessionOf, theShop } from "./the-shop.ts";

const STOCK = 'subscription{stockChanged(book:"book-9")}';

const open = (headers = {}, protocols = ["graphql-transport-ws"]): Promise<TestSocket> =>
  theShop().client.socket("/graphql", { headers, protocols });
const say = (socket: TestSocket, message: object): void => socket.send(JSON.stringify(message));
const subscribe = (socket: TestSocket, id: string, query = STOCK): void =>
  say(socket, { id, type: "subscribe", payload: { query } });
async function acknowledged(headers = {}, payload?: object): Promise<TestSocket> {
  const socket = await open(headers);
  say(socket, { type: "connection_init", payload });
  expect(JSON.parse(await socket.next())).toMatchObject({ type: "connection_ack" });
  return socket;
}
const codeOf = async (socket: TestSocket): Promise<number> => (await socket.closed).code;
async function heard(count: number): Promise<void> {
  await expect.poll(() => listeners("stock.book-9"), { timeout: 60_000 }).toBe(count);
}
const change = async (stock: number): Promise<void> => {
  const query = `mutation{changeBook(id:"book-9",change:{stock:${stock}}){id}}`;
  expect((await post("/graphql", { query }, [await as("staff")])).verdict).toBe("200");
};

/** I. Subscriptions */
export const subscriptions: Rows = {
  async "I1 the subprotocol is required"() {
    expect(await codeOf(await open({}, []))).toBe(4406);
    expect((await open({}, ["graphql-ws", "graphql-transport-ws"])).protocol).toBe("graphql-transport-ws");
  },
  async "I2 who says nothing is closed after 3 s"() {
    expect(await codeOf(await open())).toBe(4408);
  },
  async "I3 subscribe comes after connection_init"() {
    const socket = await open();
    subscribe(socket, "1");
    expect(await codeOf(socket)).toBe(4401);
  },
  async "I4 a second connection_init is too many"() {
    const socket = await acknowledged();
    say(socket, { type: "connection_init" });
    expect(await codeOf(socket)).toBe(4429);
  },
  async "I5 an id is taken once"() {
    const socket = await acknowledged();
    subscribe(socket, "1");
    subscribe(socket, "1");
    expect(await codeOf(socket)).toBe(4409);
  },
  async "I6 an invalid message closes the socket, the id __proto__ does not"() {
    for (const wrong of [
      "x",
      Buffer.from([1, 2]),
      "{}",
      '{"type":"unknown"}',
      '{"type":"subscribe","id":"","payload":{"query":"x"}}',
    ]) {
      const socket = await acknowledged();
      socket.send(wrong);
      expect(await codeOf(socket)).toBe(4400);
    }
    const socket = await acknowledged();
    subscribe(socket, "__proto__");
    await heard(1);
    await change(41);
    expect(JSON.parse(await socket.next())).toMatchObject({
      id: "__proto__",
      type: "next",
      payload: { data: { stockChanged: 41 } },
    });
    socket.close();
    await heard(0);
  },
  async "I7 the 101st on a socket is refused"() {
    const socket = await acknowledged();
    for (let i = 0; i < 101; i++) subscribe(socket, `s${i}`);
    expect(JSON.parse(await socket.next())).toMatchObject({ id: "s100", type: "error" });
    socket.close();
    await heard(0);
  },
  async "I8 a frame over the limit closes"() {
    const socket = await acknowledged();
    socket.send("x".repeat(1024 ** 2 + 1));
    expect(await codeOf(socket)).toBe(1009);
  },
  async "I9 the limits are those of HTTP"() {
    const socket = await acknowledged();
    subscribe(
      socket,
      "1",
      `subscription{orderPlaced{lines{book{${"author{books{nodes{".repeat(8)}id${"}}}".repeat(8)}}}}}`,
    );
    expect(JSON.parse(await socket.next())).toMatchObject({
      type: "error",
      payload: [{ extensions: { code: "DEPTH_LIMIT_EXCEEDED" } }],
    });
    socket.close();
  },
  async "I10 a query over the socket is refused"() {
    const socket = await acknowledged();
    subscribe(socket, "1", "{me{id}}");
    expect(JSON.parse(await socket.next())).toMatchObject({
      type: "error",
      payload: [{ extensions: { code: "OPERATION_NEEDS_HTTP" } }],
    });
    socket.close();
  },
  async "I11 complete ends the subscription"() {
    const socket = await acknowledged();
    subscribe(socket, "1");
    await heard(1);
    say(socket, { id: "1", type: "complete" });
    await heard(0);
    socket.close();
  },
  async "I14 a flood of pings closes"() {
    const socket = await acknowledged();
    for (let i = 0; i < 2_000; i++) say(socket, { type: "ping" });
    expect(await codeOf(socket)).toBe(1008);
    expect((await send("/readyz")).status).toBe(200);
  },
  async "I15 a bad frame closes"() {
    const socket = await dial(theShop().client.port);
    const headers: Header[] = [
      ["connection", "Upgrade"],
      ["upgrade", "websocket"],
      ["sec-websocket-version", "13"],
      ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
      ["sec-websocket-protocol", "graphql-transport-ws"],
    ];
    socket.write(bytesOf("/graphql", { headers }));
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(first.toString("latin1")).toMatch(/^HTTP\/1\.1 101 /);
    socket.write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]));
    const [frame] = (await once(socket, "data")) as [Buffer];
    expect([(frame[0] ?? 0) & 15, frame.readUInt16BE(2)]).toEqual([8, 1002]);
    socket.destroy();
  },
  async "I16 a session that ends closes its socket"() {
    const cookie = await sessionOf("reader6");
    const socket = await acknowledged({ cookie });
    subscribe(socket, "1");
    await post("/account/logout", {}, [["cookie", cookie]]);
    expect(await codeOf(socket)).toBe(4403);
    await heard(0);
  },
  async "I18 a stream that its client leaves ends within a second"() {
    const socket = await dial(theShop().client.port);
    const headers: Header[] = [JSON_TYPE, ["accept", "text/event-stream"]];
    socket.write(bytesOf("/graphql", { headers, body: JSON.stringify({ query: STOCK }) }));
    await heard(1);
    socket.destroy();
    await expect.poll(() => listeners("stock.book-9"), { timeout: 60_000 }).toBe(0);
  },
  async "I19 a subscription that was not asked for as a stream is 400"() {
    for (const headers of [[["accept", "application/json"]], [["accept", "*/*"]], []] as const)
      expect((await post("/graphql", { query: STOCK }, headers)).verdict).toBe("400 SUBSCRIPTION_NEEDS_STREAM");
    await heard(0);
  },
};

/** J. The explorer */
export const explorer: Rows = {
  async "J9 a query that looks like a page is answered as JSON"() {
    const answer = await send(`/graphql?query=${encodeURIComponent("</script>")}`, {
      headers: [["accept", "text/html"]],
    });
    expect([answer.status, answer.headers["content-type"], answer.headers["x-content-type-options"]]).toEqual([
      400,
      "application/json; charset=utf-8",
      "nosniff",
    ]);
    const page = await send("/graphql", { headers: [["accept", "text/html"]] });
    expect(page.headers["content-security-policy"]).toContain("sha256-");
  },
};
