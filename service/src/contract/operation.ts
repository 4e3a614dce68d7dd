import type { ErrorCode } from './errors.ts';
import type { Schema } from './schema.ts';
import type { Scope } from './scopes.ts';
import type { Tag } from './tags.ts';

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof methods)[number];

/** `experimental` may change at any time, `beta` only with a changelog entry; stable is unsaid. */
type Stability = 'experimental' | 'beta';

interface Deprecation {
  /** The day the operation was deprecated, YYYY-MM-DD: midnight UTC is sent in `Deprecation` (RFC 9745). */
  since: string;
  /** The day it ends, YYYY-MM-DD: from midnight UTC, sent in `Sunset` (RFC 8594), it answers 410. */
  sunset: string;
  /** The URL to use instead, as a template over the path's parameters. */
  successor: string;
}

/** The success response of an operation. */
export interface Success {
  status: 200 | 201 | 204;
  description: string;
  schema?: Schema;
  example?: unknown;
  /** Where it is not JSON. */
  mediaType?: string;
}

/** What the contract says of an operation. */
export interface Operation {
  method: Method;
  /** An OpenAPI path template: `/pets/{petId}`. */
  path: string;
  operationId: string;
  tag: Tag;
  /** One line. */
  summary: string;
  /** Rules and consequences, in CommonMark. */
  description: string;
  /**
   * The scope that the caller's key needs, or several of which it needs all: `any` where every valid key will do, `null`
   * where no key is needed and no quota is used.
   */
  scope: Scope | readonly Scope[] | 'any' | null;
  /** `account` where requests draw on a bucket that the key has for its account alone, and not on its limits. */
  countedBy?: 'account';
  params?: Schema;
  query?: Schema;
  body?: Schema;
  /** Whether no body at all stands for an empty one. */
  bodyOptional?: boolean;
  /** The shapes to publish for the body where they are narrower than `body`. One of them must match. */
  publishedBody?: readonly Schema[];
  /** An example request body. */
  example?: object;
  success: Success;
  /** Whether single resources of this operation carry an ETag and conditions are honoured. */
  conditional?: boolean;
  /** Fields of the created resource that are shown once: a replay under an Idempotency-Key leaves them out. */
  shownOnce?: readonly string[];
  /** The error codes that it returns, in addition to those that follow from its definition. */
  errors: readonly ErrorCode[];
  deprecation?: Deprecation;
  stability?: Stability;
  /** No interactive try-it in the portal. */
  hideTryIt?: boolean;
}

/** The scopes that a key needs for an operation: all of them. */
export function requiredScopes(scope: Operation['scope']): readonly Scope[] {
  if (scope === null || scope === 'any') return [];
  return typeof scope === 'string' ? [scope] : scope;
}
