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
    // By default, each set of pages that share a module has a file of its own: 67 files, of which a page loads 30.
    rolldownOptions: {
      output: {
        chunkFileNames: ({ name }) => `assets/${name.startsWith('shared~') ? 'shared' : '[name]'}-[hash].js`,
        codeSplitting: {
          groups: [
            { name: 'first', tags: ['$initial'], priority: 2 },
            // With all that it imports, so that the first view loads nothing else.
            { name: 'today', test: /\/pages\/today\/today\.tsx$/, priority: 1 },
            // In bytes: smaller files are merged, even if a page then loads code that it does not need.
            { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 20_000 },
          ],
        },
      },
    },
  },
});
