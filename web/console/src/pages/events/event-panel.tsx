import type { Event } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { readEvent } from '../../data/event-log.ts';
import { Button } from '../../kit/button.tsx';
import { Panel } from '../../kit/panel.tsx';
import { Time } from '../../kit/time.tsx';
import { Actor } from './actor.tsx';

const list = getRouteApi('/events');
const route = getRouteApi('/events/$eventId');

/** An event with all that the log has of it. */
export function EventPanel() {
  const { store } = useSession();
  const { eventId } = route.useParams();
  const search = list.useSearch();
  const navigate = useNavigate();
  const close = () => navigate({ to: '/events', search });
  const { data, error, isPending } = useQuery({
    queryKey: ['events', 'one', eventId],
    queryFn: async () => (await readEvent(store, Number(eventId))) ?? null,
  });
  const problem = error?.message ?? `The log has no event ${eventId} that this API key may read.`;
  return (
    <Panel title={data?.type ?? `Event ${eventId}`} onClose={close}>
      <div className="panel-body">
        {data ? (
          <>
            <Facts event={data} />
            <div className="panel-actions">
              <Button onClick={() => navigate({ to: '/events', search: { subject: data.subject } })}>
                All events of {data.subject}
              </Button>
            </div>
            <pre className="code">{JSON.stringify(data.data, null, 2)}</pre>
          </>
        ) : (
          <p>{isPending ? 'Loading …' : problem}</p>
        )}
      </div>
    </Panel>
  );
}

function Facts({ event }: { event: Event }) {
  const { id, time, subject, actor, requestid, traceparent } = event;
  return (
    <dl className="facts">
      <dt>Subject</dt>
      <dd>{subject}</dd>
      <dt>By</dt>
      <dd>
        <Actor actor={actor} />
      </dd>
      <dt>Time</dt>
      <dd>
        {new Date(time).toLocaleString()} (<Time at={time} />)
      </dd>
      <dt>Event</dt>
      <dd>{id}</dd>
      {requestid && (
        <>
          <dt>Request</dt>
          <dd>{requestid}</dd>
        </>
      )}
      {traceparent && (
        <>
          <dt>Trace</dt>
          <dd>{traceparent}</dd>
        </>
      )}
    </dl>
  );
}
