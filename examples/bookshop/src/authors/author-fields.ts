import { field, t } from "portico/graphql";
import { database } from "../database.ts";
import { Author } from "./author-type.ts";

export const authorQueries = {
  author: field(t.nullable(Author), { params: { id: t.id } })(({ id }) =>
    database.current().selectFrom("authors").selectAll().where("id", "=", id).executeTakeFirst(),
  ),
};
