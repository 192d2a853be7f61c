import { eq } from "drizzle-orm";
import { limitLogin, UserBaseModel, type UserModel } from "portico/auth";
import type { Database } from "../shared/database.ts";
import { isPassword } from "../shared/passwords.ts";
import { type CustomerRow, customers } from "../shared/tables.ts";

const STAFF = ["read:orders", "ship:orders", "read:audit"];

/** A row of the table of customers as a user of Portico. */
export class Customer extends UserBaseModel {
  readonly identity: string;
  readonly displayName: string;

  constructor({ id, name, isStaff }: CustomerRow) {
    super(isStaff === 1 ? STAFF : []);
    this.identity = id;
    this.displayName = name;
  }
}

export function customerModel(db: Database): UserModel<Customer> {
  return {
    async loadUser(identity) {
      const [row] = await db.select().from(customers).where(eq(customers.id, identity));
      return row === undefined ? null : new Customer(row);
    },
  };
}

/** Returns the customer with this password, or `null`. Too many attempts are rejected with 429. */
export function checkPassword(db: Database, email: string, password: string): Promise<Customer | null> {
  return limitLogin(email, async () => {
    const [row] = await db.select().from(customers).where(eq(customers.email, email));
    return row !== undefined && isPassword(password, row.passwordHash) ? new Customer(row) : null;
  });
}
