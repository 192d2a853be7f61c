import { bookshop } from "./app.ts";
import { settings } from "./settings.ts";

const { url } = await bookshop().listen({ port: settings.port });
console.log(`listening on ${url}`);
