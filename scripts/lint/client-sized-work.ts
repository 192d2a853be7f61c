/** The only file that may parse JSON which a client wrote, because it knows how much can be parsed at once. */
const READER = "src/core/read-json.ts";
/** The code that runs in no request: commands, tests, and scripts of pages. */
const NEVER_SERVES = /^src\/(?:audit|cli|testing)\/|-script\.ts$/;

/** The files that parse other JSON, by what limits it. */
const otherJson: Readonly<Record<string, readonly string[]>> = {
  "a record that Portico wrote into a store": [
    "src/auth/accounts/one-time-tokens.ts",
    "src/auth/accounts/verification-codes.ts",
    "src/auth/accounts/pending-sign-ins.ts",
    "src/auth/accounts/routes/email-routes.ts",
    "src/auth/accounts/sign-in-mails.ts",
    "src/auth/api-keys/api-key-record.ts",
    "src/auth/api-keys/api-key-store.ts",
    "src/auth/records/change-record.ts",
    "src/auth/providers/sign-in-attempts.ts",
    "src/auth/sessions/session-record.ts",
    "src/auth/sessions/session-store.ts",
    "src/auth/tokens/refresh-families.ts",
    "src/graphql/documents/kept-documents.ts",
    "src/sql/users/user-rows.ts",
  ],
  "an event that the application published": [
    "src/kernel/events/event-hold.ts",
    "src/sql/outbox/consumer-run.ts",
    "src/sql/outbox/outbox.ts",
    "src/sql/stores/postgres-pub-sub.ts",
    "src/stores/pub-sub.ts",
    "src/stores/subscription.ts",
  ],
  "errors of one response, which are limited": [
    "src/graphql/errors/format-error.ts",
    "src/graphql/subscriptions/conversation.ts",
  ],
  "a plan of the database, or a file of the application": [
    "src/drizzle/plan-row.ts",
    "src/graphql/ide/bundled-html.ts",
    "src/graphql/schema/read-schema.ts",
    "src/http/routing/item-columns.ts",
    "src/sql/plans/explain.ts",
  ],
};

/** The folders in which a loop may have as many steps as a client wants. */
const SERVES =
  /^src\/(?:graphql\/(?:admit|errors|execute|limits|operation|pipeline|request|respond|run|selection|streams|subscriptions|transport|uploads)|http\/(?:messages|serving))\//;

/** The files whose loops need no slice of time, by what limits their steps. */
const limitedLoops: Readonly<Record<string, readonly string[]>> = {
  "the tokens of a document, of which there is a maximum": [
    "src/graphql/execute/execute-serially.ts",
    "src/graphql/execute/plan/build-object.ts",
    "src/graphql/selection/collect-fields.ts",
    "src/graphql/execute/plan/plan.ts",
    "src/graphql/execute/plan/selection-compiler.ts",
    "src/graphql/execute/plan/serial-builder.ts",
    "src/graphql/selection/selections-of.ts",
    "src/graphql/limits/static-cost.ts",
    "src/graphql/selection/sum-selections.ts",
    "src/graphql/selection/fragments-of.ts",
    "src/graphql/selection/root-nodes.ts",
    "src/graphql/limits/longest-alias.ts",
    "src/graphql/limits/measure-structure.ts",
    "src/graphql/limits/find-overlaps.ts",
    "src/graphql/limits/actual-cost.ts",
    "src/graphql/limits/scan-tokens.ts",
  ],
  "the depth of a document or of an error": [
    "src/graphql/errors/root-cause.ts",
    "src/graphql/execute/execution.ts",
    "src/graphql/execute/plan/run.ts",
  ],
  "input values, which are counted first": [
    "src/graphql/execute/plan/coerce-variables.ts",
    "src/graphql/transport/request-reader.ts",
    "src/http/messages/read-body.ts",
  ],
  "the arguments of one field, and the declarations of the application": [
    "src/graphql/admit/check-structure.ts",
    "src/graphql/execute/plan/is-traced.ts",
    "src/graphql/execute/plan/resolver-signal.ts",
    "src/http/serving/health-checks.ts",
    "src/http/serving/on-unhandled-rejection.ts",
    "src/http/serving/run-route.ts",
  ],
  "the items of a list, one for each step of a loop that has slices": [
    "src/graphql/execute/object-counter.ts",
    "src/graphql/execute/plan/list-completer.ts",
    "src/graphql/respond/print-data.ts",
    "src/graphql/operation/open-batches.ts",
  ],
  "the bytes of one packet, or the parts of a form, of which there is a maximum": [
    "src/graphql/uploads/body-chunks.ts",
    "src/graphql/uploads/multipart-parts.ts",
    "src/graphql/uploads/receive-upload.ts",
    "src/graphql/uploads/spill-file.ts",
    "src/graphql/uploads/spool.ts",
    "src/graphql/uploads/upload-map.ts",
  ],
  "the requests of a batch and the operations of a socket, of which there is a maximum": [
    "src/graphql/subscriptions/conversation.ts",
    "src/graphql/transport/endpoint.ts",
  ],
  "the headers of a message": [
    "src/http/messages/outgoing-response.ts",
    "src/http/messages/render-problem.ts",
    "src/http/messages/strictest-caching.ts",
    "src/http/messages/write-error-page.ts",
    "src/http/serving/respond.ts",
    "src/http/serving/server.ts",
  ],
  "one event at a time, or what was added since the last step": [
    "src/graphql/admit/document-cache.ts",
    "src/graphql/run/run-subscription.ts",
    "src/http/messages/server-socket.ts",
    "src/http/messages/unread-output.ts",
    "src/http/serving/deadlines.ts",
  ],
};

/** Every file of both lists, each of which must exist. */
export const exceptions: readonly string[] = [otherJson, limitedLoops].flatMap((lists) => Object.values(lists).flat());

/** The fault of a call of `JSON.parse`, or undefined. */
export function parseFault(file: string): string | undefined {
  if (!file.startsWith("src/") || file === READER || NEVER_SERVES.test(file) || isListed(otherJson, file))
    return undefined;
  return `JSON.parse blocks the process for as long as its text wants: use readJson() of ${READER}`;
}

/** The fault of a loop that never asks whether its slice of time is over, or undefined. */
export function loopFault(file: string): string | undefined {
  if (!SERVES.test(file) || isListed(limitedLoops, file)) return undefined;
  return "clients may decide how many steps this loop has: pause it with a Slice or with Turns, or say in scripts/lint/client-sized-work.ts what limits it";
}

function isListed(lists: Readonly<Record<string, readonly string[]>>, file: string): boolean {
  return Object.values(lists).some((files) => files.includes(file));
}
