import { getRouteApi } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { dayOf, instantOf } from '../../data/days.ts';
import { adminEventTypes, type EventFilter, eventTypes } from '../../data/event-log.ts';
import { SearchField } from '../../kit/search-field.tsx';

const route = getRouteApi('/events');

/** The filters of the list. The URL has them, so that Back, a reload and a link show the same list. */
export function Filters({ filter }: { filter: EventFilter }) {
  const { can } = useSession();
  const navigate = route.useNavigate();
  // The newest filter may be newer than the one of this rendering.
  const set = (change: EventFilter) =>
    navigate({ search: previous => ({ ...previous, ...change }), replace: true });
  const types = can('admin') ? { ...eventTypes, ...adminEventTypes } : eventTypes;
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
        {Object.entries(types).map(([resource, types]) => (
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
      <TimeFilter label="From" value={filter.from} onChange={from => set({ from })} />
      <TimeFilter label="Before" value={filter.to} onChange={to => set({ to })} />
    </>
  );
}

interface TimeFilterProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

/** A day in the user's time zone. */
function TimeFilter({ label, value, onChange }: TimeFilterProps) {
  return (
    <label className="time-filter">
      {label}
      <input
        type="date"
        value={value ? dayOf(value) : ''}
        onChange={({ target }) => onChange(instantOf(`${target.value}T00:00`))}
      />
    </label>
  );
}
