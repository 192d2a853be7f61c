import { executesNothing, refuses } from "../checks.ts";
import { CROSS_SITE, raw, TYPENAME } from "../requests.ts";
import type { Check, HttpRow } from "../row.ts";
import { advisory, overHttp } from "../sources.ts";

const MUTATION = "mutation{__typename}";
const BODY = JSON.stringify({ query: MUTATION });
const FORGED =
  "Any site could change data on behalf of a signed-in user, because browsers attach cookies to such a request.";

const simple = (contentType: string, body: string): ReturnType<typeof raw> =>
  raw(body, { ...CROSS_SITE, accept: "*/*", "content-type": contentType });

const grantsNothing: Check = ({ headers }) => {
  const origin = headers["access-control-allow-origin"];
  const allows = origin === CROSS_SITE["origin"] && headers["access-control-allow-credentials"] === "true";
  return allows ? `the response allows ${origin} to send credentials` : undefined;
};

/** Requests that a page of another site can send without a preflight (CSRF), and CORS. */
export const forgeryRows: readonly HttpRow[] = [
  {
    id: "CSRF-01",
    title: "executes no mutation sent as text/plain",
    severity: "must",
    source: advisory("GHSA-v66j-6wwf-jc57"),
    why: FORGED,
    needs: ["mutation"],
    requests: () => [simple("text/plain", BODY), simple("text/plain;charset=UTF-8", BODY)],
    expect: [executesNothing],
  },
  {
    id: "CSRF-02",
    title: "executes no mutation whose Content-Type only contains application/json",
    severity: "must",
    source: advisory("GHSA-v66j-6wwf-jc57"),
    why: "The browser sees text/plain and sends no preflight, but a careless comparison on the server sees JSON.",
    needs: ["mutation"],
    requests: () => [
      simple("text/plain;application/json", BODY),
      simple("text/plain; a=application/json", BODY),
      simple("application/x-www-form-urlencoded;application/json", BODY),
    ],
    expect: [executesNothing],
  },
  {
    id: "CSRF-03",
    title: "executes no mutation sent as multipart/form-data by another site",
    severity: "must",
    source: advisory("GHSA-2p3c-p3qw-69r4"),
    why: FORGED,
    needs: ["mutation"],
    requests: () => [
      simple(
        "multipart/form-data; boundary=gauntlet",
        [
          '--gauntlet\r\ncontent-disposition: form-data; name="operations"\r\n\r\n',
          BODY,
          '\r\n--gauntlet\r\ncontent-disposition: form-data; name="map"\r\n\r\n{}\r\n--gauntlet--\r\n',
        ].join(""),
      ),
    ],
    expect: [executesNothing],
  },
  {
    id: "CSRF-04",
    title: "executes no mutation sent as a form by another site",
    severity: "should",
    source: overHttp("Exercise caution"),
    why: FORGED,
    needs: ["mutation"],
    requests: () => [
      simple("application/x-www-form-urlencoded", new URLSearchParams({ query: MUTATION }).toString()),
      simple("application/x-www-form-urlencoded", BODY),
    ],
    expect: [executesNothing],
  },
  {
    id: "CSRF-05",
    title: "executes no mutation without a Content-Type",
    severity: "should",
    source: overHttp("POST"),
    why: "A page can send a typeless blob to another site without a preflight.",
    needs: ["mutation"],
    requests: () => [raw(BODY, { ...CROSS_SITE, accept: "*/*", "content-type": null })],
    expect: [executesNothing],
  },
  {
    id: "CSRF-06",
    title: "rejects a request with two media types in its Content-Type",
    severity: "advice",
    source: advisory("GHSA-v66j-6wwf-jc57"),
    why: "A proxy and the server may choose different ones.",
    requests: () => [
      raw(JSON.stringify({ query: TYPENAME }), { "content-type": "application/json, multipart/form-data" }),
    ],
    expect: [refuses],
  },
  {
    id: "CSRF-07",
    title: "does not allow every origin to send credentials",
    severity: "advice",
    source: { name: "Fetch standard, CORS protocol", url: "https://fetch.spec.whatwg.org/#http-cors-protocol" },
    why: "With a reflected origin and credentials, any site can read data of a signed-in user.",
    requests: () => [
      {
        method: "OPTIONS",
        headers: {
          ...CROSS_SITE,
          "content-type": null,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      },
      raw(JSON.stringify({ query: TYPENAME }), { origin: CROSS_SITE["origin"] ?? "" }),
    ],
    expect: [grantsNothing],
  },
];
