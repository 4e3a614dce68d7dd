import type { ApiKey, Event, HistoryEntry } from '@petstore/client';
import { fieldInWords } from './field-words.ts';
import { planNames } from './key-words.ts';

export interface ActivityFilter {
  /** A type, or all types of a kind: `order.*`. */
  type?: string | undefined;
  /** A thing, such as `pets/1`. An animal includes its stock and its orders. */
  subject?: string | undefined;
  /** Who made the changes: `keys/2`, or `system`. */
  actor?: string | undefined;
  /** Changes from this time on. */
  from?: string | undefined;
  /** Changes before this time. */
  to?: string | undefined;
}

/** The changes of one request to one thing, the newest first: an order also changes the stock of its animal. */
export type Activity = readonly [HistoryEntry, ...HistoryEntry[]];

/** Joins entries, the newest first, that belong to one change. */
export function activitiesOf(entries: readonly HistoryEntry[]): Activity[] {
  const activities: [HistoryEntry, ...HistoryEntry[]][] = [];
  for (const entry of entries) {
    const last = activities.at(-1);
    const isSame =
      last !== undefined &&
      entry.requestId !== null &&
      last[0].requestId === entry.requestId &&
      last[0].name === entry.name &&
      kindOf(last[0]) !== 'webhook' &&
      // Two changes of one kind are two changes.
      !last.some(({ subject, type }) => subject !== entry.subject && kindOf({ type }) === kindOf(entry));
    if (isSame) last.push(entry);
    else activities.push([entry]);
  }
  return activities;
}

/** Whether a new event may belong to a list. A list that ends at a time has no new ones. */
export function mayBelongTo({ type, subject, actor, time, data }: Event, filter: ActivityFilter): boolean {
  const petId = data && 'petId' in data ? data.petId : undefined;
  return (
    (filter.type === undefined || type === filter.type || filter.type === `${type.split('.')[0]}.*`) &&
    (filter.subject === undefined || subject === filter.subject || `pets/${petId}` === filter.subject) &&
    (filter.actor === undefined || actor === filter.actor) &&
    (filter.from === undefined || time >= filter.from) &&
    filter.to === undefined
  );
}

/** Whether the entries of a filter include those of things that are related to its subject. */
export function isAnimal(subject: string | undefined): boolean {
  return subject?.startsWith('pets/') ?? false;
}

/** Who made a change. */
export function actorOf({ type, actor, actorName }: HistoryEntry, keyId: number): string {
  // Who reports a leak needs no key, and a key is not read.
  if (actor === 'system' && type === 'key.leaked') return 'Unknown';
  if (actor === 'system') return type === 'access.refused' ? 'Unknown (no valid key)' : 'The service';
  return actor === `keys/${keyId}` ? 'You' : (actorName ?? actor.replace('keys/', 'Key '));
}

/** Whether fields of an animal have changed that do not follow from its stock, as its status does. */
export function changesMoreThanStock(activity: Activity): boolean {
  return activity.some(
    ({ type, changes }) => type === 'pet.updated' && changes.some(({ field }) => field !== 'status'),
  );
}

/** Names a category by its ID; `undefined` if it is not known. */
type NameCategory = (id: unknown) => string | undefined;

/** What happened, without who did it: `sold 2 of Neon tetra, 26 → 24`. */
export function sentenceOf(activity: Activity, nameCategory: NameCategory): string {
  const stock = activity.find(({ type }) => type === 'inventory.updated');
  const order = activity.find(({ type }) => type.startsWith('order.'));
  const units = stock && changeOf(stock, 'quantity');
  if (order) return `${orderSentence(activity, order)}${units ? `, ${unitsInWords(units)}` : ''}`;
  const pet = activity.find(({ type }) => type === 'pet.updated');
  if (units && pet && changesMoreThanStock(activity))
    return `${sentenceOfEntry(pet, nameCategory)}, ${unitsInWords(units)}`;
  return sentenceOfEntry((units ? stock : (pet ?? stock)) ?? activity[0], nameCategory);
}

function orderSentence(activity: Activity, order: HistoryEntry): string {
  const has = (type: string) => activity.some(entry => entry.type === type);
  const quantity = valueIn(activity, 'quantity') ?? valueIn(activity, 'quantity', 'from');
  const id = order.subject.split('/').at(-1);
  const goods = order.name
    ? `${quantity === undefined ? '' : `${shownUnits(quantity)} of `}${order.name}`
    : undefined;
  if (has('order.placed'))
    return has('order.completed')
      ? `sold ${goods}`
      : goods
        ? `placed order ${id} for ${goods}`
        : `made draft order ${id}`;
  const whose = order.name ? ` of ${order.name}` : '';
  if (has('order.completed')) return `completed order ${id}${whose}`;
  if (has('order.cancelled')) return `cancelled order ${id}${goods ? ` (${goods})` : ''}`;
  return `changed order ${id}${whose}`;
}

