import { HttpException } from "../http/context/http-exception.ts";

/** 403: somebody is signed in, and may not. */
export class PermissionDenied extends HttpException {
  override readonly name: string = "PermissionDenied";
  /** The permission that is missing, when it was one. */
  readonly permission: string | null;

  constructor(message = "This is not allowed", permission: string | null = null) {
    super(403, message);
    this.permission = permission;
  }
}
