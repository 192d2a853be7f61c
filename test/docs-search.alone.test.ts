import { afterAll, describe, expect, it } from "vitest";
import { siteSearch } from "../scripts/docs/site-search.ts";

const { search, close } = await siteSearch();
afterAll(close);

// The start page of the guide is being renamed.
const QUICK_START = ["/guide/quick-start", "/faq"];

describe("the search of the site", () => {
  it.each<readonly [term: string, ...pages: string[]]>([
    ["jwt", "/guide/authentication", "/reference/authentication"],
    ["csrf", "/guide/authentication", "/faq"],
    ["cursor", "/guide/pagination"],
    ["n+1", "/guide/resolvers", "/faq"],
    ["dataloader", "/guide/resolvers", "/faq"],
    ["file upload", "/guide/uploads"],
    ["rate limit", "/guide/middleware"],
    ["docker", "/deployment/docker"],
    ["kubernetes", "/deployment/kubernetes"],
    ["prisma", "/guide/data-sources"],
    ["drizzle", "/guide/data-sources"],
    ["nestjs", "/comparison", "/coming-from/nestjs"],
    ["apollo client", "/guide/other-clients"],
    ["apollo passport", "/comparison"],
    ["nestjs apollo", "/comparison", "/coming-from/nestjs"],
    ["apollo", "/guide/other-clients", "/coming-from/nestjs"],
    ["typed client", "/guide/client"],
    ["social login", "/faq"],
    ["oauth", "/guide/sign-in", "/faq"],
    ["passkey", "/guide/second-factor", "/faq"],
    ["2fa", "/guide/second-factor", "/faq"],
    ["webhook", "/recipes/webhooks"],
    ["webhook backend", "/guide/write-your-own-backend"],
    ["nginx", "/deployment/reverse-proxies"],
    ["systemd", "/deployment/systemd"],
    ["zero downtime", "/deployment/zero-downtime"],
    ["background jobs", "/recipes/jobs"],
    ["cron", "/recipes/scheduled-jobs"],
    ["soft delete", "/recipes/soft-delete"],
    ["delete account", "/recipes/soft-delete"],
    ["optimistic locking", "/recipes/optimistic-locking"],
    ["text search", "/recipes/text-search"],
    ["next.js", "/guide/front-ends"],
    ["cookie not set", "/guide/front-ends"],
    ["cookies across subdomains", "/guide/front-ends"],
    ["subscription doesn't connect", "/guide/subscriptions"],
    ["test second factor", "/guide/testing"],
    ["nodemailer", "/recipes/mail"],
    ["s3", "/recipes/object-storage"],
    ["commonjs", "/recipes/commonjs"],
    ["lambda", "/recipes/serverless", "/faq"],
    ["cors", "/guide/middleware", "/faq"],
    ["openapi client", "/guide/routes", "/faq"],
    ["quickstart", ...QUICK_START],
    ["getting started", ...QUICK_START],
    ["multi tenant", "/guide/multi-tenant"],
    ["authorization", "/guide/authorization"],
    ["authorization rule", "/guide/authorization"],
    ["permissions", "/guide/authorization", "/guide/users", "/guide/subscriptions"],
    ["combine gates", "/guide/authorization"],
    ["websocket", "/guide/sockets", "/guide/subscriptions", "/faq"],
    ["graceful shutdown", "/guide/deployment"],
  ])("finds %s within the first three results", (term, ...pages) => {
    const found = search(term).slice(0, 3);

    expect(
      found.filter((section) => pages.includes(section.replace(/#.*/, ""))),
      found.join(" "),
    ).not.toEqual([]);
  });

  it.each<readonly [name: string, entry: string]>([
    ["tableHandler", "/api/portico-sql#tableHandler"],
    ["drizzleHandler", "/api/portico-drizzle#drizzleHandler"],
    ["CursorPagination", "/api/portico-pagination#CursorPagination"],
    ["cursorpagination", "/api/portico-pagination#CursorPagination"],
    ["expectPlans", "/api/portico-testing#expectPlans"],
    ["openDatabase", "/api/portico-sql#openDatabase"],
    ["JWTAuthBackend", "/api/portico-auth#JWTAuthBackend"],
    ["useAuth", "/api/portico-auth#useAuth"],
    ["rateLimit", "/api/portico#rateLimit"],
    ["RateLimitOptions", "/api/portico#RateLimitOptions"],
    ["GraphOptions", "/api/portico-graphql#GraphOptions"],
    ["RouteMethod", "/api/portico-types#RouteMethod"],
  ])("finds the entry of %s within the first three results", (name, entry) => {
    expect(search(name).slice(0, 3)).toContain(entry);
  });

  it("finds nothing for a word that no page has", () => {
    expect(search("zeppelinesque")).toEqual([]);
  });
});
