/** Returns the start of a query that reads `n`, from 1 to `count`, from `numbers`. */
export function numbersTo(count: number): string {
  return `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
}
