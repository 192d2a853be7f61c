import { ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";

/** The operation was cancelled because its client disconnected or it timed out. Its remaining fields are not resolved. */
export class OperationOver extends ServiceUnavailable {
  override readonly name: string = "OperationOver";

  readonly #work: Promise<unknown> | null;

  /** @param work what still runs after a timeout */
  constructor(work: Promise<unknown> | null = null) {
    super("The operation timed out or was cancelled", { code: "HANDLER_TIMEOUT" });
    this.#work = work;
  }

  /** Resolves when its resolvers have ended. */
  async ended(): Promise<void> {
    await this.#work?.catch(() => {});
  }
}
