import { Category } from '../../../src/catalog/categories/category.ts';
import { ApiError } from '../../../src/contract/errors.ts';
import { defineRoute } from '../../../src/routes/define-route.ts';
import { reply } from '../../../src/routes/reply.ts';

const described = {
  method: 'GET',
  path: '/categories',
  tag: 'Categories',
  summary: '',
  description: '',
  scope: 'pets:read',
  success: { status: 200, description: '', schema: Category },
} as const;

function read(id: number): Category {
  if (id < 1) throw new ApiError('category_not_found', `There is no category ${id}`);
  // Found: readExample throws pet_not_found
  if (id > 9) throw new ApiError('pet_not_found', `There is no pet ${id}`);
  return { id, name: 'Dogs' };
}

class Shelf {
  readonly #first = 1;

  async first(): Promise<Category> {
    const categories = [this.#first].map(read);
    return categories[0] ?? missing('insufficient_stock');
  }

  // Not reached by the example.
  last(): Category {
    throw new ApiError('category_in_use', 'Pets belong to the category');
  }
}

function missing(code: 'insufficient_stock' | 'out_of_stock'): never {
  // Found: readExample throws out_of_stock
  throw new ApiError(code, 'The shelf is empty');
}

const shelf = new Shelf();

export const exampleRoutes = [
  defineRoute({
    ...described,
    operationId: 'readExample',
    errors: ['category_not_found', 'insufficient_stock'],
    handler: async () => reply.resource(await shelf.first()),
  }),
];
