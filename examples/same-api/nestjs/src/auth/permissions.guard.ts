import { CanActivate, ExecutionContext, Injectable } from "@nestjs/common";
import { Reflector } from "@nestjs/core";
import { GqlExecutionContext } from "@nestjs/graphql";
import type { User } from "../users/user.js";
import { RequirePermissions } from "./require-permissions.decorator.js";

@Injectable()
export class PermissionsGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const required = this.reflector.get(RequirePermissions, context.getHandler());
    const { user } = GqlExecutionContext.create(context).getContext<{ req: { user: User } }>().req;
    return required.every((permission) => user.permissions.includes(permission));
  }
}