/** The value of a field of the order in an activity. */
function valueIn(activity: Activity, field: string, side: 'from' | 'to' = 'to'): unknown {
  for (const entry of activity)
    if (entry.type.startsWith('order.')) {
      const value = changeOf(entry, field)?.[side];
      if (value !== undefined) return value;
    }
  return undefined;
}

const stockVerbs: Record<string, string> = {
  received: 'received',
  returned: 'took back',
  sold: 'sold',
  damaged: 'wrote off as damaged',
  lost: 'wrote off as lost',
};

/** Why the stock was set to a number. */
const setVerbs: Record<string, string> = { counted: 'counted', corrected: 'corrected' };

const sentences: Record<string, (entry: HistoryEntry, name: string, nameCategory: NameCategory) => string> = {
  'pet.created': (_, name) => `added ${name}`,
  'pet.updated': petSentence,
  'pet.deleted': (_, name) => `deleted ${name}`,
  'category.created': (_, name) => `added the category ${name}`,
  'category.updated': (entry, name) => renamed(entry, 'the category ') ?? `changed the category ${name}`,
  'category.deleted': (_, name) => `deleted the category ${name}`,
  'inventory.updated': stockSentence,
  'key.created': (_, name) => `created the key ${name}`,
  'key.updated': (entry, name) => renamed(entry, 'the key ') ?? `changed the key ${name}${fieldsOf(entry)}`,
  'key.rotated': (_, name) => `gave the key ${name} a new secret`,
  'key.revoked': (_, name) => `revoked the key ${name}`,
  'key.banned': (_, name) => `banned the key ${name}`,
  'key.leaked': (_, name) => `reported a secret of the key ${name} as leaked`,
  'key.quota_reached': quotaSentence,
  'key.expiring': (entry, name) => `warned that the key ${name} expires within ${daysOf(entry)}`,
  'key.plan_requested': (entry, name) => `requested the plan ${planOf(entry)} for the key ${name}`,
  'key.plan_approved': (_, name) => `approved the plan request of the key ${name}`,
  'key.plan_declined': (_, name) => `declined the plan request of the key ${name}`,
  'key.unbanned': (_, name) => `lifted the ban of the key ${name}`,
  'key.limits_reset': (_, name) => `reset the limits of the key ${name}`,
  'webhook.created': (_, name) => `created the webhook ${name}`,
  'webhook.updated': (entry, name) => `changed the webhook ${name}${fieldsOf(entry)}`,
  'webhook.enabled': (_, name) => `enabled the webhook ${name}`,
  'webhook.disabled': (_, name) => `disabled the webhook ${name}`,
  'webhook.rotated': (_, name) => `gave the webhook ${name} a new secret`,
  'webhook.replayed': (_, name) => `replayed events to the webhook ${name}`,
  'webhook.redelivered': (_, name) => `sent a delivery of the webhook ${name} again`,
  'webhook.deleted': (_, name) => `deleted the webhook ${name}`,
  'webhook.test': (_, name) => `tested the webhook ${name}`,
  'access.refused': rejectionSentence,
  'service.store_created': () => 'created an empty store',
  'service.store_migrated': () => 'copied the store to PostgreSQL',
  'log.restored': () => 'restored a backup',
};

function sentenceOfEntry(entry: HistoryEntry, nameCategory: NameCategory): string {
  const sentence = sentences[entry.type];
  return sentence
    ? sentence(entry, entry.name ?? unnamed(entry), nameCategory)
    : `${entry.type}: ${entry.subject}`;
}

/** What a sentence has instead of a name. Sentences about other things than animals have the kind in them. */
function unnamed({ subject }: HistoryEntry): string {
  const id = subject.split('/').at(-1)!;
  return /^(pets|store\/inventory)\//.test(subject) ? `animal ${id}` : id;
}

function stockSentence(entry: HistoryEntry, name: string): string {
  const units = changeOf(entry, 'quantity');
  if (!units) return `changed the status of ${name}`;
  const [from, to] = [Number(units.from), Number(units.to)];
  const verb = stockVerbs[entry.reason ?? ''];
  if (verb !== undefined)
    return `${verb} ${shownUnits(Math.abs(to - from))} of ${name}, ${unitsInWords(units)}`;
  return `${setVerbs[entry.reason ?? ''] ?? 'changed'} the stock of ${name}, ${unitsInWords(units)}`;
}

