// The import of Postman.
import { convertV2 } from 'openapi-to-postmanv2';

interface Item {
  name: string;
  item?: Item[];
  request?: PostmanRequest;
}

export interface PostmanRequest {
  method: string;
  url: { host: string[]; path: string[] };
}

/** What Postman makes of a contract: the requests, and the variables that they use. */
export interface Collection {
  requests: PostmanRequest[];
  variables: Record<string, string>;
}

/** Imports a contract. Throws when Postman rejects it. */
export async function importIntoPostman(document: object): Promise<Collection> {
  const { result, reason, output } = await new Promise<Conversion>((resolve, reject) =>
    convertV2({ type: 'json', data: document }, {}, (error, conversion) =>
      error ? reject(error) : resolve(conversion as Conversion),
    ),
  );
  if (!result) throw new Error(reason);
  const { item, variable } = output[0]!.data;
  const requestsIn = (items: Item[]): PostmanRequest[] =>
    items.flatMap(({ item, request }) => (item ? requestsIn(item) : request ? [request] : []));
  return {
    requests: requestsIn(item),
    variables: Object.fromEntries(variable.map(({ key, value }) => [key, value])),
  };
}

interface Conversion {
  result: boolean;
  reason?: string;
  output: { data: { item: Item[]; variable: { key: string; value: string }[] } }[];
}
