import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';

/** Opens an event stream on a separate connection and reads it. `path` includes the query. */
export async function openStream(port: number, path: string, apiKey: string): Promise<IncomingMessage> {
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    headers: { 'X-API-Key': apiKey },
    agent: new Agent(),
  }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`GET ${path}: ${response.statusCode}`);
  response.on('error', () => {});
  return response.resume();
}
