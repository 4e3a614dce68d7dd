import { Link } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import type { LowItem } from '../../data/low-stock.ts';
import { useCategories } from '../../data/use-categories.ts';
import { Button } from '../../kit/button.tsx';
import { leadsBack } from '../../kit/close.ts';
import { inWords } from '../../kit/in-words.ts';
import { StockMenu } from '../stock/stock-menu.tsx';
import { Task } from './task.tsx';

interface LowStockProps {
  items: readonly LowItem[] | undefined;
  /** The latest stock, by the ID of the animal: an item can be older. */
  latest: ReadonlyMap<number, number> | undefined;
  onThresholds: () => void;
}

/** Animals with few units left. */
export function LowStock({ items = [], latest, onThresholds }: LowStockProps) {
  const { can } = useSession();
  const categories = useCategories();
  if (items.length === 0) return null;
  return (
    <Task
      icon="stock"
      title={`${inWords(items.length, 'animal')} ${items.length === 1 ? 'is' : 'are'} low in stock`}
      items={items}
      action={<Button onClick={onThresholds}>Thresholds</Button>}
      all={
        <Link to="/stock" search={{ sort: 'quantity' }}>
          Show the stock
        </Link>
      }
    >
      {({ pet, quantity: atFirst }) => {
        const quantity = latest?.get(pet.id) ?? atFirst;
        return (
          <li key={pet.id}>
            <Link to="/animals/$petId" params={{ petId: String(pet.id) }} state={leadsBack}>
              {pet.name}
            </Link>
            <small>
              {quantity === 0 ? 'None left' : `${quantity.toLocaleString()} left`},{' '}
              {categories.find(({ id }) => id === pet.categoryId)?.name}
            </small>
            {can('inventory:write') && (
              <StockMenu
                item={{ petId: pet.id, quantity, status: pet.status ?? 'available' }}
                name={pet.name}
                way="Add"
              >
                Restock
              </StockMenu>
            )}
          </li>
        );
      }}
    </Task>
  );
}
