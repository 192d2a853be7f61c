import type { TestClient, TestRequest, TestResponse } from "portico/testing";

/** The request header with the cookies of a response, as a browser sends them back. */
export interface CookieHeader extends Readonly<Record<string, string>> {
  readonly cookie: string;
}

/** Returns the header for the requests that follow a response. */
export function cookieHeader({ cookies }: Pick<TestResponse, "cookies">): CookieHeader {
  return { cookie: cookies.map((text) => text.split(";", 1)[0]).join("; ") };
}

/** Signs in at a route, and returns the header of the session. Throws if the response sets no cookie. */
export async function signIn(
  client: Pick<TestClient, "post">,
  path = "/login",
  request: TestRequest = {},
): Promise<CookieHeader> {
  const response = await client.post(path, request);
  if (response.cookies.length === 0) throw new Error(`the sign-in failed: ${response.status} ${response.text()}`);
  return cookieHeader(response);
}
