import { stored } from './stored.ts';

export const densities = ['comfortable', 'compact'] as const;

/** How high the rows of tables are, on screens that are not those of phones. */
export const density = stored<(typeof densities)[number]>('density', 'comfortable');
