import type { Account } from '@petstore/client';
import { Time } from '../../kit/time.tsx';

/** What the service has warned of: the parts of its limits that the key has used today, and that it ends soon. */
export function Warnings({ warnings: { quota, expiry } }: Pick<Account, 'warnings'>) {
  if (quota.length + expiry.length === 0) return null;
  return (
    <ul className="warnings" aria-label="Warnings">
      {quota.map(({ window, percent, limit, passedAt }) => (
        <li key={`${window} ${percent} ${limit}`}>
          {window === 'minute'
            ? `${limit.toLocaleString()} requests a minute used up in 5 of 10 minutes`
            : `${percent} % of ${limit.toLocaleString()} requests a day used`}{' '}
          (<Time at={passedAt} />)
        </li>
      ))}
      {expiry.map(({ days, passedAt }) => (
        <li key={days}>
          Expiry: {days === 1 ? '1 day was' : `${days} days were`} left (<Time at={passedAt} />)
        </li>
      ))}
    </ul>
  );
}
