import type { GraphQLParams } from "./graphql-body.ts";
import { connectionLost, type Request, type RequestOptions } from "./request.ts";
import { CONNECTED, type Connect } from "./subscription-event.ts";
import { watchdog } from "./watchdog.ts";

/** Subscribes with Server-Sent Events. The server sends a comment now and then, so silence means a lost connection. */
export function eventStream(
  request: Request,
  path: string,
  body: GraphQLParams,
  headers: RequestOptions["headers"],
  idleSeconds: number,
): Connect {
  return async function* (token, signal) {
    const watch = watchdog(idleSeconds, signal);
    try {
      const own = { ...headers, accept: "text/event-stream" };
      const parts = { method: "POST", path, body, headers: own, token, signal: watch.signal };
      const response = await request(parts, (response) => response);
      yield CONNECTED;
      const reader = (response.body as ReadableStream<Uint8Array>).getReader();
      const decoder = new TextDecoder();
      for (let text = ""; ; ) {
        const { done, value } = await reader.read();
        // Without complete the subscription has not ended: the credential has, or the server restarts.
        if (done) throw connectionLost();
        watch.alive();
        const events = (text + decoder.decode(value, { stream: true })).split("\n\n");
        text = events.pop() as string;
        for (const event of events) {
          if (event.startsWith("event: complete")) return;
          const [, data] = /^data: (.+)/m.exec(event) ?? [];
          if (data !== undefined) yield JSON.parse(data);
          else if (event.startsWith("id: ")) yield { extensions: { position: event.slice(4) } };
        }
      }
    } catch (error) {
      throw watch.errorOf(error);
    } finally {
      watch.end();
    }
  };
}
