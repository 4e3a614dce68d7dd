import { TICKET_LIFETIME } from '../access/api-keys/sign-in-ticket.ts';
import { BUILD_COMMAND } from '../console/console-files.ts';
import { adminKeyPath } from '../db/store-directory.ts';
import { commandLine, shellQuoted } from '../kit/program.ts';
import { inWords } from '../kit/quantities.ts';
import { newAdministratorKey } from './admin-key.ts';
import { linkOf } from './sign-in-link.ts';

export interface Welcome {
  url: string;
  metricsUrl: string | undefined;
  hasConsole: boolean;
  /** The directory or database with the shop's data. */
  store: string;
  /** PETSTORE_DATA, which has the administrator's key. */
  directory: string;
  /** Where the administrator's key is: in its file, with another replica, which created the first key of this store, or not known. */
  key: 'in file' | 'elsewhere' | 'missing';
  /** The secret of the first key; `undefined` after the first start, and when standard error is not a terminal. */
  shownKey: string | undefined;
  /** Whether only this machine can connect, so that links can sign in. */
  isLocal: boolean;
  /** Signs the first browser in; `undefined` when the secret is not shown, and when other machines can connect. */
  ticket: string | undefined;
}

/** Whether the text shows a link that signs in: only to the person at the terminal, and only if no other machine can use it. */
export function showsSignIn({ hasConsole, isLocal, shownKey }: Omit<Welcome, 'ticket'>): boolean {
  return hasConsole && isLocal && shownKey !== undefined;
}

/** The text for people who start the service. */
export function welcomeText(welcome: Welcome): string {
  const { url, metricsUrl, store, directory, key } = welcome;
  const credential = key === 'in file' ? `$(cat ${shellQuoted(adminKeyPath(directory))})` : '<your key>';
  return `
  Pet Store Service
    Address    ${url}
    Console    ${consoleLine(welcome)}
    Portal     ${url}/docs
    Contract   ${url}/openapi.yaml${metricsUrl ? `\n    Metrics    ${metricsUrl}` : ''}
    Data       ${store}
    Admin key  ${keyLine(welcome)}

  Try it:
    curl -H "X-API-Key: ${credential}" "${url}/pets?limit=3"

`;
}

function consoleLine({ url, hasConsole, isLocal, ticket, directory }: Welcome): string {
  if (!hasConsole) return `not built; build it with ${BUILD_COMMAND}`;
  if (ticket)
    return `${linkOf(url, ticket)}\n               signs in once, within ${inWords(TICKET_LIFETIME)}, on this machine`;
  return `${url}/console${isLocal ? `\n               for a link that signs in:\n               ${commandLine(directory, 'sign-in-link')}` : ''}`;
}

function keyLine({ directory, key, shownKey }: Welcome): string {
  const keyFile = adminKeyPath(directory);
  if (shownKey) return `${shownKey}\n               shown only once; stored in ${keyFile}`;
  if (key === 'in file') return `in ${keyFile}`;
  return key === 'elsewhere'
    ? `not in ${keyFile}: the first replica stored it in its\n` +
        `               PETSTORE_DATA; or create another with\n               ${newAdministratorKey(directory)}`
    : `${keyFile} has no valid key; create one with\n               ${newAdministratorKey(directory)}`;
}
