import type { AuthScope, PorticoRequest } from "portico";
import { AuthenticationBackend, AuthResult } from "portico/auth";

/** Accepts the identity in its own header and counts the calls. The value `!` makes it fail like a store that is down. */
export class HeaderBackend extends AuthenticationBackend {
  readonly scope: AuthScope;
  readonly asked: string[];
  readonly #header: string;

  constructor(scope: AuthScope = "jwt", asked: string[] = []) {
    super();
    this.scope = scope;
    this.asked = asked;
    this.#header = `x-${scope}`;
  }

  override challenge(): string {
    return `${this.scope.toUpperCase()} realm="test"`;
  }

  override carries(request: PorticoRequest): boolean {
    return request.headers[this.#header] !== undefined;
  }

  async authenticate(request: PorticoRequest): Promise<AuthResult> {
    this.asked.push(this.scope);
    const credential = request.headers[this.#header];
    if (credential === "!") throw new Error("the store is down");
    return credential === undefined ? AuthResult.decline("no header") : AuthResult.accept(credential, this.scope);
  }
}
