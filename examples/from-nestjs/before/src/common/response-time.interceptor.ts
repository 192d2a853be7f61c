import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from "@nestjs/common";
import { type GqlContextType, GqlExecutionContext } from "@nestjs/graphql";
import type { Response } from "express";
import { tap } from "rxjs";

@Injectable()
export class ResponseTimeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    const started = performance.now();
    return next.handle().pipe(
      tap(() => {
        const response = responseOf(context);
        if (!response.headersSent)
          response.setHeader("server-timing", `app;dur=${(performance.now() - started).toFixed(1)}`);
      }),
    );
  }
}

function responseOf(context: ExecutionContext): Response {
  if (context.getType<GqlContextType>() === "graphql") return GqlExecutionContext.create(context).getContext().res;
  return context.switchToHttp().getResponse();
}
