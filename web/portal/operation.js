// @ts-check
/**
 * The parts of an operation: its line in the list, its deprecation notice, and code that calls it.
 *
 * @typedef {import('./types.d.ts').Contract} Contract
 * @typedef {import('./types.d.ts').Immutable} Immutable
 * @typedef {import('./types.d.ts').ViewerSystem} ViewerSystem
 */
import { successorOf } from './contract.js';
import { markCurrent } from './navigation.js';
import { fragmentOf, operationLine } from './operation-list.js';
import { asCurl, asJavaScript, sampleRequest } from './samples.js';

/** @param {Contract} contract */
export function operationParts(contract) {
  /** @param {ViewerSystem} system */
  return ({ React }) => {
    const h = React.createElement;

    /** @param {{ operationProps: Immutable, isShown: boolean, toggleShown: () => void }} props */
    const OperationSummary = ({ operationProps, isShown, toggleShown }) => {
      const { path, method, tag, operationId } = operationProps.toJS();
      const operation = contract.paths[path]?.[method];
      const onClick = () => {
        // The address names the operation that was opened last. It replaces the history entry: Back leaves the page.
        if (!isShown) history.replaceState(null, '', fragmentOf(tag, operationId));
        if (!isShown) markCurrent(operationId);
        toggleShown();
      };
      return h(
        'h4',
        { className: 'opblock-summary' },
        h(
          'button',
          { type: 'button', className: 'opblock-summary-control', 'aria-expanded': isShown, onClick },
          operation && operationLine(h, { path, method, tag, operation }),
        ),
      );
    };

    /** @param {{ path: string, method: string }} props */
    const Deprecation = ({ path, method }) => {
      const operation = contract.paths[path]?.[method];
      if (!operation?.deprecated) return null;
      const sunset = operation['x-deprecated-sunset'];
      const successor = successorOf(contract, operation);
      return h(
        'p',
        { className: 'deprecation', role: 'note' },
        h('strong', null, 'Deprecated.'),
        ' It returns 410 from ',
        h('time', { dateTime: sunset }, sunset),
        ' on. Use ',
        successor
          ? h(
              'a',
              { href: fragmentOf(successor.tag, successor.operation.operationId) },
              `GET ${operation['x-deprecated-successor']}`,
            )
          : operation['x-deprecated-successor'],
        ' instead.',
      );
    };

    /** @type {[id: string, name: string][]} */
    const languages = [
      ['curl', 'curl'],
      ['javascript', 'JavaScript'],
    ];

    /** @param {{ path: string, method: string }} props */
    const Samples = ({ path, method }) => {
      const [language, setLanguage] = React.useState('curl');
      const [copied, setCopied] = React.useState(false);
      const code = React.useRef(/** @type {Node | null} */ (null));
      // If the browser forbids copying, the code is selected, so that the reader can copy it.
      const select = () => code.current && getSelection()?.selectAllChildren(code.current);
      const request = sampleRequest(contract, path, method, location.origin);
      const text =
        language === 'curl' ? asCurl(request) : asJavaScript(request, returnsJson(contract, path, method));
      const name = `${method.toUpperCase()} ${path}`;
      return h(
        'section',
        { className: 'samples', 'data-samples': '', 'aria-label': `Code that calls ${name}` },
        h(
          'div',
          { className: 'samples-bar', role: 'group', 'aria-label': `Language of the code for ${name}` },
          languages.map(([id, title]) =>
            h(
              'button',
              {
                key: id,
                type: 'button',
                'data-language': id,
                'aria-pressed': language === id,
                onClick: () => {
                  setLanguage(id);
                  setCopied(false);
                },
              },
              title,
            ),
          ),
          // Browsers offer the clipboard only over HTTPS and on localhost.
          navigator.clipboard &&
            h(
              'button',
              {
                type: 'button',
                className: 'copy',
                onClick: () => navigator.clipboard.writeText(text).then(() => setCopied(true), select),
              },
              copied ? 'Copied' : 'Copy',
            ),
        ),
        h('pre', { tabIndex: 0, 'aria-label': `Code for ${name}`, ref: code }, h('code', null, text)),
      );
    };

    /** @param {any} Original */
    const withSamples = Original => /** @param {{ pathMethod: [string, string] }} props */ props => {
      const [path, method] = props.pathMethod;
      return h(
        React.Fragment,
        null,
        h(Deprecation, { path, method }),
        h(Samples, { path, method }),
        h(Original, props),
      );
    };

    return { components: { OperationSummary }, wrapComponents: { parameters: withSamples } };
  };
}

/**
 * @param {Contract} contract
 * @param {string} path
 * @param {string} method
 */
function returnsJson({ paths }, path, method) {
  const responses = paths[path]?.[method]?.responses ?? {};
  return Object.entries(responses).some(
    ([status, { content }]) => status.startsWith('2') && content?.['application/json'] !== undefined,
  );
}
