/** What the server tells the page about its graph. */
export interface PageOptions {
  readonly title: string;
  readonly query: string | null;
  /** Where subscriptions go, relative to the page; `null` while no socket is mounted. */
  readonly subscriptionUrl: string | null;
}
