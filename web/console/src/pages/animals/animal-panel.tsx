import type { Pet } from '@petstore/client';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useActions } from '../../data/changes.ts';
import { useDraft } from '../../data/draft.ts';
import { useEdit } from '../../data/edits.ts';
import { findItem } from '../../data/list-cache.ts';
import { pets } from '../../data/pets.ts';
import { useSubmit } from '../../data/submit.ts';
import { useCategories } from '../../data/use-categories.ts';
import { Button } from '../../kit/button.tsx';
import { type Conflict, SelectField, TextField } from '../../kit/field.tsx';
import { Panel, Question } from '../../kit/panel.tsx';
import { showProblem } from '../../kit/toasts.ts';
import { StatusMenu } from './status-menu.tsx';

const list = getRouteApi('/animals');
const animal = getRouteApi('/animals/$petId');

function useClose(): () => void {
  const navigate = useNavigate();
  const search = list.useSearch();
  return () => navigate({ to: '/animals', search });
}

export function NewAnimal() {
  const close = useClose();
  const { create } = useActions(pets);
  const [draft, set, clear] = useDraft('pet.new', { name: '', categoryId: 0 });
  const form = useSubmit(['name', 'categoryId'], async () => {
    const { name, categoryId } = draft;
    await create({ name, ...(categoryId && { categoryId }) } as Pet, pet => `Added ${pet.name}`);
    clear();
    close();
  });
  return (
    <Panel title="Add animal" onClose={close}>
      <form onSubmit={form.submit}>
        <div className="panel-body">
          <Fields pet={draft} errors={form.errors.fields} onChange={set} />
          {form.errors.general && <p className="field-error">{form.errors.general}</p>}
        </div>
        <footer className="panel-footer">
          <Button onClick={close}>Close</Button>
          <Button kind="main" type="submit" disabled={form.isBusy}>
            {form.isBusy ? 'Adding …' : 'Add'}
          </Button>
        </footer>
      </form>
    </Panel>
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
  const { edit, set, choose, discard, save, isRestored, isChanged, error } = useEdit(pets, id, shown);
  const [isDeleting, setDeleting] = useState(false);
  const categories = useCategories();
  const nameOf = (id: number) => categories.find(category => category.id === id)?.name ?? id;
  const form = useSubmit(['name', 'categoryId'], async () => {
    if (await save(`Saved ${edit?.draft.name}`)) close();
  });
  const conflict = (
    field: 'name' | 'categoryId',
    shown: (value: never) => string | number,
  ): Conflict | undefined =>
    edit && field in edit.conflicts
      ? { theirs: shown(edit.conflicts[field] as never), onChoose: choice => choose(field, choice) }
      : undefined;

  return (
    <Panel title={edit?.base.name ?? 'Animal'} onClose={close}>
      {!edit && <p className="panel-body">{error?.message ?? 'Loading …'}</p>}
      {edit && (
        <form onSubmit={form.submit}>
          <div className="panel-body">
            {isRestored && isChanged && (
              <p className="note">
                Your unsaved changes are back.{' '}
                <Button kind="link" onClick={discard}>
                  Discard them
                </Button>
              </p>
            )}
            {error && <p className="field-error">{error.message}</p>}
            <Fields
              pet={edit.draft}
              errors={form.errors.fields}
              conflicts={{
                name: conflict('name', (name: string) => name),
                categoryId: conflict('categoryId', nameOf),
              }}
              isReadOnly={!can('pets:write')}
              onChange={set}
            />
            <div className="field">
              <span className="field-label">Status</span>
              <StatusMenu pet={edit.base} />
            </div>
            {form.errors.general && <p className="field-error">{form.errors.general}</p>}
          </div>
          {can('pets:write') && (
            <footer className="panel-footer">
              <Button kind="danger" icon="trash" className="first" onClick={() => setDeleting(true)}>
                Delete
              </Button>
              <Button onClick={close}>Close</Button>
              <Button kind="main" type="submit" disabled={form.isBusy}>
                {form.isBusy ? 'Saving …' : 'Save'}
              </Button>
            </footer>
          )}
        </form>
      )}
      {isDeleting && edit && (
        <Question
          title={`Delete ${edit.base.name}?`}
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={() => {
            setDeleting(false);
            remove(edit.base, `Deleted ${edit.base.name}`).then(close, showProblem);
          }}
        >
          <p>This cannot be undone. Completed orders keep its ID.</p>
        </Question>
      )}
    </Panel>
  );
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
