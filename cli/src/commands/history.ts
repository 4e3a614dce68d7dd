import type { HistoryEntry, PetStore } from '@petstore/client';
import { type Context, command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { changedList, LARGEST_PAGE, orAll, pageSize } from '../items.ts';
import { flag, type Parameters, several, since, text, until, type ValuesOf } from '../parameters.ts';
import { historyEntry } from '../resources.ts';

/** Options that choose entries. */
export const filters = {
  subject: text('Only changes of this thing, such as pets/42 or store/orders/17', 'subject'),
  related: flag('With --subject pets/42: also changes of its stock and of its orders'),
  actor: text('Only changes by this API key: its name, or keys/2; system for the service itself', 'name'),
  type: several(text('Only changes of this type, such as order.* or pet.deleted; can be repeated', 'type')),
  since,
  until,
} satisfies Parameters;

export const history = command({
  name: 'history',
  summary: 'Show who changed what, newest first',
  options: { ...filters, csv: flag('Print CSV') },
  examples: [
    'petstore history --subject pets/42 --related',
    'petstore history --actor "Web shop" --since 2d',
    "petstore history --type 'order.*' --since 2027-01-31T00:00:00Z --all --csv > orders.csv",
  ],
  operations: ['GET /account', 'GET /keys', 'GET /history'],
  output: 'list',
  prints: historyEntry,
  run: (context, values) => entriesOf(context, values, pageSize(context)),
});

/** Lists the entries that the options choose, with their changes in words. */
export function entriesOf(
  { store, calls }: Pick<Context, 'store' | 'calls'>,
  { subject, related, actor, type, since, until }: ValuesOf<typeof filters>,
  page: { limit: number },
): ReturnType<typeof changedList> {
  return changedList(async function* () {
    const query = {
      ...page,
      subject,
      related,
      type: orAll(type),
      actor: actor === undefined ? undefined : await actorOf(store, calls, actor),
      from: since,
      to: until,
    };
    yield* store.events.history(query, calls).pages();
  }, withChange);
}

function withChange(entry: HistoryEntry): object {
  // A new thing has many fields without a value.
  const changes = entry.changes.filter(({ from, to }) => from !== undefined || to !== null);
  const parts = changes.map(({ field, from, to }) =>
    from === undefined ? `${field} ${shown(to)}` : `${field} ${shown(from)} → ${shown(to)}`,
  );
  return { ...entry, change: parts.join(', ') };
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns the actor that a name or an actor means. Only administrators may list keys, and a rejected attempt would become part of the
 * history: other keys know only their own name.
 */
async function actorOf(store: PetStore, calls: Context['calls'], name: string): Promise<string> {
  if (/^(system|keys\/\d+)$/.test(name)) return name;
  const account = await store.account.get(calls);
  if (account.name === name) return `keys/${account.keyId}`;
  if (!account.scopes.includes('admin'))
    throw new UsageError(
      `Only administrators can look up the name of another API key: write --actor with the key, such as keys/2, not ${JSON.stringify(name)}`,
    );
  const keys: { id: number; name: string }[] = [];
  for await (const key of store.keys.list({ name, ...LARGEST_PAGE }, calls))
    if (key.name.toLowerCase() === name.toLowerCase()) keys.push(key);
  const exact = keys.filter(key => key.name === name);
  const [id, ...others] = (exact.length > 0 ? exact : keys).map(({ id }) => id);
  if (id === undefined)
    throw new UsageError(
      `No API key has the name ${JSON.stringify(name)}: petstore keys list shows the names`,
    );
  if (others.length > 0)
    throw new UsageError(
      `Several API keys have the name ${JSON.stringify(name)}: write --actor with one of ${[id, ...others].map(id => `keys/${id}`).join(', ')}`,
    );
  return `keys/${id}`;
}
