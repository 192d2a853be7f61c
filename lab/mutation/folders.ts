/** A folder whose tests are judged by mutating it. */
export interface MutatedFolder {
  /** The files that are mutated, as patterns below `src/`. */
  readonly sources: readonly string[];
  /** The tests that judge a mutant, in this order: quick and specific ones first, because the first failure ends a run. */
  readonly tests: readonly string[];
  /** The tests that judge the remaining mutants with graphql 17, for code that runs with one major only. */
  readonly testsOfGraphql17?: readonly string[];
  /** Tests that start processes or wait. Together with {@link slowTests} they judge the mutants that hardly any other test reaches. */
  readonly slow?: readonly string[];
}

/** The tests of a folder take milliseconds each, because each of them runs once more with every mutant that it reaches. */
/** The tests that send requests judge the kernel and HTTP alike. */
const throughRequests: readonly string[] = [
  "test/http/engine/{written-responses,routed-requests,host-responses,host-requests,plugin-errors}.test.ts",
  "test/http/engine/connections/*.test.ts",
  "test/graphql/endpoint/cancellation.test.ts",
  "test/http/routing/{override,check-paths,invalid-options,router,query,middleware}.test.ts",
  "test/{http/routing/{start-report,query-shapes,declarations,described-routes},kernel/access/{refusals,rule-options,restricted-lists,listed-items,gates-of-columns,described-gates}}.test.ts",
  "test/{kernel/context/{logged-errors,dependencies,current-context},http/messages/{exceptions,request,origins,response}}.test.ts",
  "test/{http/messages/body-refusals,kernel/context/caller}.test.ts",
  "test/kernel/{load/adapted-load,context/context-*,events/event-hold,exchange/client-addresses,identity/*}.test.ts",
  "test/http/messages/{arriving-bodies,context-origins,socket-l*,unread-output}.test.ts",
  "test/{testing/watch-statements,sql/transactions/mutation-outcomes,graphql/endpoint/logged-refusals}.test.ts",
  "test/{kernel/{exceptions/{issues,second-factor},pages/{list-settings,page-sources}},http/html/page-text}.test.ts",
  "test/kernel/limits/{counter-keys,charges}.test.ts",
  "test/http/serving/{time-limits,refusals,responses,declared-responses,host-requests,shutdown,kept-requests}.test.ts",
  "test/http/serving/{socket-ends,readmission,credentials-first}.test.ts",
  "test/http/{serving/options,engine/host-header,engine/forwarded-address,html/accept}.test.ts",
  "test/kernel/{limits/rate-limit,limits/budget,pages/page-promise,pages/page-value}.test.ts",
  "test/kernel/access/{disjoint-scopes,combined-gates,rules-that-throw,failing-gates,rules-on-routes}.test.ts",
  "test/graphql/gates/{gates,type-rules,inherited-gates,permission-classes}.test.ts",
  "test/graphql/exceptions.test.ts",
  "test/pagination/{handlers/handlers,query/links,openapi,conditions/condition}.test.ts",
  "test/openapi/document.test.ts",
  "test/testing/{acting-as,socket,request-body,client,cookies}.test.ts",
  "test/auth/gates/{use-auth,challenge,gate-matrix,assurance,fresh-sign-in}.test.ts",
  "test/auth/backends/authentication.test.ts",
  "test/auth/options/start-warnings.test.ts",
  "test/auth/{vary,host-routes,hostile-requests}.test.ts",
  "test/observe/{requests,opentelemetry}.test.ts",
  "test/graphql/hooks/{harmless,operation-hook}.test.ts",
  "test/http/engine/{plugins,mounting}.test.ts",
  "test/http/serving/stream.test.ts",
  "test/http/routing/routes.test.ts",
  "test/kernel/access/{copied-gates,described-lists,changed-rows}.test.ts",
  "test/audit/access-table.test.ts",
  "test/graphql/subscriptions/{event-stream,changed-users}.test.ts",
  "test/sql/transactions/{events-after-commit,left-open}.test.ts",
  "test/{http/messages/socket,kernel/load/load}.test.ts",
  "test/http/serving/{health,teardown,lifecycle}.test.ts",
  "test/http/engine/{both-routings,hardening,upgrade,slow-clients}.test.ts",
  "test/graphql/subscriptions/{socket,credentials}.test.ts",
];

