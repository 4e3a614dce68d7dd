import { Link } from '@tanstack/react-router';
import { Empty } from '../kit/empty.tsx';

/** What an address shows that leads to nothing. */
export function NoPage() {
  return (
    <Empty picture="nowhere" title="Page not found">
      <p>
        The address may be mistyped. <Link to="/">Go to Today</Link>
      </p>
    </Empty>
  );
}
