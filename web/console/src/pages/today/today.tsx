import { Link } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { type Activity, actorOf } from '../../data/activity.ts';
import { startOf } from '../../data/days.ts';
import { useOverview } from '../../data/overview.ts';
import { useToDo } from '../../data/to-do.ts';
import { useSentenceOf } from '../../data/use-activity.ts';
import { leadsBack } from '../../kit/close.ts';
import { wordsLocale } from '../../kit/locale.ts';
import { SkeletonCards } from '../../kit/skeleton.tsx';
import { Time } from '../../kit/time.tsx';
import { hasHistory, OrdersPlot } from './orders-plot.tsx';
import { ToDoList } from './to-do-list.tsx';
import './today.css';

/** What is to be done today, and below it what happened last. */
export function Today() {
  const toDo = useToDo();
  const { days, activity } = useOverview();
  const date = new Date(startOf(toDo.today)).toLocaleDateString(wordsLocale, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
  });
  return (
    <section className="page today" aria-label="Today">
      <header className="page-header">
        <h1>
          Today <small>{date}</small>
        </h1>
      </header>
      {/* All of it appears at once, so that nothing moves. */}
      {toDo.isReady ? (
        <div className="today-parts">
          <ToDoList toDo={toDo} />
          <div className="news">
            {activity && activity.length > 0 && <LatestChanges activity={activity} />}
            {activity && days && hasHistory(days) && <OrdersPlot orders={days} />}
          </div>
        </div>
      ) : (
        <SkeletonCards
          className="today-parts"
          sizes={[
            [2, 4],
            [6, 5],
          ]}
        />
      )}
    </section>
  );
}

function LatestChanges({ activity }: { activity: readonly Activity[] }) {
  const { account } = useSession();
  const sentenceOf = useSentenceOf();
  return (
    <section className="card" aria-label="Recent activity">
      <h2>
        <Link to="/activity">Recent activity</Link>
      </h2>
      <ul>
        {activity.map(some => (
          <li key={some[0].eventId}>
            <Link to="/activity/$eventId" params={{ eventId: some[0].eventId }} state={leadsBack}>
              {actorOf(some[0], account.keyId)} {sentenceOf(some)}
            </Link>
            <Time at={some[0].time} />
          </li>
        ))}
      </ul>
    </section>
  );
}
