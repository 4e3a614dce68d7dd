import { DAY, SECOND } from '../kit/clock.ts';
import { int32 } from './schema.ts';

/** How long an earlier secret stays valid after a rotation, in seconds. `longest` is in milliseconds. */
export function graceSeconds<const Description extends string>(longest: number, description: Description) {
  return {
    ...int32,
    minimum: 0,
    maximum: longest / SECOND,
    default: DAY / SECOND,
    description,
  } as const;
}
