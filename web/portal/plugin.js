// @ts-check
/**
 * What the viewer does otherwise here, one function for each concern. Each answers a plugin of Swagger UI.
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
 * @param {() => void} onReady called when the operations are on the page
 */
export function portalPlugins(contract, onReady) {
  return [
    documentDecidesOnTryIt,
    () => freshAnswers,
    () => search,
    groups(contract, onReady),
    operationParts(contract),
    responses,
    shapes,
    forms,
    () => withoutWhatThePageHas,
  ];
}

/** An operation with `x-hideTryItPanel` has no try-it control: the document says so, and nothing here lists any. */
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

/** Input that is rejected sends nothing: the response to an earlier request must not stand below it as if it were new. */
const freshAnswers = {
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

/** The viewer's own search looks at tags and paths only. */
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
 * The list of operations as the page has it from the service, with operations that open.
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

    /** What the page shows of the viewer: the operations alone. The title and the search are the page's own. */
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
      // The viewer has no field for this format, and warns of it in the console each time.
      /** @param {object} props */
      JsonSchema_integer_int64: props => React.createElement(getComponent('JsonSchema_string'), props),
    },
  };
}

const nothing = () => () => null;

/** The key is entered once for all, the server is the one that served the page. */
const withoutWhatThePageHas = {
  wrapComponents: {
    authorizeBtn: nothing,
    authorizeOperationBtn: nothing,
    ServersContainer: nothing,
    OperationServers: nothing,
    JumpToPath: nothing,
  },
};
