/** Why no response arrived. A response with an error status is not a failure. */
export type OutboundFailure = 'dns' | 'refused_address' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol'

/** `message` is one sentence that the owner of the address may read. It names the setting when the guard refused. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly kind: OutboundFailure
  /** The error code of the network or of TLS, where there is one. */
  readonly code: string
  constructor(
    kind: OutboundFailure,
    message: string,
    { code = '', ...options }: ErrorOptions & { code?: string } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.code = code
  }
}

export interface OutboundRequest {
  /** PROPFIND and REPORT are WebDAV's reads. */
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'PROPFIND' | 'REPORT'
  /** http or https, without credentials. */
  url: string
  headers: Record<string, string>
  body?: string | Buffer
  /** The owner of the connections. Requests of different owners never wait for each other. */
  connectionOwner?: string
  /** For the name lookup, connecting, sending, and reading the response together. */
  timeoutMs: number
  /** The rest of a longer response is dropped with its connection. 64 KB by default. */
  maxResponseBytes?: number
  /** Aborts the request; the promise then rejects with the signal's reason. */
  signal?: AbortSignal
}

export interface OutboundResponse {
  /** Redirects are not followed: a 3xx is returned. */
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  /** True when `body` is only the beginning: at most 64 KB of it. */
  truncated: boolean
}

/** An HTTP client for addresses that users give. Every request passes the address guard. */
export interface Outbound {
  /** Rejects with `OutboundError`. Sends a request at most once. */
  send(request: OutboundRequest): Promise<OutboundResponse>
  /** Closes all connections; running requests fail. Twice safely. */
  close(): Promise<void>
}
