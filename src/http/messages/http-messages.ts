import type { Messages } from "../../kernel/context/messages.ts";
import { IncomingRequest } from "./incoming-request.ts";
import { OutgoingResponse } from "./outgoing-response.ts";
import { renderProblem } from "./render-problem.ts";

/** The requests, responses and error responses of HTTP. */
export const httpMessages: Messages = {
  incoming: (ctx, exchange, maxBody, publicUrl) => new IncomingRequest(ctx, exchange, maxBody, publicUrl),
  outgoing: (ctx) => new OutgoingResponse(ctx),
  renderError: renderProblem,
};
