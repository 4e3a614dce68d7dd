import { ask } from '../ask.ts';
import { type Context, command } from '../command.ts';
import {
  checkKey,
  checkUrl,
  chosenProfile,
  connect,
  DEFAULT_URL,
  givenKey,
  givenUrl,
} from '../connection.ts';
import { UsageError } from '../failure.ts';
import { required, text } from '../parameters.ts';
import { type Profiles, profilesFile, readProfiles, writeProfiles } from '../profiles.ts';
import { login as loggedIn, profile } from '../resources.ts';

const DEFAULT_PROFILE = 'default';

export const login = command({
  name: 'login',
  summary: 'Store the URL and the API key of a service as a profile',
  details:
    'Asks for what is missing, without showing the key, and checks both with the service. Further commands then use the profile.',
  examples: [
    'petstore login',
    'petstore login --url http://127.0.0.1:8080 --api-key-file data/admin.key',
    'petstore login --url https://shop.example --profile shop',
  ],
  operations: ['GET /account'],
  output: 'item',
  prints: loggedIn,
  run: async context => {
    const { settings, calls, note } = context;
    const { configDirectory } = settings;
    const stored = readProfiles(configDirectory);
    const name = chosenProfile(settings) ?? stored.current ?? DEFAULT_PROFILE;
    const proposal =
      givenUrl(settings) ?? stored.profiles[name]?.url ?? (settings.environment.PETSTORE_URL || DEFAULT_URL);
    const url = checkUrl(settings.url ?? (await askForUrl(context, proposal)));
    const apiKey = givenKey({ ...settings, environment: {} }) ?? checkKey(await askForKey(context));
    warnOfPlainHttp(context, url);
    const {
      keyId,
      name: keyName,
      plan,
      scopes,
    } = await connect({ url, apiKey }, settings, { note }).account.get(calls);
    // Another command may have stored or deleted a profile since the start.
    const profiles = { ...readProfiles(configDirectory).profiles, [name]: { url, apiKey } };
    writeProfiles(configDirectory, { current: name, profiles });
    note(`Stored in ${profilesFile(configDirectory)}, which only you can read`);
    return { profile: name, url, keyId, name: keyName, plan, scopes };
  },
});

async function askForUrl({ calls }: Context, proposal: string): Promise<string> {
  if (!process.stdin.isTTY || process.stdin.readableEnded) return proposal;
  return ask(calls.signal, { prompt: 'URL of the service:', default: proposal });
}

async function askForKey({ calls }: Context): Promise<string> {
  if (!process.stdin.isTTY)
    throw new UsageError(
      'Standard input is not a terminal: name the file of the API key with --api-key-file, or - for standard input',
    );
  return ask(calls.signal, { prompt: 'API key (not shown):', silent: true });
}

function warnOfPlainHttp({ note }: Context, url: string): void {
  const { protocol, hostname } = new URL(url);
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol === 'http:' && !isLocal)
    note(`Warning: ${url} is not encrypted, so others can read the API key`);
}

export const logout = command({
  name: 'logout',
  summary: 'Delete the current profile, or that of --profile, with its API key',
  details: 'The API key itself still works: revoke it with `petstore keys delete`.',
  examples: ['petstore logout', 'petstore logout --profile shop'],
  output: 'item',
  prints: profile,
  run: async ({ settings }) => {
    const { configDirectory } = settings;
    const stored = readProfiles(configDirectory);
    const name = existing(stored, chosenProfile(settings) ?? stored.current);
    const { [name]: removed, ...profiles } = stored.profiles;
    const current = stored.current === name ? undefined : stored.current;
    writeProfiles(configDirectory, { current, profiles });
    return { name, url: removed!.url, current: false };
  },
});

const list = command({
  name: 'profiles list',
  summary: 'List the profiles that `petstore login` stored',
  examples: ['petstore profiles list'],
  output: 'items',
  prints: profile,
  run: async function* ({ settings }) {
    const { current, profiles } = readProfiles(settings.configDirectory);
    for (const [name, { url }] of Object.entries(profiles)) yield { name, url, current: name === current };
  },
});

const use = command({
  name: 'profiles use',
  summary: 'Choose the profile of further commands',
  arguments: { name: required(text('The name of the profile', 'name')) },
  examples: ['petstore profiles use shop'],
  output: 'item',
  prints: profile,
  run: async ({ settings: { configDirectory } }, { name: wanted }) => {
    const stored = readProfiles(configDirectory);
    const name = existing(stored, wanted);
    writeProfiles(configDirectory, { ...stored, current: name });
    return { name, url: stored.profiles[name]!.url, current: true };
  },
});

/** Returns the name of a profile. Throws a `UsageError` if it does not exist. */
function existing({ profiles }: Profiles, name: string | undefined): string {
  if (name !== undefined && Object.hasOwn(profiles, name)) return name;
  const known = Object.keys(profiles).join(', ') || 'none';
  throw new UsageError(
    name === undefined
      ? `No profile is selected: choose one with --profile (known: ${known})`
      : `No profile has the name ${name} (known: ${known})`,
  );
}

export const profiles = [list, use];
