import { eventTypes } from '@petstore/client/lists';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { eventScopes, useSession } from '../../app/session.ts';
import type { ActivityFilter } from '../../data/activity.ts';
import { dayOf, startOf } from '../../data/days.ts';
import { keys } from '../../data/keys.ts';
import { firstPage } from '../../data/resource.ts';
import { DayField } from '../../kit/day-field.tsx';
import { ThingPicker } from './thing-picker.tsx';

const route = getRouteApi('/activity');

/** The names of the kinds of changes. */
const kinds: Record<string, string> = {
  pet: 'Animals',
  category: 'Categories',
  order: 'Orders',
  inventory: 'Stock',
  key: 'Keys',
  webhook: 'Webhooks',
  access: 'Rejected attempts',
  service: 'The service',
  log: 'Restored backups',
};

/** The filters of the list. The URL has them, so that Back, a reload and a link show the same list. */
export function Filters({ filter }: { filter: ActivityFilter }) {
  const { store, account, can } = useSession();
  const navigate = route.useNavigate();
  const { data: people = [] } = useQuery({
    queryKey: [keys.name, 'people'],
    queryFn: async () => (await firstPage(store.keys.list({ sort: 'name', limit: 100 }))).data,
    enabled: can('admin'),
  });
  // The newest filter may be newer than the one of this rendering.
  const set = (change: ActivityFilter) =>
    navigate({ search: previous => ({ ...previous, ...change }), replace: true });
  const readable = Object.entries(eventScopes).flatMap(([kind, scope]) => (can(scope) ? [kind] : []));
  const known = [
    { id: account.keyId, name: account.name },
    ...people.filter(({ id }) => id !== account.keyId),
  ];
  /** Each sign-in by a link has a key of its own, and all have the same name. */
  const isAmbiguous = (name: string) => known.filter(key => key.name === name).length > 1;
  const actor = filter.actor;
  const isKnown = actor === undefined || actor === 'system' || known.some(({ id }) => `keys/${id}` === actor);
  return (
    <>
      {(can('pets:read') || filter.subject !== undefined) && (
        <ThingPicker subject={filter.subject} onChoose={subject => set({ subject })} />
      )}
      <select
        aria-label="Who"
        value={actor ?? ''}
        onChange={event => set({ actor: event.target.value || undefined })}
      >
        <option value="">Everyone</option>
        {known.map(({ id, name }) => (
          <option key={id} value={`keys/${id}`}>
            {isAmbiguous(name) ? `${name} (key ${id})` : name}
          </option>
        ))}
        {!isKnown && <option value={actor}>{actor.replace('keys/', 'Key ')}</option>}
        <option value="system">The service</option>
      </select>
      <select
        aria-label="Kind"
        value={filter.type ?? ''}
        onChange={event => set({ type: event.target.value || undefined })}
      >
        <option value="">All changes</option>
        {readable.map(kind => (
          <optgroup key={kind} label={kinds[kind] ?? kind}>
            <option value={`${kind}.*`}>{kinds[kind] ?? kind}</option>
            {eventTypes
              .filter(type => type.startsWith(`${kind}.`))
              .map(type => (
                <option key={type} value={type}>
                  {`${kinds[kind] ?? kind}: ${type.split('.')[1]!.replaceAll('_', ' ')}`}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
      <DayField
        label="From"
        value={filter.from && dayOf(filter.from)}
        onChange={day => set({ from: day && startOf(day) })}
      />
      <DayField
        label="Before"
        value={filter.to && dayOf(filter.to)}
        onChange={day => set({ to: day && startOf(day) })}
      />
    </>
  );
}
