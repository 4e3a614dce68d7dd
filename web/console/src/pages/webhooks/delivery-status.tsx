import type { WebhookDelivery } from '@petstore/client';

export const deliveryStatusNames: Record<WebhookDelivery['status'], string> = {
  pending: 'Waiting',
  delivered: 'Delivered',
  dead: 'Failed',
};

const tones = { pending: 'warning', delivered: 'accent', dead: 'danger' };

/** The status of a delivery. */
export function DeliveryStatus({ status }: { status: WebhookDelivery['status'] }) {
  return (
    <span className="status" data-tone={tones[status]}>
      {deliveryStatusNames[status]}
    </span>
  );
}
