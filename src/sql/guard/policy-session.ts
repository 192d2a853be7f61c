import { CompiledQuery, type DatabaseConnection, type Driver } from "kysely";
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
   * Runs work under a setting. Outside a transaction, it opens one. Work of one transaction runs one after the other, because another
   * caller would change the setting.
   */
  run<T>(setting: string, work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(async () => {
      const end = await this.enter(setting);
      try {
        const result = await work();
        await end("commit");
        return result;
      } catch (error) {
        await end("rollback");
        throw error;
      }
    });
    this.#turn = done.catch(() => {});
    return done;
  }

  /** Sets the setting, and returns how to end the transaction if this has begun it. */
  async enter(setting: string): Promise<(how: "commit" | "rollback") => Promise<void>> {
    const set = `select set_config('${SETTING}', ${literal(setting)}, true)`;
    if (this.#isOpen) {
      if (this.#setting !== setting) await this.#connection.executeQuery(CompiledQuery.raw(set));
      this.#setting = setting;
      return async () => {};
    }
    await this.#connection.executeQuery(CompiledQuery.raw(`begin; ${set}`));
    this.#isOpen = true;
    this.#setting = setting;
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
