import type { Category } from '@petstore/client';

/** The options of a menu of categories. */
export function CategoryOptions({ categories }: { categories: readonly Category[] }) {
  return categories.map(({ id, name }) => (
    <option key={id} value={id}>
      {name}
    </option>
  ));
}

interface CategoryFilterProps {
  categories: readonly Category[];
  chosen: number | undefined;
  onChoose: (categoryId: number | undefined) => void;
}

/** Filters a list by a category. */
export function CategoryFilter({ categories, chosen, onChoose }: CategoryFilterProps) {
  return (
    <select
      aria-label="Category"
      value={chosen ?? ''}
      onChange={event => onChoose(Number(event.target.value) || undefined)}
    >
      <option value="">All categories</option>
      <CategoryOptions categories={categories} />
    </select>
  );
}
