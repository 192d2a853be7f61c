const DOCS = "https://github.com/portico-framework/portico/blob/main/docs/";

/**
 * The sections about options, by the beginning of the option that an error names; the first match decides. A test proves that
 * the sections exist, and that every option which the sources name has one.
 */
export const sections: readonly (readonly [option: RegExp, section: string])[] = [
  [/^PorticoApp\.timeouts/, "reference/app.md#timeoutoptions"],
  [/^PorticoApp\.load/, "reference/app.md#loadoptions"],
  [/^PorticoApp\.budget/, "reference/app.md#budgetoptions"],
  [/^PorticoApp\.health/, "reference/app.md#healthoptions"],
  [/^PorticoApp\.readiness/, "reference/app.md#readinessoptions"],
  [/^PorticoApp\.shutdown/, "reference/app.md#shutdownoptions"],
  [/^PorticoApp\.openapi/, "reference/app.md#openapioptions"],
  [/^PorticoApp\.logger/, "reference/app.md#logoptions"],
  [/^PorticoApp\.stores/, "guide/database.md#stores"],
  [/^PorticoApp\.listen/, "reference/app.md#members-of-porticoapp"],
  [/^PorticoApp/, "reference/app.md#porticoappoptions"],
  [/^(?:NODE_ENV|the environment variable)/, "guide/deployment.md#check-the-configuration"],
  [/^the database:|^migrate\b/, "guide/database.md#migrations"],
  [/^[A-Z]+ \S*\.cost/, "reference/app.md#budgetoptions"],
  [/^[A-Z]+ .*parameter|^(?:Depend|provide)\b|: (?:the parameter|a dependency)/, "guide/dependencies.md#errors"],
  [/^[A-Z]+ \S*\.paginated/, "guide/lists.md"],
  [
    /^[A-Z]+ \S*\.auth|^(?:useAuth|(?:the )?rule|every|some|not|authorized)\b|^is(?:In|InRange)\(/,
    "guide/authorization.md#errors",
  ],
  [/^[A-Z]+ /, "guide/routes.md#options"],
  [/^(?:Router|mount|middleware)\b/, "reference/router-and-routes.md#members-of-router"],
  [/^socket /, "guide/sockets.md#options"],
  [/^addExceptionHandler\b/, "guide/errors-and-exceptions.md#exception-handlers"],
  [/^rateLimit\b/, "reference/middleware-and-limits.md#ratelimitoptions"],
  [/^openDatabase\.policies/, "guide/multi-tenant.md#policies-in-postgresql"],
  [/^(?:openDatabase\.guard|database\.)/, "guide/database.md#guarded-tables"],
  [/^openDatabase\.replica/, "guide/database.md#read-replicas"],
  [/^(?:openDatabase|watchStatements)\b/, "reference/sql.md#opendatabasesource-options"],
  [/^(?:userModel|objects)\b/, "reference/sql.md#usermodeldatabase-options"],
  [/^sqlStores\b/, "reference/sql.md#sqlstoresdatabase"],
  [/^(?:consume|outbox)\b/, "guide/durable-events.md#errors"],
  [/^totalsCache\b/, "reference/sql.md#totalscacheoptions"],
  [/^tableHandler\b/, "reference/sql.md#tablehandlerquery-options"],
  [/^drizzleHandler\b/, "reference/sql.md#drizzlehandlerquery-options"],
  [/^prismaDialect\b/, "reference/sql.md#prismadialectprisma-engine"],
  [/^redisStores|^Redis/, "guide/redis.md#options"],
  [/^NatsPubSub\b/, "reference/nats.md#natspubsuburls-options"],
  [/^(?:Memory(?:PubSub|KeyValue)|topic)\b/, "reference/stores.md"],
  [/^authentication\.passkeys|\.passkeys\b/, "guide/second-factor.md#options"],
  [/^(?:oidc|google|github)\b|\.domainsOnly$/, "reference/accounts.md#identity-providers"],
  [/^(?:authentication|accountRoutes)\b/, "reference/accounts.md"],
  [/^(?:consoleMailer|Mailer)\b/, "guide/sign-in.md#emails"],
  [/^(?:SessionMiddleware|sessions)\b/, "reference/authentication.md#sessions"],
  [/^AuthenticationMiddleware\b/, "reference/authentication.md#authenticationmiddleware"],
  [/^(?:JWT|jwt)/, "reference/authentication.md#json-web-tokens-jwt"],
  [/^jwksRoutes\b/, "reference/authentication.md#publish-keys-jwks"],
  [/^APIKey/, "reference/authentication.md#api-keys"],
  [/^PasswordHasher\b/, "reference/authentication.md#passwords"],
  [/^(?:identify|operationsPage)\b/, "guide/operations-page.md#options"],
  [/^filterable\b|\.(?:filterable|conditions)\b/, "guide/pagination.md#filtering"],
  [/\bidempotent\b/, "guide/idempotency.md#set-it-up"],
  [/\.(?:sort\w*|order)\b/, "guide/pagination.md#sorting"],
  [/^(?:\w+Pagination|paginate|StrategyByName)\b/, "reference/pagination.md#strategies"],
  [/^(?:ListHandlerOptions|the items of a list data handler)\b/, "reference/pagination.md#handlers"],
  [/^walk\b/, "reference/pagination.md#walking-a-list"],
  [/^Limits\b/, "guide/graphql-endpoint.md#limits"],
  [/^Uploads\b/, "guide/uploads.md"],
  [/^IDE\b/, "guide/ide.md#options"],
  [/^Graph\.subscriptions/, "guide/subscriptions.md#options"],
  [/^Graph\.documents/, "guide/graphql-endpoint.md#persisted-documents"],
  [/^Graph\.rules/, "guide/graphql-endpoint.md#an-existing-schema"],
  [/^(?:Graph|Transport)\b/, "guide/graphql-endpoint.md#options"],
  [/^OperationLog\b/, "guide/observability.md#slow-operation-log"],
  [/^opentelemetry\b/, "guide/observability.md#opentelemetry"],
  [/^prometheus\b/, "guide/observability.md#prometheus"],
  [/^connection/, "guide/pagination.md#relay-connections"],
  [/^onOperation\b/, "guide/graphql-endpoint.md#hooks-and-metrics"],
  [/^onRequest\b/, "guide/observability.md#requests"],
  [/^graphql\b/, "guide/graphql-endpoint.md#troubleshooting"],
  [/^actingAs\b/, "guide/testing.md#authentication"],
  [/^loader\b/, "guide/resolvers.md#n1-queries-and-loaders-dataloader"],
  [/^(?:field|query|mutation|subscription)\b/, "guide/resolvers.md#field-options"],
  [/^(?:object|schema|t\.\w+|input|interface|union|enum|scalar|directive)\b/, "guide/resolvers.md#object-types"],
  [/^expect(?:Plans|Flat)\b/, "guide/testing.md#statements-and-plans"],
  [/^portico audit\b/, "guide/audit.md#attack-the-application"],
  [/^portico\.config\b/, "reference/cli.md#the-configuration-file"],
  [/^size\b/, "reference/app.md#parsesizetext-and-size"],
];

const ANY_OPTION = "errors.md#CONFIGURATION_INVALID";

/** The address of a section of the documentation. */
export function docsAddress(section: string): string {
  return DOCS + section;
}

/** The section about an option. */
export function sectionOf(option: string): string {
  return sections.find(([beginning]) => beginning.test(option))?.[1] ?? ANY_OPTION;
}
