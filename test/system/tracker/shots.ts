import type { GraphQLSchema } from "graphql";
import { GeneratedDocument, type Operation } from "./generated-document.ts";
import type { GeneratedValues } from "./generated-values.ts";
import { exchanged } from "./marks.ts";
import type { Random } from "./random.ts";

/** A request as text, so that its ids can be exchanged for those of another tenant. */
export interface Shot {
  readonly kind: "post" | "get" | "batch" | "mutation" | "rest" | "socket";
  readonly method: "GET" | "POST" | "PATCH";
  readonly target: string;
  readonly body: string | null;
}

/** The request with the ids of A and B exchanged. */
export const mirrored = (shot: Shot): Shot => ({
  ...shot,
  target: exchanged(shot.target),
  body: shot.body === null ? null : exchanged(shot.body),
});

/** Makes random requests. */
export class Shots {
  readonly #random: Random;
  readonly #values: GeneratedValues;
  readonly #schema: GraphQLSchema;

  constructor(schema: GraphQLSchema, random: Random, values: GeneratedValues) {
    this.#schema = schema;
    this.#random = random;
    this.#values = values;
  }

  next(): Shot {
    const kind = this.#random.weighted<Shot["kind"]>([
      [48, "post"],
      [10, "get"],
      [8, "batch"],
      [13, "mutation"],
      [16, "rest"],
      [5, "socket"],
    ]);
    switch (kind) {
      case "get":
        return { kind, method: "GET", target: `/graphql?${this.#search(this.#query())}`, body: null };
      case "batch": {
        const operations = Array.from({ length: 2 + this.#random.below(3) }, () =>
          this.#random.chance(0.15) ? this.#document().mutation(3) : this.#query(),
        );
        return { kind, method: "POST", target: "/graphql", body: JSON.stringify(operations) };
      }
      case "rest":
        return this.#rest();
      case "mutation":
        return { kind, method: "POST", target: "/graphql", body: JSON.stringify(this.#document().mutation(4)) };
      case "post":
      case "socket":
        return { kind, method: "POST", target: "/graphql", body: JSON.stringify(this.#query()) };
    }
  }

  subscription(): Operation {
    return this.#document().subscription(3);
  }

  #document(): GeneratedDocument {
    return new GeneratedDocument(this.#schema, this.#random, this.#values);
  }
  #query(): Operation {
    return this.#document().query(2 + this.#random.below(4));
  }
  #search({ query, variables }: Operation): string {
    return new URLSearchParams({ query, variables: JSON.stringify(variables) }).toString();
  }

  #rest(): Shot {
    const random = this.#random;
    const [list, cursors] = random.pick([
      ["projects", true],
      ["issues", false],
      ["comments", true],
      ["issue-list", false],
      ["labels", false],
    ] as const);
    const rest = (target: string, method: Shot["method"] = "GET"): Shot => ({
      kind: "rest",
      method,
      target,
      body: null,
    });
    if (random.chance(0.55)) {
      const search = new URLSearchParams();
      if (random.chance(0.6)) search.set(list === "issue-list" ? "limit" : "page_size", String(1 + random.below(30)));
      if (cursors && random.chance(0.4)) search.set("cursor", this.#values.cursor(list));
      if (cursors && random.chance(0.2)) search.set("sort", this.#values.sorting().join(","));
      if (!cursors && random.chance(0.4))
        search.set(list === "issue-list" ? "offset" : "page", String(random.below(9)));
      return rest(`/api/${list}?${search.toString()}`);
    }
    const [table, argument] = random.pick([
      ["projects", "project"],
      ["issues", "issue"],
      ["comments", "comment"],
    ] as const);
    const id = this.#values.id(argument, "id");
    if (table === "issues" && random.chance(0.3)) return rest(`/api/issues/${id}`, "PATCH");
    return rest(`/api/${table}/${id}${table === "issues" && random.chance(0.2) ? "/visible" : ""}`);
  }
}
