import type { Category } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { categories } from '../../data/categories.ts';
import { useActions } from '../../data/changes.ts';
import { type FieldsProps, useEditForm, useNewForm } from '../../data/forms.ts';
import { firstPage, totalOf } from '../../data/resource.ts';
import { useCloseTo } from '../../kit/close.ts';
import { TextField } from '../../kit/field.tsx';
import { FormPanel } from '../../kit/form-panel.tsx';
import { LoadingPanel } from '../../kit/skeleton.tsx';
import { HistoryPart } from '../activity/history-part.tsx';

const list = getRouteApi('/categories');
const category = getRouteApi('/categories/$categoryId');
const fields = ['name', 'description'];

type Settings = Pick<Category, 'name' | 'description'>;
const empty: Settings = { name: '', description: '' };

function useClose(): () => void {
  const navigate = useNavigate();
  const search = list.useSearch();
  return useCloseTo(() => navigate({ to: '/categories', search }));
}

export function NewCategory() {
  const close = useClose();
  const { create } = useActions(categories);
  const form = useNewForm({
    name: 'category.new',
    empty,
    fields,
    create: ({ name, description }) =>
      create({ name, ...(description && { description }) }, created => `Added ${created.name}`),
    onClose: close,
  });
  return (
    <FormPanel title="New category" action="Add" {...form.panel}>
      <Fields {...form.fields} />
    </FormPanel>
  );
}

export function EditCategory() {
  const { categoryId } = category.useParams();
  return <EditPanel key={categoryId} id={Number(categoryId)} />;
}

function EditPanel({ id }: { id: number }) {
  const { can } = useSession();
  const close = useClose();
  const { remove } = useActions(categories);
  const { edit, conflictOn, run, error, panel } = useEditForm(categories, id, {
    fields,
    save: (save, { name }) => save(`Saved ${name}`),
    onClose: close,
  });
  if (!edit) return <LoadingPanel title="Category" error={error} onClose={close} />;
  const { base } = edit;
  const deletion = {
    text: 'This cannot be undone. A category that has animals cannot be deleted.',
    onConfirm: () => run(() => remove(base, `Deleted ${base.name}`).then(close)),
  };
  return (
    <FormPanel
      title={base.name}
      {...panel}
      action={can('pets:write') ? 'Save' : undefined}
      deletion={deletion}
      rejection={panel.form.errors.code === 'category_in_use' && <StillUsed category={base} />}
    >
      <Fields
        {...edit.fields}
        conflicts={{
          name: conflictOn('name', name => name),
          description: conflictOn('description', description => description || 'nothing'),
        }}
        isReadOnly={!can('pets:write')}
      />
      <HistoryPart subject={`categories/${id}`} />
    </FormPanel>
  );
}

/** Why a category cannot be deleted. */
function StillUsed({ category: { id, name } }: { category: Category }) {
  const { store } = useSession();
  const { data: count } = useQuery({
    queryKey: [categories.name, 'animals of', id],
    queryFn: async () => totalOf(await firstPage(store.pets.list({ categoryId: id, limit: 1, count: true }))),
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <>
      {name} still contains{' '}
      {count === undefined ? 'animals' : count === '1' ? '1 animal' : `${count} animals`}.{' '}
      <Link to="/animals" search={{ categoryId: id }}>
        Show them
      </Link>
    </>
  );
}

function Fields(props: FieldsProps<Settings>) {
  const { item, errors, conflicts, isReadOnly = false, onChange } = props;
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
      <TextField
        label="Description"
        value={item.description ?? ''}
        error={errors.description}
        conflict={conflicts?.description}
        disabled={isReadOnly}
        onChange={event => onChange('description', event.target.value)}
      />
    </>
  );
}
