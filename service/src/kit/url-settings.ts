import { ConfigError } from './config-error.ts';
import type { Kind } from './settings.ts';

/**
 * The URL under which a proxy serves the service, with a slash at its end; `/` if the text is empty. It may have a path: without
 * the slash, URLs would not resolve below it.
 */
export const publicUrl: Kind<string> = {
  values: 'an http or https URL',
  parse: (text, name) => {
    if (text === '') return '/';
    const url = URL.parse(text);
    const isPlain = url && !/[?#]/.test(text) && url.username + url.password === '';
    if (isPlain && /^https?:$/.test(url.protocol)) return url.href.endsWith('/') ? url.href : `${url.href}/`;
    throw new ConfigError(
      `${name} must be the http or https URL at which clients reach the service, without user, password, query and ` +
        'fragment, such as https://shop.example',
    );
  },
};
