import type { ErrorCode } from "../../core/error-codes.ts";
import { PorticoError } from "../../core/portico-error.ts";

const CODE: ErrorCode = "ROLLED_BACK";

/** The field was undone, or did not run, because another root field of its mutation has failed. */
export class RolledBack extends PorticoError {
  override readonly name: string = "RolledBack";

  constructor() {
    super(CODE, "The operation was rolled back", { status: 424 });
  }
}
