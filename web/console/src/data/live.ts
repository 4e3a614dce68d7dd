import { type Event, GoneError, type PetStore } from '@petstore/client';
import type { QueryClient } from '@tanstack/react-query';
import type { Toasts } from '../kit/toasts.ts';
import { categories } from './categories.ts';
import { keys } from './keys.ts';
import { announceItem, markGone, putItem } from './list-cache.ts';
import { orders } from './orders.ts';
import { pets } from './pets.ts';
import type { Resource } from './resource.ts';
import { sharedEvents } from './shared-stream.ts';
import { stock } from './stock.ts';
import { webhooks } from './webhooks.ts';

/** The resources that the console shows, by the prefix of their event types. A page that shows another one adds it here. */
// biome-ignore lint/suspicious/noExplicitAny: an event's data is of the type of its resource, which its prefix decides
const resources: Record<string, Resource<any>> = {
  pet: pets,
  category: categories,
  order: orders,
  inventory: stock,
  key: keys,
  webhook: webhooks,
};

/** How long events are collected before they change the cache, in milliseconds: each change draws the page again. */
const COLLECT = 50;
/** The longest pause before the events are followed again after an error, in milliseconds: that of the client. */
const MAX_PAUSE = 30_000;
/** How long a hidden tab follows the events, in milliseconds. */
const HIDDEN = 30_000;

export interface LiveLayer {
  /** Calls the listener with each event. Returns a function that ends this. */
  onEvent: (listener: (event: Event) => void) => () => void;
  end: () => void;
}

/**
 * Subscribes to the events of the service, and changes the cache by them: what other clients change appears within a second.
 * Unless the key is allowed to read events, nothing is subscribed, and lists show what they were read with.
 */
export function startLiveLayer(
  store: PetStore,
  cache: QueryClient,
  toasts: Toasts,
  { keyId, isAllowed }: { keyId: number; isAllowed: boolean },
): LiveLayer {
  // What a key may read, another one may not: only tabs with the same key share a stream.
  const name = `petstore.console.events.${keyId}`;
  const listeners = new Set<(event: Event) => void>();
  let collected: Event[] = [];
  let applied: Promise<unknown> = Promise.resolve();
  /** How often events were missed, and everything was read again. What was collected before is older than that. */
  let resets = 0;
  let cursor: string | undefined;
  let stream: AbortController | undefined;
  /** Ends the stream of a hidden tab, or starts that of a visible one again. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** How often the stream has failed since the last event. */
  let failures = 0;

  /** Reads everything again. Keeps what is only in this tab, such as a selection. */
  const reset = () => void cache.resetQueries({ predicate: ({ meta }) => !meta?.isOfTab });

  const apply = (events: readonly Event[]) => {
    if (events.some(({ type }) => type === 'log.restored')) {
      reset();
      toasts.withdrawUndos();
    }
    for (const event of events) {
      applyEvent(cache, toasts, event);
      for (const listener of listeners) listener(event);
    }
    if (events.some(({ type }) => type.startsWith('category.')))
      void cache.invalidateQueries({ queryKey: [categories.name, 'all'] });
  };

  /** Applies the collected events, after those before them. */
  const applyCollected = () => {
    const events = collected;
    collected = [];
    const [reads, era] = [readsBefore(cache), resets];
    applied = Promise.all([applied, reads])
      .then(() => era === resets && apply(events))
      .catch(toasts.showProblem);
  };

  async function follow({ signal }: AbortController): Promise<void> {
    try {
      const onStart = (position: string) => {
        cursor = position;
        // From here on no change is missed.
        document.documentElement.dataset.live = '';
      };
      for await (const event of sharedEvents(store, { name, from: cursor, signal, onStart })) {
        cursor = event.id;
        failures = 0;
        if (collected.push(event) === 1) setTimeout(applyCollected, COLLECT);
      }
    } catch (error) {
      if (signal.aborted) return;
      // The events since the tab was hidden have expired, or the service was restored.
      if (!(error instanceof GoneError)) throw error;
      cursor = undefined;
      collected = [];
      resets++;
      reset();
      // The restored shop may not have the actions.
      if (error.code === 'log_restored') toasts.withdrawUndos();
      start();
    }
  }

  const start = () => {
    if (!isAllowed) return;
    stream = new AbortController();
    follow(stream).catch(error => {
      // The tab follows again when it is shown the next time.
      stream = undefined;
      // An error without a code is that of a proxy, whose login may have expired. It reports no end of that.
      const isOfService = error.code !== undefined;
      if (isOfService || failures === 0) toasts.showProblem(error);
      if (!isOfService && !document.hidden)
        timer = setTimeout(start, Math.random() * Math.min(MAX_PAUSE, 1000 * 2 ** failures++));
    });
  };

  const onVisibility = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => stream?.abort(), HIDDEN);
    else if (!stream || stream.signal.aborted) start();
  };

  document.addEventListener('visibilitychange', onVisibility);
  start();
  return {
    onEvent: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    end: () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
      stream?.abort();
      delete document.documentElement.dataset.live;
    },
  };
}

/**
 * Resolves when the reads that are in flight have ended whose responses may be older than an event that has arrived: first reads, and
 * those that replace what events change. A further page keeps it.
 */
function readsBefore(cache: QueryClient): Promise<unknown> {
  const reads = cache.getQueryCache().findAll({
    fetchStatus: 'fetching',
    predicate: ({ state: { data, fetchMeta }, queryKey: [name, part] }) =>
      data === undefined || (changedByEvents.has(`${name} ${part}`) && fetchMeta?.fetchMore === undefined),
  });
  return Promise.allSettled(reads.map(({ promise }) => promise));
}

/** The beginnings of the keys of what events change in the cache. Everything else is read again. */
const changedByEvents: ReadonlySet<string> = new Set([
  ...Object.values(resources).map(({ name }) => `${name} list`),
  'overview levels',
]);

/** Events whose data is not the resource of their kind. */
const others: ReadonlySet<string> = new Set([
  'key.banned',
  'key.leaked',
  'key.quota_reached',
  'key.expiring',
  'key.plan_requested',
  'key.plan_approved',
  'key.plan_declined',
  'webhook.replayed',
  'webhook.redelivered',
]);

function applyEvent(cache: QueryClient, toasts: Toasts, { type, data }: Event): void {
  const [name = '', change] = type.split('.');
  const resource = resources[name];
  if (!resource || others.has(type)) return;
  if (change === 'created' || change === 'placed') announceItem(cache, resource, data);
  else if (change === 'deleted' || change === 'cancelled') {
    markGone(cache, resource, resource.idOf(data));
    toasts.withdrawUndo(name, resource.idOf(data), undefined);
  } else {
    putItem(cache, resource, data);
    toasts.withdrawUndo(name, resource.idOf(data), data ?? undefined);
  }
  // The service creates and deletes the stock of a pet together with it.
  if (type === 'pet.created')
    announceItem(cache, stock, {
      petId: data.id,
      quantity: data.status === 'sold' ? 0 : 1,
      status: data.status,
    });
  if (type === 'pet.deleted') markGone(cache, stock, data.id);
}
