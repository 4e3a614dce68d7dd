import FindMyWay from 'find-my-way';
import { type Method, methods } from '../contract/operation.ts';
import { hasIds, nothingAt } from '../http/no-route.ts';
import { inputReader } from '../http/route-input.ts';
import { routerOptions, routerPath } from '../http/targets.ts';
import type { Route } from '../routes/define-route.ts';
import { invalid, labelReader } from './labels.ts';

/** A route that can be part of a batch, with its readers. */
interface BatchableRoute {
  route: Route;
  readInput: ReturnType<typeof inputReader>;
  readLabels: ReturnType<typeof labelReader>;
  /** The name that the ID of a resource which the route creates has in paths and bodies, such as `petId`. */
  createdId: string | undefined;
}

/** A route, and the path parameters as they were sent. */
interface Found extends BatchableRoute {
  texts: Record<string, string>;
}

/** Finds the route of an operation of a batch, by the same router as the server. */
export class OperationTable {
  readonly #router = FindMyWay(routerOptions);
  readonly #allowed: string;

  /** `operations` can be part of a batch, `others` cannot. */
  constructor(operations: readonly Route[], others: readonly Pick<Route, 'method' | 'path'>[]) {
    for (const route of operations) {
      this.#add(route, {
        route,
        readInput: inputReader(route),
        readLabels: labelReader(route.body),
        createdId: createdIdOf(route, operations),
      });
    }
    for (const route of others) this.#add(route, undefined);
    this.#allowed = listed(operations);
  }

  /** Throws `invalid_request` if no route has this method and path, or if it cannot be part of a batch. */
  find(method: Method, path: string): Found {
    const found = this.#router.find(method, path);
    if (found?.store) return { ...(found.store as BatchableRoute), texts: found.params as Found['texts'] };
    if (found || this.#existsAt(path, () => true))
      throw invalid(`${method} ${path} cannot be part of a batch. Allowed are ${this.#allowed}`);
    throw invalid(nothingAt(path, suggested => this.#existsAt(suggested, hasIds)).message);
  }

  #add({ method, path }: Pick<Route, 'method' | 'path'>, store: BatchableRoute | undefined): void {
    this.#router.on(method, routerPath(path), () => {}, store);
  }

  #existsAt(path: string, fits: typeof hasIds): boolean {
    return methods.some(method => {
      const found = this.#router.find(method, path);
      return found !== null && fits(found);
    });
  }
}

/** `petId` for `POST /pets`, because there are operations at `/pets/{petId}`. */
function createdIdOf({ path, success }: Route, operations: readonly Route[]): string | undefined {
  if (success.status !== 201) return undefined;
  const start = `${path}/{`;
  const resource = operations.find(operation => operation.path.startsWith(start));
  return resource?.path.slice(start.length, -1);
}

/** `POST /pets; PUT, PATCH, DELETE /pets/{petId}` */
function listed(routes: readonly Route[]): string {
  return [...Map.groupBy(routes, ({ path }) => path)]
    .map(([path, at]) => `${at.map(({ method }) => method).join(', ')} ${path}`)
    .join('; ');
}
