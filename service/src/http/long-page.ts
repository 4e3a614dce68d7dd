import type { FastifyRequest } from 'fastify';
import { nextTurn } from '../kit/turns.ts';
import type { AnyContext, Route } from '../routes/define-route.ts';
import { type JsonPage, pageResponse, type Response } from './respond.ts';

/** The most items of a list that are read and written in one turn of the event loop. An item can have 12 KB of text. */
export const SLICE = 100;

interface PageQuery {
  limit?: number;
  cursor?: string;
}

/** Whether the page of a request is read in several slices. */
export function isLongPage({ success }: Route, { query }: AnyContext): boolean {
  const { limit = 0 }: PageQuery = query;
  return success.schema?.type === 'array' && limit > SLICE;
}

/**
 * Makes the response with a long page from several short ones, each in a turn of the event loop that no other long work has. `read` is the
 * operation of the list. Rejects when the client disconnects.
 */
export async function longPageResponse(
  context: AnyContext,
  read: (context: AnyContext) => Promise<JsonPage>,
  request: FastifyRequest,
): Promise<Response> {
  const query: PageQuery & { limit: number } = context.query;
  const first = await read(context.withQuery({ ...query, limit: SLICE } as never));
  const written = [bytesOf(first)];
  let [last, asked, rest] = [first, SLICE, query.limit - SLICE];
  // A slice that is not full is the end of the list, or of what has happened until now.
  while (last.next !== undefined && last.items.length === asked && rest > 0) {
    await nextTurn();
    context.closed.throwIfAborted();
    asked = Math.min(rest, SLICE);
    // The whole list is counted once, and only the first event is waited for.
    const place = { limit: asked, cursor: last.next, count: false, wait: 0 };
    last = await read(context.withQuery({ ...query, ...place } as never));
    if (last.items.length > 0) written.push(COMMA, bytesOf(last));
    rest -= asked;
  }
  const { next, ...page } = first;
  const head = { ...page, ...(last.next !== undefined && { next: last.next }) };
  return pageResponse(head, Buffer.concat([START, ...written, END]), request);
}

const [START, COMMA, END] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];

function bytesOf({ items }: JsonPage): Buffer {
  return Buffer.from(items.join());
}
