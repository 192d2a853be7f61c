import { t } from "portico/graphql";

// An invalid value is rejected before a resolver runs, with the message that is thrown here.

export const Isbn = t.scalar<string>("Isbn", {
  description: "13 digits",
  serialize: String,
  parse(value) {
    if (typeof value === "string" && /^\d{13}$/.test(value)) return value;
    throw new TypeError("an ISBN must have 13 digits");
  },
});

export const Title = t.scalar<string>("Title", {
  description: "1 to 500 characters",
  serialize: String,
  parse(value) {
    const title = typeof value === "string" ? value.trim() : "";
    if (title.length >= 1 && title.length <= 500) return title;
    throw new TypeError("a title must have 1 to 500 characters");
  },
});

/** The maximum price: an order of 20 times 100 copies still fits into a PostgreSQL integer. */
export const MAX_CENTS = 1_000_000;
export const MAX_STOCK = 1_000_000;

export const Cents = t.scalar<number>("Cents", { serialize: Number, parse: (value) => countUpTo(MAX_CENTS, value) });
export const Stock = t.scalar<number>("Stock", { serialize: Number, parse: (value) => countUpTo(MAX_STOCK, value) });

function countUpTo(max: number, value: unknown): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max) return value;
  throw new TypeError(`expected a whole number from 0 to ${max}`);
}
