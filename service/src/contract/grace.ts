import { DAY, SECOND } from '../kit/clock.ts';

/** How long an earlier secret stays valid after a rotation, in seconds. */
export function graceSeconds<const Description extends string>(description: Description) {
  return {
    type: 'integer',
    minimum: 0,
    maximum: (7 * DAY) / SECOND,
    default: DAY / SECOND,
    description,
  } as const;
}
