import { beforeAll, describe, expect, it } from "vitest";
import { listeners, openShop, password, type Shop } from "./open-shop.ts";
import { byToken } from "./sign-in.ts";
import { type Visitor, visit } from "./visit.ts";

// A red dot.
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ books: 60, users: 3 });
});

async function enter(name: string, secret = password): Promise<Visitor> {
  const visitor = await visit();
  const { page } = visitor;
  await page.goto(shop.client.url);
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(secret);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText(`${name} is signed in`).waitFor();
  return visitor;
}

describe("in a browser, a user", () => {
  it("registers, logs in, and is still signed in after a reload", async () => {
    const { page, complaints, picture } = await visit();
    await page.goto(shop.client.url);

    await page.getByLabel("Username").fill("ann");
    await page.getByLabel("Email").fill("ann@shop.example");
    await page.getByLabel("Password").fill("a long enough secret");
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("Registered. You can log in now.").waitFor();
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("ann is signed in (reader).").waitFor();
    await page.reload();
    await page.getByText("ann is signed in (reader).").waitFor();

    await picture("signed-in");
    expect(complaints).toEqual([]);
  });

  it("pages through the books with the links of the pages", async () => {
    const { page, complaints, picture } = await visit();
    await page.goto(shop.client.url);
    const titles = (): Promise<string[]> => page.locator("#books tr td:first-child").allTextContents();
    await page.getByText("page 1 of 3").waitFor();
    const first = await titles();

    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("page 2 of 3").waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("page 3 of 3").waitFor();
    await picture("last-page");
    const isEnd = await page.getByRole("button", { name: "Next" }).isDisabled();
    const last = await titles();
    await page.getByRole("button", { name: "Previous" }).click();
    await page.getByText("page 2 of 3").waitFor();

    expect([first.length, last.length, isEnd]).toEqual([20, 20, true]);
    expect([...first, ...last]).toEqual([...first, ...last].toSorted());
    expect(complaints).toEqual([]);
  });

  it("runs a query in the explorer", async () => {
    const { page, complaints, picture } = await visit();
    await page.goto(`${shop.client.url}/graphql`);

    await page.getByRole("tab", { name: "Newest" }).waitFor();
    await page.getByRole("button", { name: /Execute query/ }).click();
    // The editor replaces spaces with non-breaking spaces.
    await page.locator(".result-window .view-lines", { hasText: "The\u00a0Last\u00a0Winter\u00a060" }).waitFor();

    await picture("explorer");
    expect(complaints).toEqual([]);
  });

  it("uploads a cover and sees it", async () => {
    const { page, complaints, picture } = await enter("staff");
    await page.getByLabel("Book ID").fill("book-7");
    await page
      .locator("input[type=file]")
      .setInputFiles({ name: "cover.png", mimeType: "image/png", buffer: Buffer.from(PNG, "base64") });

    await page.getByRole("button", { name: "Upload" }).click();
    const cover = page.getByRole("img", { name: "Book cover" });
    await cover.waitFor();
    await expect
      .poll(() => cover.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(5);

    await picture("cover");
    expect(complaints).toEqual([]);
  });

  it("watches orders while another client orders", async () => {
    const { page, complaints, picture } = await enter("staff");
    await page.getByRole("button", { name: "Watch" }).click();
    await page.getByRole("button", { name: "Watching" }).waitFor();
    await expect.poll(() => listeners("orders.placed"), { timeout: 5_000 }).toBe(1);

    await shop.client.post("/orders", {
      body: { books: [{ book: "book-1", copies: 2 }] },
      headers: await byToken(shop.client, "reader1"),
    });
    await page.getByText(/^reader1: 2 × .* for 10\.74$/).waitFor();

    await picture("orders");
    expect(complaints).toEqual([]);
  });

  it("with the admin role sees the operations", async () => {
    const { page, complaints, picture } = await enter("admin");

    await page.goto(`${shop.client.url}/operations/page`);
    await page.getByText("Newest").first().waitFor();
    await picture("operations");
    await page.goto(`${shop.client.url}/docs`);
    await page.getByRole("heading", { name: "Bookshop" }).waitFor();
    await page.getByText("books").first().waitFor();
    await picture("description");

    expect(complaints).toEqual([]);
  });
});
