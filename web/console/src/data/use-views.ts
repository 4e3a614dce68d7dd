import { useCallback, useMemo } from 'react';
import { stored } from '../kit/stored.ts';
import { type View, withView } from './views.ts';

/** The saved views of a list, by name. They stay in this browser. */
export function useViews<Query extends object>(list: string) {
  const all = useMemo(() => stored<readonly View<Query>[]>(`views.${list}`, []), [list]);
  /** Saves a view; a view with the same name is replaced. */
  const save = useCallback((view: View<Query>) => all.write(withView(all.read(), view)), [all]);
  const remove = useCallback(
    (name: string) => all.write(all.read().filter(view => view.name !== name)),
    [all],
  );
  return { views: all.use(), save, remove };
}
