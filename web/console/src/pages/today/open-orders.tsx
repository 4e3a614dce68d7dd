import { Link } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { addDays, type Day } from '../../data/days.ts';
import { AGES, type OpenOrders as Orders } from '../../data/open-orders.ts';

const words: Record<(typeof AGES)[number], string> = {
  1: 'Before today',
  7: '7+ days old',
  28: '28+ days old',
};

/** The number of open orders, and how many of them have waited for long. */
export function OpenOrders({ orders, today }: { orders: Orders | undefined; today: Day }) {
  const { can } = useSession();
  const ages = can('events:read') ? AGES : [];
  return (
    <section aria-label="Open orders by age">
      <h2>Open orders by age</h2>
      <div className="figures">
        <Link className="figure" to="/orders" search={{ complete: false }}>
          <strong>{orders?.total ?? '–'}</strong>
          <span>Open orders</span>
        </Link>
        {ages.map((days, i) => (
          <Link
            key={days}
            className="figure"
            to="/orders"
            search={{ complete: false, placedTo: addDays(today, -days) }}
          >
            <strong>{orders?.ages[i] ?? '–'}</strong>
            <span>{words[days]}</span>
          </Link>
        ))}
      </div>
    </section>
  );
}
