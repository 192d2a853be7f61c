export interface Page<Row> {
  items: Row[];
  total: number;
  limit: number;
  offset: number;
}
