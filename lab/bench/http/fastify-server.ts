import type { AddressInfo } from "node:net";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { z } from "zod";
import { report } from "../graphql/report.ts";

// What a careful author writes by hand: the same gate, schema and opened and closed resources, without a framework on top.
const Book = z.object({ title: z.string(), price: z.number() });
const app = fastify();
app.get("/hello", () => ({ hello: "world" }));
const gate = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
  if (request.headers.authorization !== "Bearer t") await reply.code(401).send({});
};
app.post("/books", { onRequest: gate }, async (request) => {
  const book = Book.parse(request.body);
  const connection = { name: "connection" };
  try {
    return { ...book, via: connection.name };
  } finally {
    connection.name = "closed";
  }
});
await app.listen({ port: 0, host: "127.0.0.1" });
report((app.server.address() as AddressInfo).port);
