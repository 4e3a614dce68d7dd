/** Outlines of 24 × 24 units. */
const paths = {
  today: 'M3 11l9-8 9 8M5 9.5V20a1 1 0 0 0 1 1h4v-6h4v6h4a1 1 0 0 0 1-1V9.5',
  paw: 'M12 13c-3 0-6 3-6 5.5 0 1.500 1 2.500 2.500 2.500 1.300 0 2.200-.7 3.500-.7s2.200.7 3.500.7c1.500 0 2.500-1 2.500-2.500C18 16 15 13 12 13zM5.500 9a1.700 2.200 0 1 0 .01 0zM18.500 9a1.700 2.200 0 1 0 .01 0zM9.300 4a1.700 2.300 0 1 0 .01 0zM14.700 4a1.700 2.300 0 1 0 .01 0z',
  orders: 'M5 3h14v18l-3.500-2-3.500 2-3.500-2L5 21zM9 8h6M9 12h6',
  stock: 'M3 8l9-5 9 5v8l-9 5-9-5zM3 8l9 5 9-5M12 13v8',
  tag: 'M3 12V3h9l9 9-9 9zM7.500 7.500h.01',
  key: 'M15 3a6 6 0 1 1-5.700 7.900L3 17v4h4v-3h3v-3l1.500-1.200M16.500 7.500h.01',
  webhook: 'M4 12a8 8 0 0 1 8-8M4 12a8 8 0 0 0 8 8M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM20 12h-4',
  events: 'M3 12h4l3-8 4 16 3-8h4',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4',
  add: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  down: 'M7 10l5 5 5-5',
  check: 'M5 12.500l4.500 4.500L19 7.500',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.400 1.400M17.600 17.600L19 19M5 19l1.400-1.400M17.600 6.400L19 5',
  user: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 21c.5-4 4-6 8-6s7.500 2 8 6',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 14h10l1-14M10 11v6M14 11v6',
  upload: 'M12 16V4M7 9l5-5 5 5M4 16v4h16v-4',
  command: 'M4 5h16v14H4zM8 10l3 2-3 2M13 15h4',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  undo: 'M8 4L3 9l5 5M3 9h11a6 6 0 0 1 0 12h-3',
  warning: 'M12 3l10 18H2zM12 10v5M12 18h.01',
};

export type IconName = keyof typeof paths;

/** A picture next to a text, or in a button that has a label of its own. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
