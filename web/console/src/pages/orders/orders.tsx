import type { Order } from '@petstore/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSession } from '../../app/session.ts';
import { useListPage } from '../../data/lists.ts';
import { type OrderQuery, orders, sortOf } from '../../data/orders.ts';
import { usePetNames } from '../../data/pet-names.ts';
import { useSelection } from '../../data/selection.ts';
import { Icon } from '../../kit/icon.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import { sortedBy } from '../../kit/sorted-by.tsx';
import type { Column } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Filters } from './filters.tsx';
import { OrderMenu } from './order-menu.tsx';
import { WorkBar } from './work-bar.tsx';
import './orders.css';

export { EditOrder, NewOrder } from './order-panel.tsx';

const route = getRouteApi('/orders');

export function Orders() {
  const { can } = useSession();
  const query = route.useSearch();
  const navigate = route.useNavigate();
  const page = useListPage(orders, query, orderId =>
    navigate({ to: '/orders/$orderId', params: { orderId }, search: query }),
  );
  const { rows } = page.list;
  const columns = useColumns(query, rows);
  const selected = useSelection(orders, query, rows);
  const isFiltered = Object.keys(query).some(name => name !== 'sort');
  const place = can('orders:write') && (
    <Link className="button" data-kind="main" to="/orders/new" search={query}>
      <Icon name="add" />
      Place order
    </Link>
  );
  return (
    <ListPage
      title="Orders"
      className="orders"
      {...page}
      columns={columns}
      action={place}
      filters={<Filters query={query} />}
      selection={can('orders:write') ? { ...selected, nameOf: ({ id }) => `order ${id}` } : undefined}
      selectionBar={
        <WorkBar
          orders={selected.items}
          list={page.list}
          onSelect={selected.select}
          onClear={selected.clear}
        />
      }
      empty={
        isFiltered
          ? { title: 'No order matches', hint: 'Change the filters.', action: showAll }
          : place
            ? {
                picture: 'orders',
                title: 'No orders yet',
                hint: 'Place the first one. It takes its units from the stock at once.',
                action: place,
              }
            : {
                picture: 'orders',
                title: 'No orders yet',
                hint: 'Your API key can only read orders. Ask an administrator to let it place them.',
              }
      }
    />
  );
}

const showAll = (
  <Link className="button" to="/orders">
    Show all orders
  </Link>
);

function useColumns(query: OrderQuery, rows: readonly Order[]): Column<Order>[] {
  const nameOf = usePetNames(useMemo(() => rows.map(({ petId }) => petId), [rows]));
  return useMemo(() => {
    const animalOf = ({ petId }: Order) => (petId === undefined ? 'No animal' : nameOf(petId));
    return [
      { name: 'id', ...headerOf('id', 'Order', query), cell: order => <strong>{order.id}</strong> },
      { name: 'animal', header: 'Animal', cell: animalOf },
      { name: 'quantity', header: 'Units', cell: ({ quantity = 1 }) => `${quantity.toLocaleString()} ×` },
      {
        name: 'ships',
        ...headerOf('shipDate', 'Ships', query),
        cell: ({ shipDate, complete = false }) => shipDate && <Time at={shipDate} isDay={!complete} />,
      },
      { name: 'state', header: 'Status', cell: order => <OrderMenu order={order} name={animalOf(order)} /> },
    ];
  }, [nameOf, query]);
}

/** The header of a column. A list that is filtered by ship date can be sorted only by it, and others cannot. */
function headerOf(field: 'id' | 'shipDate', title: string, query: OrderQuery) {
  const sort = sortOf(query);
  if (!sort.endsWith(field)) return { header: title };
  const column = sortedBy(field, title, sort);
  // A list of days of placing has one order.
  return query.placedFrom || query.placedTo ? { ...column, header: title } : column;
}
