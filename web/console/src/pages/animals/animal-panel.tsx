import type { Order, Pet } from '@petstore/client';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { useDraft } from '../../data/draft.ts';
import { useEdit } from '../../data/edits.ts';
import { findItem } from '../../data/list-cache.ts';
import { NoSuchAnimal, pets } from '../../data/pets.ts';
import { useSubmit } from '../../data/submit.ts';
import { useAnimal } from '../../data/use-animal.ts';
import { useCategories, useLacksCategories } from '../../data/use-categories.ts';
import { useCloseTo } from '../../kit/close.ts';
import { type Conflict, SelectField, TextField } from '../../kit/field.tsx';
import { FormPanel } from '../../kit/form-panel.tsx';
import { Panel } from '../../kit/panel.tsx';
import { SkeletonPanel } from '../../kit/skeleton.tsx';
import { AnimalRecord } from './animal-record.tsx';
import { AnimalStock } from './animal-stock.tsx';
import { StatusMenu } from './status-menu.tsx';

const list = getRouteApi('/animals');
const animal = getRouteApi('/animals/$petId');
const fields = ['name', 'categoryId'];

function useClose(): () => void {
  const navigate = useNavigate();
  const search = list.useSearch();
  return useCloseTo(() => navigate({ to: '/animals', search }));
}

export function NewAnimal() {
  const close = useClose();
  const { create } = useActions(pets);
  const lacksCategories = useLacksCategories();
  const [draft, set, clear, isRestored, finish] = useDraft('pet.new', { name: '', categoryId: 0 });
  const form = useSubmit(fields, async () => {
    const { name, categoryId } = draft;
    await create({ name, ...(categoryId && { categoryId }) }, pet => `Added ${pet.name}`);
    if (finish(draft)) close();
  });
  return (
    <FormPanel
      title="New animal"
      form={form}
      action="Add"
      onDiscard={isRestored ? clear : undefined}
      onClose={close}
    >
      <Fields pet={draft} errors={form.errors.fields} onChange={set} />
      {lacksCategories && (
        <p className="hint">
          Each animal belongs to a category, and there is none yet. What you typed is kept:{' '}
          <Link to="/categories/new">add a category first</Link>.
        </p>
      )}
    </FormPanel>
  );
}

export function EditAnimal() {
  const { petId } = animal.useParams();
  return <EditPanel key={petId} id={Number(petId)} />;
}

function EditPanel({ id }: { id: number }) {
  const { cache, can } = useSession();
  const close = useClose();
  const { remove } = useActions(pets);
  const [shown] = useState(() => findItem(cache, pets, id));
  const { edit, set, conflictOn, discard, save, isRestored, error } = useEdit(pets, id, shown);
  const categories = useCategories();
  const { stock, orders, changes, refresh } = useAnimal(id);
  const form = useSubmit(fields, async () => {
    if (await save(`Saved ${edit?.draft.name}`)) close();
  });
  if (!edit)
    return (
      <Panel title="Animal" onClose={close}>
        {error instanceof NoSuchAnimal ? (
          <p className="panel-body">
            {error.message}
            {can('events:read') && (
              <Link to="/activity" search={{ subject: `pets/${id}` }}>
                What happened to it
              </Link>
            )}
          </p>
        ) : (
          <SkeletonPanel error={error} />
        )}
      </Panel>
    );
  const { base, draft } = edit;
  const deletion = {
    text: 'This cannot be undone. Completed orders keep its ID.',
    onConfirm: () => form.run(() => remove(base, `Deleted ${base.name}`).then(close)),
  };
  return (
    <FormPanel
      title={base.name}
      form={form}
      action={can('pets:write') ? 'Save' : undefined}
      deletion={deletion}
      onDiscard={isRestored ? discard : undefined}
      rejection={
        form.errors.code === 'pet_has_open_orders' && (
          <>
            {base.name} has {openInWords(orders)}.{' '}
            <Link to="/orders" search={{ petId: id, complete: false }}>
              Show them
            </Link>
          </>
        )
      }
      lead={can('inventory:read') && <AnimalStock pet={base} item={stock} onChanged={refresh} />}
      onClose={close}
    >
      {error && <p className="field-error">{error.message}</p>}
      <Fields
        pet={draft}
        errors={form.errors.fields}
        conflicts={{
          name: conflictOn('name', name => name),
          categoryId: conflictOn(
            'categoryId',
            id => categories.find(category => category.id === id)?.name ?? id,
          ),
        }}
        isReadOnly={!can('pets:write')}
        onChange={set}
      />
      <div className="field">
        <span className="field-label">Status</span>
        <StatusMenu pet={base} />
      </div>
      <AnimalRecord pet={base} orders={orders} changes={changes} onChanged={refresh} />
    </FormPanel>
  );
}

function openInWords(orders: readonly Order[] | undefined): string {
  if (!orders) return 'open orders';
  return orders.length === 1 ? '1 open order' : `${orders.length} open orders`;
}

interface FieldsProps {
  pet: Pick<Pet, 'name' | 'categoryId'>;
  errors: Partial<Record<string, string>>;
  conflicts?: { name: Conflict | undefined; categoryId: Conflict | undefined };
  isReadOnly?: boolean;
  onChange: <Field extends 'name' | 'categoryId'>(field: Field, value: Pet[Field]) => void;
}

function Fields({ pet, errors, conflicts, isReadOnly = false, onChange }: FieldsProps) {
  const categories = useCategories();
  return (
    <>
      <TextField
        label="Name"
        value={pet.name}
        error={errors.name}
        conflict={conflicts?.name}
        disabled={isReadOnly}
        onChange={event => onChange('name', event.target.value)}
      />
      <SelectField
        label="Category"
        value={pet.categoryId || ''}
        error={errors.categoryId}
        conflict={conflicts?.categoryId}
        disabled={isReadOnly}
        onChange={event => onChange('categoryId', Number(event.target.value))}
      >
        {!pet.categoryId && <option value="">Choose a category</option>}
        {categories.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
    </>
  );
}
