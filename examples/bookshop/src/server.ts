import { env } from "portico";
import { bookshop } from "./app.ts";

const { url } = await bookshop().listen({ port: Number(env("PORT", "3000")) });
console.log(`listening on ${url}`);
