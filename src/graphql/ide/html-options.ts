/** The options that the server passes to the page. */
export interface HtmlOptions {
  readonly title: string;
  readonly query: string | null;
  /** Whether the address of the page also accepts subscriptions over a WebSocket. */
  readonly hasSocket: boolean;
}
