import type { PetStatus } from '@petstore/client';

export const statusNames: Record<PetStatus, string> = {
  available: 'Available',
  pending: 'On hold',
  sold: 'Sold',
};

/** The status of a pet. */
export function Status({ status }: { status: PetStatus }) {
  return (
    <span className="status" data-status={status}>
      {statusNames[status]}
    </span>
  );
}
