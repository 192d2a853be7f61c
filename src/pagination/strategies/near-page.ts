/** A page near the current one. */
export interface NearPage {
  /** How many pages away it is: -1 is the previous page. */
  readonly offset: number;
  readonly cursor: string;
}
