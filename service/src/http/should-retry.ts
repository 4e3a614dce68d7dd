import type { FastifyRequest } from 'fastify';
import { type ErrorCode, errorCatalogue } from '../contract/error-catalogue.ts';

/** The longest `Retry-After` that generated clients honour, in seconds. */
const LONGEST_HONOURED = 60;

/**
 * Returns the value of `X-Should-Retry` for an error, if it has one: whether a client should send the request again by itself.
 * Generated clients ignore a `Retry-After` above 60 s and send the request again at once, which leads to a ban; they
 * honour this header.
 */
export function shouldRetry(
  code: ErrorCode,
  { 'retry-after': wait }: Readonly<Record<string, string>>,
): 'true' | 'false' | undefined {
  if (code === 'api_key_banned') return 'false';
  if (code === 'idempotency_key_in_use') return 'true';
  if (errorCatalogue[code].status === 429) return Number(wait) > LONGEST_HONOURED ? 'false' : 'true';
  return errorCatalogue[code].status === 503 ? 'true' : undefined;
}

/** The headers of a 503 to a request that may have been executed. Only a POST without an Idempotency-Key would be executed twice. */
export function headersInDoubt({
  method,
  headers,
}: Partial<Pick<FastifyRequest, 'method' | 'headers'>>): Record<string, string> {
  const isSafe = method !== 'POST' || headers?.['idempotency-key'] !== undefined;
  return { 'retry-after': '1', 'x-should-retry': String(isSafe) };
}