const listed: Readonly<Record<string, MutatedFolder>> = {
  auth: {
    sources: ["auth/**"],
    tests: [
      // Nearly every test declares the account routes, whose descriptions only these two compare.
      "test/openapi/account-document.test.ts",
      "test/auth/pages/page-markup.test.ts",
      "test/auth/{stored-formats,logged-failures}.test.ts",
      "test/auth/options/accepted-values.test.ts",
      "test/auth/backends/declined-credentials.test.ts",
      "test/auth/users/canonical-names.test.ts",
      "test/auth/backends/carried-credentials.test.ts",
      "test/auth/sessions/{started-sessions,device-label}.test.ts",
      "test/auth/tokens/reused-tokens.test.ts",
      "test/auth/{passwords/scheme-limits,passwords/queue-messages,api-keys/key-changes}.test.ts",
      "test/auth/users/{users,narrowed-users}.test.ts",
      "test/auth/options/{hidden-secrets,guessable-secrets}.test.ts",
      "test/auth/gates/{fresh-sign-in,challenge}.test.ts",
      "test/auth/vary.test.ts",
      "test/auth/gates/assurance.test.ts",
      "test/auth/options/option-messages.test.ts",
      "test/auth/users/narrowed-members.test.ts",
      "test/auth/{anonymous-requests,records/change-record}.test.ts",
      "test/auth/sessions/{key-ring,session-records,beside-tokens,cross-site}.test.ts",
      "test/auth/tokens/{token-for-user,stand-in-tokens,signing-keys,credentials,other-kinds,restored-families}.test.ts",
      "test/auth/api-keys/{stored-keys,key-limits,hostile-keys,key-format}.test.ts",
      "test/auth/passwords/{rehash,password-hasher,equal-work,hash-queue}.test.ts",
      "test/auth/options/start-warnings.test.ts",
      "test/auth/gates/{use-auth,field-gates}.test.ts",
      "test/auth/{backends/authentication,hostile-requests}.test.ts",
      "test/auth/users/narrowed-roles.test.ts",
      "test/auth/backends/{other-issuers,jwt-auth-backend,hostile-backends}.test.ts",
      "test/auth/gates/gate-matrix.test.ts",
      "test/auth/sessions/{life-cycle,hostile-cookies,session-store}.test.ts",
      "test/auth/tokens/refresh-tokens.test.ts",
      "test/auth/api-keys/api-keys.test.ts",
      "test/testing/{acting-as,cookies}.test.ts",
      "test/kernel/access/{disjoint-scopes,failing-gates,rules-on-routes}.test.ts",
      "test/auth/pages/account-pages.test.ts",
      "test/auth/accounts/{authentication-options,problem-details,refresh,names,new-passwords}.test.ts",
      "test/auth/accounts/attacks/human-check.test.ts",
      "test/auth/accounts/{refusals,browser-cookies,all-events}.test.ts",
      "test/auth/accounts/attacks/counted-attempts.test.ts",
      "test/auth/accounts/races/lost-races.test.ts",
      "test/auth/accounts/{tokens-only,unversioned-users}.test.ts",
      "test/auth/accounts/{one-time-tokens,console-mailer,event-outcomes,sign-in-mails,notices}.test.ts",
      "test/auth/accounts/attacks/{limits,hostile-accounts}.test.ts",
      "test/auth/accounts/{account-routes,keys,reset,devices}.test.ts",
      "test/auth/factors/{passkey-options,added-passkeys,passkey-sign-in,passkey-second-factor,totp}.test.ts",
      "test/auth/factors/used-codes.test.ts",
      "test/auth/providers/{logged-reasons,github-requests,client-authentication}.test.ts",
      "test/auth/providers/{provider-options,github,second-factor,logout-token,links}.test.ts",
      "test/auth/accounts/{known-devices,import}.test.ts",
      "test/auth/accounts/attacks/{known-addresses,stolen-accounts}.test.ts",
      "test/auth/accounts/races/shutdown.test.ts",
      "test/auth/{after-revocation,host-routes}.test.ts",
      "test/auth/impersonation/impersonation.test.ts",
      "test/auth/providers/{real-provider,hostile-provider}.test.ts",
      "test/sql/accounts/account-log.test.ts",
      "test/graphql/subscriptions/{credentials,rechecked-gates,changed-users}.test.ts",
      "test/openapi/{account-contract,provider-contract}.test.ts",
      "test/cli/{reset-factors,sessions-and-keys}.test.ts",
    ],
  },
  pagination: {
    sources: ["pagination/**"],
    tests: [
      "test/pagination/{conditions/condition,query/errors,on-their-own,pages/walk,last-page,limit-offset}.test.ts",
      "test/pagination/{handlers/totals,handlers/handlers,filter,filtered-values,offset-cursors}.test.ts",
      "test/pagination/{pages/page-bar,openapi,strategies/strategies,query/links}.test.ts",
      "test/graphql/connection/{connection-sort,connection-filter,nested-connection}.test.ts",
      "test/pagination/{page-number,handlers/scoped-lists,walks,null-placement}.test.ts",
      "test/pagination/{cursor-secrecy,cursor,strategies/sort}.test.ts",
      "test/kernel/pages/{page-promise,page-value}.test.ts",
      "test/graphql/connection/connection.test.ts",
    ],
  },
  limits: {
    sources: ["graphql/limits/**", "graphql/selection/{fold,fragments-of}.ts"],
    tests: [
      "test/graphql/limits/{limits,scan-tokens,static-cost,actual-cost}.test.ts",
      "test/graphql/endpoint/{field-limits,cost}.test.ts",
      "test/graphql/{limits/{measure-structure,find-overlaps},admit/prepare}.test.ts",
      "test/graphql/endpoint/{limits,amplification}.test.ts",
      "test/kernel/limits/{budget,charges}.test.ts",
      "test/graphql/{admit/document-cache,endpoint/{documents,kept-documents,batch}}.test.ts",
    ],
  },
  uploads: {
    sources: ["graphql/uploads/**"],
    tests: [
      "test/graphql/uploads/{uploads,uploaded-file,receive-upload,chunking,refusals}.test.ts",
      "test/graphql/endpoint/uploads.test.ts",
      "test/graphql/uploads/connection.test.ts",
    ],
  },
  execute: {
    sources: [
      "graphql/{admit,execute,pipeline,respond,run}/**",
      "graphql/errors/graph-refusal.ts",
      "graphql/selection/{collect-fields,is-graphql17,root-nodes}.ts",
    ],
    tests: [
      "test/graphql/admit/{document-cache,document-bytes,nested-documents}.test.ts",
      "test/graphql/execute/{plan,plan-errors,plan-values,bad-variables}.test.ts",
      "test/graphql/run/{event-operations,run-operation,undone-work}.test.ts",
      "test/graphql/execute/{plan-work,long-lists,ended-executions}.test.ts",
      "test/graphql/{loader,subscriptions,params,dependencies,types,nodes}.test.ts",
      "test/graphql/gates/gates.test.ts",
      "test/graphql/connection/nested-connection.test.ts",
      "test/graphql/endpoint/{field-limits,logged-refusals,schemas,graph-options,documents}.test.ts",
      "test/graphql/errors/{format-error,many-errors}.test.ts",
      "test/graphql/endpoint/{kept-documents,batch,cancellation,amplification,transport,errors,limits,endpoint}.test.ts",
      "test/graphql/hooks/{field-trace,harmless,operation-log,operation-hook,subscriptions}.test.ts",
      "test/graphql/{own-context,adopted-schemas}.test.ts",
      "test/graphql/{streams/shared,subscriptions/{event-stream,declared-context,protocol}}.test.ts",
      "test/sql/transactions/mutation-outcomes.test.ts",
      "test/graphql/{admit/prepare,limits/find-overlaps}.test.ts",
      "test/graphql/corpus/{batches,get,forgery}.test.ts",
      "test/graphql/{root-types,enum-values,directives,validated-arguments,exceptions}.test.ts",
      "test/graphql/gates/{type-rules,inherited-gates}.test.ts",
      "test/graphql/endpoint/cost.test.ts",
      "test/kernel/limits/budget.test.ts",
      "test/kernel/access/{changed-rows,copied-gates}.test.ts",
      "test/sql/transactions/{events-after-commit,left-open}.test.ts",
      "test/graphql/subscriptions/{rechecked-gates,socket,ending}.test.ts",
      "test/graphql/execute/{differential,portico-differential,object-limit}.test.ts",
    ],
    testsOfGraphql17: [
      "test/graphql/{execute/{graphql17,plan,plan-errors,plan-values,plan-work,differential},run/event-operations}.test.ts",
      "test/graphql/{params,subscriptions}.test.ts",
    ],
  },
  http: {
    sources: ["http/**"],
    tests: throughRequests,
    slow: ["test/http/{engine/shared-connection,serving/outside}.test.ts"],
  },
  kernel: {
    sources: ["kernel/**"],
    tests: throughRequests,
    slow: ["test/http/{engine/shared-connection,serving/outside}.test.ts"],
  },
};

