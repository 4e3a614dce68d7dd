// Builds what the service offers in addition to its API, unless it is newer than its sources: the packages of the client and of the
// command, and the console. Runs on Node.js 20.19 or newer.
import './build-packages.mjs';
import '../web/console/build.mjs';
