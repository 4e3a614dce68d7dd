/** `12 orders`. */
export function inWords(count: number, thing: string, hasMore = false): string {
  return `${count.toLocaleString()}${hasMore ? '+' : ''} ${thing}${count === 1 ? '' : 's'}`;
}
