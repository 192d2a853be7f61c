import type { PorticoConfig } from "portico";
import { app } from "./app.ts";

const config: PorticoConfig = { app: () => app };
export default config;
