import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { MailAccess } from '../contract/index.ts'

/** The API of one provider, for all of its mailboxes. */
export interface RestClient {
  /** `urgent` is for what an API request waits for: it goes before synchronisation and waits at most 10 s. */
  mailbox(access: MailAccess, options?: { urgent?: boolean }): RestMailbox
  /** Gives up everything under way for an account, or for all and closes the connections. It may be used again afterwards. */
  close(accountId?: string): Promise<void>
}

/** One mailbox at the provider, with its token and its pace. Every method rejects with `ProviderError`, or the signal's reason. */
export interface RestMailbox {
  /** `read` makes sense of the answer's JSON (`undefined` when it is empty) and throws when it cannot: `unavailable`. */
  json<T>(request: RestRequest, read: (body: unknown) => T): Promise<T>
  /** A successful answer as it arrives. It must be read or destroyed; an idle one is given up after 30 s. */
  open(request: RestRequest): Promise<RestStream>
}

export interface RestRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the API's root, with a leading slash; or an address the provider gave, which must have the root's origin. */
  path: string
  /** Added to the path's own. */
  query?: Record<string, string | number | readonly string[] | undefined>
  headers?: Record<string, string>
  /** Sent as JSON; a string as it is (with its `content-type` in `headers`). */
  body?: unknown
  /** For the log and for people: `listing the labels`. */
  doing: string
  /** It changes nothing although its method is not GET: a batch of reads. It may be sent twice. */
  isRead?: boolean
  /** What it costs of the provider's quota; 1 when absent. */
  cost?: number
  /** More of an answer than so many bytes, unpacked, is `unavailable`; 8 MB when absent. Does not bound `open`. */
  maxBytes?: number
  /** Gives up at once. */
  signal?: AbortSignal | undefined
}

export interface RestStream {
  headers: IncomingHttpHeaders
  /** Unpacked; fails with `ProviderError`. */
  body: Readable
}

/** An answer that says no, or one part of a batch. */
export interface RestResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** JSON where it was JSON, else undefined. */
  body: unknown
}
