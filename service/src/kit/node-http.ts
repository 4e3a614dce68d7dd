/**
 * `node:http` for its values; types are imported from `node:http` itself. An `import` of values would read every export of
 * the module, and to read `WebSocket` Node loads its implementation of `fetch`, which takes about 30 ms of the start.
 */
export const http = process.getBuiltinModule('node:http');
