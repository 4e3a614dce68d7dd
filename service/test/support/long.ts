/** Whether loops run in full: `npm run test:long`. */
export const isLong = process.env.TEST_LONG === '1';

/** Returns the number of rounds of a loop. */
export function sized(short: number, long: number): number {
  return isLong ? long : short;
}
