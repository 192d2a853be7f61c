import { registerHooks } from "node:module";

// Imported first by servers of Portico: `node server.ts 17` runs Portico on graphql 17.
if (process.argv[2] === "17")
  registerHooks({ resolve: (name, context, next) => next(name === "graphql" ? "graphql17" : name, context) });
