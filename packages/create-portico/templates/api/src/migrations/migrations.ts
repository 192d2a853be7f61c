import type { Migration } from "portico/sql";
import { notes } from "./0001-notes.ts";

/** All migrations, in order. Don't change one that has been deployed: append a new one. */
export const migrations: readonly Migration[] = [notes];
