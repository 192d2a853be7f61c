import type { Gate } from "../http/context/gate.ts";
import { objectOf } from "../http/routing/middleware.ts";
import type { OpenApiSecurityScheme } from "../http/routing/open-api-security-scheme.ts";
import type { Route } from "../http/routing/route.ts";
import type { OpenApiSecurityRequirement } from "./open-api-document.ts";

interface Schemes {
  readonly [scope: string]: OpenApiSecurityScheme;
}

/** The built-in ways of signing in, for routes before which no middleware tells its own. */
const BUILT_IN: Schemes = {
  jwt: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
  session: { type: "apiKey", in: "cookie", name: "__Host-portico_session" },
  apikey: { type: "apiKey", in: "header", name: "X-API-Key" },
};

/** The security schemes of a document: they get their names as operations ask for them. */
export class Security {
  readonly #schemes = new Map<string, OpenApiSecurityScheme>();

  /** Which schemes open the gate of a route. A scope that nobody describes is left out. */
  requirements({ auth, middleware }: Route): readonly OpenApiSecurityRequirement[] {
    if (auth === undefined) return [];
    const told = middleware.map((entry) => objectOf(entry)?.securitySchemes).filter((entry) => entry !== undefined);
    const schemes = schemesOf(auth, told.length === 0 ? null : (Object.assign({}, ...told) as Schemes));
    if (schemes.length === 0) return [];
    return [...schemes.map(([scope, scheme]) => ({ [this.#name(scope, scheme)]: [] })), ...(auth.required ? [] : [{}])];
  }

  /** All that were asked for, by name. */
  get schemes(): Schemes {
    return Object.fromEntries(this.#schemes);
  }

  /** The scope, as far as OpenAPI allows its letters; with a number where another scheme has that name. */
  #name(scope: string, scheme: OpenApiSecurityScheme): string {
    const wanted = scope.replace(/[^\w.-]/g, "_");
    let name = wanted;
    for (let count = 2; !this.#isFree(name, scheme); count++) name = `${wanted}${count}`;
    this.#schemes.set(name, scheme);
    return name;
  }

  #isFree(name: string, scheme: OpenApiSecurityScheme): boolean {
    const taken = this.#schemes.get(name);
    return taken === undefined || JSON.stringify(taken) === JSON.stringify(scheme);
  }
}

/** A gate without scopes takes every way that there is; one that lists a built-in scope is clear by itself. */
function schemesOf(
  { scopes }: Gate,
  told: Schemes | null,
): readonly (readonly [scope: string, OpenApiSecurityScheme])[] {
  if (scopes.length === 0) return Object.entries(told ?? BUILT_IN);
  return Object.entries({ ...BUILT_IN, ...told }).filter(([scope]) => (scopes as readonly string[]).includes(scope));
}
