import { Conflict } from "../../kernel/exceptions/http-exception.ts";

/** 409: another user has this email address or username. */
export class UserExists extends Conflict {
  override readonly name: string = "UserExists";
  /** The value that is taken. */
  readonly taken: "email" | "username";

  constructor(taken: "email" | "username", options: { readonly cause?: unknown } = {}) {
    super(taken === "email" ? "The email address is already in use" : "The username is already taken", {
      ...options,
      code: "USER_EXISTS",
    });
    this.taken = taken;
  }
}
