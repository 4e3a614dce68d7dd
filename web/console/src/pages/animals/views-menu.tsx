import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { PetQuery } from '../../data/pets.ts';
import { useSubmit } from '../../data/submit.ts';
import { useViews } from '../../data/use-views.ts';
import { isSameQuery } from '../../data/views.ts';
import { TextField } from '../../kit/field.tsx';
import { FormPanel } from '../../kit/form-panel.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import { useToasts } from '../../kit/toasts.ts';

const route = getRouteApi('/animals');

/** The saved views of the list: filters and sorting that the user gave a name. */
export function ViewsMenu({ query }: { query: PetQuery }) {
  const navigate = route.useNavigate();
  const toasts = useToasts();
  const { views, save, remove } = useViews<PetQuery>('animals');
  const [isNaming, setNaming] = useState(false);
  const current = views.find(view => isSameQuery(view.query, query));

  function removeCurrent(): void {
    if (!current) return;
    remove(current.name);
    toasts.show({ text: `Deleted the view ${current.name}`, undo: async () => save(current) });
  }

  function saveCurrent(name: string): void {
    const earlier = views.find(view => view.name === name);
    save({ name, query });
    if (earlier) toasts.show({ text: `Replaced the view ${name}`, undo: async () => save(earlier) });
  }

  return (
    <>
      <Menu
        label={current ? `Views: ${current.name}` : 'Views'}
        className="button"
        items={[
          ...views.map(view => ({
            label: view.name,
            isCurrent: view === current,
            onChoose: () => navigate({ to: '/animals', search: view.query }),
          })),
          current
            ? { label: `Delete the view ${current.name}`, onChoose: removeCurrent }
            : {
                label: 'Save as a view …',
                reason: Object.keys(query).length > 0 ? undefined : 'Choose filters or a sort order first',
                onChoose: () => setNaming(true),
              },
        ]}
      >
        {current?.name ?? 'Views'}
        <Icon name="down" />
      </Menu>
      {isNaming && (
        <NamePanel
          onClose={() => setNaming(false)}
          onName={name => {
            saveCurrent(name);
            setNaming(false);
          }}
        />
      )}
    </>
  );
}

function NamePanel({ onName, onClose }: { onName: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState('');
  const form = useSubmit([], async () => onName(name.trim()));
  return (
    <FormPanel title="Save as a view" kind="question" form={form} action="Save" onClose={onClose}>
      <TextField
        label="Name of the view"
        value={name}
        maxLength={60}
        required
        pattern=".*\S.*"
        onChange={event => setName(event.target.value)}
      />
      <p className="hint">The view keeps these filters and this order, in this browser only.</p>
    </FormPanel>
  );
}
