/** A message without what differs between two shops: numbers, times, names, ETags and IDs. */
export function messageForm(message: string): string {
  return message.replace(/"[^"]*"|\b[\da-f-]{36}\b|https:[\w./]+/g, '…').replace(/\d[\d,.:TZ-]*/g, '#');
}
