import { DAY, SECOND } from '../kit/clock.ts';
import { int32 } from './schema.ts';

/** How long an earlier secret stays valid after a rotation, in seconds. */
export function graceSeconds<const Description extends string>(description: Description) {
  return {
    ...int32,
    minimum: 0,
    maximum: (7 * DAY) / SECOND,
    default: DAY / SECOND,
    description,
  } as const;
}
