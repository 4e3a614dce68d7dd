import type { ApiKey } from '@petstore/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { dayOf } from '../../data/days.ts';
import { useFreshBans } from '../../data/fresh-keys.ts';
import { rightsInWords } from '../../data/key-templates.ts';
import {
  expiresSoon,
  isUnused,
  kindNames,
  planLimits,
  planNames,
  scopeNames,
  usedPercent,
} from '../../data/key-words.ts';
import { type KeyQuery, keys, plans } from '../../data/keys.ts';
import { useListPage } from '../../data/lists.ts';
import { type RequestsToday, useRequestsToday } from '../../data/requests-today.ts';
import { Choices } from '../../kit/choices.tsx';
import { Icon } from '../../kit/icon.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import { SearchField } from '../../kit/search-field.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { PlanRequests } from './plan-requests.tsx';
import './keys.css';

export { EditKey } from './key-panel.tsx';
export { LeakedKeys } from './leaked-keys.tsx';
export { NewKey } from './new-key.tsx';

const route = getRouteApi('/keys');

const columnsWith = (today: RequestsToday | undefined, isBusiestFirst: boolean): Column<ApiKey>[] => [
  { name: 'name', header: 'Name', cell: ({ name }) => <strong>{name}</strong> },
  { name: 'kind', header: 'Kind', cell: ({ kind }) => kindNames[kind] },
  { name: 'plan', header: 'Plan', cell: ({ plan }) => planNames[plan] },
  {
    name: 'scopes',
    header: 'May do',
    cell: ({ scopes, kind }) => (
      <span title={scopes.map(scope => scopeNames[scope]).join('\n')}>
        {rightsInWords(scopes)}
        {kind === 'test' && ', as a test'}
      </span>
    ),
  },
  { name: 'state', header: 'State', cell: key => <KeyState apiKey={key} /> },
  {
    name: 'today',
    sorted: isBusiestFirst ? 'descending' : undefined,
    header: (
      <Link
        to="/keys"
        search={({ order: _, ...query }) => (isBusiestFirst ? query : { ...query, order: 'busiest' })}
        replace
        title={isBusiestFirst ? 'Show all keys' : 'Show only keys with requests today, the busiest first'}
        data-sorted={isBusiestFirst ? 'descending' : undefined}
      >
        Today
        <Icon name="down" />
      </Link>
    ),
    cell: key => today && <Requests today={today} apiKey={key} />,
  },
  {
    name: 'used',
    header: 'Last used',
    cell: key => <LastUsed apiKey={key} />,
  },
];

/** When a key was last used, marked if that was long ago. */
function LastUsed({ apiKey }: { apiKey: ApiKey }) {
  const { lastUsedAt } = apiKey;
  return (
    <>
      <span>{lastUsedAt ? <Time at={lastUsedAt} /> : 'Never'}</span>{' '}
      {isUnused(apiKey, Date.now()) && (
        <span
          className="status"
          data-tone="warning"
          title="No request for 90 days: revoke it if no program needs it"
        >
          Unused
        </span>
      )}
    </>
  );
}

function KeyState({ apiKey }: { apiKey: ApiKey }) {
  const { ban, revokedAt, expiresAt } = apiKey;
  if (revokedAt) return <span className="status">Revoked</span>;
  if (ban)
    return (
      <span className="status" data-tone="danger">
        Banned until {timeInWords(new Date(ban.until))}
      </span>
    );
  if (expiresAt && Date.parse(expiresAt) <= Date.now())
    return (
      <span className="status" data-tone="warning">
        Expired
      </span>
    );
  return (
    <span className="status" data-tone={expiresSoon(apiKey, Date.now()) ? 'warning' : 'accent'}>
      {expiresAt ? (
        <>
          Expires <Time at={expiresAt} />
        </>
      ) : (
        'Active'
      )}
    </span>
  );
}

/** A time, with its date unless that is today. */
function timeInWords(date: Date): string {
  const isToday = dayOf(date) === dayOf(Date.now());
  return date.toLocaleString(undefined, { timeStyle: 'short', ...(!isToday && { dateStyle: 'short' }) });
}

/** The requests of a key on the present UTC day. */
function Requests({ today: { of, atMost }, apiKey }: { today: RequestsToday; apiKey: ApiKey }) {
  const requests = of.get(apiKey.id);
  const limit = (apiKey.quotas ?? planLimits[apiKey.plan])?.perDay;
  if (!requests) return atMost > 0 ? `${atMost.toLocaleString()} or fewer` : 'None';
  const { admitted, refused } = requests;
  const used = usedPercent(apiKey, admitted);
  return (
    <>
      <span>{(admitted + refused).toLocaleString()}</span>{' '}
      {limit && (
        <span
          className={used === undefined ? 'part' : 'status'}
          data-tone={used !== undefined && used >= 100 ? 'danger' : 'warning'}
          title={`Of ${limit.toLocaleString()} a day`}
        >
          {percentOf(admitted, limit)}
        </span>
      )}
      {refused > 0 && <small>{refused.toLocaleString()} rejected</small>}
    </>
  );
}

/** A part of a whole, such as `<1 %`. */
function percentOf(part: number, whole: number): string {
  const percent = Math.floor((100 * part) / whole);
  return percent === 0 && part > 0 ? '<1 %' : `${percent} %`;
}

export function Keys() {
  const query = route.useSearch();
  const navigate = route.useNavigate();
  const page = useListPage(keys, query, keyId =>
    navigate({ to: '/keys/$keyId', params: { keyId }, search: query }),
  );
  useFreshBans(page.list.rows);
  const today = useRequestsToday();
  const isBusiestFirst = query.order !== undefined;
  const columns = useMemo(() => columnsWith(today, isBusiestFirst), [today, isBusiestFirst]);
  return (
    <ListPage
      title="Keys"
      className="keys"
      {...page}
      columns={columns}
      action={
        <>
          <Link className="button" to="/keys/leaked" search={query}>
            Report a leak
          </Link>
          <Link className="button" data-kind="main" to="/keys/new" search={query}>
            <Icon name="add" />
            Create key
          </Link>
        </>
      }
      filters={
        <>
          <PlanRequests />
          <Filters query={query} />
        </>
      }
      searched={query.name}
      empty={
        isBusiestFirst
          ? { title: 'No requests today', hint: 'The heading “Today” shows all keys again.' }
          : Object.keys(query).length > 0
            ? { title: 'No key matches', hint: 'Change the search or the filters.' }
            : {
                picture: 'keys',
                title: 'No keys yet',
                hint: 'Create one for each program or user, so that each can be revoked alone.',
              }
      }
    />
  );
}

const shows = [
  { value: undefined, title: 'Not revoked' },
  { value: 'revoked', title: 'Revoked' },
  { value: 'all', title: 'All' },
] as const;

function Filters({ query }: { query: KeyQuery }) {
  const navigate = route.useNavigate();
  // The newest query may be newer than the one of this rendering.
  const set = (change: KeyQuery) =>
    navigate({ search: previous => ({ ...previous, ...change }), replace: true });
  return (
    <>
      <SearchField label="Search keys" value={query.name} onChange={name => set({ name })} />
      <Choices label="Revoked or not" choices={shows} chosen={query.show} onChoose={show => set({ show })} />
      <select
        aria-label="Plan"
        value={query.plan ?? ''}
        onChange={event => set({ plan: plans.find(plan => plan === event.target.value) })}
      >
        <option value="">All plans</option>
        {plans.map(plan => (
          <option key={plan} value={plan}>
            {planNames[plan]}
          </option>
        ))}
      </select>
    </>
  );
}
