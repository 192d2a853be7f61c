import { channel } from "node:diagnostics_channel";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Injectable, type OnApplicationShutdown } from "@nestjs/common";

/** Emits every statement, so that they can be counted. */
const statements = channel("tracker.statements");

@Injectable()
export class DatabaseService implements OnApplicationShutdown {
  private readonly database = new DatabaseSync(process.env.DATABASE ?? "tracker.db", { timeout: 5000 });

  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    statements.publish(sql);
    return this.database.prepare(sql).all(...values) as Row[];
  }

  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.all<Row>(sql, ...values)[0];
  }

  transaction<Result>(work: () => Result): Result {
    this.database.exec("begin immediate");
    try {
      const result = work();
      this.database.exec("commit");
      return result;
    } catch (error) {
      this.database.exec("rollback");
      throw error;
    }
  }

  onApplicationShutdown() {
    this.database.close();
  }
}
