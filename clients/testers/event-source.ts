// The package `eventsource`: what browsers have, for programs, with headers.
import { EventSource } from 'eventsource';

/** Opens a stream with an API key. It connects again by itself, with the ID of the last event. */
export function openEventSource(url: string, key: string): EventSource {
  return new EventSource(url, {
    fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, 'X-API-Key': key } }),
  });
}
