import { setTimeout as sleep } from 'node:timers/promises';
import { type Event, type EventFilter, GoneError } from '@petstore/client';
import { type Context, command } from '../command.ts';
import { messageIdOf, pauseAfter, sendEvent } from '../delivery.ts';
import { UsageError } from '../failure.ts';
import { orAll } from '../items.ts';
import { openListenState } from '../listen-state.ts';
import { required, several, streamStart, text } from '../parameters.ts';
import { forwarded } from '../resources.ts';

/** Webhooks get these events whatever their types are. */
const RESTORED = 'log.restored';

export const listen = command({
  name: 'listen',
  aliases: ['webhooks listen'],
  summary: 'Forward events to a local program as signed webhook deliveries, until Ctrl-C',
  details:
    'The local program gets what a webhook of the service would get: the same headers, body and signature. Events arrive one ' +
    'at a time, in the order of the log. An event is sent again until the program accepts it with a 2xx.\n\n' +
    'The first run starts with the next event; a later one with the same profile and URL continues after the last accepted ' +
    'event. No event is lost or repeated when connections break. If this process is killed between the response of the program and ' +
    'storing the position, the event arrives again with the same webhook-id.\n\n' +
    'The program also gets log.restored, regardless of --type: after a restore of the service the events continue with it.',
  options: {
    forwardTo: required(endpoint('The URL of the local program')),
    type: several(text('Only events of this type, such as order.*; can be repeated', 'type')),
    from: streamStart,
  },
  examples: [
    'petstore listen --forward-to localhost:3000/hook',
    "petstore listen --forward-to http://localhost:3000/hook --type 'order.*' --from 120 --json",
  ],
  operations: ['GET /events/stream'],
  output: 'stream',
  prints: forwarded,
  run: forward,
});

interface Values {
  forwardTo: URL;
  type: string[];
  from: string | undefined;
}

async function* forward(context: Context, { forwardTo, type: types, from }: Values) {
  const { calls, connection, note, settings, stderr, store } = context;
  const state = openListenState(settings.configDirectory, connection, forwardTo.href);
  // What is not a terminal may be a log, which other people can read.
  if (stderr.isTTY) note(`The secret of the deliveries: ${state.secret}`);
  else note(`The secret of the deliveries is the field secret of ${state.secretFile}`);
  let isOpen = false;
  let position = from ?? state.cursor ?? 'latest';
  const start = position;
  const onPosition = (cursor: string) => {
    position = cursor;
    state.save(cursor);
    if (!isOpen) note(`Forwarding events after ${cursor} to ${forwardTo.href} …`);
    isOpen = true;
  };
  // The service rejects other types.
  const wanted = orAll(types) && ([...types, RESTORED] as EventFilter[]);
  for (;;) {
    try {
      const subscription = { ...calls, from: position, types: wanted, onPosition };
      for await (const event of store.events.subscribe(subscription)) {
        calls.signal?.throwIfAborted();
        const delivery = await deliver(context, event, forwardTo, state.secret);
        position = event.id;
        state.save(event.id);
        yield delivery;
      }
    } catch (error) {
      const survivor = await lastSurvivor(context, error, position);
      if (survivor !== undefined) {
        note(`${(error as Error).message}. Continuing after ${survivor} …`);
        position = survivor;
        continue;
      }
      const isStored = from === undefined && state.cursor !== undefined;
      if (isStored && !isOpen && error instanceof GoneError)
        note(`The events after ${start} cannot be read: choose another start, such as --from latest`);
      throw error;
    }
  }
}

/**
 * Returns where the log continues if an error means that a restore of the service has removed the event at a position. Webhooks
 * continue there, too.
 */
async function lastSurvivor({ store, calls }: Context, error: unknown, position: string) {
  if (!(error instanceof GoneError) || error.code !== 'log_restored') return undefined;
  for await (const event of store.events.list({ type: RESTORED }, calls))
    if (event.type === RESTORED && Number(event.id) > Number(position)) return event.data.lastSurvivingId;
  return undefined;
}

/** Sends an event until the program accepts it. Throws the reason of the signal between two attempts. */
async function deliver(context: Context, event: Event, url: URL, secret: string) {
  const { calls, note } = context;
  let noted: string | undefined;
  for (let attemptCount = 1; ; attemptCount++) {
    const status = await attempt(context, event, url, secret);
    if (typeof status === 'number' && status >= 200 && status < 300) {
      const { id: eventId, type, subject } = event;
      const deliveredAt = new Date().toISOString();
      return { messageId: messageIdOf(event), eventId, type, subject, status, attemptCount, deliveredAt };
    }
    const problem = typeof status === 'number' ? `the status is ${status}` : status;
    if (problem !== noted) note(`${url.href} does not accept event ${event.id} (${problem}): trying again …`);
    noted = problem;
    await sleep(pauseAfter(attemptCount), undefined, calls.signal && { signal: calls.signal });
  }
}

/**
 * Sends an event once. Returns the status of the response, or why there is none. Ctrl-C does not end this, because a program
 * that has the event would get it again.
 */
async function attempt({ calls: { signal }, note }: Context, event: Event, url: URL, secret: string) {
  const noteInterruption = () => note(`Waiting for the response to event ${event.id}; Ctrl-C ends at once`);
  signal?.addEventListener('abort', noteInterruption);
  try {
    return await sendEvent(url, event, secret);
  } catch (error) {
    // An error of connecting to both addresses of `localhost` has no message.
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  } finally {
    signal?.removeEventListener('abort', noteInterruption);
  }
}

function endpoint(help: string) {
  return {
    help,
    value: 'url',
    parse: (text: string) => {
      const given = /^[\w.-]+:\d+(\/|$)/.test(text) ? `http://${text}` : text;
      const url = URL.canParse(given) ? new URL(given) : undefined;
      if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url;
      throw new UsageError(
        `Write a URL such as http://localhost:3000/hook or localhost:3000/hook instead of ${JSON.stringify(text)}`,
      );
    },
  };
}
