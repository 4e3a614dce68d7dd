/**
 * The lower bound: `node:http` with nothing on top. Returns the same status, headers and body for every request (JSON of a
 * `BareResponse` as its only argument). Node adds Date, Connection and Keep-Alive as it does for the service.
 */
import { createServer } from 'node:http';

export interface BareResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: string;
}

const { status, headers, body } = JSON.parse(process.argv[2] ?? '') as BareResponse;

createServer((_request, response) => {
  response.writeHead(status, headers);
  response.end(body);
}).listen(Number(process.env.PORT), process.env.HOST);
