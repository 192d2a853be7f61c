import { ServiceUnavailable } from "../../http/exceptions/http-exception.ts";

/** The operation was cancelled because its client disconnected or it timed out. Its remaining fields are not resolved. */
export class OperationOver extends ServiceUnavailable {
  override readonly name: string = "OperationOver";

  constructor() {
    super("The operation timed out or was cancelled", { code: "HANDLER_TIMEOUT" });
  }
}
