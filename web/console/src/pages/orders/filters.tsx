import { getRouteApi } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { shownDay } from '../../data/days.ts';
import type { OrderQuery } from '../../data/orders.ts';
import { Choices } from '../../kit/choices.tsx';
import { DayField } from '../../kit/day-field.tsx';
import { Icon } from '../../kit/icon.tsx';
import { PetPicker } from './pet-picker.tsx';

const route = getRouteApi('/orders');

const choices = [
  { title: 'All', value: undefined },
  { title: 'Open', value: false },
  { title: 'Completed', value: true },
];

/** The filters of the list. The URL has them, so that Back, a reload and a link show the same list. */
export function Filters({ query }: { query: OrderQuery }) {
  const navigate = route.useNavigate();
  // The newest query may be newer than the one of this rendering.
  const set = (change: OrderQuery) =>
    navigate({ search: previous => ({ ...previous, ...change }), replace: true });
  const placed = placedIn(query);
  const { can } = useSession();
  const label = `Search by ${can('pets:read') ? 'animal or order number' : 'the ID of an animal'}`;

  return (
    <>
      <Choices
        label="Status"
        choices={choices}
        chosen={query.complete}
        onChoose={complete => set({ complete })}
      />
      <PetPicker
        petId={query.petId}
        aria-label={label}
        placeholder={label}
        before={orderWith}
        onChoose={id =>
          id !== undefined && id < 0
            ? navigate({ to: '/orders/$orderId', params: { orderId: String(-id) }, search: query })
            : set({ petId: id })
        }
      />
      {placed ? (
        <button
          type="button"
          className="button placed"
          aria-label={`${placed}: remove this filter`}
          onClick={() => set({ placedFrom: undefined, placedTo: undefined })}
        >
          {placed}
          <Icon name="close" />
        </button>
      ) : (
        <ShipDays query={query} set={set} />
      )}
    </>
  );
}

/** An order has no name: its number leads to it. The panel says whether it exists. */
function orderWith(text: string): { id: number; name: string }[] {
  const [, id] = /^(?:order\s*)?#?([1-9]\d{0,14})$/i.exec(text) ?? [];
  return id === undefined ? [] : [{ id: -Number(id), name: `Order ${id}` }];
}

/** `Placed 1 Dec 2026 to 24 Dec 2026`; empty if the list is not filtered by it. */
function placedIn({ placedFrom, placedTo }: OrderQuery): string {
  if (placedFrom && placedTo)
    return placedFrom === placedTo
      ? `Placed on ${shownDay(placedFrom)}`
      : `Placed ${shownDay(placedFrom)} to ${shownDay(placedTo)}`;
  if (placedFrom) return `Placed since ${shownDay(placedFrom)}`;
  return placedTo ? `Placed until ${shownDay(placedTo)}` : '';
}

function ShipDays({ query, set }: { query: OrderQuery; set: (change: OrderQuery) => void }) {
  return (
    <>
      <DayField label="Ships from" value={query.from} onChange={from => set({ from })} />
      <DayField label="Ships to" value={query.to} onChange={to => set({ to })} />
    </>
  );
}
