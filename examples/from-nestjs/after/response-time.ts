import type { MiddlewareFunction } from "portico";

/** Was an interceptor. A middleware needs no case for GraphQL. */
export const responseTime: MiddlewareFunction = async (ctx, next) => {
  const started = performance.now();
  await next();
  if (ctx.kind === "http") ctx.response.header("server-timing", `app;dur=${(performance.now() - started).toFixed(1)}`);
};
