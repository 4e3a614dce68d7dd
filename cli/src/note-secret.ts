import type { Context } from './command.ts';

/** The service shows a secret once. A call that was sent again may return the stored response, which lacks it. */
export async function noteSecret<Item extends { id: number; key?: string; secret?: string }>(
  { note }: Context,
  group: 'keys' | 'webhooks',
  call: PromiseLike<Item>,
): Promise<Item> {
  const item = await call;
  note(
    item.key === undefined && item.secret === undefined
      ? `The response was repeated, without the secret: run \`petstore ${group} rotate ${item.id}\``
      : 'Store the secret now: it is not shown again',
  );
  return item;
}
