import { HttpException } from "../../kernel/exceptions/http-exception.ts";

/** 400: the token of a link is invalid, has expired or was already used. */
export class InvalidLink extends HttpException {
  override readonly name: string = "InvalidLink";

  constructor() {
    super(400, "The link is invalid or has expired", { code: "LINK_INVALID" });
  }
}
