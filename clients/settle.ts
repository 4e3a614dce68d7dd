interface Reply {
  status: number;
  data?: unknown;
  headers: Headers;
}
type Success = { status: 200 | 201 };
type NotModified = { status: 304 };

/** Separates the data of a success from the error: the generated type has both in `data`, and `status` distinguishes them. */
export async function settle<R extends Reply>(call: Promise<R>) {
  const response = await call;
  return response.status < 300
    ? { data: response.data as Extract<R, Success>['data'], response }
    : { error: response.data as Exclude<R, Success | NotModified>['data'], response };
}
