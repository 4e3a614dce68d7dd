import { useSyncExternalStore } from 'react';

const phone = matchMedia('(max-width: 45em)');

/** Whether the screen is as narrow as that of a phone: `web/identity/tokens.css` has the same width. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(
    listener => {
      phone.addEventListener('change', listener);
      return () => phone.removeEventListener('change', listener);
    },
    () => phone.matches,
  );
}
