import type { Category } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { categories } from '../../data/categories.ts';
import { useActions } from '../../data/changes.ts';
import { useDraft } from '../../data/draft.ts';
import { useEdit } from '../../data/edits.ts';
import { findItem } from '../../data/list-cache.ts';
import { firstPage, totalOf } from '../../data/resource.ts';
import { useSubmit } from '../../data/submit.ts';
import { useCloseTo } from '../../kit/close.ts';
import { type Conflict, TextField } from '../../kit/field.tsx';
import { FormPanel } from '../../kit/form-panel.tsx';
import { Panel } from '../../kit/panel.tsx';
import { SkeletonPanel } from '../../kit/skeleton.tsx';
import { HistoryPart } from '../activity/history-part.tsx';

const list = getRouteApi('/categories');
const category = getRouteApi('/categories/$categoryId');
const fields = ['name', 'description'];

function useClose(): () => void {
  const navigate = useNavigate();
  const search = list.useSearch();
  return useCloseTo(() => navigate({ to: '/categories', search }));
}

export function NewCategory() {
  const close = useClose();
  const { create } = useActions(categories);
  const [draft, set, clear, isRestored, finish] = useDraft('category.new', { name: '', description: '' });
  const form = useSubmit(fields, async () => {
    const { name, description } = draft;
    await create({ name, ...(description && { description }) }, created => `Added ${created.name}`);
    if (finish(draft)) close();
  });
  return (
    <FormPanel
      title="New category"
      form={form}
      action="Add"
      onDiscard={isRestored ? clear : undefined}
      onClose={close}
    >
      <Fields item={draft} errors={form.errors.fields} onChange={set} />
    </FormPanel>
  );
}

export function EditCategory() {
  const { categoryId } = category.useParams();
  return <EditPanel key={categoryId} id={Number(categoryId)} />;
}

function EditPanel({ id }: { id: number }) {
  const { cache, can } = useSession();
  const close = useClose();
  const { remove } = useActions(categories);
  const [shown] = useState(() => findItem(cache, categories, id));
  const { edit, set, conflictOn, discard, save, isRestored, error } = useEdit(categories, id, shown);
  const form = useSubmit(fields, async () => {
    if (await save(`Saved ${edit?.draft.name}`)) close();
  });
  if (!edit)
    return (
      <Panel title="Category" onClose={close}>
        <SkeletonPanel error={error} />
      </Panel>
    );
  const { base, draft } = edit;
  const deletion = {
    text: 'This cannot be undone. A category that has animals cannot be deleted.',
    onConfirm: () => form.run(() => remove(base, `Deleted ${base.name}`).then(close)),
  };
  return (
    <FormPanel
      title={base.name}
      form={form}
      action={can('pets:write') ? 'Save' : undefined}
      deletion={deletion}
      onDiscard={isRestored ? discard : undefined}
      rejection={form.errors.code === 'category_in_use' && <StillUsed category={base} />}
      onClose={close}
    >
      {error && <p className="field-error">{error.message}</p>}
      <Fields
        item={draft}
        errors={form.errors.fields}
        conflicts={{
          name: conflictOn('name', name => name),
          description: conflictOn('description', description => description || 'nothing'),
        }}
        isReadOnly={!can('pets:write')}
        onChange={set}
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

interface FieldsProps {
  item: Pick<Category, 'name' | 'description'>;
  errors: Partial<Record<string, string>>;
  conflicts?: { name: Conflict | undefined; description: Conflict | undefined };
  isReadOnly?: boolean;
  onChange: (field: 'name' | 'description', value: string) => void;
}

function Fields({ item, errors, conflicts, isReadOnly = false, onChange }: FieldsProps) {
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
