import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import proxyAddr from "@fastify/proxy-addr";
import { clientAddress } from "./client-address.ts";
import { hostName } from "./host-name.ts";

/** The client of a request and the address that it used, as trusted proxies forward them. */
export interface SenderFacts {
  readonly ip: string;
  readonly host: string;
  readonly protocol: string;
}

/** Reads who sent a request. Headers of proxies count only if the connection comes from a trusted one. */
export type SenderOf = (request: IncomingMessage) => SenderFacts;

export function senderReader(trustedProxies: readonly string[]): SenderOf {
  if (trustedProxies.length === 0) return (request) => directSender(request);
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  return (request) => {
    const { headers, socket } = request;
    const peer = socket.remoteAddress ?? "";
    const direct = directSender(request);
    if (!isTrusted(peer, 0)) return direct;
    return {
      ip: clientAddress(proxyAddr(request, isTrusted), peer),
      host: hostName(lastOf(headers["x-forwarded-host"]), headers.host),
      protocol: lastOf(headers["x-forwarded-proto"]) ?? direct.protocol,
    };
  };
}

function directSender({ headers, socket }: IncomingMessage): SenderFacts {
  const isEncrypted = (socket as Partial<TLSSocket>).encrypted === true;
  return {
    ip: socket.remoteAddress ?? "",
    host: hostName(headers.host),
    protocol: isEncrypted ? "https" : "http",
  };
}

/** The entry of the nearest proxy: each one appends its own. */
function lastOf(header: string | readonly string[] | undefined): string | undefined {
  return (
    String(header ?? "")
      .split(",")
      .at(-1)
      ?.trim() || undefined
  );
}
