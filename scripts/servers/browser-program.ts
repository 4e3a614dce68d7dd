// Runs Chromium for the test files that connect to it, until SIGTERM. Argument: the file that receives the WebSocket
// address as soon as test files can connect.
import { renameSync, writeFileSync } from 'node:fs';
import { launchBrowserServer } from '../../service/test/support/launch-browser.ts';

const [addressFile = ''] = process.argv.slice(2);
const server = await launchBrowserServer();
server.on('close', () => process.exit());
// Written elsewhere first: a reader never finds half of it.
writeFileSync(`${addressFile}.new`, server.wsEndpoint());
renameSync(`${addressFile}.new`, addressFile);
