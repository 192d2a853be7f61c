import { askToSignIn, may, user } from "./account.js";
import { graphql, upload } from "./api.js";
import { byId, copyOf, on, price, show } from "./dom.js";
import { showOrders } from "./orders.js";

const form = byId("search");
const PAGE_SIZE = 12;

const BOOKS = `query Books($first: Int, $after: String, $last: Int, $before: String, $sort: [BookSort!], $filter: BookFilter) {
  books(first: $first, after: $after, last: $last, before: $before, sort: $sort, filter: $filter) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    nodes { id title genre priceCents stock stars seller cover author { name } }
  }
}`;
const BUY = "mutation Buy($book: ID!) { placeOrder(books: [{ book: $book }]) { totalCents lines { book { stock } } } }";
const COVER = "mutation Cover($book: ID!, $file: Upload!) { setCover(book: $book, file: $file) { cover } }";

let cursors = {};

export function startCatalogue() {
  on(form, "submit", () => goTo({}));
  for (const field of [form.genre, form.sort]) on(field, "change", () => goTo({}));
  on(byId("previous"), "click", () => goTo({ before: cursors.startCursor }));
  on(byId("next"), "click", () => goTo({ after: cursors.endCursor }));
  on(window, "popstate", showBooks);
}

/** The address holds the search and the page, so that the back button and bookmarks work. */
async function goTo(page) {
  const entries = Object.entries({ ...Object.fromEntries(new FormData(form)), ...page });
  history.pushState(null, "", `?${new URLSearchParams(entries)}`);
  await showBooks();
  byId("books-heading").focus();
}

/** Shows the page of books that the address names. */
export async function showBooks() {
  const address = Object.fromEntries(new URLSearchParams(location.search));
  const { title = "", genre = "", sort = "ADDED_AT_DESC", after, before } = address;
  [form.title.value, form.genre.value, form.sort.value] = [title, genre, sort];
  const { books } = await graphql(BOOKS, {
    ...(before === undefined ? { first: PAGE_SIZE, after } : { last: PAGE_SIZE, before }),
    sort: [sort],
    filter: {
      ...(title === "" ? {} : { title: { startsWith: title } }),
      ...(genre === "" ? {} : { genre: { equal: genre } }),
    },
  });
  cursors = books.pageInfo;
  byId("found").textContent = books.totalCount === 1 ? "1 book" : `${books.totalCount.toLocaleString("en")} books`;
  byId("books").replaceChildren(...books.nodes.map(entryOf));
  byId("previous").disabled = !cursors.hasPreviousPage;
  byId("next").disabled = !cursors.hasNextPage;
}

function entryOf(book) {
  const [entry, part] = copyOf("book");
  const showStock = (stock) => {
    part(".stock").textContent = stock === 0 ? "Sold out" : `${stock} in stock`;
    part(".buy").disabled = stock === 0;
  };
  const showCover = (url) => Object.assign(part("img"), { src: url, alt: `Cover of ${book.title}`, hidden: false });

  part(".cover").dataset.genre = book.genre;
  part(".cover span").textContent = part("h3").textContent = book.title;
  part(".author").textContent = book.author.name;
  part(".stars").textContent = book.stars === null ? "" : `★ ${book.stars.toFixed(1)}`;
  part(".price").textContent = price(book.priceCents);
  part(".buy").ariaLabel = `Buy ${book.title}`;
  part(".upload").hidden = !mayChange(book);
  part(".upload input").ariaLabel = `Choose a cover for ${book.title}`;
  showStock(book.stock);
  if (book.cover !== null) showCover(book.cover);

  on(part(".buy"), "click", async () => {
    if (user === null) return askToSignIn();
    const { placeOrder } = await graphql(BUY, { book: book.id });
    showStock(placeOrder.lines[0].book.stock);
    show(`You ordered ${book.title} for ${price(placeOrder.totalCents)}.`);
    await showOrders();
  });
  on(part(".upload input"), "change", async ({ target }) => {
    const { setCover } = await upload(COVER, { book: book.id, file: target.files[0] });
    // The address of a cover stays the same, and the browser may have cached the old one.
    showCover(`${setCover.cover}?${Date.now()}`);
    show(`${book.title} has a new cover.`);
  });
  return entry;
}

/** The server decides. This only hides what it would deny. */
function mayChange({ seller }) {
  return may("write:books") || (may("sell:books") && seller === user.username);
}
