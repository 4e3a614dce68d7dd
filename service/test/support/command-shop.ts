import { PackedCommand } from './packed-command.ts';
import { startTestApp, type TestApp } from './test-app.ts';

/** A shop with a category, and the command with the administrator's key of the shop. */
export interface CommandShop {
  shop: TestApp;
  petstore: PackedCommand;
  /** The ID of the category Ferrets. */
  categoryId: number;
}

/** Opens a shop, which closes with the resources. The command has no home directory, and so no profiles. */
export async function openCommandShop(resources: AsyncDisposableStack): Promise<CommandShop> {
  const shop = await startTestApp({ after: release => resources.defer(release) });
  const petstore = new PackedCommand({
    PETSTORE_URL: shop.origin,
    PETSTORE_API_KEY: shop.adminKey,
    HOME: '/nonexistent',
  });
  const { body } = await shop.api.post('/categories', { name: 'Ferrets' });
  return { shop, petstore, categoryId: body.id };
}
