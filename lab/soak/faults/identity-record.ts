/** A credential, and the user that it belongs to. */
export interface Credential {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The users that the server took the clients for. */
export interface Identities {
  /** Responses that named the user. */
  readonly checked: number;
  /** Responses that named another user, in a sentence each. */
  readonly mistaken: readonly string[];
  /** Valid credentials that were rejected as anonymous, in a sentence each. */
  readonly refused: readonly string[];
}

/** Compares the user that a response names with the owner of the credential that was sent. */
export class IdentityRecord {
  readonly #mistaken: string[] = [];
  readonly #refused: string[] = [];
  #checked = 0;

  compare({ name }: Credential, where: string, named: unknown): void {
    this.#checked++;
    if (named === name) return;
    const sentence = `${where} named ${JSON.stringify(named)} for the credential of ${name}`;
    this.#mistaken.push(sentence);
    throw new Error(sentence);
  }

  /** Notes that a valid credential was rejected with 401 or `UNAUTHENTICATED`, which no outage excuses. */
  refuse({ name }: Credential, where: string): void {
    this.#refused.push(`${where} rejected the valid credential of ${name}`);
  }

  get all(): Identities {
    return { checked: this.#checked, mistaken: this.#mistaken, refused: this.#refused };
  }
}
