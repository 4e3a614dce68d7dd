// @ts-check
// Starts the reference: shows the service's own document in the viewer.
import { nameControls, skipToContent } from './accessible.js';
import { keepKey, withKey } from './api-key.js';
import { forViewer } from './contract.js';
import { followAddress, menu, search } from './navigation.js';
import { portalPlugins } from './plugin.js';

keepKey();
menu();
skipToContent();

const reference = /** @type {HTMLElement} */ (document.getElementById('reference'));

try {
  const answer = await fetch('/openapi.json');
  if (!answer.ok) throw new Error(`/openapi.json was answered with status ${answer.status}`);
  await show(await answer.json());
} catch (error) {
  // The list that came with the page stays: it names the operations, though none opens.
  const notice = document.createElement('p');
  notice.className = 'notice';
  notice.setAttribute('role', 'alert');
  const reason = error instanceof Error ? error.message : error;
  notice.textContent = `The operations cannot be opened: ${reason}. Reload the page to try again.`;
  reference.before(notice);
}

/** @param {import('./types.d.ts').Contract} contract */
async function show(contract) {
  const { promise: ready, resolve } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
  const viewer = SwaggerUIBundle({
    dom_id: '#reference',
    layout: 'PortalLayout',
    plugins: portalPlugins(contract, resolve),
    docExpansion: 'list',
    defaultModelExpandDepth: 3,
    // The address is followed by navigation.js, the key is kept by api-key.js: neither is read from the URL.
    deepLinking: false,
    queryConfigEnabled: false,
    persistAuthorization: false,
    validatorUrl: null,
    syntaxHighlight: { activated: false },
    requestInterceptor: withKey,
    // What is shown of a request is what it was before the key was added.
    showMutatedRequest: false,
  });
  // As an object: handed over in the options it would be turned into text and read again by a parser of YAML.
  viewer.specActions.updateLoadingStatus?.('success');
  viewer.specActions.updateJsonSpec?.(forViewer(contract));
  search(viewer, contract);
  nameControls(reference);
  await ready;
  document.body.dataset.ready = '';
  followAddress(viewer);
}
