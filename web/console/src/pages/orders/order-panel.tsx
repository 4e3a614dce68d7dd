import type { Order } from '@petstore/client';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { useDraft } from '../../data/draft.ts';
import { useEdit } from '../../data/edits.ts';
import { findItem } from '../../data/list-cache.ts';
import { stateOf } from '../../data/order-state.ts';
import { orders } from '../../data/orders.ts';
import { usePetNames } from '../../data/pet-names.ts';
import { withReason } from '../../data/refusal.ts';
import { useSubmit } from '../../data/submit.ts';
import { useCloseTo } from '../../kit/close.ts';
import { FormPanel } from '../../kit/form-panel.tsx';
import { Panel } from '../../kit/panel.tsx';
import { SkeletonPanel } from '../../kit/skeleton.tsx';
import { HistoryPart } from '../activity/history-part.tsx';
import { Fields, type NewOrderFields, shownDate } from './order-fields.tsx';
import { OrderStatus } from './order-menu.tsx';

const list = getRouteApi('/orders');
const route = getRouteApi('/orders/$orderId');
const fields = ['petId', 'quantity', 'shipDate'];
const empty: NewOrderFields = {};

function useClose(): () => void {
  const navigate = useNavigate();
  const search = list.useSearch();
  return useCloseTo(() => navigate({ to: '/orders', search }));
}

export function NewOrder() {
  const session = useSession();
  const close = useClose();
  const { create } = useActions(orders);
  const [draft, set, clear, isRestored, finish] = useDraft('order.new', empty);
  const isDraft = draft.petId === undefined;
  const form = useSubmit(fields, async () => {
    const placing = create(draft, ({ id }) => (isDraft ? `Saved draft ${id}` : `Placed order ${id}`));
    await withReason(session, draft.petId, placing);
    if (finish(draft)) close();
  });
  return (
    <FormPanel
      title="New order"
      form={form}
      action={isDraft ? 'Save draft' : 'Place order'}
      onDiscard={isRestored ? clear : undefined}
      onClose={close}
    >
      <Fields order={draft} errors={form.errors.fields} onChange={set} />
      {isDraft && <p className="hint">Without an animal it is a draft, which takes no units.</p>}
    </FormPanel>
  );
}

export function EditOrder() {
  const { orderId } = route.useParams();
  return <EditPanel key={orderId} id={Number(orderId)} />;
}

function EditPanel({ id }: { id: number }) {
  const session = useSession();
  const { cache, can } = session;
  const close = useClose();
  const [shown] = useState(() => findItem(cache, orders, id));
  const { edit, isChanged, set, conflictOn, discard, save, isRestored, error } = useEdit(orders, id, shown);
  const ids = useMemo(() => [edit?.base.petId, edit?.conflicts.petId], [edit]);
  const nameOf = usePetNames(ids);
  const form = useSubmit(fields, async () => {
    if (await withReason(session, edit?.draft.petId, save(`Saved order ${id}`))) close();
  });
  if (!edit)
    return (
      <Panel title={`Order ${id}`} onClose={close}>
        <SkeletonPanel error={error} />
      </Panel>
    );
  const { base, draft } = edit;
  const animalOf = (petId: Order['petId']) => (petId === undefined ? 'no animal' : nameOf(petId));
  const state = stateOf(base);
  const isComplete = state === 'complete';
  const isToComplete = state === 'open' && !isChanged;
  return (
    <FormPanel
      title={`Order ${id}`}
      form={form}
      action={can('orders:write') ? 'Save' : undefined}
      isSecondary={isToComplete}
      onDiscard={isRestored ? discard : undefined}
      onClose={close}
    >
      {error && <p className="field-error">{error.message}</p>}
      <Fields
        order={draft}
        own={base.petId}
        errors={form.errors.fields}
        conflicts={{
          petId: conflictOn('petId', animalOf),
          quantity: conflictOn('quantity', (quantity = 1) => quantity),
          shipDate: conflictOn('shipDate', shownDate),
        }}
        isReadOnly={!can('orders:write')}
        isComplete={isComplete}
        onChange={set}
      />
      {isComplete && <p className="hint">It is completed: only its ship date can still change.</p>}
      <div className="field">
        <span className="field-label">Status</span>
        <OrderStatus order={base} name={animalOf(base.petId)} isMain={isToComplete} onCancelled={close} />
      </div>
      {base.petId !== undefined && can('pets:read') && (
        <Link to="/animals/$petId" params={{ petId: String(base.petId) }}>
          Open {animalOf(base.petId)}
        </Link>
      )}
      <HistoryPart subject={`store/orders/${id}`} />
    </FormPanel>
  );
}
