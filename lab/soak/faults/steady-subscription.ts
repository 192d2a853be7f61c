import { WebSocket } from "ws";
import { codesOf, judgeAnswer, judgeBreak, judgeClose, judgeErrors } from "./documented-outcomes.ts";
import type { FaultKind } from "./fault-windows.ts";
import { type SteadyClient, withinPatience } from "./steady-client.ts";

interface Message {
  readonly type: string;
  readonly id?: string;
  readonly payload?: unknown;
}

const EVENTS = "1";
const OWNER = "2";
const TICKS = 1_000;
const LISTEN_MS = 3_000;

/** Listens for a while after the first event. Events come in order, and none comes twice. Another subscription returns the user. */
export async function subscribe(client: SteadyClient): Promise<void> {
  const start = performance.now();
  const session = client.session();
  const socket = new WebSocket(`ws://127.0.0.1:${client.world.port}/graphql`, ["graphql-transport-ws"], {
    perMessageDeflate: false,
    headers: session.headers,
  });
  const judge = (faults: ReadonlySet<FaultKind>, errors: unknown): void => {
    if (codesOf(errors).includes("UNAUTHENTICATED")) client.identities.refuse(session, "a socket");
    judgeErrors(errors, faults);
  };
  const listened = new Promise<void>((resolve, reject) => {
    const judged =
      <T extends unknown[]>(check: (faults: ReadonlySet<FaultKind>, ...args: T) => void) =>
      (...args: T): void => {
        try {
          check(client.windows.since(start), ...args);
        } catch (error) {
          reject(error);
        }
      };
    let last: number | null = null;
    const send = (id: string, query: string): void =>
      socket.send(JSON.stringify({ type: "subscribe", id, payload: { query } }));
    const read = (faults: ReadonlySet<FaultKind>, { type, id, payload }: Message): void => {
      if (type === "connection_ack") {
        send(OWNER, "subscription { owner }");
        send(EVENTS, "subscription { mine }");
      }
      if (type === "error") judge(faults, payload);
      if (id === OWNER && type === "next") {
        const { data, errors } = payload as { readonly data?: { readonly owner: unknown }; readonly errors?: unknown };
        judge(faults, errors);
        client.identities.compare(session, "a socket", data?.owner);
      }
      if (id === OWNER) return;
      if (type === "complete") throw new Error("the subscription completed, which it never does by itself");
      if (type !== "next") return;
      const { data, errors } = payload as { readonly data?: { readonly mine: number }; readonly errors?: unknown };
      judge(faults, errors);
      if (last === null) setTimeout(resolve, Math.random() * LISTEN_MS);
      last = inOrder(last, data?.mine ?? Number.NaN);
    };
    socket.on("open", () => socket.send(JSON.stringify({ type: "connection_init" })));
    socket.on("message", (data: Buffer) => judged(read)(JSON.parse(data.toString()) as Message));
    socket.on("unexpected-response", (_request, { statusCode = 0, headers }) =>
      judged((faults) => {
        if (statusCode === 401) client.identities.refuse(session, "an upgrade");
        judgeAnswer({ status: statusCode, headers, text: "" }, 101, faults);
      })(),
    );
    socket.on("error", (error) => judged((faults) => judgeBreak(error, faults))());
    socket.on("close", (code) => judged((faults) => judgeClose(code, faults))());
  });
  try {
    await withinPatience("a subscription", listened);
  } finally {
    socket.removeAllListeners().on("error", () => {});
    socket.terminate();
  }
}

function inOrder(last: number | null, next: number): number {
  const step = last === null ? 1 : (next - last + TICKS) % TICKS;
  if (!(step > 0 && step < TICKS / 2)) throw new Error(`event ${next} came after ${last}`);
  return next;
}
