import { sql } from "kysely";
import type { Migration } from "portico/sql";

/**
 * Other people sell their books in the shop. A book without a seller belongs to the shop itself. A line of an order
 * keeps the seller as it keeps the price: both are those of the time of the order.
 */
export const sellers: Migration = {
  name: "0003_sellers",
  async up(database) {
    await sql`alter table books add column seller_id text references users (id)`.execute(database);
    await sql`alter table order_lines add column seller_id text references users (id)`.execute(database);
    await sql`create index books_of_seller on books (seller_id, title, id)`.execute(database);
    await sql`create index order_lines_of_seller on order_lines (seller_id, order_id)`.execute(database);
    await sql`create index orders_latest on orders (at, id)`.execute(database);
    // A seller sees some lines of an order only, so the total depends on the reader.
    await sql`alter table orders drop column total_cents`.execute(database);
    // So far, sellers were the people who work in the shop.
    await sql`insert into portico_roles (name) values ('staff') on conflict do nothing`.execute(database);
    await sql`update portico_user_roles set role = 'staff' where role = 'seller'`.execute(database);
  },
  async down(database) {
    await sql`delete from portico_user_roles where role = 'seller'`.execute(database);
    await sql`update portico_user_roles set role = 'seller' where role = 'staff'`.execute(database);
    await sql`alter table orders add column total_cents integer`.execute(database);
    await sql`
      update orders set total_cents =
        (select coalesce(sum(copies * price_cents), 0) from order_lines where order_id = orders.id)`.execute(database);
    await sql`alter table orders alter column total_cents set not null`.execute(database);
    await sql`drop index orders_latest`.execute(database);
    await sql`alter table order_lines drop column seller_id`.execute(database);
    await sql`alter table books drop column seller_id`.execute(database);
  },
};
