import { useRef, useState } from 'react';

/** Returns a function that runs work, unless earlier work still runs: a second click can come before its button is drawn as disabled. */
export function useOneAtATime() {
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  function run(work: () => Promise<void>): void {
    if (isRunning.current) return;
    isRunning.current = true;
    setBusy(true);
    void work().finally(() => {
      isRunning.current = false;
      setBusy(false);
    });
  }
  return { isBusy, run };
}
