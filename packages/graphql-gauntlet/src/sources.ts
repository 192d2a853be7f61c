import type { Source } from "./row.ts";

/** The draft of the GraphQL over HTTP specification that the rows were written against. */
export const SPECIFICATION_DRAFT = "2026-08-06";

/** A section of the GraphQL over HTTP specification, by its heading. */
export function overHttp(section: string): Source {
  const anchor = section.replaceAll(" ", "-");
  return {
    name: `GraphQL over HTTP, "${section}"`,
    url: `https://graphql.github.io/graphql-over-http/draft/#sec-${anchor}`,
  };
}

/** A section of the GraphQL specification. GraphQL over HTTP requires responses to follow it. */
export function graphql(section: string): Source {
  const anchor = section.replaceAll(" ", "-");
  return { name: `GraphQL, "${section}"`, url: `https://spec.graphql.org/draft/#sec-${anchor}` };
}

/** A published advisory by its id: the same fault in some GraphQL server. */
export function advisory(id: string): Source {
  const url = id.startsWith("GHSA-") ? `https://github.com/advisories/${id}` : `https://nvd.nist.gov/vuln/detail/${id}`;
  return { name: id, url };
}

/** A section of an RFC. GraphQL over HTTP requires servers to comply with RFC 9110. */
export function rfc(number: number, section: string): Source {
  return {
    name: `RFC ${number}, section ${section}`,
    url: `https://www.rfc-editor.org/rfc/rfc${number}#section-${section}`,
  };
}

/** The protocol of graphql-transport-ws. */
export const transportWs: Source = {
  name: "GraphQL over WebSocket protocol",
  url: "https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md",
};

/** The protocol of graphql-sse. */
export const sse: Source = {
  name: "GraphQL over Server-Sent Events protocol",
  url: "https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md",
};

/** A page of OWASP's cheat sheet on GraphQL. */
export const owasp: Source = {
  name: "OWASP GraphQL Cheat Sheet",
  url: "https://cheatsheetseries.owasp.org/cheatsheets/GraphQL_Cheat_Sheet.html",
};