/** Stays in one line. After a name in Arabic or Hebrew it would be read from right to left without the mark at its start. */
const unitsInWords = ({ from, to }: { from?: unknown; to?: unknown }) =>
  `\u200e${shownUnits(from)}\u00a0→\u00a0${shownUnits(to)}`;

const shownUnits = (units: unknown): string => Number(units).toLocaleString();

function petSentence(entry: HistoryEntry, name: string, nameCategory: NameCategory): string {
  const parts: ((it: string) => string)[] = [];
  const rename = changeOf(entry, 'name');
  if (rename) parts.push(() => `renamed ${rename.from} to ${rename.to}`);
  const status = statusSentences[String(changeOf(entry, 'status')?.to)];
  if (status) parts.push(status);
  const category = changeOf(entry, 'categoryId');
  if (category) parts.push(it => `moved ${it} to ${nameCategory(category.to) ?? 'another category'}`);
  if (parts.length === 0) return `changed ${name}`;
  const texts = parts.map((part, i) => part(i === 0 ? name : 'it'));
  return [texts.slice(0, -1).join(', '), texts.at(-1)].filter(Boolean).join(' and ');
}

const statusSentences: Record<string, (it: string) => string> = {
  pending: it => `put ${it} on hold`,
  sold: it => `marked ${it} sold`,
  available: it => `made ${it} available`,
};

function quotaSentence(entry: HistoryEntry, name: string): string {
  const [window, percent, limit] = ['window', 'percent', 'limit'].map(field => changeOf(entry, field)?.to);
  const requests = Number(limit).toLocaleString();
  return window === 'minute'
    ? `warned that the key ${name} used up its ${requests} requests in 5 of 10 minutes`
    : `warned that the key ${name} has used ${percent} % of its ${requests} requests of the day`;
}

function planOf(entry: HistoryEntry): string {
  const plan = changeOf(entry, 'plan')?.to as ApiKey['plan'];
  return planNames[plan] ?? plan;
}

function daysOf(entry: HistoryEntry): string {
  const days = changeOf(entry, 'days')?.to;
  return days === 1 ? '1 day' : `${days} days`;
}

function rejectionSentence(entry: HistoryEntry): string {
  const value = (field: string) => changeOf(entry, field)?.to;
  const attempts = Number(value('attempts'));
  const address = value('address');
  const [method, path] = String(value('operation')).split(' ');
  const what = path?.startsWith('/webhooks') ? 'a webhook' : 'a key';
  const verb = path === '/keys' || path === '/webhooks' ? collectionVerbs[method!] : itemVerbs[method!];
  // Lifting a ban and resetting limits do not delete the key.
  const isPart = method === 'DELETE' && !path!.endsWith('}');
  const times = attempts === 1 ? '' : ` ${attempts} times`;
  return `tried${times} to ${isPart ? 'change' : (verb ?? 'change')} ${what} and was rejected${address ? `, from ${address}` : ''}`;
}

const collectionVerbs: Record<string, string> = { GET: 'see', POST: 'create' };
const itemVerbs: Record<string, string> = { GET: 'see', DELETE: 'delete' };

/** `kind` is the kind of thing as a sentence names it: `the key `. */
function renamed(entry: HistoryEntry, kind: string): string | undefined {
  const name = changeOf(entry, 'name');
  return name && entry.changes.length === 1 ? `renamed ${kind}${name.from} to ${name.to}` : undefined;
}

function fieldsOf({ changes }: HistoryEntry): string {
  return changes.length === 0 ? '' : ` (${changes.map(({ field }) => fieldInWords(field)).join(', ')})`;
}

function changeOf({ changes }: HistoryEntry, name: string) {
  return changes.find(({ field }) => field === name);
}

/** The part of a type before the dot. */
function kindOf({ type }: { type: string }): string {
  return type.split('.')[0]!;
}

const kinds: Record<string, string> = {
  pets: 'Animal',
  categories: 'Category',
  'store/orders': 'Order',
  'store/inventory': 'Stock',
  keys: 'Key',
  webhooks: 'Webhook',
};

/** A subject with its number, such as `Animal 42` for `pets/42`. */
export function subjectInWords(subject: string): string {
  const id = /\d+$/.exec(subject)?.[0];
  return id === undefined ? subject : `${kindOfSubject(subject)} ${id}`;
}

/** What happened to which thing, where its name is not known: `Order 17 completed`. */
export function eventInWords({ type, subject }: { type: string; subject: string }): string {
  return `${subjectInWords(subject)} ${type.split('.')[1]!.replaceAll('_', ' ')}`;
}

/** What a subject is, such as `Animal` for `pets/42`. */
export function kindOfSubject(subject: string): string {
  return kinds[subject.replace(/\/\d+$/, '')] ?? subject;
}
