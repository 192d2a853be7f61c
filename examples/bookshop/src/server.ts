import { env } from "portico";
import { bookshop } from "./app.ts";

// Cursors of the list are signed with it; without one they live as long as the process, which production refuses.
const { CURSOR_KEY } = process.env;
const app = bookshop(CURSOR_KEY === undefined ? {} : { app: { cursorKeys: [CURSOR_KEY] } });

const { url } = await app.listen({ port: Number(env("PORT", "3000")) });
console.log(`listening on ${url}`);
