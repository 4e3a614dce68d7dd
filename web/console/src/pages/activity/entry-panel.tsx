import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { type Activity, activitiesOf, actorOf, kindOfSubject, subjectInWords } from '../../data/activity.ts';
import { fieldInWords, valueInWords } from '../../data/field-words.ts';
import { firstPage } from '../../data/resource.ts';
import { takeBackOf } from '../../data/take-back.ts';
import { ACTIVITY, useSentenceOf } from '../../data/use-activity.ts';
import { useCategories } from '../../data/use-categories.ts';
import { Button } from '../../kit/button.tsx';
import { useCloseTo } from '../../kit/close.ts';
import { Panel } from '../../kit/panel.tsx';
import { Time } from '../../kit/time.tsx';
import { useTakeBack } from './history-part.tsx';

const list = getRouteApi('/activity');
const route = getRouteApi('/activity/$eventId');

/** How many entries one request may have that is shown as a whole. */
const MOST = 20;

/** One change with the values before and after it, and all that the log has of it. */
export function EntryPanel() {
  const { store, account, can } = useSession();
  const { eventId } = route.useParams();
  const search = list.useSearch();
  const navigate = useNavigate();
  const sentenceOf = useSentenceOf();
  const close = useCloseTo(() => navigate({ to: '/activity', search }));
  const { data, error, isPending } = useQuery({
    queryKey: [ACTIVITY, 'one', eventId],
    queryFn: async () => {
      const { data } = await firstPage(
        store.events.history({ cursor: String(Number(eventId) + 1), limit: MOST }),
      );
      const [activity] = data[0]?.eventId === eventId ? activitiesOf(data) : [];
      return activity ?? null;
    },
  });
  const problem = error?.message ?? 'This change does not exist, or your key may not see it.';
  const [entry] = data ?? [];
  const takeBack = data && takeBackOf(data, can);
  const { isBusy, run } = useTakeBack();
  return (
    <Panel title={data ? upperFirst(sentenceOf(data)) : 'A change'} onClose={close}>
      <div className="panel-body">
        {data && entry ? (
          <>
            <dl className="facts">
              <dt>By</dt>
              <dd>{actorOf(entry, account.keyId)}</dd>
              <dt>Time</dt>
              <dd>
                {new Date(entry.time).toLocaleString()} (<Time at={entry.time} />)
              </dd>
              {entry.note && (
                <>
                  <dt>Note</dt>
                  <dd>{entry.note}</dd>
                </>
              )}
            </dl>
            <Changes activity={data} />
            <div className="panel-actions">
              {takeBack && (
                <Button icon="undo" disabled={isBusy} onClick={() => run(takeBack)}>
                  Take back
                </Button>
              )}
              {subjectsOf(data).map(([subject, label]) => (
                <Button key={subject} onClick={() => navigate({ to: '/activity', search: { subject } })}>
                  All changes of {label}
                </Button>
              ))}
            </div>
            {can('admin') && (
              <details>
                <summary>Details for programmers</summary>
                <pre className="code">{JSON.stringify(data, null, 2)}</pre>
              </details>
            )}
          </>
        ) : (
          <p>{isPending ? 'Loading …' : problem}</p>
        )}
      </div>
    </Panel>
  );
}

/** The values before and after a change. */
function Changes({ activity }: { activity: Activity }) {
  const categories = useCategories();
  const shown = (field: string, value: unknown) =>
    (field === 'categoryId' && categories.find(({ id }) => id === value)?.name) || valueInWords(field, value);
  const rows = activity.flatMap(entry =>
    entry.changes
      // A new thing has many fields without a value.
      .filter(({ field, from, to }) => shown(field, from) !== shown(field, to))
      .map(change => ({ ...change, ...entry })),
  );
  if (rows.length === 0) return null;
  return (
    <table className="changes">
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ eventId, subject, field, from, to }) => (
          <tr key={`${eventId} ${field}`}>
            <th scope="row">{`${kindOfSubject(subject)}: ${fieldInWords(field)}`}</th>
            <td>{shown(field, from)}</td>
            <td>{shown(field, to)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The things whose activity can be shown from here. */
function subjectsOf(activity: Activity): (readonly [subject: string, label: string])[] {
  const subjects = new Map(
    // A subject without an ID, such as `access`, names no thing.
    activity
      .filter(({ subject }) => subject.includes('/'))
      .map(({ subject, name }) => {
        // The activity of an animal has its stock.
        const thing = subject.replace('store/inventory/', 'pets/');
        return [
          thing,
          thing.startsWith('store/orders/')
            ? `order ${thing.split('/').at(-1)}`
            : (name ?? subjectInWords(thing)),
        ];
      }),
  );
  return [...subjects];
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
