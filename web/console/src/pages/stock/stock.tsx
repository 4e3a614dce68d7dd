import type { InventoryItem } from '@petstore/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useListPage } from '../../data/lists.ts';
import { usePetNames } from '../../data/pet-names.ts';
import { type StockQuery, stock } from '../../data/stock.ts';
import { Button } from '../../kit/button.tsx';
import { Icon } from '../../kit/icon.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import { Status } from '../../kit/status.tsx';
import type { Column } from '../../kit/table.tsx';
import { Filters } from './filters.tsx';
import { openStockMenu, StockMenu } from './stock-menu.tsx';
import { Thresholds } from './thresholds.tsx';
import './stock.css';

const route = getRouteApi('/stock');

export function Stock() {
  const query = route.useSearch();
  const page = useListPage(stock, query, openStockMenu);
  const columns = useColumns(query, page.list.rows);
  const isFiltered = Object.keys(query).some(name => name !== 'sort');
  return (
    <ListPage
      title="Stock"
      className="stock"
      {...page}
      columns={columns}
      action={<LowStockButton />}
      filters={<Filters query={query} />}
      empty={
        isFiltered
          ? { title: 'No stock matches', hint: 'Change the filters.', action: showAll }
          : { title: 'No stock yet', hint: 'Add an animal first: it has a stock of one.', action: toAnimals }
      }
    />
  );
}

/** Opens the numbers below which Today lists an animal. */
function LowStockButton() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Low stock</Button>
      {isOpen && <Thresholds onClose={() => setOpen(false)} />}
    </>
  );
}

const showAll = (
  <Link className="button" to="/stock">
    Show all stock
  </Link>
);

const toAnimals = (
  <Link className="button" to="/animals">
    Animals
  </Link>
);

function useColumns(query: StockQuery, rows: readonly InventoryItem[]): Column<InventoryItem>[] {
  const { can } = useSession();
  const nameOf = usePetNames(useMemo(() => rows.map(({ petId }) => petId), [rows]));
  return useMemo(
    () => [
      { name: 'animal', header: 'Animal', cell: ({ petId }) => <strong>{nameOf(petId)}</strong> },
      { name: 'status', header: 'Status', cell: ({ status }) => <Status status={status} /> },
      {
        name: 'quantity',
        ...sortedByQuantity(query),
        cell: item =>
          can('inventory:write') ? (
            <StockMenu item={item} name={nameOf(item.petId)} />
          ) : (
            item.quantity.toLocaleString()
          ),
      },
    ],
    [nameOf, query, can],
  );
}

/** The header of the column that sorts the list: in the other direction. */
function sortedByQuantity(query: StockQuery) {
  const isDescending = query.sort === '-quantity';
  const sorted = isDescending ? ('descending' as const) : ('ascending' as const);
  const next = isDescending ? ('quantity' as const) : ('-quantity' as const);
  return {
    sorted,
    header: (
      <Link to="/stock" search={{ ...query, sort: next }} replace data-sorted={sorted}>
        In stock
        <Icon name="down" />
      </Link>
    ),
  };
}
