import { createParamDecorator, ExecutionContext } from "@nestjs/common";
import { GqlExecutionContext } from "@nestjs/graphql";
import type { User } from "../users/user.js";

export const CurrentUser = createParamDecorator(
  (_data: unknown, context: ExecutionContext): User =>
    GqlExecutionContext.create(context).getContext<{ req: { user: User } }>().req.user,
);
