import { api } from "./app.ts";
import { settings } from "./settings.ts";

const { host, port } = settings;
await api().listen({ host, port });
