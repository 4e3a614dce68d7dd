import { errorCatalogue } from '../../service/src/contract/error-catalogue.ts';
import { ApiError } from '../../service/src/contract/errors.ts';
import { etagOf, guardOf } from '../../service/src/routes/conditional.ts';
import { handlers, type Result } from './handlers.ts';
import { rejectWithoutScopes } from './limits.ts';
import { match } from './match.ts';
import { operations } from './operations.ts';
import { hasFields, invalid, type Rules, readObject, readTexts, type Values } from './rules.ts';
import type { Shop } from './shop.ts';

const { operations: list, ...others } = operations['POST /batch']!.body!.properties!;
const operationRules = list!.items!;

/** The rules of a batch. Those of its operations are checked one after another. */
export const batchRules: Rules = {
  type: 'object',
  required: ['operations'],
  properties: { ...others, operations: { ...list!, items: { type: 'any' } } },
};

/** An operation of a batch that has passed its rules. */
interface Step {
  name: string;
  input: Values;
  label: string | undefined;
  guard: (current: object) => void;
  /** The fields and the path parameter that have labels instead of IDs, and the operations with these labels. */
  references: readonly { field: string; isInPath: boolean; owner: number }[];
}

/** Runs the operations of a batch. Throws the error of the first one that fails, unless the batch is not atomic. */
export function runBatch(
  shop: Shop,
  { operations: sent, atomic = true }: Values,
  held: readonly string[],
): Result {
  const plan: (Step | ApiError)[] = [];
  for (const operation of sent) plan.push(attempt(() => stepOf(operation, plan, held)));
  const broken = plan.findIndex(step => step instanceof ApiError);
  if (atomic && broken >= 0) throw failureOf(broken, plan[broken] as ApiError);
  const ids: (number | undefined)[] = [];
  const results = shop.transaction(() =>
    plan.map((step, index) => {
      const result =
        step instanceof ApiError ? step : attempt(() => shop.transaction(() => execute(shop, step, ids)));
      if (!(result instanceof ApiError)) {
        const { status, body, location, tagged } = result;
        ids[index] = (body as { id?: number } | undefined)?.id;
        const etag = tagged && etagOf(JSON.stringify(tagged));
        return {
          status,
          ...(etag && { etag }),
          ...(location && { location }),
          ...(body !== undefined && { body }),
        };
      }
      if (atomic) throw failureOf(index, result);
      const { code, message } = result;
      const { status } = errorCatalogue[code];
      return { status, error: { code, message, status } };
    }),
  );
  return { status: 200, body: { results } };
}

function attempt<T>(run: () => T): T | ApiError {
  try {
    return run();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function failureOf(index: number, { code, message }: ApiError): ApiError {
  return new ApiError(code, `Operation ${index}: ${message}`, { 'x-failed-operation': String(index) });
}

/** Checks what does not depend on the shop. */
function stepOf(sent: unknown, earlier: readonly (Step | ApiError)[], held: readonly string[]): Step {
  const { method, path, body, ifMatch, label } = readObject(operationRules, sent);
  const { name = '', operation, texts } = match(method, path);
  const labels = (sent: unknown) => labelsOf(sent, earlier);
  if (label !== undefined && ownerOf(label, earlier) >= 0) throw invalid(`The label \`${label}\` is taken`);
  if (!operation || operation.deprecation || !handlers[name])
    throw invalid(`${method} ${path} cannot be part of a batch`);
  const creates = /^POST \S+$/.test(name) && !name.includes('{');
  if (
    (label !== undefined && !creates) ||
    (ifMatch !== undefined && creates) ||
    (operation.body ? body === undefined : hasFields(body))
  )
    throw invalid(`${method} ${path} cannot have this \`label\`, \`ifMatch\` or \`body\``);
  rejectWithoutScopes(held, operation.scopes, operation.anyOfScopes);
  const inPath = texts
    .filter(([, text]) => /^\{.*\}$/.test(text))
    .map(([field, text]) => ({ field, isInPath: true, ...labels(text.slice(1, -1)) }));
  const inBody = Object.entries(operation.body?.properties ?? {})
    .filter(([field, { format }]) => format === 'int64' && isReference(body?.[field]))
    .map(([field]) => ({ field, isInPath: false, ...labels(body[field].$label) }));
  // The rules hold for any ID.
  const params = readTexts(
    operation.path,
    texts.map(([field, text]) => [field, inPath.length > 0 ? '1' : text]),
  );
  const checked = operation.body
    ? readObject(operation.body, { ...body, ...Object.fromEntries(inBody.map(({ field }) => [field, 1])) })
    : {};
  const [id] = Object.values(params);
  const references = [...inPath, ...inBody];
  for (const { field, created } of references)
    if (field !== 'id' && created !== undefined && created !== field)
      throw invalid(`\`${field}\` is the ID of another kind of resource`);
  if (references.length === 0 && method !== 'POST' && 'id' in checked && checked.id !== id)
    throw invalid('Field `id` must equal the ID in the path');
  const guard = guardOf(ifMatch === undefined ? {} : { 'if-match': ifMatch });
  return { name, input: { id, body: checked }, label, guard, references };
}

function isReference(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === '$label';
}

function ownerOf(label: string, earlier: readonly (Step | ApiError)[]): number {
  return earlier.findIndex(step => !(step instanceof ApiError) && step.label === label);
}

/** Returns the operation with a label, and the name of the ID that it creates. */
function labelsOf(
  label: unknown,
  earlier: readonly (Step | ApiError)[],
): { owner: number; created: string | undefined } {
  const owner = ownerOf(String(label), earlier);
  if (owner < 0) throw invalid(`No earlier operation has the label \`${label}\``);
  const created: Record<string, string> = {
    'POST /pets': 'petId',
    'POST /categories': 'categoryId',
    'POST /store/orders': 'orderId',
  };
  return { owner, created: created[(earlier[owner] as Step).name] };
}

function execute(
  shop: Shop,
  { name, input, guard, references }: Step,
  ids: readonly (number | undefined)[],
): Result {
  let { id, body } = input;
  for (const { field, isInPath, owner } of references) {
    const created = ids[owner];
    if (created === undefined)
      throw invalid(`Operation ${owner} failed, so that there is no resource to use`);
    if (isInPath) id = created;
    else body = { ...body, [field]: created };
  }
  if ('id' in body && !name.startsWith('POST') && body.id !== id)
    throw invalid('Field `id` must equal the ID in the path');
  return handlers[name]!(shop, { id, query: {}, body, guard });
}
