import { ServiceUnavailable } from "../../http/context/http-exception.ts";

/** The operation was given up, since its client has left or its time was over: what is left of it is not resolved. */
export class OperationOver extends ServiceUnavailable {
  override readonly name: string = "OperationOver";

  constructor() {
    super("The operation timed out or was cancelled", { code: "HANDLER_TIMEOUT" });
  }
}
