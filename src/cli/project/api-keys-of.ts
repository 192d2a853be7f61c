import type { APIKeys } from "../../auth/api-keys/api-keys.ts";
import type { Project } from "./project.ts";

/** The API keys in the stores of the application. */
export async function apiKeysOf(project: Project): Promise<APIKeys> {
  const { durable, bus } = await project.stores();
  const { APIKeys } = await import("../../auth/api-keys/api-keys.ts");
  return new APIKeys({ store: durable, bus });
}
