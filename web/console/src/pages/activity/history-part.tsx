import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { type Activity, activitiesOf, actorOf, mayBelongTo } from '../../data/activity.ts';
import { firstPage } from '../../data/resource.ts';
import { type TakeBack, takeBackOf } from '../../data/take-back.ts';
import { ACTIVITY, useSentenceOf } from '../../data/use-activity.ts';
import { useEvents } from '../../data/use-events.ts';
import { Button } from '../../kit/button.tsx';
import { useOneAtATime } from '../../kit/one-at-a-time.ts';
import { Time } from '../../kit/time.tsx';
import { useToasts } from '../../kit/toasts.ts';
import './history.css';

/** How many changes are shown. The page Activity has all. */
const MOST = 10;

/** The latest changes of a thing such as `store/orders/12`, in the panel of it. It has its place before they arrive. */
export function HistoryPart({ subject }: { subject: string }) {
  const { store, cache, can } = useSession();
  const { data } = useQuery({
    queryKey: [ACTIVITY, 'of', subject],
    queryFn: async () =>
      activitiesOf((await firstPage(store.events.history({ subject, limit: 2 * MOST }))).data).slice(0, MOST),
    enabled: can('events:read'),
    gcTime: 0,
  });
  useEvents(event => {
    if (mayBelongTo(event, { subject }))
      void cache.invalidateQueries({ queryKey: [ACTIVITY, 'of', subject] });
  });
  if (!can('events:read')) return null;
  return <div className="history-space">{data && <HistoryList subject={subject} changes={data} />}</div>;
}

interface HistoryListProps {
  subject: string;
  /** The newest first. */
  changes: readonly Activity[];
  /** Is called when a change was taken back. */
  onChanged?: () => void;
}

/** Changes of a thing, each with what takes it back. */
export function HistoryList({ subject, changes, onChanged }: HistoryListProps) {
  const session = useSession();
  const sentenceOf = useSentenceOf();
  const { isBusy, run } = useTakeBack(onChanged);
  return (
    <section className="panel-part history" aria-label="History">
      <h3>
        <Link to="/activity" search={{ subject }}>
          History
        </Link>
      </h3>
      <ul>
        {changes.map(change => {
          const takeBack = takeBackOf(change, session.can);
          const sentence = sentenceOf(change);
          return (
            <li key={change[0].eventId}>
              <span>
                {actorOf(change[0], session.account.keyId)} {sentence}
              </span>
              <Time at={change[0].time} />
              {takeBack && (
                <Button
                  kind="icon"
                  icon="undo"
                  label={`Take back: ${sentence}`}
                  disabled={isBusy}
                  onClick={() => run(takeBack)}
                />
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Returns a function that takes a change back and reports it. */
export function useTakeBack(onChanged?: () => void) {
  const session = useSession();
  const toasts = useToasts();
  const oneAtATime = useOneAtATime();
  function run(takeBack: TakeBack): void {
    oneAtATime.run(() =>
      takeBack(session).then(text => {
        toasts.show({ text });
        onChanged?.();
      }, toasts.showProblem),
    );
  }
  return { isBusy: oneAtATime.isBusy, run };
}
