import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: at('.'),
  base: '/console/',
  // From their sources: these packages need no build of their own here.
  resolve: {
    alias: {
      '@petstore/client/lists': at('../../sdk/src/resources/lists.ts'),
      '@petstore/client': at('../../sdk/src/index.ts'),
      '@petstore/pet-files': at('../../pet-files/src/index.ts'),
    },
  },
  build: {
    target: 'baseline-widely-available',
    emptyOutDir: true,
    // Every browser of that target knows modulepreload. The polyfill would be one more script.
    modulePreload: { polyfill: false },
    // No data: URL of a font or picture, so that the content security policy stays short.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
