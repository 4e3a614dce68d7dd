import type { Conflict } from '../kit/field.tsx';
import { type SetField, useDraft } from './draft.ts';
import { droppedInWords, useEdit } from './edits.ts';
import type { Resource } from './resource.ts';
import { useSubmit } from './submit.ts';

/** What the fields of a form need: those of a new item and of an edited one are the same. */
export interface FieldsProps<T extends object> {
  item: T;
  errors: Partial<Record<string, string>>;
  conflicts?: Partial<Record<keyof T, Conflict | undefined>>;
  isReadOnly?: boolean;
  onChange: SetField<T>;
  /** Drops the errors, which no longer apply. */
  forget: () => void;
}

interface NewForm<T extends object, Created> {
  /** The name of the stored draft. */
  name: string;
  empty: T;
  /** The names of the fields next to which errors are shown. */
  fields: readonly string[];
  create: (draft: T) => Promise<Created>;
  /** Shows what was created. Without it the panel closes, unless the user has changed the form since it was sent. */
  show?: (created: Created) => void;
  onClose: () => void;
}

/** A form for a new item: how to change it, and the properties of its panel and of its fields. */
export function useNewForm<T extends object, Created>(form: NewForm<T, Created>) {
  const { name, empty, fields, create, show, onClose } = form;
  const [draft, set, clear, isRestored, finish] = useDraft(name, empty);
  const { submit, isBusy, errors, forget } = useSubmit(fields, async () => {
    const created = await create(draft);
    const isLatest = finish(draft);
    if (show) show(created);
    else if (isLatest) onClose();
  });
  return {
    draft,
    set,
    panel: { form: { submit, isBusy, errors }, onDiscard: isRestored ? clear : undefined, onClose },
    fields: { item: draft, errors: errors.fields, onChange: set, forget },
  };
}

interface EditForm<T extends object> {
  /** The names of the fields next to which errors are shown. */
  fields: readonly string[];
  /** Saves the edit with `save`, whose argument says what was done. Returns what `save` returned. */
  save: (save: (done: string) => Promise<boolean>, draft: T) => Promise<boolean>;
  onClose: () => void;
}

/**
 * A form that edits an item, and then closes its panel: the edit, the conflicts of its fields, a way to run other requests with the errors
 * in the form, and the properties of the panel and of the fields. There are fields as soon as the item is known.
 */
export function useEditForm<T extends object>(resource: Resource<T>, id: number, form: EditForm<T>) {
  const { edit, isChanged, set, conflictOn, discard, save, isRestored, error } = useEdit(resource, id);
  const { submit, isBusy, errors, run, forget } = useSubmit(form.fields, async () => {
    if (edit && (await form.save(save, edit.draft))) form.onClose();
  });
  return {
    edit: edit && {
      base: edit.base,
      conflicts: edit.conflicts,
      fields: { item: edit.draft, errors: errors.fields, onChange: set, forget },
    },
    isChanged,
    conflictOn,
    run,
    error,
    panel: {
      form: { submit, isBusy, errors },
      error,
      note: edit?.dropped && droppedInWords(edit.dropped),
      onDiscard: isRestored ? discard : undefined,
      onClose: form.onClose,
    },
  };
}
