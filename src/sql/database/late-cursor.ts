import type { PostgresCursorConstructor } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";

let Cursor: PostgresCursorConstructor | undefined;

/** Loads the package by which `stream()` reads from PostgreSQL a few rows at a time. Few applications need it. */
export async function loadCursor(): Promise<void> {
  try {
    Cursor ??= (await import("pg-cursor")).default as PostgresCursorConstructor;
  } catch (cause) {
    const error = new ConfigurationError(
      "openDatabase",
      'needs the package "pg-cursor" for stream() on PostgreSQL: npm install pg-cursor',
    );
    throw Object.assign(error, { cause });
  }
}

/** Kysely asks for the class when it connects, and makes one when a stream begins: after `loadCursor`. */
export const LateCursor: PostgresCursorConstructor = function lateCursor(
  ...args: ConstructorParameters<PostgresCursorConstructor>
) {
  return new (Cursor as PostgresCursorConstructor)(...args);
} as unknown as PostgresCursorConstructor;
