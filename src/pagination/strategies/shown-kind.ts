/** The kind of value that items show for a column, if their declaration says so. */
export type ShownKind = "numbers" | "booleans";
