import { PreconditionError } from '@petstore/client';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useSession } from '../app/session.ts';
import { useIsShown } from '../kit/is-shown.ts';
import { useActions } from './changes.ts';
import { storeDraft, storedDraft } from './draft.ts';
import { fieldInWords, valueInWords } from './field-words.ts';
import { findItem } from './list-cache.ts';
import {
  changesOf,
  type Edit,
  fix,
  forgetDropped,
  hasConflicts,
  isSame,
  receive,
  resolve,
  setField,
  startEdit,
} from './merge.ts';
import type { Resource, Version } from './resource.ts';
import { useEvents } from './use-events.ts';

/** A save, with the values that it sends last. */
interface Save<T> {
  values: Partial<T>;
  /** Whether the user has discarded them while it runs. */
  isDiscarded?: true;
}

/** The saves of this session that run, by the place of their draft. */
const saves = new Map<string, Save<object>>();

/**
 * An edit of an item in a form. Typed values survive everything: changes by other clients, which are merged per field, a closed
 * panel and a reload. What a list knows about the item, or `shown`, appears at once.
 */
export function useEdit<T extends object>(resource: Resource<T>, id: number, shown?: T) {
  const { store, cache, onEnd } = useSession();
  const { change } = useActions(resource);
  const place = `${resource.name}.${id}`;
  const [edit, setEdit] = useState<Edit<T> | undefined>(() => {
    const known = shown ?? findItem(cache, resource, id);
    return storedDraft<Edit<T>>(place) ?? (known && startEdit(known));
  });
  const [isRestored] = useState(() => storedDraft(place) !== undefined);
  const isChanged = edit !== undefined && !isUnchanged(edit);
  const latest = useRef<Version<T>>(undefined);
  const isShown = useIsShown();
  /** What the form shows now, for a request that ends later. */
  const current = useRef(edit);
  /** The form's own save, and one that ran when it was opened again. Until their values arrive, these are no change by another client. */
  const earlier = saves.get(place) as Save<T> | undefined;
  const awaited = useRef(earlier ? [earlier] : []);
  const version = useQuery({
    queryKey: [resource.name, 'one', id],
    queryFn: () => resource.read(store, id),
    gcTime: 0,
    staleTime: 0,
  });

  useEffect(() => {
    if (!version.data) return;
    const { data } = version.data;
    latest.current = version.data;
    const saved = awaited.current;
    setEdit(edit => (edit ? merge(resource, edit, data, saved) : startEdit(data)));
    awaited.current = saved.filter(({ values }) => !isSame({ ...data, ...values }, data));
  }, [version.data, resource]);

  useEvents(({ type, data }) => {
    if (type.startsWith(`${resource.name}.`) && resource.idOf(data as unknown as T) === id) version.refetch();
  });

  useEffect(() => {
    current.current = edit;
    if (edit) storeDraft(place, isChanged ? edit : undefined);
  }, [edit, isChanged, place]);

  /** Shows an edit. A request that continues before the form is drawn has it at once. */
  function show(edit: Edit<T>) {
    current.current = edit;
    setEdit(edit);
  }

  const set = useCallback(<Field extends keyof T>(field: Field, value: T[Field]) => {
    setEdit(edit => edit && setField(edit, field, value));
  }, []);

  /** The conflict about a field, for its element; `undefined` if there is none. `shown` writes a value as the user reads it. */
  function conflictOn<Field extends keyof T>(field: Field, shown: (value: T[Field]) => string | number) {
    if (!edit || !(field in edit.conflicts)) return undefined;
    return {
      theirs: shown(edit.conflicts[field] as T[Field]),
      onChoose: (choice: 'mine' | 'theirs') => setEdit(edit => edit && resolve(edit, field, choice)),
    };
  }

  const discard = useCallback(() => {
    for (const save of awaited.current) save.isDiscarded = true;
    setEdit(edit => edit && startEdit(edit.base));
  }, []);

  /**
   * Saves the changed fields. Returns whether all are saved: a conflict needs the user first, and what was typed meanwhile, or can no
   * longer change, is not saved. `undo` is `false` if the user was asked before, because the change cannot be undone.
   */
  async function save(done: string, undo?: false): Promise<boolean> {
    if (!edit) return false;
    const running: Save<T> = { values: changesOf(edit) };
    saves.set(place, running);
    awaited.current = [...awaited.current, running];
    // The draft belongs to the next user then.
    const ignoreEnd = onEnd(() => saves.delete(place));
    try {
      return await send(edit, running, done, undo);
    } finally {
      ignoreEnd();
      if (saves.get(place) === running) saves.delete(place);
      awaited.current = awaited.current.filter(save => save !== running);
    }
  }

  async function send(edit: Edit<T>, running: Save<T>, done: string, undo?: false): Promise<boolean> {
    // Without what is typed from now on, which can be half a word.
    let sent = edit;
    const form = () => current.current ?? sent;
    // The user has read what it had dropped before.
    show(forgetDropped(form()));
    latest.current ??= await resource.read(store, id);
    for (;;) {
      sent = merge(resource, sent, latest.current.data, awaited.current);
      show(merge(resource, form(), latest.current.data, awaited.current));
      if (hasConflicts(sent)) return false;
      const changes = changesOf(sent);
      if (Object.keys(changes).length > 0) {
        running.values = changes;
        const { etag } = latest.current;
        try {
          const after = await change(sent.base, changes, { done, etag, ...(undo === false && { undo }) });
          // Otherwise an event has brought this version already, or a newer one.
          if (latest.current.etag === etag) latest.current = after;
        } catch (error) {
          if (!(error instanceof PreconditionError)) throw error;
          latest.current = await resource.read(store, id);
          continue;
        }
        awaited.current = [];
        show(merge(resource, afterSave(form(), sent, running), latest.current.data));
      }
      const stored = storedDraft<Edit<T>>(place);
      if (stored && saves.get(place) === running) {
        // What was typed since is kept, also in a form that was opened again.
        const kept = merge(resource, afterSave(stored, sent, running), latest.current.data);
        storeDraft(place, isUnchanged(kept) ? undefined : kept);
      }
      const { dropped } = form();
      // The panel shows this, unless the user has closed it.
      if (dropped && !isShown()) throw new Error(droppedInWords(dropped));
      return isUnchanged(form()) && dropped === undefined;
    }
  }

  return {
    edit,
    isChanged,
    set,
    conflictOn,
    discard,
    save,
    isRestored: isRestored && isChanged,
    error: version.error,
  };
}

