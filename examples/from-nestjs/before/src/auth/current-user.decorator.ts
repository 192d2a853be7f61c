import { createParamDecorator, type ExecutionContext } from "@nestjs/common";
import { requestOf } from "./request-of";

export const CurrentUser = createParamDecorator((_data: unknown, context: ExecutionContext) => requestOf(context).user);