// The lists name each test file without its kind: `x.test.ts` is also `x.database.test.ts`.
const ofAnyKind = (patterns: readonly string[] | undefined): readonly string[] =>
  (patterns ?? []).map((pattern) => pattern.replace(/\.test\.ts$/, "{,.database,.servers}.test.ts"));

/** The folders that can be mutated, by name. */
export const folders: Readonly<Record<string, MutatedFolder>> = Object.fromEntries(
  Object.entries(listed).map(([name, { sources, tests, testsOfGraphql17, slow }]) => [
    name,
    {
      sources,
      tests: ofAnyKind(tests),
      ...(testsOfGraphql17 !== undefined && { testsOfGraphql17: ofAnyKind(testsOfGraphql17) }),
      slow: ofAnyKind(slow),
    },
  ]),
);

/** Parts of the names of tests that load modules once more, so that they would judge code that runs only then. They judge none. */
export const reloadingTests: readonly string[] = [
  "names the package that is missing",
  "stops startup when the package is missing",
];

/** Parts of the names of tests that take too long to run for every mutant. */
export const slowTests: readonly string[] = [
  "has five seconds, unless the middleware says otherwise",
  "while a million others are counted",
  "continues after a zero character in every older scheme",
  "never throws and never matches",
  "may have 50 MiB together by default",
  "leaves nothing behind 500 times",
  "can be as many as the limits allow",
  "does not exhaust the stack, with all limits off",
  "leaves none open after 1,000 concurrent requests",
  "makes room for others: beyond 128 MB in total",
  "rechecking an open socket is not a use, and the socket closes with its",
  "is a wrong password, said as such in the log, and costs",
  "a failure verifies one hash of every scheme for every user",
  "take no more than 128 entries and 6 MiB of a store",
  "leave room for sessions in a store that holds few entries",
  "works in a process that forbids generated code",
  "bounds the memory of a process that is sent",
  "takes about as much memory as it is allowed",
  "is noticed within 60 s if the bus",
  "has requestSeconds to arrive, and its handler has handlerSeconds after",
  "does not give way to those of an address that has more of them unread",
  "a check that hangs fails after two seconds",
  "however slowly the client reads",
  "does not hold up the end of the process",
  "by any sequence of registrations, sign-ins and links",
  "loads a user with 1,000 connections",
  "ends at its deadline, even if the work never does",
  "does not let a response stay that its client does not read for 30 s",
  "leaves nothing of 300 sockets that connect",
  "has no limit with null",
  "gives other work a turn while its objects are completed",
];
