import { openDatabase } from "../shared/database.ts";
import { settings } from "../shared/settings.ts";
import { shopBefore } from "./app.ts";

const { db, close } = await openDatabase(settings);
const fastify = await shopBefore(db, settings);
fastify.addHook("onClose", close);
console.log(`listening on ${await fastify.listen({ port: settings.port })}`);
