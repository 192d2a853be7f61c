import type { ServerResponse } from "node:http";
import { STALLED_MS, unreadOutputs } from "../messages/unread-output.ts";

/** Tracks a response that the connection could not send at once, and cuts it off if its client does not read it. */
export function watchUnread(response: ServerResponse, length: number, address: string): void {
  response.setTimeout(STALLED_MS, () => cutStalled(response));
  if (length === 0) return;
  const output = {
    cutOff: () => {
      (response.socket ?? response.req.socket).destroy();
    },
  };
  unreadOutputs.set(output, length, address);
  response.once("close", () => unreadOutputs.remove(output, address));
}

/** Nothing was sent on the connection for a while: its client reads nothing, or the stream has nothing to send. */
function cutStalled(response: ServerResponse): void {
  if ((response.socket?.writableLength ?? 0) > 0) response.socket?.destroy();
  else response.setTimeout(STALLED_MS);
}
