import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { PackedCommand } from './packed-command.ts';
import type { TestApp } from './test-app.ts';
import { useShop } from './use-shop.ts';

/** A shop for all cases of a file, and the command with the administrator's key of the shop. */
export interface CommandShop {
  shop: Readonly<TestApp>;
  petstore: PackedCommand;
  /** The home directory of the command, empty at first. */
  directory: string;
}

/** Starts what `useShop` starts: the command can be used when the first case runs. */
export function useCommandShop(options?: Parameters<typeof useShop>[0]): CommandShop {
  const shop = useShop({ alone: false, ...options });
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  const petstore = commandIn(directory);
  Object.defineProperties(petstore.environment, {
    PETSTORE_URL: { get: () => shop.origin, enumerable: true },
    PETSTORE_API_KEY: { get: () => shop.adminKey, enumerable: true },
  });
  after(() => rmSync(directory, { recursive: true }));
  return { shop, petstore, directory };
}

export function commandIn(directory: string): PackedCommand {
  return new PackedCommand({ HOME: directory, XDG_CONFIG_HOME: directory });
}
