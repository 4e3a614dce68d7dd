import { type FunctionComponent, useEffect } from 'react';
import { Button } from '../kit/button.tsx';
import { Empty } from '../kit/empty.tsx';
import { lazyPart } from '../kit/lazy-part.tsx';

/** A page or a panel with an address. Its code is loaded when the user goes there, or before. */
export function lazyPage<Name extends string>(
  load: () => Promise<{ [N in Name]: FunctionComponent }>,
  name: Name,
) {
  return lazyPart(load, name, PageNotLoaded);
}

/** Whether this document was loaded again by itself: a user who stays because an import is running is not asked twice. */
let wasReloaded = false;

function PageNotLoaded({ onRetry }: { onRetry: () => void }) {
  useEffect(() => {
    void isReplaced().then(isReplaced => {
      if (!isReplaced || wasReloaded) return;
      wasReloaded = true;
      location.reload();
    });
  }, []);
  return (
    <Empty picture="problem" title="This page is not loaded yet">
      <p>The service cannot be reached. The page appears by itself when it is back.</p>
      <Button onClick={onRetry}>Try again</Button>
    </Empty>
  );
}

/** Whether the service has a newer console, which no longer has the files of this one. */
async function isReplaced(): Promise<boolean> {
  const entry = document.querySelector('script[type="module"]')?.getAttribute('src');
  try {
    const response = await fetch('/console/', { cache: 'no-store' });
    return response.ok && entry != null && !(await response.text()).includes(entry);
  } catch {
    return false;
  }
}
