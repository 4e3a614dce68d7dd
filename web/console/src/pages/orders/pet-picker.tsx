import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type ComponentProps, useMemo, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { keepNames, usePetNames } from '../../data/pet-names.ts';
import { pets, searchPets } from '../../data/pets.ts';
import { firstPage } from '../../data/resource.ts';
import { ComboBox, type Suggestion } from '../../kit/combo-box.tsx';
import { type Described, Field } from '../../kit/field.tsx';
import { Status } from '../../kit/status.tsx';
import { statusNames } from '../../kit/status-names.ts';

/** How many animals are suggested. */
const MOST = 8;
const none: never[] = [];

interface PetPickerProps extends Omit<ComponentProps<'input'>, 'value' | 'onChange'> {
  petId: number | undefined;
  /** Whether only available animals can be chosen, except the one with this ID, which the order has already. */
  forOrder?: { own: number | undefined };
  /** What is suggested before the animals. Its IDs are negative. */
  before?: (text: string) => readonly Suggestion[];
  onChoose: (petId: number | undefined) => void;
}

/** Finds an animal by its name. Without the scope for animals it takes the ID. */
export function PetPicker({ petId, forOrder, before, onChoose, ...input }: PetPickerProps) {
  const { store, cache, can } = useSession();
  const [text, setText] = useState<string>();
  const nameOf = usePetNames(useMemo(() => [petId], [petId]));
  const {
    data: found = none,
    isPending,
    isPlaceholderData,
    error,
  } = useQuery({
    queryKey: [pets.name, 'suggestions', text, forOrder !== undefined],
    queryFn: async ({ signal }) => {
      // Without a text the animals that can be ordered are suggested.
      const status = forOrder && ('available' as const);
      const list = text
        ? searchPets(store, { q: text, limit: MOST }, { signal })
        : store.pets.list({ status, limit: MOST }, { signal });
      const { data } = await firstPage(list);
      keepNames(cache, data);
      return data;
    },
    enabled: text !== undefined && can('pets:read'),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  if (!can('pets:read'))
    return (
      <input
        {...input}
        type="number"
        value={petId ?? ''}
        onChange={event => onChoose(event.target.valueAsNumber || undefined)}
      />
    );
  const animals = found.map(({ id, name, status = 'available' }) => ({
    id,
    name,
    note: <Status status={status} />,
    reason:
      forOrder && status !== 'available' && id !== forOrder.own
        ? `It is ${statusNames[status].toLowerCase()}: only available animals can be ordered`
        : undefined,
  }));
  return (
    <ComboBox
      {...input}
      value={petId === undefined ? '' : nameOf(petId)}
      suggestions={[...(before?.(text ?? '') ?? none), ...animals]}
      found={isPending || isPlaceholderData ? undefined : text}
      empty={error?.message ?? (isPending ? 'Searching …' : 'No animal matches')}
      onSearch={setText}
      onChoose={onChoose}
    />
  );
}

/** The same as a field of a form. */
export function PetField({ label, error, conflict, ...picker }: Described & PetPickerProps) {
  return (
    <Field label={label} error={error} conflict={conflict}>
      {control => <PetPicker {...picker} {...control} />}
    </Field>
  );
}
