import * as keys from '../access/api-keys/api-keys.ts';
import { appendBan } from '../access/api-keys/key-events.ts';
import { readStandings } from '../access/api-keys/standings.ts';
import { banOf } from '../access/rate-limits/key-limits.ts';
import { storeCounts } from '../access/rate-limits/stored-limits.ts';
import * as categories from '../catalog/categories/categories.ts';
import * as pets from '../catalog/pets/pets.ts';
import { newState } from '../counters/decide.ts';
import { withCause } from '../db/cause-store.ts';
import type { Queries, Transaction, Writer } from '../db/database.ts';
import * as webhooks from '../events/webhooks/webhooks.ts';
import * as inventory from '../inventory/inventory.ts';
import { DAY, HOUR, MINUTE } from '../kit/clock.ts';
import { formatDateTime } from '../kit/dates.ts';
import * as orders from '../orders/orders.ts';
import {
  demoCategories,
  demoHold,
  demoKeys,
  demoOrders,
  demoSales,
  demoShortages,
  demoWebhook,
  type Person,
} from './demo-data.ts';

/** Something that someone did. `at` is in milliseconds since the Unix epoch. */
interface Step {
  at: number;
  by: Person;
  run: (db: Queries & Writer, shop: Shop, at: number) => Promise<unknown>;
}

/** How many days ago the history begins. Operators can set the event log to retain 30 days. */
const FIRST_DAY = 29;

/** The sales over the counter on each day of the week. On Sundays the shop is closed. */
const SALES = [0, 3, 2, 2, 3, 5, 6];

/** The changes of a month, in the order in which they happened. Their events have the times of the history. */
export class DemoHistory {
  readonly #now: number;
  #keyIds: Record<Person, number> | undefined;
  #steps: Step[] = [];
  #shop = new Shop();
  /** How many steps were done. */
  #done = 0;

  constructor(now: number) {
    this.#now = now;
  }

  /** Makes the changes up to the creation of the webhook. */
  async begin(tx: Transaction): Promise<void> {
    const now = this.#now;
    this.#keyIds = await createKeys(tx, now);
    this.#steps = [
      ...deliveredAtFirst(now - FIRST_DAY * DAY),
      ...sold(now),
      ...restocked(now),
      ...ordered(now),
      heldBack(now),
      connected(this.#keyIds.webShop, now),
    ].filter(({ at }) => at < now);
    this.#steps.sort((a, b) => a.at - b.at);
    const isWebhook = ({ at, by }: Step) => at === now - demoWebhook.daysAgo * DAY && by === 'webShop';
    await this.#run(tx, this.#shop, 0, this.#steps.findIndex(isWebhook));
  }

  /** Makes the others. It may run again from the start, as each transaction. */
  async continue(tx: Transaction): Promise<void> {
    await this.#run(tx, this.#shop.copy(), this.#done, this.#steps.length);
    await useKeys(tx, this.#keyIds!, this.#now);
  }

  async #run(tx: Transaction, shop: Shop, from: number, to: number): Promise<void> {
    for (const [i, { at, by, run }] of this.#steps.slice(from, to).entries()) {
      const cause = { actor: `keys/${this.#keyIds![by]}`, requestId: `demo-${from + i + 1}`, time: at };
      await run(withCause(tx, cause), shop, at);
    }
    this.#done ||= to;
  }
}

/** The animals by their names, with their stock. */
class Shop {
  readonly #ids: Map<string, number>;
  readonly #units: Map<string, number>;

  constructor(ids = new Map<string, number>(), units = new Map<string, number>()) {
    this.#ids = ids;
    this.#units = units;
  }

