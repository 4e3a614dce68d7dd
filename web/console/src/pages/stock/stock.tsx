import type { InventoryItem } from '@petstore/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { useSession } from '../../app/session.ts';
import { useListPage } from '../../data/lists.ts';
import { usePetCategories, usePetNames } from '../../data/pet-names.ts';
import { type StockQuery, stock } from '../../data/stock.ts';
import { useCategories } from '../../data/use-categories.ts';
import { Button } from '../../kit/button.tsx';
import { CategoryName } from '../../kit/category-icon.tsx';
import { inWords } from '../../kit/in-words.ts';
import { ListPage } from '../../kit/list-page.tsx';
import { sortedBy } from '../../kit/sorted-by.tsx';
import { Status } from '../../kit/status.tsx';
import type { Column } from '../../kit/table.tsx';
import { useToasts } from '../../kit/toasts.ts';
import { CountField, countUnsaved } from './count-field.tsx';
import { Filters } from './filters.tsx';
import { Stepper } from './stepper.tsx';
import { openStockMenu } from './stock-menu.tsx';
import { Thresholds } from './thresholds.tsx';
import './stock.css';

const route = getRouteApi('/stock');

export function Stock() {
  const query = route.useSearch();
  const page = useListPage(stock, query, openStockMenu);
  const { can } = useSession();
  const toasts = useToasts();
  /** The animals that were counted, while the user counts. */
  const [counted, setCounted] = useState<Set<number>>();
  const columns = useColumns(query, page.list.rows, counted);
  useEffect(() => {
    if (counted) document.querySelector<HTMLElement>('.count input')?.focus();
  }, [counted]);
  function end(): void {
    const unsaved = countUnsaved();
    if (unsaved > 0)
      toasts.show({
        tone: 'warning',
        text: `${inWords(unsaved, 'counted number')} ${unsaved === 1 ? 'is' : 'are'} not saved, and kept for the next count in this tab`,
      });
    setCounted(undefined);
  }

  const isFiltered = Object.keys(query).some(name => name !== 'sort');
  return (
    <ListPage
      title="Stock"
      className="stock"
      {...page}
      columns={columns}
      action={
        <div className="panel-actions">
          {!counted && <ThresholdsButton />}
          {can('inventory:write') && (
            <Button
              kind={counted ? 'main' : 'plain'}
              onClick={() => {
                const wrong = document.querySelector<HTMLInputElement>('.count input:invalid');
                if (wrong) wrong.reportValidity();
                else if (counted) end();
                else setCounted(new Set());
              }}
            >
              {counted ? 'End the count' : 'Count'}
            </Button>
          )}
        </div>
      }
      filters={<Filters query={query} />}
      searched={query.q}
      empty={
        isFiltered
          ? { title: 'No stock matches', hint: 'Change the filters.', action: showAll }
          : {
              picture: 'stock',
              title: 'No stock yet',
              hint: 'Add an animal first: it has a stock of one.',
              action: toAnimals,
            }
      }
    />
  );
}

/** Opens the numbers below which Today lists an animal. */
function ThresholdsButton() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>Thresholds</Button>
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

function useColumns(
  query: StockQuery,
  rows: readonly InventoryItem[],
  counted: Set<number> | undefined,
): Column<InventoryItem>[] {
  const { can } = useSession();
  const ids = useMemo(() => rows.map(({ petId }) => petId), [rows]);
  const nameOf = usePetNames(ids);
  const categoryOf = usePetCategories(ids);
  const categories = useCategories();
  return useMemo(() => {
    const titles = new Map(categories.map(({ id, name }) => [id, name]));
    // A search has an order of its own.
    const sort = query.q ? undefined : (query.sort ?? 'quantity');
    return [
      {
        name: 'animal',
        ...sortedBy('name', 'Animal', can('pets:read') ? sort : undefined),
        cell: ({ petId }) => <strong>{nameOf(petId)}</strong>,
      },
      {
        // Animals can have the same name.
        name: 'category',
        header: 'Category',
        cell: ({ petId }) => {
          const id = categoryOf(petId);
          const name = titles.get(id ?? 0);
          return id !== undefined && name !== undefined && <CategoryName id={id} name={name} />;
        },
      },
      { name: 'status', header: 'Status', cell: ({ status }) => <Status status={status} /> },
      {
        name: 'quantity',
        ...sortedBy('quantity', 'In stock', sort),
        cell: item => {
          if (!can('inventory:write')) return item.quantity.toLocaleString();
          const name = nameOf(item.petId);
          return counted ? (
            <CountField item={item} name={name} counted={counted} />
          ) : (
            <Stepper item={item} name={name} />
          );
        },
      },
    ];
  }, [nameOf, categoryOf, categories, query, can, counted]);
}
