import type { Pet } from '@petstore/client';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { type FieldsProps, useEditForm, useNewForm } from '../../data/forms.ts';
import { NoSuchAnimal, pets } from '../../data/pets.ts';
import { MOST, useAnimal } from '../../data/use-animal.ts';
import { useCategories, useLacksCategories } from '../../data/use-categories.ts';
import { CategoryOptions } from '../../kit/category-menu.tsx';
import { useCloseTo } from '../../kit/close.ts';
import { SelectField, TextField } from '../../kit/field.tsx';
import { FormPanel } from '../../kit/form-panel.tsx';
import { inWords } from '../../kit/in-words.ts';
import { Panel } from '../../kit/panel.tsx';
import { SkeletonPanel } from '../../kit/skeleton.tsx';
import { AnimalRecord } from './animal-record.tsx';
import { AnimalStock } from './animal-stock.tsx';
import { StatusMenu } from './status-menu.tsx';

const list = getRouteApi('/animals');
const animal = getRouteApi('/animals/$petId');
const fields = ['name', 'categoryId'];

type Settings = Pick<Pet, 'name' | 'categoryId'>;
const empty: Settings = { name: '', categoryId: 0 };

function useClose(): () => void {
  const navigate = useNavigate();
  const search = list.useSearch();
  return useCloseTo(() => navigate({ to: '/animals', search }));
}

export function NewAnimal() {
  const close = useClose();
  const { create } = useActions(pets);
  const lacksCategories = useLacksCategories();
  const form = useNewForm({
    name: 'pet.new',
    empty,
    fields,
    create: ({ name, categoryId }) =>
      create({ name, ...(categoryId && { categoryId }) }, pet => `Added ${pet.name}`),
    onClose: close,
  });
  return (
    <FormPanel title="New animal" action="Add" {...form.panel}>
      <Fields {...form.fields} />
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
  const { can } = useSession();
  const close = useClose();
  const { remove } = useActions(pets);
  const { edit, conflictOn, run, error, panel } = useEditForm(pets, id, {
    fields,
    save: (save, { name }) => save(`Saved ${name}`),
    onClose: close,
  });
  const categories = useCategories();
  const { stock, orders, changes, refresh } = useAnimal(id);
  const isGone = error instanceof NoSuchAnimal;
  if (!edit)
    return (
      <Panel title="Animal" onClose={close}>
        {isGone ? (
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
  const { base } = edit;
  const deletion = {
    text: 'This cannot be undone. Completed orders keep its ID.',
    onConfirm: () => run(() => remove(base, `Deleted ${base.name}`).then(close)),
  };
  return (
    <FormPanel
      title={base.name}
      {...panel}
      action={can('pets:write') && !isGone ? 'Save' : undefined}
      deletion={deletion}
      rejection={
        panel.form.errors.code === 'pet_has_open_orders' && (
          <>
            {base.name} has{' '}
            {orders ? inWords(orders.length, 'open order', orders.length === MOST) : 'open orders'}.{' '}
            <Link to="/orders" search={{ petId: id, complete: false }}>
              Show them
            </Link>
          </>
        )
      }
      lead={can('inventory:read') && !isGone && <AnimalStock pet={base} item={stock} onChanged={refresh} />}
    >
      <Fields
        {...edit.fields}
        conflicts={{
          name: conflictOn('name', name => name),
          categoryId: conflictOn(
            'categoryId',
            id => categories.find(category => category.id === id)?.name ?? id,
          ),
        }}
        isReadOnly={!can('pets:write')}
      />
      {!isGone && (
        <div className="field">
          <span className="field-label">Status</span>
          <StatusMenu pet={base} />
        </div>
      )}
      {!isGone && <AnimalRecord pet={base} orders={orders} changes={changes} onChanged={refresh} />}
    </FormPanel>
  );
}

function Fields(props: FieldsProps<Settings>) {
  const { item, errors, conflicts, isReadOnly = false, onChange } = props;
  const categories = useCategories();
  return (
    <>
      <TextField
        label="Name"
        value={item.name}
        error={errors.name}
        conflict={conflicts?.name}
        disabled={isReadOnly}
        onChange={event => onChange('name', event.target.value)}
      />
      <SelectField
        label="Category"
        value={item.categoryId || ''}
        error={errors.categoryId}
        conflict={conflicts?.categoryId}
        disabled={isReadOnly}
        onChange={event => onChange('categoryId', Number(event.target.value))}
      >
        {!item.categoryId && <option value="">Choose a category</option>}
        <CategoryOptions categories={categories} chosen={item.categoryId || undefined} />
      </SelectField>
    </>
  );
}
