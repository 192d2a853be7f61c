import { HttpException } from "../../http/context/http-exception.ts";

/** 400: a link is old, used, or none of ours. */
export class InvalidLink extends HttpException {
  override readonly name: string = "InvalidLink";

  constructor() {
    super(400, "The link is not valid any more", { code: "LINK_INVALID" });
  }
}
