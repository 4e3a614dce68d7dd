import type { Webhook } from '@petstore/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { useListPage } from '../../data/lists.ts';
import { webhooks } from '../../data/webhooks.ts';
import { Icon } from '../../kit/icon.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import './webhooks.css';

export { NewWebhook } from './new-webhook.tsx';
export { EditWebhook } from './webhook-panel.tsx';

const columns: Column<Webhook>[] = [
  {
    name: 'url',
    header: 'URL',
    cell: webhook => <Address webhook={webhook} />,
  },
  { name: 'types', header: 'Events', cell: ({ types }) => types?.join(', ') ?? 'All' },
  { name: 'state', header: 'State', cell: webhook => <WebhookState webhook={webhook} /> },
  {
    name: 'deliveries',
    header: '',
    cell: ({ id }) => (
      <Link
        to="/webhooks/$webhookId/deliveries"
        params={{ webhookId: String(id) }}
        onClick={event => event.stopPropagation()}
      >
        Deliveries
      </Link>
    ),
  },
];

function Address({ webhook: { url, description } }: { webhook: Webhook }) {
  return (
    <>
      <strong>{url}</strong> {description && <small>{description}</small>}
    </>
  );
}

function WebhookState({ webhook: { enabled, disabledReason, failingSince } }: { webhook: Webhook }) {
  if (!enabled)
    return (
      <span className="status" data-tone={disabledReason ? 'danger' : undefined}>
        Disabled
      </span>
    );
  if (failingSince)
    return (
      <span className="status" data-tone="warning">
        First failed <Time at={failingSince} />
      </span>
    );
  return (
    <span className="status" data-tone="accent">
      Enabled
    </span>
  );
}

const query = {};

export function Webhooks() {
  const { can } = useSession();
  const navigate = useNavigate();
  const page = useListPage(webhooks, query, webhookId =>
    navigate({ to: '/webhooks/$webhookId', params: { webhookId } }),
  );
  const action = can('webhooks:write') && can('events:read') && (
    <Link className="button" data-kind="main" to="/webhooks/new">
      <Icon name="add" />
      Add webhook
    </Link>
  );
  return (
    <ListPage
      title="Webhooks"
      className="webhooks"
      {...page}
      columns={columns}
      action={action}
      filters={null}
      empty={{
        picture: 'webhooks',
        title: 'No webhooks yet',
        hint: can('events:read')
          ? 'A webhook sends each event to your server. Add the first one.'
          : 'To add one, the key also has to be allowed to see events, and what they are about.',
        action,
      }}
    />
  );
}
