import type { Category } from '@petstore/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useSession } from '../../app/session.ts';
import { categories } from '../../data/categories.ts';
import { useListPage } from '../../data/lists.ts';
import { CategoryName } from '../../kit/category-icon.tsx';
import { Icon } from '../../kit/icon.tsx';
import { ListPage } from '../../kit/list-page.tsx';
import { SearchField } from '../../kit/search-field.tsx';
import type { Column } from '../../kit/table.tsx';
import './categories.css';

export { EditCategory, NewCategory } from './category-panel.tsx';

const route = getRouteApi('/categories');

const columns: Column<Category>[] = [
  {
    name: 'name',
    header: 'Name',
    cell: ({ id, name }) => (
      <strong>
        <CategoryName id={id} name={name} />
      </strong>
    ),
  },
  { name: 'description', header: 'Description', cell: ({ description }) => description },
  {
    name: 'animals',
    header: '',
    cell: ({ id }) => (
      <Link to="/animals" search={{ categoryId: id }} onClick={event => event.stopPropagation()}>
        Animals
      </Link>
    ),
  },
];

export function Categories() {
  const { can } = useSession();
  const query = route.useSearch();
  const navigate = route.useNavigate();
  const page = useListPage(categories, query, categoryId =>
    navigate({ to: '/categories/$categoryId', params: { categoryId }, search: query }),
  );
  return (
    <ListPage
      title="Categories"
      className="categories"
      {...page}
      columns={columns}
      action={
        can('pets:write') && (
          <Link className="button" data-kind="main" to="/categories/new" search={query}>
            <Icon name="add" />
            Add category
          </Link>
        )
      }
      filters={
        <SearchField
          label="Search categories"
          value={query.name}
          onChange={name => navigate({ search: { name }, replace: true })}
        />
      }
      searched={query.name}
      empty={
        query.name
          ? { title: 'No category matches', hint: 'Change the search.' }
          : {
              picture: 'categories',
              title: 'No categories yet',
              hint: 'Add the first one: each animal belongs to a category.',
            }
      }
    />
  );
}
