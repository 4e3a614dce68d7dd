// @ts-check
/**
 * The changes to the viewer, one function for each concern. Each returns a plugin of Swagger UI.
 *
 * @typedef {import('./types.d.ts').Contract} Contract
 * @typedef {import('./types.d.ts').Immutable} Immutable
 * @typedef {import('./types.d.ts').ViewerSystem} ViewerSystem
 */
import { matches } from './contract.js';
import { operationParts } from './operation.js';
import { groupedOperations } from './operation-list.js';
import { responses } from './responses.js';
import { shapes } from './shape.js';

/**
 * @param {Contract} contract
 * @param {() => void} onReady called after the viewer has rendered the operations
 */
export function portalPlugins(contract, onReady) {
  return [
    documentDecidesOnTryIt,
    () => clearStaleResponse,
    () => search,
    groups(contract, onReady),
    operationParts(contract),
    responses,
    shapes,
    forms,
    () => withoutKeyAndServerFields,
  ];
}

/** Hides the try-it form of operations with `x-hideTryItPanel`. Only the document names them. */
function documentDecidesOnTryIt() {
  /** @param {(...values: unknown[]) => boolean} original @param {ViewerSystem} system */
  const allowTryItOutFor =
    (original, { specSelectors }) =>
    /** @param {unknown} state @param {string} path @param {string} method */
    (state, path, method) =>
      specSelectors.specJson?.().getIn(['paths', path, method, 'x-hideTryItPanel']) !== true &&
      original(state, path, method);
  return { statePlugins: { spec: { wrapSelectors: { allowTryItOutFor } } } };
}

/** Rejected input sends no request: clears the response to an earlier request, which would look like a new one. */
const clearStaleResponse = {
  statePlugins: {
    spec: {
      wrapActions: {
        /** @param {(...values: unknown[]) => unknown} original @param {ViewerSystem} system */
        validateParams:
          (original, { specActions }) =>
          /** @param {[path: string, method: string]} operation */
          operation => {
            specActions.clearResponse?.(...operation);
            return original(operation);
          },
      },
    },
  },
};

/** Replaces the viewer's own search, which compares only tags and paths. */
const search = {
  fn: {
    /** @param {Immutable} tagged @param {string} phrase */
    opsFilter: (tagged, phrase) =>
      tagged
        .map((entry, tag) =>
          entry.update('operations', operations =>
            operations.filter(listed => matches({ ...listed.toJS(), tag }, phrase)),
          ),
        )
        .filter(entry => entry.get('operations').size > 0),
  },
};

/**
 * The list of operations as the service renders it, with operations that open.
 *
 * @param {Contract} contract
 * @param {() => void} onReady
 */
function groups(contract, onReady) {
  /** @param {ViewerSystem} system */
  return ({ React, getComponent }) => {
    const h = React.createElement;

    /** @param {ViewerSystem} props */
    const Operations = ({ specSelectors }) => {
      React.useEffect(onReady, []);
      const OperationContainer = getComponent('OperationContainer', true);
      /** @type {Immutable} */
      const tagged = specSelectors.taggedOperations?.();
      return groupedOperations(h, contract, tag =>
        (tagged.get(tag)?.get('operations').toArray() ?? []).map((/** @type {Immutable} */ op) => {
          const path = op.get('path');
          const method = op.get('method');
          const specPath = op.get('specPath');
          return h(OperationContainer, { key: `${method} ${path}`, specPath, op, path, method, tag });
        }),
      );
    };

    /** Shows only the operations of the viewer: the page has its own title and search. */
    const PortalLayout = () =>
      h(
        'div',
        { className: 'swagger-ui' },
        h(getComponent('errors', true)),
        h(getComponent('operations', true)),
      );

    return { components: { operations: Operations, PortalLayout } };
  };
}

/** @param {ViewerSystem} system */
function forms({ React, getComponent }) {
  return {
    components: {
      // The viewer has no field for this format, and logs a warning to the console each time.
      /** @param {object} props */
      JsonSchema_integer_int64: props => React.createElement(getComponent('JsonSchema_string'), props),
    },
  };
}

const nothing = () => () => null;

/** Hides the viewer's fields for the key and the server: the page has one key field, and its own server is the only one. */
const withoutKeyAndServerFields = {
  wrapComponents: {
    authorizeBtn: nothing,
    authorizeOperationBtn: nothing,
    ServersContainer: nothing,
    OperationServers: nothing,
    JumpToPath: nothing,
  },
};
