import { isProduction } from "../../../core/env.ts";
import { objectOf } from "../../../http/routing/middleware.ts";
import type { PorticoApp } from "../../../portico-app.ts";
import { faultsOf } from "./faults-of.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

/** Checks the addresses in the options of the application: its public URL, proxies and foreign origins. */
export function checkAddresses(app: PorticoApp): readonly Finding[] {
  const { publicUrl, trustedProxies, origins } = app.settings;
  const faults = faultsOf(app, "public URL");
  return [
    ...(faults.length > 0 ? faults : [checkPublicUrl(publicUrl, hasSessions(app))]),
    checkProxies(trustedProxies, publicUrl),
    ...checkOrigins(origins),
  ];
}

function checkPublicUrl(publicUrl: string | null, hasCookies: boolean): Finding {
  if (publicUrl === null)
    return isProduction()
      ? warning(
          "public URL",
          "PorticoApp.publicUrl is not set, so links contain the host that the request claims. Set it to the URL that users open",
        )
      : ok("public URL", "PorticoApp.publicUrl is not set. In production, set it to the URL that users open");
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === "https:" || isLocal(hostname)) return ok("public URL", publicUrl);
  return hasCookies
    ? failed(
        "public URL",
        `PorticoApp.publicUrl is ${publicUrl}, but browsers accept the session cookie, whose name begins with __Host-, over https only. Serve the application over https`,
      )
    : warning("public URL", `PorticoApp.publicUrl is ${publicUrl}, so credentials are sent in plain text. Use https`);
}

function checkProxies(proxies: readonly string[], publicUrl: string | null): Finding {
  const wide = proxies.find(isEveryone);
  if (wide !== undefined)
    return failed(
      "proxies",
      `PorticoApp.trustedProxies contains ${wide}, so any client can claim any address. List the networks of your proxies`,
    );
  const isBehindProxy = publicUrl?.startsWith("https:") === true && isProduction();
  if (proxies.length > 0) return ok("proxies", `trusted: ${proxies.join(", ")}`);
  return isBehindProxy
    ? warning(
        "proxies",
        "PorticoApp.trustedProxies is empty, but the public URL is https, which a proxy serves. All clients then share one rate limit. List the network of the proxy",
      )
    : ok("proxies", "none are trusted");
}

/** Whether the range covers a large part of the Internet. */
function isEveryone(network: string): boolean {
  const bits = Number(network.split("/")[1] ?? Number.NaN);
  return bits < (network.includes(":") ? 16 : 8);
}

function checkOrigins(origins: readonly string[]): readonly Finding[] {
  const unsafe = isProduction() ? origins.filter((origin) => origin.startsWith("http:")) : [];
  return unsafe.map((origin) =>
    warning(
      "origins",
      `PorticoApp.origins contains ${origin}, whose pages anyone on the network can change. Use https`,
    ),
  );
}

/** Whether callers sign in with the session cookie. */
function hasSessions({ table: { routes, sockets } }: PorticoApp): boolean {
  return [...routes, ...sockets].some(({ middleware }) =>
    middleware.some((layer) => objectOf(layer)?.scopes?.includes("session") === true),
  );
}

function isLocal(hostname: string): boolean {
  return /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
