import { getRouteApi, useElementScrollRestoration } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { type Activity, actorOf } from '../../data/activity.ts';
import { useCurrent } from '../../data/current.ts';
import { ACTIVITY, useActivity, useSentenceOf } from '../../data/use-activity.ts';
import { Button } from '../../kit/button.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Filters } from './filters.tsx';
import './activity.css';

export { EntryPanel } from './entry-panel.tsx';

const route = getRouteApi('/activity');
const activities = { name: ACTIVITY, idOf: ([{ eventId }]: Activity) => Number(eventId) };

/** Who did what, the latest first. */
export function ActivityPage() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const { account } = useSession();
  const sentenceOf = useSentenceOf();
  const [isPaused, setPaused] = useState(false);
  const [isPointed, setPointed] = useState(false);
  const position = useElementScrollRestoration({ id: 'Activity' });
  // After Back, before the table has scrolled.
  const [isScrolled, setScrolled] = useState((position?.scrollY ?? 0) > 0);
  const list = useActivity(filter, isPaused || isPointed || isScrolled);
  const rows = useCurrent(activities, filter, eventId =>
    navigate({ to: '/activity/$eventId', params: { eventId }, search: filter }),
  );
  const columns = useMemo(
    (): Column<Activity>[] => [
      { name: 'who', header: 'Who', cell: ([entry]) => actorOf(entry, account.keyId) },
      { name: 'what', header: 'What', cell: activity => <strong>{sentenceOf(activity)}</strong> },
      { name: 'note', header: 'Note', cell: ([{ note }]) => note },
      { name: 'time', header: 'Time', cell: ([{ time }]) => <Time at={time} /> },
    ],
    [account.keyId, sentenceOf],
  );
  const isFiltered = Object.keys(filter).length > 0;
  // No row moves under the pointer, or while the keyboard is used in the table.
  function point({ target }: { target: EventTarget }): void {
    if (!(target instanceof Element)) return;
    // The button that reports new entries covers a row, and appears there under the pointer.
    if (target.closest('.waiting')) return;
    setPointed(target.closest('.table-body [data-index]') !== null);
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only observes where the pointer and the focus are
    <div
      className="activity-page"
      onScrollCapture={({ target }) => {
        if (target instanceof Element && target.matches('.table-body')) setScrolled(target.scrollTop > 0);
      }}
      onPointerOver={point}
      onPointerLeave={() => setPointed(false)}
      onFocus={point}
      onBlur={() => setPointed(false)}
    >
      <ListPage
        title="Activity"
        className="activity"
        list={list}
        {...rows}
        columns={columns}
        action={
          <Button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Continue' : 'Pause'}
          </Button>
        }
        filters={<Filters filter={filter} />}
        empty={
          isFiltered
            ? { title: 'Nothing matches', hint: 'Change the filters.' }
            : {
                picture: 'activity',
                title: 'Nothing has happened yet',
                hint: 'Each change of an animal, an order or a key appears here.',
              }
        }
      />
    </div>
  );
}
