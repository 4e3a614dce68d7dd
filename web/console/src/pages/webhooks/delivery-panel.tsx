import type { WebhookAttempt } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useSession } from '../../app/session.ts';
import { eventInWords } from '../../data/activity.ts';
import { putItem } from '../../data/list-cache.ts';
import { deliveries } from '../../data/webhooks.ts';
import { Button } from '../../kit/button.tsx';
import { useOneAtATime } from '../../kit/one-at-a-time.ts';
import { Panel } from '../../kit/panel.tsx';
import { LoadingPanel } from '../../kit/skeleton.tsx';
import { Time } from '../../kit/time.tsx';
import { useToasts } from '../../kit/toasts.ts';
import { attemptInWords } from './attempt-in-words.ts';
import { DeliveryStatus } from './delivery-status.tsx';

const route = getRouteApi('/webhooks/$webhookId/deliveries/$deliveryId');

/** How often a pending delivery is read again, in milliseconds: no event reports its attempts. */
const PAUSE = 2_000;

/** A delivery with its attempts. */
export function DeliveryPanel() {
  const { store, cache, can } = useSession();
  const toasts = useToasts();
  const oneAtATime = useOneAtATime();
  const { webhookId, deliveryId } = route.useParams();
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const close = () =>
    navigate({ to: '/webhooks/$webhookId/deliveries', params: { webhookId }, search: { status } });
  const { data, error, refetch } = useQuery({
    queryKey: [deliveries.name, 'one', Number(deliveryId)],
    queryFn: () => store.webhooks.getDelivery(Number(webhookId), Number(deliveryId)),
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? PAUSE : false),
  });
  useEffect(() => {
    if (!data) return;
    const { attempts: _, ...delivery } = data;
    putItem(cache, deliveries, delivery);
  }, [cache, data]);
  if (!data) return <LoadingPanel title="Delivery" error={error} onClose={close} />;

  // It is being sent, or waits for an earlier delivery of its subject.
  const isInProgress = data.status === 'pending' && data.nextAttemptAt === null;

  async function redeliver(): Promise<void> {
    await store.webhooks.redeliver(Number(webhookId), Number(deliveryId));
    await refetch();
    toasts.show({ text: `Delivery ${deliveryId} is sent again` });
  }
  return (
    <Panel title={eventInWords(data)} onClose={close}>
      <div className="panel-body">
        <dl className="facts">
          <dt>Status</dt>
          <dd>
            <DeliveryStatus status={data.status} />
          </dd>
          <dt>Type</dt>
          <dd>{data.type}</dd>
          <dt>Message</dt>
          <dd>{data.messageId}</dd>
          <dt>Event</dt>
          <dd>
            <Link to="/activity/$eventId" params={{ eventId: data.eventId }}>
              Show in Activity
            </Link>
          </dd>
          <dt>Created</dt>
          <dd>
            <Time at={data.createdAt} />
          </dd>
          {data.nextAttemptAt && (
            <>
              <dt>Next attempt</dt>
              <dd>
                <Time at={data.nextAttemptAt} />
              </dd>
            </>
          )}
        </dl>
        {data.status === 'dead' && (
          <p className="hint">
            The service will not try again by itself. Redeliver it when your server works again.
          </p>
        )}
        {can('events:read') && !isInProgress && (
          <div className="panel-actions">
            <Button
              disabled={oneAtATime.isBusy}
              onClick={() => oneAtATime.run(() => redeliver().catch(toasts.showProblem))}
            >
              {data.status === 'pending' ? 'Send now' : 'Redeliver'}
            </Button>
          </div>
        )}
        <section className="panel-part" aria-label="Attempts">
          <h3>Attempts</h3>
          {data.attempts.length === 0 && <p>There are no attempts yet.</p>}
          {data.attempts.toReversed().map(attempt => (
            <Attempt key={attempt.number} attempt={attempt} />
          ))}
        </section>
      </div>
    </Panel>
  );
}

function Attempt({ attempt }: { attempt: WebhookAttempt }) {
  const { number, startedAt, error, responseStart } = attempt;
  return (
    <article className="attempt" aria-label={`Attempt ${number}`}>
      <p>
        <strong>{attemptInWords(attempt)}</strong> <Time at={startedAt} />
      </p>
      {error && <p className="field-error">{error}</p>}
      {responseStart && <pre className="code">{responseStart}</pre>}
    </article>
  );
}
