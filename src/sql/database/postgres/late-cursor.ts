import type { PostgresCursorConstructor } from "kysely";
import { ConfigurationError } from "../../../core/configuration-error.ts";

let Cursor: PostgresCursorConstructor | undefined;

/** Loads the package with which `stream()` reads from PostgreSQL a few rows at a time. Few applications need it. */
export async function loadCursor(): Promise<void> {
  try {
    Cursor ??= (await import("pg-cursor")).default as PostgresCursorConstructor;
  } catch (cause) {
    const error = new ConfigurationError(
      "openDatabase",
      'requires the package "pg-cursor" for stream() on PostgreSQL: run npm install pg-cursor',
    );
    throw Object.assign(error, { cause });
  }
}

/** Kysely takes the class when it connects, but creates an instance when a stream starts, after `loadCursor`. */
export const LateCursor: PostgresCursorConstructor = function lateCursor(
  ...args: ConstructorParameters<PostgresCursorConstructor>
) {
  return new (Cursor as PostgresCursorConstructor)(...args);
} as unknown as PostgresCursorConstructor;
