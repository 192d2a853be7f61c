import { type BaseContext, HttpContext, WebSocketContext } from "../../http/context/http-context.ts";
import { HttpException } from "../../http/exceptions/http-exception.ts";
import { SharedContext } from "../subscriptions/shared-context.ts";

/**
 * Returns the error for a resolver, or one of its dependencies, that declares the context of a transport other than the
 * operation's. Returns `null` if the transport is not the reason.
 */
export function wrongTransport(declared: unknown, parameter: string, connection: BaseContext): HttpException | null {
  if (connection instanceof SharedContext)
    return new HttpException(
      500,
      "A subscription with { shared: true } runs once for all clients, so it cannot declare the context of a connection",
      { code: "SHARED_SUBSCRIPTION" },
    );
  if (declared === WebSocketContext)
    return new HttpException(
      400,
      `This operation requires a WebSocket: the parameter ${parameter} is a WebSocketContext`,
      {
        code: "OPERATION_NEEDS_SOCKET",
      },
    );
  if (declared === HttpContext)
    return new HttpException(400, `This operation requires HTTP: the parameter ${parameter} is an HttpContext`, {
      code: "OPERATION_NEEDS_HTTP",
    });
  return null;
}
