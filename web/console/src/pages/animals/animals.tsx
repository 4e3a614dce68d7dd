import type { Pet } from '@petstore/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSession } from '../../app/session.ts';
import { useListPage } from '../../data/lists.ts';
import { type PetQuery, pets } from '../../data/pets.ts';
import { useSelection } from '../../data/selection.ts';
import { useStockOf } from '../../data/stock-of.ts';
import { useCategories, useLacksCategories } from '../../data/use-categories.ts';
import { CategoryName } from '../../kit/category-icon.tsx';
import { Icon } from '../../kit/icon.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import { sortedBy } from '../../kit/sorted-by.tsx';
import type { Column } from '../../kit/table.tsx';
import { useToasts } from '../../kit/toasts.ts';
import { StockMenu } from '../stock/stock-menu.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { Filters } from './filters.tsx';
import { StatusMenu } from './status-menu.tsx';
import './animals.css';

export { EditAnimal, NewAnimal } from './animal-panel.tsx';

const route = getRouteApi('/animals');

export function Animals() {
  const { can } = useSession();
  const query = route.useSearch();
  const navigate = route.useNavigate();
  const page = useListPage(pets, query, petId =>
    navigate({ to: '/animals/$petId', params: { petId }, search: query }),
  );
  const selection = useSelection(pets, query, page.list.rows);
  const columns = useColumns(query, page.list.rows);
  const lacksCategories = useLacksCategories();
  const isFiltered = Object.keys(query).some(name => name !== 'sort');
  return (
    <ListPage
      title="Animals"
      className="animals"
      {...page}
      columns={columns}
      action={can('pets:write') && <AddLink search={query} />}
      filters={<Filters query={query} />}
      searched={query.q}
      selection={can('pets:write') ? { ...selection, nameOf } : undefined}
      selectionBar={
        can('pets:write') && (
          <BulkBar
            pets={selection.items}
            list={page.list}
            onSelect={selection.select}
            onClear={selection.clear}
          />
        )
      }
      empty={
        isFiltered
          ? { title: 'No animal matches', hint: 'Change the search or the filters.', action: showAll }
          : can('pets:write')
            ? {
                picture: 'animals',
                title: 'No animals yet',
                hint: lacksCategories
                  ? 'Add a category first: each animal belongs to one. You can also import both from a CSV file.'
                  : 'Add the first one. It is available at once, with a stock of one.',
                action: lacksCategories ? firstSteps : <AddLink search={query} />,
              }
            : {
                picture: 'animals',
                title: 'No animals yet',
                hint: 'Your API key can only read animals. Ask an administrator to let it add them.',
              }
      }
    />
  );
}

const nameOf = ({ name }: Pet) => name;

const showAll = (
  <Link className="button" to="/animals">
    Show all animals
  </Link>
);

const firstSteps = (
  <>
    <Link className="button" data-kind="main" to="/categories/new">
      <Icon name="add" />
      Add category
    </Link>
    <Link className="button" to="/import">
      Import a CSV file
    </Link>
  </>
);

function AddLink({ search }: { search: PetQuery }) {
  return (
    <Link className="button" data-kind="main" to="/animals/new" search={search}>
      <Icon name="add" />
      Add animal
    </Link>
  );
}

function useColumns(query: PetQuery, rows: readonly Pet[]): Column<Pet>[] {
  const { can } = useSession();
  const toasts = useToasts();
  const categories = useCategories();
  const { entries, refresh } = useStockOf(useMemo(() => rows.map(({ id }) => id), [rows]));
  return useMemo(() => {
    // A search has an order of its own.
    const sort = query.q ? undefined : (query.sort ?? 'id');
    const names = new Map(categories.map(({ id, name }) => [id, name]));
    const stock: Column<Pet> = {
      name: 'stock',
      header: 'In stock',
      cell: ({ id, name }) => {
        const item = entries.get(id);
        if (!item || !can('inventory:write')) return item?.quantity.toLocaleString();
        return (
          <StockMenu item={item} name={name} onClosed={() => void refresh(id).catch(toasts.showProblem)} />
        );
      },
    };
    return [
      { name: 'name', ...sortedBy('name', 'Name', sort), cell: pet => <strong>{pet.name}</strong> },
      {
        name: 'category',
        header: 'Category',
        cell: ({ categoryId }) => {
          const name = names.get(categoryId);
          return name && <CategoryName id={categoryId} name={name} />;
        },
      },
      ...(can('inventory:read') ? [stock] : []),
      { name: 'status', header: 'Status', cell: pet => <StatusMenu pet={pet} /> },
      { name: 'id', ...sortedBy('id', 'ID', sort), cell: pet => pet.id },
    ];
  }, [categories, query, entries, refresh, can, toasts]);
}
