import { startAccount } from "./account.js";
import { showBooks, startCatalogue } from "./catalogue.js";
import { show } from "./dom.js";
import { showOrders, watchOrders } from "./orders.js";

startCatalogue();

// A role decides what its user may do with a book, so the books are shown again after every sign-in.
startAccount(async () => {
  void watchOrders();
  await Promise.all([showBooks(), showOrders()]);
}).catch(({ message }) => show(message));
