/** A Fastify application with ES modules, with the lines that the template prints. */
export const fastifyApplication: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({
    name: "orders",
    type: "module",
    scripts: { start: "node server.js" },
    dependencies: { fastify: "^5.0.0" },
  }),
  "server.js": `import Fastify from "fastify";
import { portico } from "./portico.js";

const app = Fastify();
app.register(portico.plugin(), { prefix: "/portico" });
app.get("/orders", () => []);
console.log(await app.listen({ port: Number(process.env.PORT) }));
`,
};

/** An Express application with CommonJS modules, with the lines that the template prints. */
export const expressApplication: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({
    name: "orders",
    scripts: { start: "node server.js" },
    dependencies: { express: "^5.0.0" },
  }),
  "server.js": `const express = require("express");
const { portico } = require("./portico.mjs");

const app = express();
app.use("/portico", portico.handler);
app.use(express.json());
app.get("/orders", (request, response) => response.json([]));
const server = app.listen(Number(process.env.PORT), "127.0.0.1", () =>
  console.log(\`http://127.0.0.1:\${server.address().port}\`),
);
`,
};
