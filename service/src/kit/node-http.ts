/**
 * The values of `node:http`; import its types from `node:http` itself. An `import` of values would read every export of the
 * module, and for `WebSocket` Node loads its implementation of `fetch`, which takes about 30 ms at start.
 */
export const http = process.getBuiltinModule('node:http');
