import { useRef, useState } from 'react';
import { askingToLeave } from './asking-to-leave.ts';

/**
 * Returns a function that runs work, unless earlier work still runs: a second click can come before its button is drawn as disabled. The
 * browser asks before the page is left meanwhile.
 */
export function useOneAtATime() {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  function run(work: () => Promise<void>): void {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    void askingToLeave(work).finally(() => {
      isRunning.current = false;
      setBusy(false);
    });
  }
  return { isBusy, run };
}
