import type { Generated, Selectable } from "kysely";

export interface AuthorTable {
  id: Generated<string>;
  name: string;
  born: number | null;
}
export type AuthorRow = Selectable<AuthorTable>;
