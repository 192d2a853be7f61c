import { describe, expect, it } from "vitest";
import { siteSearch } from "./docs/site-search.ts";

const search = await siteSearch();

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
    ["docker", "/guide/deployment"],
    ["kubernetes", "/guide/deployment"],
    ["prisma", "/guide/data-sources"],
    ["drizzle", "/guide/data-sources"],
    ["nestjs", "/comparison"],
    ["apollo", "/comparison"],
    ["social login", "/faq"],
    ["oauth", "/faq"],
    ["passkey", "/faq"],
    ["2fa", "/faq"],
    ["webhook", "/guide/write-your-own-backend"],
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

  it("finds nothing for a word that no page has", () => {
    expect(search("zeppelinesque")).toEqual([]);
  });
});
