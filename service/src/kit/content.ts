import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const compressors = {
  // Level 6 takes a tenth of the time of level 11, for which the client would wait, and is an eighth larger.
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes, { level: 6 }),
  identity: async (bytes: Buffer) => bytes,
};

/** The content encodings of HTTP in which content can be sent, best first. */
type Encoding = keyof typeof compressors;

/** Content in every encoding that a browser may accept. Each encoding is made once, at the first request for it. */
export class Content {
  readonly type: string;
  /** The first 64 bits of its SHA-256, in hexadecimal. */
  readonly hash: string;
  readonly #bytes: Buffer;
  readonly #isCompressed: boolean;
  readonly #encoded = new Map<Encoding, Promise<Buffer>>();

  /** `compressed` has encodings that were made before. */
  constructor(type: string, text: string | Buffer, compressed: Partial<Record<Encoding, Buffer>> = {}) {
    this.type = type;
    this.#isCompressed = type === 'font/woff2';
    this.#bytes = typeof text === 'string' ? Buffer.from(text) : text;
    for (const encoding of ['br', 'gzip'] as const) {
      const bytes = compressed[encoding];
      if (bytes) this.#encoded.set(encoding, Promise.resolve(bytes));
    }
    this.hash = createHash('sha256').update(this.#bytes).digest('hex').slice(0, 16);
  }

  /** A strong ETag, different for each encoding (RFC 9110 §8.8.3). */
  etag(encoding: Encoding): string {
    return encoding === 'identity' ? `"${this.hash}"` : `"${this.hash}-${encoding}"`;
  }

  /** The best encoding that an Accept-Encoding header allows. None makes content smaller that is compressed already. */
  encodingFor(acceptEncoding: string | undefined): Encoding {
    return this.#isCompressed ? 'identity' : bestOf(acceptEncoding);
  }

  encoded(encoding: Encoding): Promise<Buffer> {
    let bytes = this.#encoded.get(encoding);
    if (!bytes) {
      bytes = compressors[encoding](this.#bytes);
      this.#encoded.set(encoding, bytes);
    }
    return bytes;
  }
}

/** RFC 9110 §12.5.3. */
function bestOf(acceptEncoding = ''): Encoding {
  const weights = new Map(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map(entry => {
        const [name = '', ...parameters] = entry.split(';').map(part => part.trim());
        const q = parameters.find(parameter => parameter.startsWith('q='))?.slice(2);
        return [name, q === undefined ? 1 : Number(q)] as const;
      }),
  );
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  return (['br', 'gzip'] as const).find(name => weightOf(name) > 0) ?? 'identity';
}
