import { type Species, speciesIn } from './species.ts';

/** Outlines of 24 × 24 units, and the hue of each, in degrees. */
const pictures: Record<Species, { path: string; hue: number }> = {
  dog: {
    path: 'M7 5L4 9v4l2 1v2a4 4 0 0 0 4 4h4a4 4 0 0 0 4-4v-2l2-1V9l-3-4-3 2h-4zM9.500 12h.01M14.500 12h.01M10.500 16l1.500 1 1.500-1',
    hue: 60,
  },
  cat: {
    path: 'M5 4l3 3h8l3-3v10a7 7 0 0 1-14 0zM9 12h.01M15 12h.01M12 15v1.500M4 14l-2-.5M4 16l-2 .5M20 14l2-.5M20 16l2 .5',
    hue: 40,
  },
  rabbit: {
    path: 'M9 11C7 8 7 3 8.500 3S11 7 11 10M15 11c2-3 2-8 .5-8S13 7 13 10M6 16a6 6 0 0 1 12 0c0 3-3 5-6 5s-6-2-6-5zM10 15h.01M14 15h.01M11.500 18h1',
    hue: 350,
  },
  rodent: {
    path: 'M6 8a3 3 0 1 1 5-2M18 8a3 3 0 1 0-5-2M5 14a7 6 0 0 1 14 0c0 4-4 6-7 6s-7-2-7-6zM9.500 13h.01M14.500 13h.01M12 16v1M8 17l-3 1M16 17l3 1',
    hue: 80,
  },
  bird: {
    path: 'M4 12c0-4 3-7 7-7 3 0 5 2 5 5l4 2-4 1c0 4-3 7-7 7H5l3-3c-2.500-.5-4-2.500-4-5zM12 9h.01M8 13c1 2 4 2 5 0',
    hue: 260,
  },
  fish: {
    path: 'M3 12c3-5 6-6 9-6 4 0 6 3 7 4l3-3v10l-3-3c-1 1-3 4-7 4-3 0-6-1-9-6zM8 11h.01M13 9c1 2 1 4 0 6',
    hue: 220,
  },
  reptile: {
    path: 'M6 14a6 5 0 0 1 12 0zM18 13c2 0 3-1 3-2.500S20 8 19 9M7 14l-1 4M17 14l1 4M10 14l2-4 2 4M3 15h3',
    hue: 140,
  },
  amphibian: {
    path: 'M6 9a2.500 2.500 0 1 1 4-1.500h4A2.500 2.500 0 1 1 18 9c2 1 3 3 3 5 0 3-4 5-9 5s-9-2-9-5c0-2 1-4 3-5zM7 14c3 2.500 7 2.500 10 0M8 7h.01M16 7h.01',
    hue: 120,
  },
  insect: {
    path: 'M12 7c3 0 5 3 5 7s-2 6-5 6-5-2-5-6 2-7 5-7zM12 7v13M9.500 7.500C9 5 10 4 12 4s3 1 2.500 3.500M7 11l-3-2M7 14H3M7.500 17L4 19M17 11l3-2M17 14h4M16.500 17l3.500 2',
    hue: 300,
  },
  horse: { path: 'M8 21c-1-5 0-8 2-10l-5 2-2-3 6-5 1-2 2 2c5 1 8 5 8 11v5M10 8h.01', hue: 30 },
};

/** What was found in a name: each row of a table asks for it. */
const known = new Map<string, Species | undefined>();

function speciesOf(name: string): Species | undefined {
  if (!known.has(name)) known.set(name, speciesIn(name));
  return known.get(name);
}

/** The picture of a category by the animal that its name mentions; otherwise its first letter, in a colour of its own. */
function CategoryIcon({ id, name }: { id: number; name: string }) {
  const species = speciesOf(name);
  const { path, hue } = species ? pictures[species] : { path: undefined, hue: (id * 137) % 360 };
  return (
    <span className="category-icon" style={{ '--hue': hue } as object} aria-hidden="true">
      {path ? (
        <svg className="icon" viewBox="0 0 24 24" data-species={species} aria-hidden="true">
          <path d={path} />
        </svg>
      ) : (
        [...name.trim()][0]?.toUpperCase()
      )}
    </span>
  );
}

/** The picture of a category and its name. */
export function CategoryName({ id, name }: { id: number; name: string }) {
  return (
    <span className="category-name">
      <CategoryIcon id={id} name={name} />
      <span>{name}</span>
    </span>
  );
}
