/** What the server tells the page about its graph. */
export interface HtmlOptions {
  readonly title: string;
  readonly query: string | null;
  /** Whether subscriptions are accepted by a socket at the address of the page. */
  readonly hasSocket: boolean;
}
