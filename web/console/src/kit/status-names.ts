import type { PetStatus } from '@petstore/client';

/** The statuses of a pet, as the user reads them. */
export const statusNames: Record<PetStatus, string> = {
  available: 'Available',
  pending: 'On hold',
  sold: 'Sold',
};
