/** A folder whose tests are judged by mutating it. */
export interface MutatedFolder {
  /** The folder, below `src/`. */
  readonly source: string;
  /** The tests that judge a mutant, in this order: quick and specific ones first, because the first failure ends a run. */
  readonly tests: readonly string[];
  /** The tests that judge the remaining mutants with graphql 17, for code that runs with one major only. */
  readonly testsOfGraphql17?: readonly string[];
}

/** Tests are left out if they wait for a clock, start processes, or take long: a mutant is judged in about a second. */
export const folders: Readonly<Record<string, MutatedFolder>> = {
  auth: {
    source: "auth",
    tests: [
      "test/auth/{users,hidden-secrets,fresh-sign-in,guessable-secrets,vary,narrowed-users,challenge}.test.ts",
      "test/auth/sessions/{key-ring,beside-tokens,cross-site}.test.ts",
      "test/auth/tokens/{token-for-user,signing-keys,credentials,other-kinds}.test.ts",
      "test/auth/api-keys/{key-limits,hostile-keys,key-format}.test.ts",
      "test/auth/{start-warnings,use-auth,authentication,field-gates,hostile-requests,narrowed-roles}.test.ts",
      "test/auth/accounts/{authentication-options,refresh,names,new-passwords}.test.ts",
      "test/auth/sessions/{life-cycle,hostile-cookies,session-store}.test.ts",
      "test/auth/tokens/refresh-tokens.test.ts",
      "test/auth/api-keys/api-keys.test.ts",
      "test/auth/accounts/{account-routes,keys,reset,hostile-accounts,devices,limits}.test.ts",
      "test/auth/{jwt-auth-backend,hostile-backends}.test.ts",
      "test/auth/passwords/{password-hasher,equal-work,hash-queue}.test.ts",
    ],
  },
  pagination: {
    source: "pagination",
    tests: [
      "test/pagination/{condition,errors,on-their-own,walk,last-page,totals,limit-offset,handlers}.test.ts",
      "test/pagination/{filter,filtered-values,offset-cursors,page-bar,openapi,strategies,links}.test.ts",
      "test/graphql/{connection-sort,connection-filter,nested-connection}.test.ts",
      "test/pagination/{page-number,scoped-lists,walks,null-placement,cursor-secrecy,cursor,sort}.test.ts",
      "test/http/pages/{page-promise,page-value}.test.ts",
      "test/graphql/connection.test.ts",
    ],
  },
  limits: {
    source: "graphql/limits",
    tests: [
      "test/graphql/limits/{limits,scan,cost}.test.ts",
      "test/graphql/endpoint/{field-limits,cost}.test.ts",
      "test/graphql/limits/{measure,overlaps,prepare}.test.ts",
      "test/graphql/endpoint/{limits,amplification}.test.ts",
    ],
  },
  uploads: {
    source: "graphql/uploads",
    tests: [
      "test/graphql/uploads/{uploads,uploaded-file,receive-upload,chunking,refusals}.test.ts",
      "test/graphql/endpoint/uploads.test.ts",
      "test/graphql/uploads/connection.test.ts",
    ],
  },
  execute: {
    source: "graphql/execute",
    tests: [
      "test/graphql/limits/{document-cache,document-bytes,nested-documents}.test.ts",
      "test/graphql/execute/{plan,plan-errors,plan-values,event-operations,run-operation,undone-work,bad-variables}.test.ts",
      "test/graphql/execute/{plan-work,long-lists,ended-executions}.test.ts",
      "test/graphql/{loader,subscriptions,gates,params,dependencies,types,nodes,nested-connection}.test.ts",
      "test/graphql/endpoint/{field-limits,logged-refusals,schemas,graph-options,many-errors,documents}.test.ts",
      "test/graphql/endpoint/{kept-documents,batch,cancellation,amplification,transport,errors,limits,endpoint}.test.ts",
      "test/graphql/hooks/{field-trace,harmless,operation-log,operation-hook,subscriptions}.test.ts",
      "test/graphql/{own-context,adopted-schemas}.test.ts",
      "test/graphql/subscriptions/{shared,event-stream,declared-context,protocol}.test.ts",
      "test/sql/mutation-outcomes.test.ts",
      "test/graphql/limits/{prepare,overlaps}.test.ts",
      "test/graphql/corpus/{batches,get,forgery}.test.ts",
      "test/graphql/{root-types,enum-values,directives,validated-arguments,exceptions,type-rules,inherited-gates}.test.ts",
      "test/graphql/endpoint/cost.test.ts",
      "test/http/limits/budget.test.ts",
      "test/access/{changed-rows,copied-gates}.test.ts",
      "test/sql/{events-after-commit,left-open}.test.ts",
      "test/graphql/subscriptions/{rechecked-gates,socket,ending}.test.ts",
      "test/graphql/execute/{differential,portico-differential,object-limit}.test.ts",
    ],
    testsOfGraphql17: [
      "test/graphql/execute/{graphql17,plan,plan-errors,plan-values,event-operations,plan-work,differential}.test.ts",
      "test/graphql/{params,subscriptions}.test.ts",
    ],
  },
  http: {
    source: "http",
    tests: [
      "test/http/routing/{override,check-paths,invalid-options,router,query,middleware}.test.ts",
      "test/http/context/{logged-errors,dependencies,current-context,exceptions,request,origins,response}.test.ts",
      "test/http/context/{body-refusals,caller}.test.ts",
      "test/http/{serving/options,engine/host-header,engine/forwarded-address,html/accept}.test.ts",
      "test/http/{limits/rate-limit,limits/budget,pages/page-promise,pages/page-value}.test.ts",
      "test/access/{disjoint-scopes,combined-gates,rules-that-throw,failing-gates,rules-on-routes}.test.ts",
      "test/graphql/{gates,type-rules,inherited-gates,permission-classes,exceptions}.test.ts",
      "test/pagination/{handlers,links,openapi,condition}.test.ts",
      "test/openapi/document.test.ts",
      "test/testing/{acting-as,socket,request-body}.test.ts",
      "test/auth/{use-auth,authentication,start-warnings,challenge,gate-matrix,assurance,fresh-sign-in}.test.ts",
      "test/auth/{vary,host-routes,hostile-requests}.test.ts",
      "test/observe/requests.test.ts",
      "test/graphql/hooks/{harmless,operation-hook}.test.ts",
      "test/http/engine/{plugins,mounting}.test.ts",
      "test/http/serving/stream.test.ts",
      "test/http/routing/routes.test.ts",
      "test/access/{copied-gates,described-lists,changed-rows}.test.ts",
      "test/audit/access-table.test.ts",
      "test/graphql/subscriptions/{event-stream,changed-users}.test.ts",
      "test/sql/{events-after-commit,left-open}.test.ts",
      "test/http/context/{socket,load}.test.ts",
      "test/http/serving/{health,teardown,lifecycle}.test.ts",
      "test/http/engine/{both-routings,hardening,upgrade,slow-clients}.test.ts",
      "test/graphql/subscriptions/{socket,credentials}.test.ts",
    ],
  },
};

/** Parts of the names of tests that take too long to run for every mutant. They load the machine and judge no single line. */
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
  "does not let a response stay that its client does not read for 30 s",
  "leaves nothing of 300 sockets that connect",
  "has no limit with null",
  "gives other work a turn while its objects are completed",
];
