import { type Client, createClient } from './client.ts';
import { PetStoreError } from './errors.ts';
import { type Limits, limitsOf } from './limits.ts';
import { mapValues } from './map-values.ts';
import { type ObservedOptions, observed } from './observe.ts';
import * as account from './resources/account.ts';
import { type Batch, type BatchOptions, batch } from './resources/batch.ts';
import * as batches from './resources/batches.ts';
import * as categories from './resources/categories.ts';
import * as events from './resources/events.ts';
import * as inventory from './resources/inventory.ts';
import * as keys from './resources/keys.ts';
import * as orders from './resources/orders.ts';
import * as pets from './resources/pets.ts';
import * as service from './resources/service.ts';
import * as webhooks from './resources/webhooks.ts';

// biome-ignore lint/suspicious/noExplicitAny: the parameters of every operation
type Resource = Record<string, (client: Client, ...rest: any[]) => unknown>;

/** The functions of a resource without their first parameter, the client. */
type Bound<R extends Resource> = {
  readonly [Name in keyof R]: R[Name] extends (client: Client, ...rest: infer Rest) => infer Result
    ? (...rest: Rest) => Result
    : never;
};

const resources: Record<Exclude<keyof PetStore, 'batch' | 'limits'>, Resource> = {
  pets,
  categories,
  orders,
  inventory,
  batches,
  account,
  keys,
  events,
  webhooks,
  service,
};

/** With less, or with NaN, calls would wait for ever. */
const LEAST = { maxConcurrent: 1, maxRetries: 0, maxWait: 0, timeout: 0 };

/** A client with one method for each operation, grouped by resource: `store.pets.list({ status: 'available' })`. */
export class PetStore {
  readonly #client: Client;
  declare readonly pets: Bound<typeof pets>;
  declare readonly categories: Bound<typeof categories>;
  declare readonly orders: Bound<typeof orders>;
  declare readonly inventory: Bound<typeof inventory>;
  declare readonly batches: Bound<typeof batches>;
  declare readonly account: Bound<typeof account>;
  declare readonly keys: Bound<typeof keys>;
  declare readonly events: Bound<typeof events>;
  declare readonly webhooks: Bound<typeof webhooks>;
  declare readonly service: Bound<typeof service>;

  /** Throws for settings that cannot work. The message does not show an API key. */
  constructor(options: ObservedOptions) {
    // `fetch` would fail as if the connection had broken.
    if (/[^!-~]/.test(options.apiKey ?? ''))
      throw new PetStoreError('The API key has characters that no key has');
    for (const [name, least] of Object.entries(LEAST)) {
      const value = options[name as keyof typeof LEAST] ?? least;
      if (!(value >= least)) throw new PetStoreError(`${name} is ${value}, not a number from ${least}`);
    }
    const client = createClient(observed(options));
    this.#client = client;
    const bound = mapValues(resources, methods =>
      mapValues(methods, method => method.bind(undefined, client)),
    );
    Object.assign(this, bound);
  }

  /** Starts a batch, which collects operations to send them in one request. Experimental. */
  batch(options?: BatchOptions): Batch {
    return batch(this.#client, options);
  }

  /** What is known about the limits of the API key, and the present wait. */
  get limits(): Limits {
    return limitsOf(this.#client);
  }
}
