import type { WebhookDelivery } from '@petstore/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { eventInWords } from '../../data/activity.ts';
import { useListPage } from '../../data/lists.ts';
import { deliveries, deliveryStatuses } from '../../data/webhooks.ts';
import { Button } from '../../kit/button.tsx';
import { anyOr, Choices } from '../../kit/choices.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { DeliveryStatus, deliveryStatusNames } from './delivery-status.tsx';
import './webhooks.css';

export { DeliveryPanel } from './delivery-panel.tsx';

const route = getRouteApi('/webhooks/$webhookId/deliveries');

const columns: Column<WebhookDelivery>[] = [
  { name: 'event', header: 'Event', cell: delivery => <strong>{eventInWords(delivery)}</strong> },
  { name: 'status', header: 'Status', cell: ({ status }) => <DeliveryStatus status={status} /> },
  { name: 'attempts', header: 'Attempts', cell: ({ attemptCount }) => attemptCount },
  { name: 'time', header: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

export function Deliveries() {
  const { webhookId } = route.useParams();
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useMemo(() => ({ webhookId: Number(webhookId), status }), [webhookId, status]);
  const page = useListPage(deliveries, query, deliveryId =>
    navigate({
      to: '/webhooks/$webhookId/deliveries/$deliveryId',
      params: { webhookId, deliveryId },
      search: { status },
    }),
  );
  return (
    <ListPage
      title={`Deliveries of webhook ${webhookId}`}
      className="deliveries"
      {...page}
      columns={columns}
      action={
        <div className="panel-actions">
          <Link className="button" to="/webhooks/$webhookId" params={{ webhookId }}>
            Webhook
          </Link>
          <Button onClick={page.list.showWaiting}>Refresh</Button>
        </div>
      }
      filters={
        <Choices
          label="Status"
          choices={anyOr(deliveryStatusNames, deliveryStatuses)}
          chosen={status}
          onChoose={choice => navigate({ search: choice ? { status: choice } : {}, replace: true })}
        />
      }
      empty={
        status
          ? { title: 'No delivery has this status', hint: 'Change the filter.' }
          : { picture: 'deliveries', title: 'No deliveries yet', hint: 'Open the webhook and send a test.' }
      }
    />
  );
}
