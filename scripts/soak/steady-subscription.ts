import { WebSocket } from "ws";
import { judgeAnswer, judgeBreak, judgeClose, judgeErrors } from "./documented-outcomes.ts";
import type { FaultKind } from "./fault-windows.ts";
import { type SteadyClient, withinPatience } from "./steady-client.ts";

interface Message {
  readonly type: string;
  readonly payload?: unknown;
}

const TICKS = 1_000;
const LISTEN_MS = 3_000;

/** Listens for a while after the first event. Events come in order, and none comes twice. */
export async function subscribe(client: SteadyClient): Promise<void> {
  const start = performance.now();
  const socket = new WebSocket(`ws://127.0.0.1:${client.world.port}/graphql`, ["graphql-transport-ws"], {
    perMessageDeflate: false,
    headers: client.session(),
  });
  const listened = new Promise<void>((resolve, reject) => {
    const judged =
      <T extends unknown[]>(judge: (faults: ReadonlySet<FaultKind>, ...args: T) => void) =>
      (...args: T): void => {
        try {
          judge(client.windows.since(start), ...args);
        } catch (error) {
          reject(error);
        }
      };
    let last: number | null = null;
    const read = (faults: ReadonlySet<FaultKind>, { type, payload }: Message): void => {
      if (type === "connection_ack")
        socket.send(JSON.stringify({ type: "subscribe", id: "1", payload: { query: "subscription { mine }" } }));
      if (type === "error") judgeErrors(payload, faults);
      if (type === "complete") throw new Error("the subscription completed, which it never does by itself");
      if (type !== "next") return;
      const { data, errors } = payload as { readonly data?: { readonly mine: number }; readonly errors?: unknown };
      judgeErrors(errors, faults);
      if (last === null) setTimeout(resolve, Math.random() * LISTEN_MS);
      last = inOrder(last, data?.mine ?? Number.NaN);
    };
    socket.on("open", () => socket.send(JSON.stringify({ type: "connection_init" })));
    socket.on("message", (data: Buffer) => judged(read)(JSON.parse(data.toString()) as Message));
    socket.on("unexpected-response", (_request, { statusCode = 0, headers }) =>
      judged((faults) => judgeAnswer({ status: statusCode, headers, text: "" }, 101, faults))(),
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
