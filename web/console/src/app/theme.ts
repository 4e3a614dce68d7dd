import { useLayoutEffect } from 'react';
import { stored } from '../kit/stored.ts';

export const themes = ['system', 'light', 'dark'] as const;

export const theme = stored<(typeof themes)[number]>('colours', 'system');

/** Shows the theme that was chosen, here or in another tab. Without a rule for `system` the styles follow the system. */
export function useShownTheme(): void {
  const chosen = theme.use();
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = chosen;
  }, [chosen]);
}
