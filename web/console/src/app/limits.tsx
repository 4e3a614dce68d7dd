import { useEffect, useState } from 'react';
import { useSession } from './session.ts';

interface Remaining {
  name: string;
  remaining: number;
  limit: number;
}

/** From this part of the limit on, the rest is no longer worth a look. */
const AMPLE = 1 / 4;

/** How many requests the key has left in the window with the fewest, when they are few. */
export function Limits() {
  const { store, account, onResponse } = useSession();
  const known = (): Remaining => {
    const reported = store.limits.windows.toSorted((a, b) => a.remaining - b.remaining)[0];
    return reported ?? { name: 'minute', ...account.windows.minute };
  };
  const [{ name, remaining, limit }, setShown] = useState(known);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `known` reads only the session
  useEffect(() => onResponse(() => setShown(known())), [onResponse]);
  if (remaining >= AMPLE * limit) return null;
  const text = `${remaining.toLocaleString()} of ${limit.toLocaleString()} requests left this ${name}`;
  return (
    <div className="limits" title={text}>
      <meter
        min={0}
        max={limit}
        low={limit / 10}
        high={limit / 5}
        optimum={limit}
        value={remaining}
        aria-label={text}
      />
      <span aria-hidden="true">{Math.ceil((100 * remaining) / limit)} %</span>
    </div>
  );
}
