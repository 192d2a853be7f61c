import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { listeners, openShop, password, type Shop } from "./open-shop.ts";
import { byToken } from "./sign-in.ts";
import { type Screen, type Visitor, visit } from "./visit.ts";

// A red dot.
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ books: 60, users: 3 });
});

/** Browsers have no passkeys for IP addresses. */
const home = (): string => shop.client.url.replace("127.0.0.1", "localhost");

async function enter(name: string, screen?: Screen): Promise<Visitor> {
  const visitor = await visit(screen);
  const { page } = visitor;
  await page.goto(home());
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.keyboard.press("Enter");
  await page.getByText(`${name} (`).waitFor();
  // The focus moves when the page shows everything that the role allows.
  await page.locator("#sign-out:focus").waitFor();
  return visitor;
}

const titlesOn = (page: Page): Promise<readonly string[]> => page.locator("#books h3").allTextContents();

describe("in a browser, a user", () => {
  it("registers, is still signed in after a reload, and signs out", async () => {
    const { page, complaints, picture } = await visit();
    await page.goto(home());

    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Create an account" }).click();
    await page.getByLabel("Username").fill("ann");
    await page.getByLabel("Email").fill("ann@shop.example");
    await page.getByLabel("Password").fill("a long enough secret");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("ann (reader)").waitFor();
    await page.reload();
    await page.getByText("ann (reader)").waitFor();
    await picture("signed-in");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Sign in" }).waitFor();

    expect(await page.getByText("My orders").isVisible()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it("adds a passkey, and signs in with it without a password", async () => {
    const { page, complaints, addAuthenticator } = await enter("reader3");
    await addAuthenticator();

    await page.getByRole("link", { name: "reader3" }).click();
    await page.getByLabel("Name of the new passkey").fill("Laptop");
    await page.keyboard.press("Enter");
    await page.getByRole("listitem").filter({ hasText: "Laptop" }).getByText("Added on").waitFor();
    await page.goto(home());
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("link", { name: "Other ways to sign in" }).click();
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByText("reader3 (reader)").waitFor();

    expect(page.url()).toBe(`${home()}/`);
    expect(complaints).toEqual([]);
  });

  it("buys a book after signing in, and sees the order", async () => {
    const { page, complaints, picture } = await visit();
    await page.goto(home());
    const buy = page.getByRole("button", { name: "Buy The Last Winter 60" });

    await buy.click();
    await page.getByLabel("Username").fill("reader2");
    await page.getByLabel("Password").fill(password);
    await page.getByRole("dialog").getByRole("button", { name: "Sign in" }).click();
    await page.getByText("You have not ordered a book yet.").waitFor();
    const book = page.getByRole("listitem").filter({ has: buy });
    const [before] = /\d+(?= in stock)/.exec((await book.textContent()) ?? "") ?? [];
    await buy.click();
    await page.getByText("You ordered The Last Winter 60 for €27.20.").waitFor();
    await page.getByRole("region", { name: "My orders" }).getByText("1 × The Last Winter 60").waitFor();
    await book.getByText(`${Number(before) - 1} in stock`).waitFor();

    await picture("bought");
    await page.reload();
    await page.getByRole("region", { name: "My orders" }).getByText("1 × The Last Winter 60").waitFor();
    expect(complaints).toEqual([]);
  });

  it("pages through the books, and goes back", async () => {
    const { page, complaints, picture } = await visit();
    await page.goto(`${home()}?sort=TITLE_ASC`);
    await page.getByText("60 books").waitFor();
    const pages = [await titlesOn(page)];

    for (let number = 2; number <= 5; number++) {
      await page.getByRole("button", { name: "Next" }).click();
      await expect.poll(() => titlesOn(page)).not.toEqual(pages.at(-1));
      pages.push(await titlesOn(page));
    }
    await picture("last-page");
    const isEnd = await page.getByRole("button", { name: "Next" }).isDisabled();
    await page.getByRole("button", { name: "Previous" }).click();
    await expect.poll(() => titlesOn(page)).toEqual(pages[3]);
    await page.goBack();
    await expect.poll(() => titlesOn(page)).toEqual(pages[4]);

    expect(isEnd).toBe(true);
    expect(pages.map(({ length }) => length)).toEqual([12, 12, 12, 12, 12]);
    expect(pages.flat()).toEqual(pages.flat().toSorted());
    expect(new Set(pages.flat()).size).toBe(60);
    expect(complaints).toEqual([]);
  });

  it("searches by title and genre, and keeps the search after a reload", async () => {
    const { page, complaints } = await visit();
    await page.goto(home());
    await page.getByText("60 books").waitFor();

    await page.getByRole("searchbox", { name: "Title" }).fill("The Last");
    await page.keyboard.press("Enter");
    await expect.poll(() => titlesOn(page)).toHaveLength(9);
    await page.getByRole("combobox", { name: "Genre" }).selectOption("Poetry");
    await expect.poll(async () => (await titlesOn(page)).length).toBeLessThan(9);
    const found = await titlesOn(page);
    await page.reload();
    await expect.poll(() => titlesOn(page)).toEqual(found);

    expect(found.every((title) => title.startsWith("The Last"))).toBe(true);
    expect(await page.getByRole("searchbox", { name: "Title" }).inputValue()).toBe("The Last");
    expect(complaints).toEqual([]);
  });

  it("runs a query in the explorer", async () => {
    const { page, complaints, picture } = await visit();
    await page.goto(`${home()}/graphql`);

    await page.getByRole("tab", { name: "Newest" }).waitFor();
    await page.getByRole("button", { name: /Execute query/ }).click();
    // The editor replaces spaces with non-breaking spaces.
    await page.locator(".result-window .view-lines", { hasText: "The\u00a0Last\u00a0Winter\u00a060" }).waitFor();

    await picture("explorer");
    expect(complaints).toEqual([]);
  });

  it("with the staff role chooses a cover and sees it", async () => {
    const { page, complaints, picture } = await enter("staff");
    await page
      .getByLabel("Choose a cover for The Last Winter 60")
      .setInputFiles({ name: "cover.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") });

    const cover = page.getByRole("img", { name: "Cover of The Last Winter 60" });
    await cover.waitFor();
    await expect
      .poll(() => cover.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(5);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await cover.waitFor();

    await picture("cover");
    expect(
      await page
        .getByLabel(/^Choose a cover/)
        .filter({ visible: true })
        .count(),
    ).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("with the seller role changes the covers of their own books only", async () => {
    const { page } = await enter("seller1");
    const covers = page.getByLabel(/^Choose a cover/).filter({ visible: true });
    await expect.poll(() => covers.count()).toBeGreaterThan(0);

    const names = await covers.evaluateAll((inputs) => inputs.map((input) => input.ariaLabel ?? ""));

    expect(names.map((name) => Number(/\d+$/.exec(name)?.[0]) % 4)).toEqual(names.map(() => 1));
  });

  it("sees new orders while another client orders", async () => {
    const { page, complaints, picture } = await enter("staff");
    await expect.poll(() => listeners("orders.placed")).toBe(1);

    await shop.client.post("/orders", {
      body: { books: [{ book: "book-1", copies: 2 }] },
      headers: await byToken(shop.client, "reader1"),
    });
    const order = page.getByRole("region", { name: "New orders" }).getByRole("listitem");
    await order.getByText("2 × Beyond the Garden 1").waitFor();

    await picture("orders");
    expect(await order.textContent()).toMatch(/€10\.74.*for reader1$/);
    expect(complaints).toEqual([]);
  });

  it.each([
    { width: 390, colorScheme: "light" },
    { width: 390, colorScheme: "dark" },
    { width: 1440, colorScheme: "light" },
    { width: 1440, colorScheme: "dark" },
  ] as const)("has no horizontal scrolling at $width px, $colorScheme", async (screen) => {
    const { page, complaints, picture } = await enter("staff", screen);
    await page.getByRole("heading", { name: "My orders" }).waitFor();

    const sizes = await page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
    await picture(`shop-${screen.width}-${screen.colorScheme}`);

    expect(sizes).toEqual([screen.width, screen.width]);
    expect(complaints).toEqual([]);
  });

  it("loads only files of the shop, because of the content security policy", async () => {
    const { page, complaints } = await visit();
    await page.goto(home());

    await page.evaluate(
      "document.body.append(Object.assign(document.createElement('script'), { text: 'hacked = 1' }))",
    );

    expect(await page.evaluate("'hacked' in window")).toBe(false);
    expect(complaints).toEqual([expect.stringContaining("Content Security Policy")]);
  });

  it("with the admin role sees the operations", async () => {
    const { page, complaints, picture } = await enter("admin");

    await page.goto(`${home()}/operations/page`);
    await page.getByText("MyOrders").first().waitFor();
    await picture("operations");
    await page.goto(`${home()}/docs`);
    await page.getByRole("heading", { name: "Bookshop" }).waitFor();
    await page.getByText("books").first().waitFor();
    await picture("description");

    expect(complaints).toEqual([]);
  });
});
