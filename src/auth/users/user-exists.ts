import { Conflict } from "../../http/context/http-exception.ts";

/** A user with this address or this name is there already. */
export class UserExists extends Conflict {
  override readonly name: string = "UserExists";
  /** What is taken. */
  readonly taken: "email" | "username";

  constructor(taken: "email" | "username", options: { readonly cause?: unknown } = {}) {
    super(`The ${taken === "email" ? "address" : "name"} is taken`, { ...options, code: "USER_EXISTS" });
    this.taken = taken;
  }
}
