// npm run bench -- http: measures one part. Every figure is a ratio within one run: machines differ, and are shared.

const parts: Readonly<Record<string, () => Promise<{ run: () => Promise<void> }>>> = {
  burst: () => import("./burst.ts"),
  deep: () => import("./deep.ts"),
  drain: () => import("./drain.ts"),
  overload: () => import("./overload.ts"),
  "fan-out": () => import("./fan-out.ts"),
  graphql: () => import("./graphql.ts"),
  hooks: () => import("./hooks.ts"),
  http: () => import("./http.ts"),
  imports: () => import("./imports.ts"),
  nested: () => import("./nested.ts"),
  pagination: () => import("./pagination.ts"),
  processes: () => import("./processes.ts"),
  outbox: () => import("./outbox.ts"),
  "round-trips": () => import("./round-trips.ts"),
  scope: () => import("./scope.ts"),
  schema: () => import("./schema.ts"),
  resolver: () => import("./resolver.ts"),
  rules: () => import("./rules.ts"),
  sockets: () => import("./sockets.ts"),
  wide: () => import("./wide.ts"),
  soak: () => import("./soak.ts"),
  tenants: () => import("./tenants.ts"),
  auth: () => import("./auth.ts"),
  accounts: () => import("./accounts.ts"),
};

const names = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const unknown = names.find((name) => !Object.hasOwn(parts, name));
if (unknown !== undefined || names.length === 0) {
  console.error(`usage: npm run bench -- ${Object.keys(parts).join(" | ")}`);
  process.exit(2);
}
for (const name of names) {
  const part = await parts[name]?.();
  await part?.run();
}
