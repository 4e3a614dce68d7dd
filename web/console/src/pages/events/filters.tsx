import { eventTypes } from '@petstore/client/lists';
import { getRouteApi } from '@tanstack/react-router';
import { eventScopes, useSession } from '../../app/session.ts';
import { dayOf, startOf } from '../../data/days.ts';
import type { EventFilter } from '../../data/event-log.ts';
import { DayField } from '../../kit/day-field.tsx';
import { SearchField } from '../../kit/search-field.tsx';

const route = getRouteApi('/events');

/** The filters of the list. The URL has them, so that Back, a reload and a link show the same list. */
export function Filters({ filter }: { filter: EventFilter }) {
  const { can } = useSession();
  const navigate = route.useNavigate();
  // The newest filter may be newer than the one of this rendering.
  const set = (change: EventFilter) =>
    navigate({ search: previous => ({ ...previous, ...change }), replace: true });
  const groups = Object.entries(eventScopes)
    .filter(([, scope]) => can(scope))
    .map(([resource]) => [resource, eventTypes.filter(type => type.startsWith(`${resource}.`))] as const);
  return (
    <>
      <SearchField
        label="Subject, such as pets/1"
        value={filter.subject}
        onChange={subject => set({ subject })}
      />
      <select
        aria-label="Type"
        value={filter.type ?? ''}
        onChange={event => set({ type: event.target.value || undefined })}
      >
        <option value="">All types</option>
        {groups.map(([resource, types]) => (
          <optgroup key={resource} label={resource}>
            {types.length > 1 && <option value={`${resource}.*`}>{resource}.*</option>}
            {types.map(type => (
              <option key={type} value={type}>
                {type}
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
