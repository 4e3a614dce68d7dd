import type { PetStatus } from '@petstore/client';
import { statusNames } from '../kit/status-names.ts';
import { scopeNames } from './key-words.ts';

/** The names of fields, as the forms have them. Those of programs only, such as `graceSeconds`, have their own name as words. */
const names: Record<string, string> = {
  categoryId: 'category',
  petId: 'animal',
  quantity: 'units',
  complete: 'completed',
  shipDate: 'ships',
  scopes: 'what it may do',
  quotas: 'requests',
  origins: 'web addresses',
  allowedNetworks: 'networks',
  expiresAt: 'expires',
  url: 'URL',
  types: 'events',
};

/** The name of a field in a sentence, such as `ships`. */
export function fieldInWords(field: string): string {
  return names[field] ?? field.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}

/** A value of a field as people read it. */
export function valueInWords(field: string, value: unknown): string {
  if (value === undefined || value === null || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (Array.isArray(value)) return value.map(item => valueInWords(field, item)).join(', ') || '–';
  if (field === 'status') return statusNames[value as PetStatus] ?? String(value);
  if (field === 'scopes') return scopeNames[value as keyof typeof scopeNames] ?? String(value);
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return new Date(value).toLocaleString();
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, part]) => `${fieldInWords(name)}: ${valueInWords(name, part)}`)
      .join(', ');
  // IDs have no separators.
  return typeof value === 'number' && !/^id$|Id$/.test(field) ? value.toLocaleString() : String(value);
}
