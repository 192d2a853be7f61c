import { type FieldDef, subscription, t } from "portico/graphql";
import { database } from "./database.ts";
import { commentAdded, issueChanged } from "./mutations.ts";
import { type AnyRow, Comment, Issue, SearchHit } from "./types.ts";

const find = async (table: "issues" | "comments", id: string): Promise<any> =>
  database
    .selectFrom(table as "issues")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();

/** No subscription checks anything: every subscriber gets the events of all tenants, and the rules drop the others. */
const declared = {
  issueChanged: subscription(Issue)(async function* ({ ctx }) {
    for await (const id of ctx.pubsub.subscribe(issueChanged)) {
      const row = await find("issues", id);
      if (row !== undefined) yield row;
    }
  }),
  commentAdded: subscription(Comment, { params: { issue: t.nullable(t.id) } })(async function* ({ ctx, issue }) {
    for await (const id of ctx.pubsub.subscribe(commentAdded)) {
      const row = await find("comments", id);
      if (row !== undefined && (issue === null || row.issue_id === issue)) yield row;
    }
  }),
  activity: subscription(SearchHit)(async function* ({ ctx }) {
    for await (const id of ctx.pubsub.subscribe(issueChanged)) {
      const row: AnyRow | undefined = await find("issues", id);
      if (row !== undefined) yield row;
    }
  }),
  recent: subscription(t.list(Issue))(async function* ({ ctx }) {
    for await (const id of ctx.pubsub.subscribe(issueChanged))
      yield await database.selectFrom("issues").selectAll().where("id", "!=", id).orderBy("title").limit(40).execute();
  }),
};

export const subscriptions: Readonly<Record<string, FieldDef<any, any, any, "subscription">>> = declared;
