import { useLayoutEffect } from 'react';

/** Shows the title of a page in the browser's tab and history. Without one it is that of the console. */
export function useTitle(title: string | undefined): void {
  useLayoutEffect(() => {
    document.title = [title, 'Pet Store'].filter(Boolean).join(' · ');
  }, [title]);
}
