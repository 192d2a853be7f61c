import { HttpException } from "./http-exception.ts";

/** 403: the signed-in user lacks permission. */
export class PermissionDenied extends HttpException {
  override readonly name: string = "PermissionDenied";
  /** The missing permission, if the check named one. */
  readonly permission: string | null;

  constructor(message = "Permission denied", permission: string | null = null) {
    super(403, message);
    this.permission = permission;
  }
}
