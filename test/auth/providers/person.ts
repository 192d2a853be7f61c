/** A browser of a person: it keeps cookies by origin and follows redirects one by one. */
export interface Person {
  /** Sends a request without following redirects. */
  readonly send: (url: string, init?: RequestInit) => Promise<Response>;
  /** Follows redirects and returns the last response, with its URL in `at`. `stop` ends it before a URL is opened. */
  readonly open: (url: string, stop?: (url: string) => boolean) => Promise<Visited>;
  readonly cookies: Map<string, Map<string, string>>;
}

interface Visited {
  readonly at: string;
  readonly response: Response | null;
}

/** @param reach sends the requests */
export function person(reach: (request: Request) => Promise<Response> = fetch): Person {
  const cookies: Person["cookies"] = new Map();
  const jarOf = (url: string): Map<string, string> => {
    const { host } = new URL(url);
    const jar = cookies.get(host) ?? new Map<string, string>();
    cookies.set(host, jar);
    return jar;
  };
  const send: Person["send"] = async (url, init = {}) => {
    const jar = jarOf(url);
    const headers = new Headers(init.headers);
    if (!headers.has("cookie") && jar.size > 0)
      headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await reach(new Request(url, { ...init, headers, redirect: "manual" }));
    for (const cookie of response.headers.getSetCookie()) keep(jar, cookie);
    return response;
  };
  return {
    send,
    cookies,
    async open(url, stop = () => false) {
      let at = url;
      for (let hops = 0; hops < 20; hops++) {
        if (hops > 0 && stop(at)) return { at, response: null };
        const response = await send(at);
        const location = response.headers.get("location");
        if (location === null) return { at, response };
        at = new URL(location, at).href;
      }
      throw new Error(`too many redirects, the last to ${at}`);
    },
  };
}

function keep(jar: Map<string, string>, cookie: string): void {
  const [pair = "", ...attributes] = cookie.split(";");
  const [name = "", ...value] = pair.split("=");
  const isOver = attributes.some((attribute) => /^\s*(?:max-age=0|expires=thu, 01 jan 1970)/i.test(attribute));
  if (isOver) jar.delete(name);
  else jar.set(name, value.join("="));
}
