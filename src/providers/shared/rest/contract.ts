import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Backoff } from '../../../platform/concurrency/retry.ts'
import type { MailAccess } from '../../contract/index.ts'
import type { QuotaRefusal } from './quota.ts'

/** The API of one provider, for all of its mailboxes. */
export interface RestClient {
  /**
   * `urgent` is for requests that an API caller waits for: they go before sync, have a share of the quota and wait at most 10 s.
   * `background` is for those that nobody waits for: they go behind sync and leave it its share of the quota.
   */
  mailbox(access: MailAccess, options?: { urgent?: boolean; background?: boolean }): RestMailbox
  /** Sends the requests of an account at once again, although the provider asked for a pause. */
  endPause(accountId: string): void
  /** Aborts the requests of an account; without an account, of all, and closes the connections. The client can be used again. */
  close(accountId?: string): Promise<void>
}

/** One mailbox, with its token and its rate limit. Every method rejects with `ProviderError`, or the signal's reason. */
export interface RestMailbox {
  /** `read` converts the response's JSON (`undefined` when empty). When it throws, the request is `unavailable`. */
  json<T>(request: RestRequest, read: (body: unknown) => T): Promise<T>
  /** A successful response, streamed. The caller must read or destroy it; it is destroyed after 30 s without progress,
   * and at its deadline. */
  open(request: RestRequest): Promise<RestStream>
  /** See `MailAccess`. */
  readonly isApplication: boolean
  /** Before parts of a batch are sent again for which the provider names no pause. */
  readonly retry: Backoff
  /** How many requests of this cost a batch should have now, at most `most`. Batches get smaller while the provider refuses parts. */
  batchSize(cost: number, most: number): number
  /** Reports how the parts of a batch ended (`hasParts`). */
  partsDone(parts: { acceptedUnits: number; refusedUnits: number; refusal: QuotaRefusal }): void
}

export interface RestRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the API's root, with a leading slash; or a link from the provider, which must have the root's origin. */
  path: string
  /** Added to the query of `path`. */
  query?: Record<string, string | number | readonly string[] | undefined>
  headers?: Record<string, string>
  /** Sent as JSON; a string or a buffer is sent unchanged (set its `content-type` in `headers`). */
  body?: unknown
  /** For an address that authorises by itself. */
  withoutToken?: boolean
  /** Awaited before the first byte of each attempt. When it rejects, nothing is sent and the request rejects with its error. */
  beforeSend?(): Promise<void>
  /** How long the provider may take to respond, in place of the client's limit. */
  timeoutMs?: number
  /** For errors: `listing the labels`. */
  doing: string
  /** It may be sent twice although its method is not GET: it changes nothing, such as a batch of reads, or a repetition changes nothing more. */
  isRepeatable?: boolean
  /** Units of the provider's quota; 1 by default. */
  cost?: number
  /** How many of the mailbox's requests in flight it counts as: a batch, which the provider executes in parts. 1 by default. */
  slots?: number
  /** A batch, whose parts the provider may refuse one by one. The caller reports them with `partsDone`. */
  hasParts?: boolean
  /** A longer response, after decompression, is `unavailable`. 8 MB by default; does not limit `open`. */
  maxBytes?: number
  /** Longer strings of a JSON response are cut, so that it may be long and still cost little memory. In characters of their JSON form. */
  maxString?: number
  /** How long a stream of `open` may take from its first byte to its last. 10 minutes by default. */
  deadlineMs?: number
  /** Aborts the request at once. */
  signal?: AbortSignal | undefined
}

export interface RestStream {
  headers: IncomingHttpHeaders
  /** Decompressed; fails with `ProviderError`. */
  body: Readable
}

/** The request that an error response belongs to. */
export interface FailedRequest {
  method: string
  /** Below the API's root. */
  path: string
  /** Both: see `MailAccess`. */
  settings: MailAccess['settings']
  isApplication: boolean
}

/** An error response, or one part of a batch response. */
export interface RestResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** Undefined when it is not JSON. */
  body: unknown
}
