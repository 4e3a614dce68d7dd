import type { Pet } from '@petstore/client';
import { getRouteApi, Link, Outlet } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useSession } from '../../app/session.ts';
import { useCurrent } from '../../data/current.ts';
import { useList } from '../../data/lists.ts';
import { type PetQuery, pets } from '../../data/pets.ts';
import { useCategories } from '../../data/use-categories.ts';
import { Button } from '../../kit/button.tsx';
import { Empty } from '../../kit/empty.tsx';
import { Icon } from '../../kit/icon.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Filters } from './filters.tsx';
import { StatusMenu } from './status-menu.tsx';
import './animals.css';

export { EditAnimal, NewAnimal } from './animal-panel.tsx';

const route = getRouteApi('/animals');

export function Animals() {
  const { can } = useSession();
  const query = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(pets, query);
  const [current, setCurrent] = useCurrent(pets, query);
  const columns = useColumns(query);
  const open = (pet: Pet) => {
    setCurrent(pet.id);
    navigate({ to: '/animals/$petId', params: { petId: String(pet.id) }, search: query });
  };
  return (
    <section className="page" aria-label="Animals">
      <header className="page-header">
        <h1>
          Animals <small>{list.total}</small>
        </h1>
        {can('pets:write') && (
          <Link className="button" data-kind="main" to="/animals/new" search={query}>
            <Icon name="add" />
            Add animal
          </Link>
        )}
      </header>
      <Filters query={query} />
      <div className="waiting" role="status">
        {list.waiting > 0 && <Button onClick={list.showWaiting}>{list.waiting} new</Button>}
      </div>
      {list.error ? (
        <Empty icon="warning" title="The animals cannot be shown">
          <p>{list.error.message}</p>
          <Button onClick={() => list.retry()}>Try again</Button>
        </Empty>
      ) : !list.isLoading && list.rows.length === 0 ? (
        <NoAnimals isFiltered={Object.keys(query).some(name => name !== 'sort')} />
      ) : (
        <Table
          label="Animals"
          className="animals"
          columns={columns}
          rows={list.rows}
          idOf={pets.idOf}
          gone={list.gone}
          current={current}
          onOpen={open}
          onEnd={list.loadMore}
        />
      )}
      <Outlet />
    </section>
  );
}

function useColumns(query: PetQuery): Column<Pet>[] {
  const categories = useCategories();
  const names = useMemo(() => new Map(categories.map(({ id, name }) => [id, name])), [categories]);
  return [
    { name: 'name', ...sortedBy('name', 'Name', query), cell: pet => <strong>{pet.name}</strong> },
    { name: 'category', header: 'Category', cell: pet => names.get(pet.categoryId) ?? '' },
    { name: 'status', header: 'Status', cell: pet => <StatusMenu pet={pet} /> },
    { name: 'id', ...sortedBy('id', 'ID', query), cell: pet => pet.id },
  ];
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

function NoAnimals({ isFiltered }: { isFiltered: boolean }) {
  const { can } = useSession();
  if (isFiltered)
    return (
      <Empty icon="search" title="No animal matches">
        <p>Change the search or the filters.</p>
        <Link className="button" to="/animals">
          Show all animals
        </Link>
      </Empty>
    );
  return (
    <Empty icon="paw" title="No animals yet">
      {can('pets:write') ? (
        <>
          <p>Add the first one. It is available at once, with a stock of one.</p>
          <Link className="button" data-kind="main" to="/animals/new">
            Add animal
          </Link>
        </>
      ) : (
        <p>Your API key can only read. A user with the scope pets:write can add animals.</p>
      )}
    </Empty>
  );
}