  copy(): Shop {
    return new Shop(this.#ids, new Map(this.#units));
  }

  add(name: string, id: number, units: number): void {
    this.#ids.set(name, id);
    this.#units.set(name, units);
  }

  idOf(name: string): number {
    return this.#ids.get(name)!;
  }

  unitsOf(name: string): number {
    return this.#units.get(name) ?? 0;
  }

  change(name: string, delta: number): void {
    this.#units.set(name, this.unitsOf(name) + delta);
  }
}

/** When the keys were created, an hour before the first delivery. */
function keysCreatedAt(now: number): number {
  return now - FIRST_DAY * DAY - HOUR;
}

async function createKeys(tx: Transaction, now: number): Promise<Record<Person, number>> {
  const at = keysCreatedAt(now);
  const db = withCause(tx, { actor: 'system', time: at });
  const ids: Partial<Record<Person, number>> = {};
  for (const [person, { requestsPerDay: _, ...key }] of Object.entries(demoKeys) as [
    Person,
    (typeof demoKeys)[Person],
  ][])
    ids[person] = (await keys.create({ db, now: at }, { ...key, scopes: [...key.scopes] })).id;
  return ids as Record<Person, number>;
}

/** The first delivery: all animals. */
function deliveredAtFirst(opening: number): Step[] {
  const add = async (
    db: Queries & Writer,
    shop: Shop,
    { pets: animals, ...category }: (typeof demoCategories)[number],
  ) => {
    const { id: categoryId } = await categories.create(db, category);
    for (const [name, units] of Object.entries(animals)) {
      const { id } = await pets.create(db, { name, categoryId });
      if (units > 1) await inventory.set(db, id, () => ({ quantity: units }));
      shop.add(name, id, units);
    }
  };
  return demoCategories.map((category, i) => ({
    at: opening + i * MINUTE,
    by: 'ben',
    run: (db, shop) => add(db, shop, category),
  }));
}

/** Sales over the counter, on each day but Sundays. */
function sold(now: number): Step[] {
  const steps: Step[] = [];
  for (const day of daysUntil(now))
    for (let i = 0; i < SALES[weekdayOf(day)]!; i++) {
      const [name, quantity] = demoSales[steps.length % demoSales.length]!;
      steps.push({
        at: day + 9.5 * HOUR + i * 83 * MINUTE,
        by: 'anna',
        run: async (db, shop, at) => {
          // The last unit stays for the orders, and in the window.
          if (shop.unitsOf(name) <= quantity) return;
          shop.change(name, -quantity);
          await orders.place(db, { petId: shop.idOf(name), quantity, complete: true }, at);
        },
      });
    }
  return steps;
}

/** Deliveries: on Tuesdays Ben receives them, and on Fridays Anna. */
function restocked(now: number): Step[] {
  const people: Record<number, Person> = { 2: 'ben', 5: 'anna' };
  const usual = Object.assign({}, ...demoCategories.map(({ pets }) => pets)) as Record<string, number>;
  const goods = Object.entries(usual).filter(([name, units]) => units > 2 && !demoShortages.includes(name));
  return daysUntil(now).flatMap(day => {
    const by = people[weekdayOf(day)];
    if (by === undefined) return [];
    return goods.map(
      ([name, units], i): Step => ({
        at: day + 8 * HOUR + i * MINUTE,
        by,
        run: async (db, shop) => {
          const delta = units - shop.unitsOf(name);
          if (delta < units / 3) return;
          shop.change(name, delta);
          const delivery = { delta, reason: 'received', note: 'Weekly delivery' } as const;
          await inventory.adjustBy(db, shop.idOf(name), delivery, () => {});
        },
      }),
    );
  });
}

/** Orders of the web shop, and their completion by Anna on the day on which they ship. */
function ordered(now: number): Step[] {
  return demoOrders.flatMap(({ pet, quantity, placedDaysAgo, shipsInDays, complete }, i): Step[] => {
    const placedAt = now - placedDaysAgo * DAY - i * 7 * MINUTE;
    const shipsAt = shipsInDays === undefined ? undefined : now + shipsInDays * DAY;
    let id: number | undefined;
    const placed: Step = {
      at: placedAt,
      by: 'webShop',
      run: async (db, shop, at) => {
        if (pet) shop.change(pet, -quantity);
        const order = {
          ...(pet && { petId: shop.idOf(pet) }),
          ...(shipsAt !== undefined && { shipDate: formatDateTime(shipsAt) }),
          quantity,
        };
        ({ id } = await orders.place(db, order, at));
      },
    };
    if (!complete || shipsAt === undefined) return [placed];
    const completed: Step = {
      at: shipsAt,
      by: 'anna',
      run: (db, _, at) => orders.update(db, id!, order => ({ ...order, complete: true }), at),
    };
    return [placed, completed];
  });
}

function heldBack(now: number): Step {
  return {
    at: now - demoHold.daysAgo * DAY,
    by: 'ben',
    run: (db, shop) => pets.update(db, shop.idOf(demoHold.pet), pet => ({ ...pet, status: 'pending' })),
  };
}

/** The service tries to deliver the events from then on as soon as it runs. */
function connected(keyId: number, now: number): Step {
  const { daysAgo, ...settings } = demoWebhook;
  const scopes = new Set(demoKeys.webShop.scopes);
  return {
    at: now - daysAgo * DAY,
    by: 'webShop',
    run: (db, _, at) =>
      webhooks.create(db, { ...settings, enabled: false }, { keyId, scopes, readStandings, now: at }, 1),
  };
}

/** Stores what the keys have used each day, and the ban of one that did not wait. */
async function useKeys(tx: Transaction, keyIds: Record<Person, number>, now: number): Promise<void> {
  const today = Math.floor(now / DAY);
  // That of a key whose limits were never reset.
  const resets = keysCreatedAt(now);
  const days = Array.from({ length: FIRST_DAY }, (_, i) => today - FIRST_DAY + i);
  const people = Object.keys(demoKeys) as Person[];
  const endedDays = people.flatMap(person =>
    days
      .filter(day => person === 'webShop' || person === 'priceComparison' || weekdayOf(day * DAY) !== 0)
      .map(day => ({
        keyId: keyIds[person],
        resets,
        day,
        // From day to day they vary by a fifth.
        admitted: Math.round(demoKeys[person].requestsPerDay * (0.9 + ((day * 7) % 11) / 50)),
        rejected: 0,
        seenAt: day * DAY,
      })),
  );
  const states = people.map(person => ({ keyId: keyIds[person], state: usedUntil(now, person, resets) }));
  await storeCounts(tx, { states, endedDays });
  const banned = states.find(({ state }) => state.bans > 0)!;
  const ban = banOf(banned.state, 0, now)!;
  const db = withCause(tx, { actor: 'system', time: banned.state.bannedAt });
  await db.write(tx => appendBan(tx, banned.keyId, ban));
}

/** The state of a key after today's requests. The price comparison has had four bans today, and the last one is for an hour. */
function usedUntil(now: number, person: Person, resets: number) {
  const state = newState(now - 5 * MINUTE, resets);
  const partOfDay = (now % DAY) / DAY;
  const used = { dayUsed: Math.round(demoKeys[person].requestsPerDay * partOfDay), seenAt: now - 5 * MINUTE };
  if (person !== 'priceComparison') return { ...state, ...used };
  const ban = { bans: 4, bannedAt: now - 5 * MINUTE, bannedUntil: now + 55 * MINUTE };
  return { ...state, ...used, ...ban, dayRejected: 64 };
}

/** The starts of the days of the history, in UTC. The first one has the first delivery. */
function daysUntil(now: number): number[] {
  const today = Math.floor(now / DAY) * DAY;
  return Array.from({ length: FIRST_DAY }, (_, i) => today - (FIRST_DAY - 1 - i) * DAY);
}

/** 0 is Sunday. */
function weekdayOf(day: number): number {
  return new Date(day).getUTCDay();
}
