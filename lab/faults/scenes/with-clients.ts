import { TcpProxy } from "../../servers/tcp-proxy.ts";
import type { AppProcess } from "../app-process.ts";
import type { Scene } from "../cell.ts";
import type { FaultAppSettings } from "../fault-app.ts";
import { Crowd } from "./crowd.ts";

/** Makes clients behave badly. They are there until the process has ended. */
type Misbehaves = (crowd: Crowd, app: AppProcess) => unknown;

/** A scene in which many clients have a fault, and those of the probes have none. */
export function withClients(misbehave: Misbehaves, settings: FaultAppSettings = {}): () => Promise<Scene> {
  return async () => {
    let crowd: Crowd | null = null;
    return {
      settings,
      break: async (app) => {
        crowd = new Crowd(app.port);
        await misbehave(crowd, app);
      },
      end: () => crowd?.leave(),
      remove: async () => crowd?.leave(),
    };
  };
}

/** The same, and the network between the many clients and the application can break. */
export function withDistantClients(misbehave: (crowd: Crowd, network: TcpProxy) => unknown): () => Promise<Scene> {
  return async () => {
    let network: TcpProxy | null = null;
    const scene = await withClients(async (_near, app) => {
      network = await TcpProxy.start(app.port);
      await misbehave(new Crowd(network.port), network);
    })();
    return { ...scene, remove: async () => network?.close() };
  };
}
