import { form, oneFile } from "../../graphql/uploads/multipart-form.ts";
import { type Everything, ORIGIN } from "./everything.ts";
import { HEADERS, type Reader, repeating } from "./reader.ts";

const PARAMETERS = (type: string): Reader["texts"] => [
  repeating(" ", `${type};charset=`, 'x"y'),
  repeating(" ", `${type};boundary=`, '"x'),
  repeating(" ", `${type};boundary`, '"x'),
  repeating(' ;\ta="', type),
  repeating('\\"', `${type};a="`),
  repeating(";", type, "x"),
  repeating(";a=b", type),
  repeating("\u00A0", type, ";"),
];
const LIST: Reader["texts"] = [
  repeating(","),
  repeating(";", "a/b"),
  repeating("a/b;q=0.1,"),
  repeating(" ", "a/b;q=", "x"),
  repeating(" ", "a/b;q", "="),
  repeating(" ", "gzip;q=0.", "x"),
  repeating("0", "gzip;q=0.", "x"),
];

/** The headers of a request, each with a route that reads it. */
export function headerReaders({ ask, write, explorer }: Everything): readonly Reader[] {
  const header = (
    name: string,
    [method, url]: readonly [string, string],
    texts: Reader["texts"],
    outcomes: Reader["outcomes"],
    rest: Readonly<Record<string, string>> = {},
    body?: string,
  ): Reader => ({
    name: `${name} of ${method} ${url}`,
    most: HEADERS,
    texts,
    read: (text) => ask(method, url, { ...rest, [name.toLowerCase()]: text }, body),
    outcomes,
  });
  const upgrade = (name: string, unit: string): Reader => ({
    name: `${name} of an upgrade`,
    most: HEADERS,
    texts: [repeating(unit, "a"), repeating(" ", "a", "b"), repeating("=", "a")],
    read: (text) => write([...UPGRADE, `${name}: ${text}`]),
    outcomes: [101, 400, 403, 426],
  });
  const tag = explorer["if-none-match"] ?? "";
  const upload = form(oneFile()).toString("latin1");
  return [
    header("Content-Type", ["POST", "/json"], PARAMETERS("application/json"), [200, 415], {}, "{}"),
    header("Content-Type", ["POST", "/form"], PARAMETERS("multipart/form-data"), [400, 415], {}, "x"),
    header("Content-Type", ["POST", "/graphql"], PARAMETERS("application/json"), [200, 400, 415], {}, "{}"),
    header("Content-Type", ["POST", "/graphql?upload"], PARAMETERS("multipart/form-data"), [400, 415], {}, upload),
    header(
      "Content-Encoding",
      ["POST", "/json"],
      [repeating("gzip, ")],
      [415],
      { "content-type": "application/json" },
      "{}",
    ),
    header("Accept", ["GET", "/graphql?query={echo}"], LIST, [200, 406]),
    header("Accept", ["GET", "/graphql"], [...LIST, repeating("a/b,", "", ",text/html")], [304, 400, 406], explorer),
    header("Accept-Encoding", ["GET", "/graphql?page"], LIST, [304], explorer),
    header(
      "If-None-Match",
      ["GET", "/graphql?page"],
      [repeating(",", "", tag), repeating("W/", "", `,${tag}`), repeating(" ", '"', `",${tag}`)],
      [304],
      explorer,
    ),
    header("Cookie", ["GET", "/cookies"], COOKIES, [200]),
    header("Cookie", ["GET", "/account/me"], COOKIES, [401]),
    header("Authorization", ["GET", "/account/me"], TOKENS, [401]),
    header("X-API-Key", ["GET", "/account/me"], [repeating("a", "pk_"), repeating("_", "pk_")], [401]),
    header("Origin", ["GET", "/plain"], [repeating("a", "https://"), repeating("/", "https:")], [200]),
    header(
      "Sec-Fetch-Site",
      ["POST", "/graphql"],
      [repeating("a")],
      [200, 400, 403],
      { "content-type": "application/json" },
      "{}",
    ),
    header(
      "Access-Control-Request-Headers",
      ["OPTIONS", "/plain"],
      [repeating("a,"), repeating(" ", "a", "b")],
      [204],
      {
        origin: ORIGIN,
        "access-control-request-method": "GET",
      },
    ),
    header(
      "Host",
      ["GET", "/url"],
      [repeating("a."), repeating("1:", "[", "]"), repeating("1", "a:"), repeating("-")],
      [200, 400],
    ),
    header(
      "X-Forwarded-For",
      ["GET", "/url"],
      [repeating("127.0.0.1,"), repeating(","), repeating(" ", "1", ",1"), repeating("1:", "["), repeating("1.")],
      [200],
    ),
    header("X-Forwarded-Host", ["GET", "/url"], [repeating("a,"), repeating("a."), repeating(" ", "a", "b")], [200]),
    header("X-Forwarded-Proto", ["GET", "/url"], [repeating("https,"), repeating(" ", "a", "b")], [200]),
    header(
      "User-Agent",
      ["POST", "/sign-in"],
      [repeating("Version/1. "), repeating("Version/1. Safari"), repeating("\u00AD"), repeating(" ", "a", "b")],
      [204],
    ),
    header("X-Request-Id", ["GET", "/fails"], [repeating("a"), repeating('"')], [500]),
    header("Traceparent", ["GET", "/fails"], [repeating("0-"), repeating("\u00FF")], [500]),
    {
      name: "the names of the headers",
      most: HEADERS / 4,
      texts: [
        repeating("a: b\r\n"),
        repeating("authorization: b\r\n"),
        repeating("x-api-key: b\r\n"),
        repeating("cookie: b\r\n"),
      ],
      read: (text) => write(["GET /account/me HTTP/1.1", "Host: localhost", text + "x: y"]),
      outcomes: [401],
    },
    upgrade("Sec-WebSocket-Protocol", ", a"),
    upgrade("Sec-WebSocket-Extensions", ";a=1"),
    upgrade("Sec-WebSocket-Key", "a"),
    upgrade("Origin", "a"),
  ];
}

const COOKIES: Reader["texts"] = [
  repeating("a=b; "),
  repeating(";"),
  repeating("="),
  repeating("; ", "", "a=b"),
  repeating(" ", "a", "=b"),
  repeating("%25", "a="),
  repeating("%", "a="),
  repeating("__Host-portico_session="),
  repeating("__Host-portico_session=a; "),
  repeating(" ", "__Host-portico_session=", "a"),
];
const TOKENS: Reader["texts"] = [
  repeating("a", "Bearer "),
  repeating(".", "Bearer "),
  repeating("a.", "Bearer "),
  repeating("a", "Bearer a.", ".a"),
  repeating(" ", "Bearer ", "="),
  repeating("bearer "),
];
const UPGRADE = [
  "GET /echo HTTP/1.1",
  "Host: localhost",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];
