import type { Event, PetStore } from '@petstore/client';
import { firstPage } from './resource.ts';

/** An event, and the position in the log after which the stream has it: what is between does not concern the key. */
interface Message {
  after: string;
  event: Event;
}

interface SharedStreamOptions {
  /** The tabs with the same name share a stream. Tabs whose keys may read different events need different names. */
  name: string;
  /** The last event that was processed; the end of the log unless set. */
  from: string | undefined;
  signal: AbortSignal;
  /** Is called with the first position. Every later event is yielded. */
  onStart: (position: string) => void;
}

const PAGE_SIZE = 100;

/**
 * Yields each event after a position, once and in order. One of the tabs reads the stream of the service and sends each event to
 * the others, because browsers allow six connections to a service for all tabs together. When it closes, the next one continues
 * after the last event that it has processed itself. A tab that has missed an event reads the log.
 */
export async function* sharedEvents(
  store: PetStore,
  { name, from, signal, onStart }: SharedStreamOptions,
): AsyncGenerator<Event, never> {
  const messages: Message[] = [];
  let wake = () => {};
  // It is opened before the position is read, so that no event falls between.
  const channel = new BroadcastChannel(name);
  channel.onmessage = ({ data }) => {
    messages.push(data);
    wake();
  };
  let leads = false;
  const lead = () => {
    leads = true;
    wake();
  };
  const end = new AbortController();
  const stop = () => {
    end.abort();
    wake();
  };
  signal.addEventListener('abort', stop);
  try {
    // The client sends its first request alone, so every list is read after this position.
    let cursor = from ?? (await endOfLog(store, signal));
    onStart(cursor);
    holdLock(name, lead, end.signal);
    // While the tab was hidden, events may have been sent to no tab.
    let isBehind = from !== undefined;
    while (!leads) {
      const message = messages.shift();
      if (isBehind || (message && Number(message.after) > Number(cursor))) {
        isBehind = false;
        for await (const event of store.events.list({ cursor, limit: PAGE_SIZE }, { signal })) {
          cursor = event.id;
          yield event;
        }
      } else if (message && Number(message.event.id) > Number(cursor)) {
        cursor = message.event.id;
        yield message.event;
      } else if (!message) {
        await new Promise<void>(resolve => {
          wake = resolve;
        });
        signal.throwIfAborted();
      }
    }
    for await (const event of store.events.subscribe({ from: cursor, signal })) {
      channel.postMessage({ after: cursor, event } satisfies Message);
      cursor = event.id;
      yield event;
    }
    throw new Error('A subscription ends only with an error');
  } finally {
    signal.removeEventListener('abort', stop);
    end.abort();
    channel.close();
  }
}

/** Calls `onHeld` when no other tab has the lock, and keeps it until the signal. */
function holdLock(name: string, onHeld: () => void, signal: AbortSignal): void {
  // Browsers offer locks only to pages of HTTPS and of this machine. Elsewhere each tab has a stream of its own.
  if (!navigator.locks) {
    onHeld();
    return;
  }
  const held = () => {
    onHeld();
    return new Promise<void>(release => signal.addEventListener('abort', () => release()));
  };
  navigator.locks.request(name, { signal }, held).catch(error => {
    if (!signal.aborted) throw error;
  });
}

async function endOfLog(store: PetStore, signal: AbortSignal): Promise<string> {
  const { nextCursor = 'latest' } = await firstPage(
    store.events.list({ cursor: 'latest', limit: 1 }, { signal }),
  );
  return nextCursor;
}
