import type { Configuration } from "openid-client";
import type { ProviderServices } from "./identity-provider.ts";

/** How long the metadata of a provider is used before it is fetched again. */
const FRESH_MS = 3_600_000;
/** How long after a failure the next request is sent. */
const COOLDOWN_MS = 5_000;

/** The metadata of a provider: fetched on first use and every hour. An outage leaves the last metadata in use. */
export class Discovery {
  readonly #discover: () => Promise<Configuration>;
  #known: Configuration | null = null;
  #dueAt = Number.NEGATIVE_INFINITY;
  #failure: unknown;
  #pending: Promise<void> | null = null;

  constructor(discover: () => Promise<Configuration>) {
    this.#discover = discover;
  }

  async configuration({ clock, log }: ProviderServices): Promise<Configuration> {
    if (clock.monotonic() >= this.#dueAt) {
      this.#pending ??= this.#refresh(clock).finally(() => {
        this.#pending = null;
      });
      await this.#pending;
      if (this.#failure !== undefined && this.#known !== null)
        log.warn({}, "failed to refresh the metadata of an identity provider; the last metadata is used");
    }
    if (this.#known === null) throw this.#failure;
    return this.#known;
  }

  async #refresh(clock: ProviderServices["clock"]): Promise<void> {
    try {
      this.#known = await this.#discover();
      this.#failure = undefined;
      this.#dueAt = clock.monotonic() + FRESH_MS;
    } catch (error) {
      this.#failure = error;
      this.#dueAt = clock.monotonic() + COOLDOWN_MS;
    }
  }
}
