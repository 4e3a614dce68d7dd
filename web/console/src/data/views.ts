/** Filters and sorting of a list, with a name. */
export interface View<Query extends object> {
  name: string;
  query: Query;
}

/** Whether two lists show the same. The order of the fields makes no difference. */
export function isSameQuery(a: object, b: object): boolean {
  const text = (query: object) =>
    JSON.stringify(
      Object.entries(query)
        .filter(([, value]) => value !== undefined)
        .sort(),
    );
  return text(a) === text(b);
}

/** Adds a view in the place that its name has, without regard to case. */
export function withView<Query extends object>(
  views: readonly View<Query>[],
  view: View<Query>,
): View<Query>[] {
  const others = views.filter(({ name }) => name !== view.name);
  return [...others, view].sort((a, b) => a.name.localeCompare(b.name));
}
