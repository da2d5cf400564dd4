/** How long the server of one request may be silent, in milliseconds. */
export interface Patience {
  /** Until there is a connection, TLS included. A dispatcher that is set for the process, such as that of a proxy, has its own time. */
  readonly connect: number;
  /** From the connection to the head of the answer. */
  readonly firstByte: number;
  /** Between two pieces of the answer. */
  readonly idle: number;
}

/**
 * The members that the host's `fetch` takes. What `patience` does not name is ten seconds to connect and half an hour for the rest. A
 * silence that is too long rejects with an error that has `UND_ERR_CONNECT_TIMEOUT`, `UND_ERR_HEADERS_TIMEOUT` or
 * `UND_ERR_BODY_TIMEOUT`, the codes of Node's own client, as its `code` or that of its `cause`.
 */
export interface PatientInit extends RequestInit {
  readonly patience?: Partial<Patience>;
}
