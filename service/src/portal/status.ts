import { STATUS_CODES } from 'node:http';
import { slugOf } from './urls.ts';

/** `401 Unauthorized` */
export function statusTitle(status: string | number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}

/** The anchor of a status in the catalogue of errors. */
export function statusAnchor(status: string | number): string {
  return slugOf(statusTitle(status));
}
