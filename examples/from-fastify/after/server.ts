import { openDatabase } from "../shared/database.ts";
import { settings } from "../shared/settings.ts";
import { shopAfter } from "./app.ts";

const { db, close } = await openDatabase(settings);
const fastify = await shopAfter(db, settings);
fastify.addHook("onClose", close);
console.log(`listening on ${await fastify.listen({ port: settings.port })}`);
