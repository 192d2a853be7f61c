import { testClient } from "portico/testing";
import { expect, it } from "vitest";
import { sessionApp, signIn } from "./session-app.ts";

const MOZILLA = "Mozilla/5.0";
const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

/** The device in the list of sessions after a sign-in with this header. */
async function deviceOf(userAgent: string | undefined): Promise<string> {
  const client = testClient(sessionApp());
  const session = await signIn(client, "ann", userAgent === undefined ? {} : { headers: { "user-agent": userAgent } });
  const [entry] = (await client.get("/sessions", session)).json() as readonly { readonly device: string }[];
  return entry?.device ?? "";
}

it.each([
  ["Edge on Windows", `${MOZILLA} (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0`],
  ["Edge on Android", `${MOZILLA} (Linux; Android 10) ${WEBKIT} Chrome/126.0 Mobile Safari/537.36 EdgA/126.0`],
  ["Opera on Linux", `${MOZILLA} (X11; Linux x86_64) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36 OPR/112.0.0.0`],
  ["Samsung Internet on Android", `${MOZILLA} (Linux; Android 14) ${WEBKIT} SamsungBrowser/25.0 Chrome/121.0 Safari/5`],
  ["Firefox on iPad", `${MOZILLA} (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 FxiOS/127.0 Safari/605.1`],
  ["Chrome on iPhone", `${MOZILLA} (iPhone; CPU iPhone OS 17_5 like Mac OS X) CriOS/126.0 Mobile/15E148 Safari/604.1`],
  ["Chrome on ChromeOS", `${MOZILLA} (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/126.0.0.0 Safari/537.36`],
  ["Safari on macOS", `${MOZILLA} (Macintosh; Intel Mac OS X 14_5) Version/17.5 Safari/605.1.15`],
])("%s is recognised", async (label, userAgent) => {
  expect(await deviceOf(userAgent)).toBe(label);
});

it.each([
  ["Unknown device", ""],
  ["Unknown device", "\u00ad \u00ad"],
  ["App on Linux", " shop-app/2.1 (Linux) "],
  ["App on Android", "okhttp/4.12.0"],
  ["App on Apple device", "Shop/7 CFNetwork/1496.0.7 Darwin/23.5.0"],
  ["Firefox", "Firefox/127.0"],
  ["Unknown device", "You won a prize. Claim it at https://evil.example/claim"],
  ["App on Windows", "You won a prize for Windows. Claim it at https://evil.example/claim"],
  ["Unknown device", `${"x".repeat(1_000)} (Linux)`],
])("%s stands for %j", async (label, userAgent) => {
  expect(await deviceOf(userAgent)).toBe(label);
});
