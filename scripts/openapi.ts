// Writes openapi.yaml from the route definitions. With --check it only checks that the committed file is current.
import { describedRoutes } from '../service/src/described-routes.ts';
import { buildDocument } from '../service/src/http/openapi/build.ts';
import { toYaml } from '../service/src/http/openapi/document.ts';
import { writeOrCheck } from './written-file.ts';

writeOrCheck('openapi.yaml', await toYaml(await buildDocument(describedRoutes)), 'npm run openapi');
