import type { Event } from '@petstore/client';
import { getRouteApi, useElementScrollRestoration } from '@tanstack/react-router';
import { useState } from 'react';
import { useCurrent } from '../../data/current.ts';
import { useEventLog } from '../../data/use-event-log.ts';
import { Button } from '../../kit/button.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Actor } from './actor.tsx';
import { Filters } from './filters.tsx';
import './events.css';

export { EventPanel } from './event-panel.tsx';

const route = getRouteApi('/events');
const events = { name: 'events', idOf: (event: Event) => Number(event.id) };

const columns: Column<Event>[] = [
  { name: 'type', header: 'Event', cell: ({ type }) => <strong>{type}</strong> },
  { name: 'subject', header: 'Subject', cell: event => <Subject event={event} /> },
  { name: 'actor', header: 'By', cell: ({ actor }) => <Actor actor={actor} /> },
  { name: 'time', header: 'Time', cell: ({ time }) => <Time at={time} /> },
];

/** What changed, with the name that it had then. */
function Subject({ event: { subject, data } }: { event: Event }) {
  return data && 'name' in data ? `${subject} · ${data.name}` : subject;
}

/** Who did what, the latest first. */
export function Events() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const [isPaused, setPaused] = useState(false);
  const [isPointed, setPointed] = useState(false);
  const position = useElementScrollRestoration({ id: 'Events' });
  // After Back, before the table has scrolled.
  const [isScrolled, setScrolled] = useState((position?.scrollY ?? 0) > 0);
  const list = useEventLog(filter, isPaused || isPointed || isScrolled);
  const [current, setCurrent] = useCurrent(events, filter);
  const open = (event: Event) => {
    setCurrent(Number(event.id));
    void navigate({ to: '/events/$eventId', params: { eventId: event.id }, search: filter });
  };
  const isFiltered = Object.keys(filter).length > 0;
  // No row moves under the pointer, or while the keyboard is used in the table.
  function point({ target }: { target: EventTarget }): void {
    if (!(target instanceof Element)) return;
    // The button that reports new events covers a row, and appears there under the pointer.
    if (target.closest('.waiting')) return;
    setPointed(target.closest('.table-body [data-index]') !== null);
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only observes where the pointer and the focus are
    <div
      className="events-page"
      onScrollCapture={({ target }) => {
        if (target instanceof Element && target.matches('.table-body')) setScrolled(target.scrollTop > 0);
      }}
      onPointerOver={point}
      onPointerLeave={() => setPointed(false)}
      onFocus={point}
      onBlur={() => setPointed(false)}
    >
      <ListPage
        title="Events"
        className="events"
        list={list}
        columns={columns}
        idOf={events.idOf}
        current={current}
        onOpen={open}
        action={
          <Button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Continue' : 'Pause'}
          </Button>
        }
        filters={<Filters filter={filter} />}
        empty={{
          title: isFiltered ? 'No event matches' : 'No events yet',
          hint: list.hasEarlier
            ? 'There are none in the latest part of the log.'
            : isFiltered
              ? 'Change the filters. The log has the events of 30 days.'
              : 'Each change of an animal, an order or a key appears here.',
          action: list.hasEarlier && (
            <Button disabled={list.isSearching} onClick={list.loadMore}>
              Search earlier
            </Button>
          ),
        }}
      />
    </div>
  );
}
