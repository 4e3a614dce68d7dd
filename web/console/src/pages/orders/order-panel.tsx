import type { Order } from '@petstore/client';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { useEditForm, useNewForm } from '../../data/forms.ts';
import { stateOf } from '../../data/order-state.ts';
import { orders } from '../../data/orders.ts';
import { usePetNames } from '../../data/pet-names.ts';
import { withReason } from '../../data/refusal.ts';
import { useCloseTo } from '../../kit/close.ts';
import { FormPanel } from '../../kit/form-panel.tsx';
import { LoadingPanel } from '../../kit/skeleton.tsx';
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
  const form = useNewForm({
    name: 'order.new',
    empty,
    fields,
    create: order => {
      const verb = order.petId === undefined ? 'Saved draft' : 'Placed order';
      return withReason(
        session,
        order.petId,
        create(order, ({ id }) => `${verb} ${id}`),
      );
    },
    onClose: close,
  });
  const isDraft = form.draft.petId === undefined;
  return (
    <FormPanel title="New order" action={isDraft ? 'Save draft' : 'Place order'} {...form.panel}>
      <Fields {...form.fields} />
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
  const { can } = session;
  const close = useClose();
  const { edit, isChanged, conflictOn, error, panel } = useEditForm(orders, id, {
    fields,
    save: (save, { petId }) => withReason(session, petId, save(`Saved order ${id}`)),
    onClose: close,
  });
  const [petId, theirs] = [edit?.base.petId, edit?.conflicts.petId];
  const ids = useMemo(() => [petId, theirs], [petId, theirs]);
  const nameOf = usePetNames(ids);
  if (!edit) return <LoadingPanel title={`Order ${id}`} error={error} onClose={close} />;
  const { base } = edit;
  const animalOf = (petId: Order['petId']) => (petId === undefined ? 'no animal' : nameOf(petId));
  const state = stateOf(base);
  const isComplete = state === 'complete';
  const isToComplete = state === 'open' && !isChanged;
  return (
    <FormPanel
      title={`Order ${id}`}
      {...panel}
      action={can('orders:write') ? 'Save' : undefined}
      isSecondary={isToComplete}
    >
      <Fields
        {...edit.fields}
        stored={base}
        conflicts={{
          petId: conflictOn('petId', animalOf),
          quantity: conflictOn('quantity', (quantity = 1) => quantity),
          shipDate: conflictOn('shipDate', shownDate),
        }}
        isReadOnly={!can('orders:write')}
      />
      {isComplete && <p className="hint">It is completed: only its ship date can still change.</p>}
      <div className="field">
        <span className="field-label">Status</span>
        <OrderStatus
          order={base}
          name={animalOf(base.petId)}
          isMain={isToComplete}
          isChanged={isChanged}
          onDone={what => what === 'cancel' && close()}
        />
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
