import type { Pet } from '@petstore/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSession } from '../../app/session.ts';
import { useListPage } from '../../data/lists.ts';
import { type PetQuery, pets } from '../../data/pets.ts';
import { useSelection } from '../../data/selection.ts';
import { useCategories, useLacksCategories } from '../../data/use-categories.ts';
import { Icon } from '../../kit/icon.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import type { Column } from '../../kit/table.tsx';
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
  const columns = useColumns(query);
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
          <BulkBar pets={selection.items} gone={page.list.gone} onClear={selection.clear} />
        )
      }
      empty={
        isFiltered
          ? { title: 'No animal matches', hint: 'Change the search or the filters.', action: showAll }
          : can('pets:write')
            ? {
                title: 'No animals yet',
                hint: lacksCategories
                  ? 'Add a category first: each animal belongs to one. You can also import both from a CSV file.'
                  : 'Add the first one. It is available at once, with a stock of one.',
                action: lacksCategories ? firstSteps : <AddLink search={query} />,
              }
            : {
                title: 'No animals yet',
                hint: 'Your API key can only read. A user with the scope pets:write can add animals.',
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

function useColumns(query: PetQuery): Column<Pet>[] {
  const categories = useCategories();
  return useMemo(() => {
    const names = new Map(categories.map(({ id, name }) => [id, name]));
    return [
      { name: 'name', ...sortedBy('name', 'Name', query), cell: pet => <strong>{pet.name}</strong> },
      { name: 'category', header: 'Category', cell: pet => names.get(pet.categoryId) ?? '' },
      { name: 'status', header: 'Status', cell: pet => <StatusMenu pet={pet} /> },
      { name: 'id', ...sortedBy('id', 'ID', query), cell: pet => pet.id },
    ];
  }, [categories, query]);
}

/** The header of a column that sorts the list: in the other direction, if the list is sorted by it. */
function sortedBy(field: 'id' | 'name', title: string, query: PetQuery) {
  // A search has an order of its own.
  if (query.q) return { header: title };
  const sort = query.sort ?? 'id';
  const sorted =
    sort === field ? ('ascending' as const) : sort === `-${field}` ? ('descending' as const) : undefined;
  const next = sorted === 'ascending' ? (`-${field}` as const) : field;
  return {
    sorted,
    header: (
      <Link to="/animals" search={{ ...query, sort: next }} replace data-sorted={sorted}>
        {title}
        <Icon name="down" />
      </Link>
    ),
  };
}
