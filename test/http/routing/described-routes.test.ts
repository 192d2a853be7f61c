import { PorticoApp, Router } from "portico";
import { describe, expect, it } from "vitest";
import * as z from "zod";

const operation = (options: object, method: "get" | "post" = "get"): any => {
  const router = new Router()[method]("/x", options as {}, () => 1);
  return new PorticoApp({ logger: false }).mount("", router).openapi().paths["/x"]?.[method];
};

describe("a route in the OpenAPI document", () => {
  it("has no texts, tags or deprecation unless it declares them", () => {
    const plain = operation({});
    const full = operation({
      name: "listBooks",
      summary: "Lists",
      description: "All books",
      tags: ["books"],
      deprecated: true,
    });

    for (const member of ["summary", "description", "tags", "deprecated"]) expect(plain).not.toHaveProperty(member);
    expect(full).toMatchObject({
      operationId: "listBooks",
      summary: "Lists",
      description: "All books",
      tags: ["books"],
      deprecated: true,
    });
    expect(operation({ deprecated: false })).not.toHaveProperty("deprecated");
  });

  it("is left out with openapi: false, and listed with openapi: true", () => {
    expect(operation({ openapi: false })).toBeUndefined();
    expect(operation({ openapi: true })).toBeDefined();
  });

  it("has the errors that it declares", () => {
    const { responses } = operation({ errors: { 409: "The title is taken", 599: "Odd" } });

    expect(responses["409"].description).toContain("The title is taken");
    expect(responses["599"].description).toContain("Odd");
  });

  it("has a response for each status that it declares", () => {
    const response = { 200: z.object({ id: z.int() }), 204: null, 599: z.string() };
    const { responses } = operation({ response }, "post");

    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["200", "204", "599"]));
    expect(responses["204"].content).toBeUndefined();
    expect(responses["599"].content).toBeDefined();
  });
});
