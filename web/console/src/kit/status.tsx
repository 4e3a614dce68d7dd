import type { PetStatus } from '@petstore/client';
import { statusNames } from './status-names.ts';

/** The status of a pet. */
export function Status({ status }: { status: PetStatus }) {
  return (
    <span className="status" data-status={status}>
      {statusNames[status]}
    </span>
  );
}
