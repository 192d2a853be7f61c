import { PASSWORD } from "../data/create-database.ts";

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: any;
}

interface GraphQLReply {
  readonly status: number;
  readonly headers: Headers;
  readonly data: any;
  readonly codes: readonly unknown[];
}

/** A client of the tracker: anonymous, or signed in with a token. */
export interface Visitor {
  readonly token: string | undefined;
  readonly request: (method: string, path: string, body?: unknown) => Promise<Reply>;
  readonly graphql: (query: string, variables?: object) => Promise<GraphQLReply>;
}

export function visitor(url: string, token?: string): Visitor {
  const request: Visitor["request"] = async (method, path, body) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  };
  return {
    token,
    request,
    async graphql(query, variables = {}) {
      const { status, headers, body } = await request("POST", "/graphql", { query, variables });
      const errors: readonly { readonly extensions: { readonly code: string } }[] = body.errors ?? [];
      return { status, headers, data: body.data ?? null, codes: errors.map(({ extensions }) => extensions.code) };
    },
  };
}

/** Signs in one of the sample users: `ann`, `bob`, `cleo` or `admin`. */
export async function signedIn(url: string, name: string): Promise<Visitor> {
  const login = { email: `${name}@tracker.example`, password: PASSWORD };
  const { body } = await visitor(url).request("POST", "/auth/login", login);
  return visitor(url, body.access_token as string);
}
