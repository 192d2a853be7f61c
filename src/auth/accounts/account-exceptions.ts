import { HttpException } from "../../http/exceptions.ts";
import { AuthenticationFailed } from "../exceptions.ts";

/** 401 at a login: the same for every reason. */
export class InvalidCredentials extends AuthenticationFailed {
  override readonly name: string = "InvalidCredentials";

  constructor() {
    super("Name or password is incorrect", undefined, "INVALID_CREDENTIALS");
  }
}

/** 400: a link is old, used, or none of ours. */
export class InvalidLink extends HttpException {
  override readonly name: string = "InvalidLink";

  constructor() {
    super(400, "The link is not valid any more", { code: "LINK_INVALID" });
  }
}
