import type { ExecutionContext } from "@nestjs/common";
import { type GqlContextType, GqlExecutionContext } from "@nestjs/graphql";
import type { Request } from "express";
import type { User } from "../users/user.entity";

/** The HTTP request of a controller or of a resolver. */
export function requestOf(context: ExecutionContext): Request & { user: User } {
  if (context.getType<GqlContextType>() === "graphql") return GqlExecutionContext.create(context).getContext().req;
  return context.switchToHttp().getRequest();
}
