import { objectOf } from "../http/routing/middleware.ts";
import type { OpenAPISecurityScheme } from "../http/routing/open-api-security-scheme.ts";
import type { Route } from "../http/routing/route.ts";
import type { Gate } from "../kernel/access/gate.ts";
import type { OpenAPISecurityRequirement } from "./open-api-document.ts";

interface Schemes {
  readonly [scope: string]: OpenAPISecurityScheme;
}

/** The built-in authentication schemes, for routes without a middleware that describes its own. */
const BUILT_IN: Schemes = {
  jwt: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  session: { type: "apiKey", in: "cookie", name: "__Host-portico_session" },
  apikey: { type: "apiKey", in: "header", name: "X-API-Key" },
};

/** Collects the security schemes of a document. They are named when an operation first uses them. */
export class Security {
  readonly #schemes = new Map<string, OpenAPISecurityScheme>();

  /** Returns the schemes that satisfy the gate of a route. Scopes without a description are omitted. */
  requirements({ auth, middleware }: Route): readonly OpenAPISecurityRequirement[] {
    if (auth === undefined) return [];
    const told = middleware.map((entry) => objectOf(entry)?.securitySchemes).filter((entry) => entry !== undefined);
    const schemes = schemesOf(auth, told.length === 0 ? null : (Object.assign({}, ...told) as Schemes));
    if (schemes.length === 0) return [];
    return [...schemes.map(([scope, scheme]) => ({ [this.#name(scope, scheme)]: [] })), ...(auth.required ? [] : [{}])];
  }

  /** Returns all used schemes by name. */
  get schemes(): Schemes {
    return Object.fromEntries(this.#schemes);
  }

  /** Returns the scope in the characters that OpenAPI allows, with a number if another scheme has that name. */
  #name(scope: string, scheme: OpenAPISecurityScheme): string {
    const wanted = scope.replace(/[^\w.-]/g, "_");
    let name = wanted;
    for (let count = 2; !this.#isFree(name, scheme); count++) name = `${wanted}${count}`;
    this.#schemes.set(name, scheme);
    return name;
  }

  #isFree(name: string, scheme: OpenAPISecurityScheme): boolean {
    const taken = this.#schemes.get(name);
    return taken === undefined || JSON.stringify(taken) === JSON.stringify(scheme);
  }
}

/** A gate without scopes accepts every scheme. A built-in scope needs no description. */
function schemesOf(
  { scopes }: Gate,
  told: Schemes | null,
): readonly (readonly [scope: string, OpenAPISecurityScheme])[] {
  if (scopes.length === 0) return Object.entries(told ?? BUILT_IN);
  return Object.entries({ ...BUILT_IN, ...told }).filter(([scope]) => (scopes as readonly string[]).includes(scope));
}
