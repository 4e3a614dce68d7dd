import { useMemo, useState } from 'react';
import { isAnimal, kindOfSubject } from '../../data/activity.ts';
import { usePetNames } from '../../data/pet-names.ts';
import { useDeletedThings, useThings } from '../../data/things.ts';
import { useCategories } from '../../data/use-categories.ts';
import { ComboBox } from '../../kit/combo-box.tsx';

interface ThingPickerProps {
  subject: string | undefined;
  onChoose: (subject: string | undefined) => void;
}

/** Finds an animal, a category, or what was deleted, by its name. */
export function ThingPicker({ subject, onChoose }: ThingPickerProps) {
  const [text, setText] = useState<string>();
  const { things, isPending } = useThings(text);
  const name = useNameOf(subject);
  return (
    <ComboBox
      aria-label="Thing"
      placeholder="Animal or category"
      value={name}
      suggestions={things.map(({ subject, name, kind }) => ({
        id: subject,
        name,
        note: <small>{kind}</small>,
      }))}
      found={isPending ? undefined : text}
      empty={text ? (isPending ? 'Searching …' : 'Nothing matches') : 'Type a name'}
      onSearch={setText}
      onChoose={chosen => {
        setText(undefined);
        onChoose(chosen);
      }}
    />
  );
}

/** The name of the thing that is chosen: the last one, if it was deleted. */
function useNameOf(subject: string | undefined): string {
  const id = Number(subject?.split('/').at(-1));
  const isOfAnimal = isAnimal(subject);
  const nameOf = usePetNames(useMemo(() => [isOfAnimal ? id : undefined], [isOfAnimal, id]));
  const category = useCategories().find(found => subject === `categories/${found.id}`);
  const deleted = useDeletedThings(subject !== undefined).find(thing => thing.subject === subject);
  if (subject === undefined) return '';
  return deleted?.name ?? category?.name ?? (isOfAnimal ? nameOf(id) : `${kindOfSubject(subject)} ${id}`);
}
