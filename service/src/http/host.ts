/** A name, an IPv4 address, or an IPv6 address in brackets, with an optional port (RFC 3986 §3.2). */
const HOST = /^(\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+)(?::(\d*))?$/i;

const MAX_PORT = 65_535;

/** The name or address in a Host header, in lower case; `undefined` if the header is not valid (RFC 9110 §7.2). */
export function hostnameOf(host: string): string | undefined {
  const [, name, port] = HOST.exec(host) ?? [];
  return Number(port ?? 0) > MAX_PORT ? undefined : name?.toLowerCase();
}
