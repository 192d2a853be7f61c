import { CompiledQuery, type DatabaseConnection, type Driver } from "kysely";
import { inPipeline } from "../statements/in-pipeline.ts";
import { literal, SETTING } from "./policy-expression.ts";

/** The setting of the caller on one connection. It ends with the transaction, also behind a pooler. */
export class PolicySession {
  readonly #connection: DatabaseConnection;
  readonly #driver: Driver;
  #isOpen = false;
  /** The setting of the open transaction; `null` if it is unknown. */
  #setting: string | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(connection: DatabaseConnection, driver: Driver) {
    this.#connection = connection;
    this.#driver = driver;
  }

  /** A transaction has begun or ended. */
  reset(isOpen: boolean): void {
    this.#isOpen = isOpen;
    this.#setting = null;
  }

  /** Part of the transaction was undone, maybe with its setting. */
  forget(): void {
    this.#setting = null;
  }

  /** Notes a statement that was sent without a setting, which may begin or end a transaction. */
  note(sql: string): void {
    if (/^\s*(?:begin|start\s+transaction)\b/i.test(sql)) this.reset(true);
    else if (/^\s*(?:commit|end|abort|rollback)\b(?!\s+to\b)/i.test(sql)) this.reset(false);
    else this.forget();
  }

  /**
   * Runs a statement under a setting. Outside a transaction, it opens one. Statements of one transaction run one after the other,
   * because another caller would change the setting.
   *
   * @param send sends the statement before it first waits for something
   * @param isRead whether the response does not decide about the end of a transaction
   */
  run<T>(setting: string, send: () => Promise<T>, isRead: boolean): Promise<T> {
    const done = this.#turn.then(() =>
      this.#isOpen ? this.#within(setting, send) : this.#alone(setting, send, isRead),
    );
    this.#turn = done.catch(() => {});
    return done;
  }

  async #within<T>(setting: string, send: () => Promise<T>): Promise<T> {
    if (this.#setting === setting) return send();
    const set = inPipeline(() => this.#connection.executeQuery(CompiledQuery.raw(setTo(setting))));
    if (!set.isPipelined) await set.sent;
    this.#setting = setting;
    try {
      const [, result] = await settled(set.sent, set.isPipelined ? inPipeline(send).sent : send());
      return result;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  async #alone<T>(setting: string, send: () => Promise<T>, isRead: boolean): Promise<T> {
    const begun = inPipeline(() => this.#begin(setting));
    const end = this.#ending();
    try {
      if (!begun.isPipelined) await begun.sent;
      const sent = begun.isPipelined ? inPipeline(send).sent : send();
      // A commit after a failed statement rolls back, and says so.
      const ended = isRead && begun.isPipelined ? inPipeline(() => end("commit")).sent : null;
      const [, result] = await settled(begun.sent, sent, ended);
      await end("commit");
      return result;
    } catch (error) {
      await end("rollback");
      throw error;
    }
  }

  /** Begins a transaction with the setting, and returns how to end it. */
  async enter(setting: string): Promise<(how: "commit" | "rollback") => Promise<void>> {
    if (this.#isOpen) {
      if (this.#setting !== setting) await this.#connection.executeQuery(CompiledQuery.raw(setTo(setting)));
      this.#setting = setting;
      return async () => {};
    }
    await this.#begin(setting);
    return this.#ending();
  }

  #begin(setting: string): Promise<unknown> {
    this.#isOpen = true;
    this.#setting = setting;
    return this.#connection.executeQuery(CompiledQuery.raw(`begin; ${setTo(setting)}`));
  }

  #ending(): (how: "commit" | "rollback") => Promise<void> {
    let hasEnded = false;
    return async (how) => {
      // A failed commit has ended the transaction.
      if (hasEnded) return;
      hasEnded = true;
      this.reset(false);
      if (how === "commit") await this.#driver.commitTransaction(this.#connection);
      else await this.#driver.rollbackTransaction(this.#connection).catch(() => {});
    };
  }
}

function setTo(setting: string): string {
  return `select set_config('${SETTING}', ${literal(setting)}, true)`;
}

/** Waits until all have been answered. Rejects with the error of the first one that failed. */
async function settled<T extends readonly unknown[]>(
  ...sent: { readonly [I in keyof T]: Promise<T[I]> | T[I] }
): Promise<T> {
  const results = await Promise.allSettled(sent);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T;
}
