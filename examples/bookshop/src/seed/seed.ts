import { sql } from "kysely";
import { PasswordHasher } from "portico/auth";
import type { RoleName } from "../accounts/roles.ts";
import { genres } from "../books/book-table.ts";
import { database as guarded } from "../database.ts";
import { firstNames, lastNames, nouns, openings } from "./words.ts";

export interface SeedOptions {
  readonly books: number;
  /** The number of readers, without the sellers, the staff and the admin. */
  readonly users: number;
}

const database = guarded.asSystem("seeds an empty shop");

const PASSWORD = "correct horse battery";

/**
 * Fills empty tables. The database generates the rows, in one statement per table. All users share one password hash.
 */
export async function seed({ books, users }: SeedOptions): Promise<SeedOptions & { readonly password: string }> {
  await addUsers(users);
  await addAuthors(Math.ceil(books / 50));
  await addBooks(books);
  await addReviews(Math.floor(books / 2), users);
  await sql`analyze users, authors, books, covers, orders, order_lines, reviews`.execute(database);
  return { books, users, password: PASSWORD };
}

async function addUsers(count: number): Promise<void> {
  const hash = await new PasswordHasher().hash(PASSWORD);
  await sql`
    insert into users (id, email, email_key, username, username_key, password_hash, email_verified_at)
    select name, name || '@shop.example', name || '@shop.example', name, name, ${hash}, now()
    from (select 'reader' || n as name from generate_series(1, ${sql.lit(count)}) as n union all values ('seller1'), ('seller2'), ('staff'), ('admin')) as names
    on conflict do nothing`.execute(database);
  await giveRole("reader", sql`true`);
  await giveRole("seller", sql`id in ('seller1', 'seller2')`);
  await giveRole("staff", sql`id in ('staff', 'admin')`);
  await giveRole("admin", sql`id = 'admin'`);
}

async function giveRole(role: RoleName, whom: ReturnType<typeof sql>): Promise<void> {
  await sql`
    insert into portico_user_roles (user_id, role) select id, ${role} from users where ${whom}
    on conflict do nothing`.execute(database);
}

async function addAuthors(count: number): Promise<void> {
  await sql`
    insert into authors (id, name, born)
    select 'author-' || n, ${pick(firstNames, sql`n`)} || ' ' || ${pick(lastNames, sql`n / ${sql.lit(firstNames.length)}`)}, 1700 + n % 300
    from generate_series(1, ${sql.lit(count)}) as n
    on conflict do nothing`.execute(database);
}

/** Each seller sells a quarter of the books, and the shop itself sells the rest. */
async function addBooks(count: number): Promise<void> {
  const authors = Math.ceil(count / 50);
  await sql`
    insert into books (id, isbn, title, genre, author_id, price_cents, cost_cents, stock, added_at, seller_id)
    select
      'book-' || n,
      '978' || lpad(n::text, 10, '0'),
      ${pick(openings, sql`n`)} || ' ' || ${pick(nouns, sql`n / ${sql.lit(openings.length)}`)} || ' ' || n,
      ${pick(genres, sql`n`)},
      'author-' || 1 + n % ${sql.lit(authors)},
      500 + n * 37 % 4500,
      300 + n * 37 % 2500,
      10 + n % 90,
      timestamptz '2020-01-01' + n * interval '17.000001 seconds',
      case n % 4 when 1 then 'seller1' when 2 then 'seller2' end
    from generate_series(1, ${sql.lit(count)}) as n
    on conflict do nothing`.execute(database);
}

/** One for every second book. */
async function addReviews(count: number, users: number): Promise<void> {
  await sql`
    insert into reviews (book_id, reader_id, stars, text)
    select 'book-' || 2 * n, 'reader' || 1 + n * 7 % ${sql.lit(users)}, 1 + n % 5, 'I read it ' || 1 + n % 3 || ' times.'
    from generate_series(1, ${sql.lit(count)}) as n
    on conflict do nothing`.execute(database);
}

/** Picks a word by number. */
function pick(words: readonly string[], number: ReturnType<typeof sql>): ReturnType<typeof sql> {
  return sql`(${sql.lit(`{${words.join(",")}}`)}::text[])[1 + (${number}) % ${sql.lit(words.length)}]`;
}
