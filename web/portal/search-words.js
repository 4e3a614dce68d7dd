// @ts-check
/** What the search knows about words: of which words questions consist, and which words mean the same. */

/** Words that do not say what a reader looks for. */
export const stopWords = new Set(
  `a about all already also always am an and any are as at be been but by can cant could do does doesnt dont endpoint endpoints for from get gets getting give go
  got had has have how i if in into is it its just like make many me mine much my need no not of off on one onto or our
  please should so some than that the their them then there these they thing this those to too us use used using want was
  we were what whats when where which while why will with without work works would you your`.split(/\s+/),
);

/**
 * Words of developers, and the words of the pages for them. A phrase applies if all of its words are in the question.
 *
 * @type {{ phrases: string[], words: string[] }[]}
 */
export const synonyms = [
  { phrases: ['product', 'animal', 'item', 'dog', 'cat', 'goods'], words: ['pet'] },
  { phrases: ['buy', 'purchase', 'checkout', 'sell'], words: ['order', 'place'] },
  {
    phrases: [
      'shipped',
      'fulfilled',
      'fulfil',
      'delivered',
      'finish',
      'close',
      'collected',
      'picks up',
      'picked up',
    ],
    words: ['complete', 'fulfilled'],
  },
  { phrases: ['reserve', 'reservation', 'hold'], words: ['reserve', 'pending', 'order'] },
  { phrases: ['refund', 'undo', 'revert'], words: ['cancel'] },
  { phrases: ['add', 'new', 'insert', 'register', 'make'], words: ['create'] },
  { phrases: ['edit', 'modify', 'rename', 'patch', 'update'], words: ['change'] },
  { phrases: ['remove', 'destroy'], words: ['delete'] },
  { phrases: ['disappear', 'discontinued', 'retired', 'ends'], words: ['deprecated', 'sunset', 'removed'] },
  { phrases: ['size', 'big', 'large', 'huge', 'maximum', 'max'], words: ['limit', 'bytes', 'largest'] },
  { phrases: ['timezone', 'timestamp'], words: ['time', 'utc'] },
  { phrases: ['laptop', 'local', 'localhost'], words: ['machine', 'localhost'] },
  { phrases: ['downtime', 'grace'], words: ['rotate', 'earlier'] },
  { phrases: ['denied', 'allowed', 'permission'], words: ['scope', 'permissions'] },
  { phrases: ['duplicate', 'twice'], words: ['repeat', 'duplicates', 'twice'] },
  { phrases: ['fetch', 'retrieve', 'show', 'see', 'view', 'query'], words: ['read', 'list'] },
  { phrases: ['stock', 'inventory', 'warehouse'], words: ['stock', 'inventory'] },
  { phrases: ['bulk', 'multiple', 'several', 'mass'], words: ['batch', 'batches'] },
  { phrases: ['banned', 'unban', 'blocked'], words: ['ban'] },
  { phrases: ['notify', 'notification', 'callback', 'subscribe'], words: ['webhooks', 'events'] },
  { phrases: ['real time', 'realtime', 'live', 'sse', 'server sent'], words: ['stream', 'follow'] },
  { phrases: ['quota', 'throttle', 'rate'], words: ['limits'] },
  { phrases: ['ip', 'allowlist', 'whitelist', 'firewall'], words: ['network', 'address'] },
  { phrases: ['who'], words: ['history'] },
  { phrases: ['versioning'], words: ['versions'] },
  { phrases: ['pagination', 'next page'], words: ['paging'] },
  { phrases: ['idempotency', 'idempotent'], words: ['safe', 'retries'] },
  { phrases: ['forbidden'], words: ['403'] },
  { phrases: ['unauthorized'], words: ['401'] },
  { phrases: ['exception', 'failure'], words: ['errors'] },
];
