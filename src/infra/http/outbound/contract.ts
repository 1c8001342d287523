/** What may go wrong before an answer is there; the answer's status is never an error here. */
export type OutboundFailure = 'dns' | 'refused_address' | 'connect' | 'tls' | 'timeout' | 'reset' | 'protocol'

/** `message` is one sentence that may be shown to the owner of the address; it names the setting when the guard refused. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly kind: OutboundFailure
  constructor(kind: OutboundFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** http or https; credentials in it are refused. */
  url: string
  headers: Record<string, string>
  body?: string
  /** Whose connections to use: requests with different names never wait for each other's. */
  connectionsOf?: string
  /** For everything: the name lookup, connecting, sending, and reading the answer. */
  timeoutMs: number
  /** What is read of the answer before the connection is given up; at most and by default 64 KB. */
  maxResponseBytes?: number
  /** Gives up at once; the promise then rejects with the signal's reason. */
  signal?: AbortSignal
}

export interface OutboundAnswer {
  /** Redirects are not followed: 3xx is an answer like any other. */
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
  /** True when the answer was longer than what was read of it. */
  truncated: boolean
}

/** HTTP to addresses that came from outside: every request passes the address guard. */
export interface Outbound {
  /** Rejects with `OutboundError`. Never repeats a request that was sent. */
  send(request: OutboundRequest): Promise<OutboundAnswer>
  /** Ends all connections; requests under way fail. Twice safely. */
  close(): Promise<void>
}