/** Merges a newer version of the item, of which some fields may no longer be able to change. */
function merge<T extends object>(
  resource: Resource<T>,
  edit: Edit<T>,
  data: T,
  saved: readonly Save<T>[] = [],
): Edit<T> {
  const values = saved.map(save => ownValues(edit, save));
  return fix(receive(edit, data, ...values), resource.fixed?.(data) ?? []);
}

/**
 * A form whose save has ended: it is based on what was saved. Not in a field of which it has shown a newer value that the user has seen and
 * kept, or has replaced: that is a change of the user, after the save.
 */
function afterSave<T extends object>(form: Edit<T>, sent: Edit<T>, save: Save<T>): Edit<T> {
  const isOpen = (field: keyof T) => field in form.conflicts || isSame(form.base[field], sent.base[field]);
  const arrived = Object.entries(ownValues(form, save)).filter(([field]) => isOpen(field as keyof T));
  return { ...form, base: { ...form.base, ...Object.fromEntries(arrived) } };
}

/**
 * The values of a save that a form takes for its own. Discarded ones replace what it shows, as those of another client do, unless the
 * user has typed something else since.
 */
function ownValues<T extends object>({ base, draft }: Edit<T>, { values, isDiscarded }: Save<T>): Partial<T> {
  if (!isDiscarded) return values;
  const typed = Object.entries(values).filter(
    ([field]) => !isSame(draft[field as keyof T], base[field as keyof T]),
  );
  return Object.fromEntries(typed) as Partial<T>;
}

export function droppedInWords(dropped: object): string {
  const values = Object.entries(dropped).map(
    ([field, value]) => `${fieldInWords(field)}\u00a0${valueInWords(field, value)}`,
  );
  return `Not saved, because it can no longer change: ${values.join(', ')}`;
}

function isUnchanged<T extends object>(edit: Edit<T>): boolean {
  return Object.keys(changesOf(edit)).length === 0;
}
