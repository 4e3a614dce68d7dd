import { readFileSync } from 'node:fs';
import {
  type Client,
  type ClientOptions,
  createClient,
  type ObservedOptions,
  observed,
  PetStore,
  type Wait,
} from '@petstore/client';
import { LoginError, UsageError } from './failure.ts';
import { type Profile, readProfiles } from './profiles.ts';
import type { Settings } from './settings.ts';
import { version } from './version.ts';

/** Where `npm start` serves. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

export interface Connection {
  url: string;
  /** `undefined` only for commands that need none. */
  apiKey: string | undefined;
  /** The profile of the key; `undefined` if an option or the environment gives the key. */
  profile?: string;
}

/**
 * Returns the service and the key of a command: options come before `--profile`, that before the environment, and that before
 * the current profile. The key of a profile is only sent to the URL of that profile.
 */
export function connectionOf(settings: Settings, needsNoKey = false): Connection {
  const url = givenUrl(settings);
  const apiKey = givenKey(settings);
  if (url !== undefined && apiKey !== undefined) return { url: checkUrl(url), apiKey };
  const stored = findProfile(settings, chosenProfile(settings));
  const chosen = checkUrl(url ?? stored?.url ?? DEFAULT_URL);
  if (apiKey !== undefined || needsNoKey) return { url: chosen, apiKey };
  if (stored === undefined)
    throw new LoginError('No API key is known: run `petstore login`, or set PETSTORE_API_KEY');
  if (stored.url !== chosen)
    throw new LoginError(
      `The key of the profile is for ${stored.url}, not for ${chosen}: set PETSTORE_API_KEY, or run \`petstore login --url ${chosen} --profile NAME\``,
    );
  return stored;
}

/** Returns the name of the profile that an option or the environment chooses. */
export function chosenProfile({ profile, environment }: Settings): string | undefined {
  return profile ?? (environment.PETSTORE_PROFILE || undefined);
}

/** Returns the URL that an option or the environment gives. */
export function givenUrl({ url, profile, environment }: Settings): string | undefined {
  return url ?? (profile === undefined ? environment.PETSTORE_URL || undefined : undefined);
}

/** Returns the key that an option or the environment gives. */
export function givenKey({ apiKeyFile, input, profile, environment }: Settings): string | undefined {
  if (input !== undefined) return checkKey(input.trim());
  if (apiKeyFile !== undefined) return checkKey(readKey(apiKeyFile));
  return profile === undefined ? checkKey(environment.PETSTORE_API_KEY || undefined) : undefined;
}

/** Throws for no characters, and for those that a header cannot have, such as those of a file that is not a key. The key is not shown. */
export function checkKey<Key extends string | undefined>(apiKey: Key): Key {
  if (apiKey === '') throw new LoginError('The API key is empty');
  if (apiKey === undefined || /^[!-~]*$/.test(apiKey)) return apiKey;
  throw new LoginError('The API key contains characters that are not allowed: copy it again');
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`The file of --api-key-file cannot be read: ${(error as Error).message}`);
  }
}

function findProfile(
  { configDirectory }: Settings,
  wanted: string | undefined,
): (Profile & { profile: string }) | undefined {
  const { current, profiles } = readProfiles(configDirectory);
  const name = wanted ?? current;
  if (name === undefined) return undefined;
  if (Object.hasOwn(profiles, name)) return { ...profiles[name]!, profile: name };
  if (wanted === undefined) return undefined;
  const known = Object.keys(profiles).join(', ') || 'none';
  throw new LoginError(
    `No profile has the name ${name} (known: ${known}): run \`petstore login --profile ${name}\``,
  );
}

/** Returns a URL in its parsed form. */
export function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new UsageError(
      `The URL of the service looks like https://petstore.example, not ${JSON.stringify(text)}`,
    );
  return url.href.replace(/\/+$/, '');
}

/** What a command can replace in its client. */
export interface ConnectOptions {
  /** Sends the requests. */
  fetch?: NonNullable<ClientOptions['fetch']>;
  /** Writes a line about a wait, or about a test key. */
  note: (message: string) => void;
}

/** Returns a client that reports its waits to `note`, and once that its key is for tests. */
export function connect(
  connection: Connection,
  settings: Pick<Settings, 'maxWait'>,
  options: ConnectOptions,
): PetStore {
  return new PetStore(optionsOf(connection, settings, options));
}

/** Returns a client for requests that name their path. */
export function connectRaw(
  connection: Connection,
  settings: Pick<Settings, 'maxWait'>,
  options: ConnectOptions,
): Client {
  return createClient(observed(optionsOf(connection, settings, options)));
}

function optionsOf(
  { url, apiKey }: Connection,
  { maxWait }: Pick<Settings, 'maxWait'>,
  { fetch, note }: ConnectOptions,
): ObservedOptions {
  const [node] = process.versions.node.split('.');
  const headers = { 'User-Agent': `petstore-command/${version} (node ${node})` };
  let isNoted = false;
  return {
    ...{ baseUrl: url, apiKey, headers, maxWait, fetch },
    onWait: wait => noteWait(wait, note),
    onResponse: ({ headers }) => {
      if (isNoted || !headers.has('X-Test')) return;
      isNoted = true;
      note('The API key is for tests: this was only tried out, and nothing is stored');
    },
  };
}

const reasons: Record<Wait['reason'], string> = {
  limit: 'for the limit of the API key',
  ban: 'until the ban of the API key ends',
  unavailable: 'because the service is not available',
};

/** Waits that are hardly noticed are not worth a line. */
function noteWait({ reason, milliseconds }: Wait, note: (message: string) => void): void {
  if (milliseconds >= 1000) note(`Waiting ${Math.ceil(milliseconds / 1000)} s ${reasons[reason]} …`);
}
