import type { Category } from '@petstore/client';

interface CategoryOptionsProps {
  categories: readonly Category[];
  chosen?: number | undefined;
}

/** The options of a menu of categories. Without an option for what is chosen, the browser would show another one as chosen. */
export function CategoryOptions({ categories, chosen }: CategoryOptionsProps) {
  return (
    <>
      {chosen !== undefined && !categories.some(({ id }) => id === chosen) && (
        <option value={chosen}>Category {chosen}</option>
      )}
      {categories.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </>
  );
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
      <CategoryOptions categories={categories} chosen={chosen} />
    </select>
  );
}
