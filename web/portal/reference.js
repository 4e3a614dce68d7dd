// @ts-check
// Starts the reference: shows the service's own document in the viewer.
import { nameControls, skipToContent } from './accessible.js';
import { useStoredKey, withKey } from './api-key.js';
import { forViewer } from './contract.js';
import { followAddress, menu, search } from './navigation.js';
import { portalPlugins } from './plugin.js';

useStoredKey();
menu();
skipToContent();

const reference = /** @type {HTMLElement} */ (document.getElementById('reference'));

try {
  const response = await fetch('/openapi.json');
  if (!response.ok) throw new Error(`GET /openapi.json returned ${response.status}`);
  await show(await response.json());
} catch (error) {
  // The list that the service rendered stays: it names the operations, but they do not open.
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
    // navigation.js follows the address and api-key.js stores the key. The viewer reads neither from the URL.
    deepLinking: false,
    queryConfigEnabled: false,
    persistAuthorization: false,
    validatorUrl: null,
    syntaxHighlight: { activated: false },
    requestInterceptor: withKey,
    // Shows the request without the key.
    showMutatedRequest: false,
  });
  // Passed as an object: the viewer would serialize a document in its options, and parse it again as YAML.
  viewer.specActions.updateLoadingStatus?.('success');
  viewer.specActions.updateJsonSpec?.(forViewer(contract));
  search(viewer, contract);
  nameControls(reference);
  await ready;
  document.body.dataset.ready = '';
  followAddress(viewer);
}
