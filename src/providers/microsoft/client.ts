import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type MailAccess, ProviderError } from '../contract/index.ts'
import {
  inBatches,
  type Json,
  list,
  object,
  type RestClient,
  type RestMailbox,
  type RestResponse,
  type RestStream,
  text,
  UnexpectedResponse,
} from '../shared/rest/index.ts'
import { isNationalCloud } from './clouds.ts'
import { graphError, type MailboxOpener, mailboxOpener } from './errors.ts'
import { MailboxPath } from './mailbox-path.ts'

interface GraphDeps {
  /** With the version: `https://graph.microsoft.com/v1.0`. */
  root: string
  client: RestClient
  clock: Clock
}

/** Graph's limit. */
const BATCH_SIZE = 20
/** Graph passes so many parts of a batch to Exchange at once, and each counts against the mailbox's concurrent requests. */
const PARTS_AT_ONCE = 4
const MAX_BATCH_BYTES = 32 * 1024 * 1024
/** For requests of a sync: of a message's text it needs 4 KB, and reads only the beginning of a long one. */
export const SYNC_LIMITS = { maxBytes: 128 * 1024 * 1024, maxString: 256 * 1024 }

const CHANGE_LIMITS = { maxBytes: 64 * 1024 * 1024, maxString: 16 * 1024 }

/** Immutable ids survive a move within the mailbox. Every request must ask for them, or its ids would not match the stored ones. */
const IMMUTABLE_IDS = 'IdType="ImmutableId"'

interface GraphRequest {
  query?: Record<string, string | number | undefined>
  /** Further `Prefer` values beside immutable ids. */
  prefer?: string[]
  /** `ConsistencyLevel: eventual`, which searches of the directory require. */
  isEventual?: boolean
  doing: string
  maxBytes?: number
  maxString?: number
  signal?: AbortSignal | undefined
}

type GraphBatch = Pick<GraphRequest, 'doing' | 'signal' | 'maxBytes' | 'maxString'> & { isolates?: boolean }

/** A request that changes something. */
export interface GraphChange {
  /** A text is sent as `text/plain`: a message in RFC 5322 form, in base64. */
  body?: Json | string
  doing: string
  signal?: AbortSignal | undefined
  /** For large bodies. */
  timeoutMs?: number
  beforeSend?(): Promise<void>
  /** Further `Prefer` values. */
  prefer?: string[]
  /** The version that is changed; another one is `conflict`. */
  ifMatch?: string | undefined
  isRepeatable?: boolean
  maxString?: number
}

/** A request within a batch: a GET, or a change that may be repeated. */
export interface BatchItem {
  method?: 'POST' | 'PATCH' | 'DELETE'
  path: string
  body?: Json
  query?: Record<string, string | number>
  prefer?: string[]
}

/** One page of a collection. `@odata.nextLink` leads to the next page; `@odata.deltaLink` ends a round of changes. */
export interface Page {
  items: Json[]
  nextLink: string | undefined
  deltaLink: string | undefined
}

/**
 * One mailbox at Graph. Every method rejects with `ProviderError`, or the signal's reason. Paths are written for the
 * user of the token (`/me/messages`), also for the mailbox of somebody else.
 */
export class Graph {
  /** The id that the inbox must have: the mailbox is known by an address only, which may pass on to somebody else. */
  readonly expectedInbox: string | undefined
  readonly #mailbox: MailboxPath
  readonly #root: URL
  readonly #rest: RestMailbox
  readonly #clock: Clock
  /** Of the account, in lower case. */
  readonly #email: string
  readonly #opener: MailboxOpener

  constructor(
    { root, client, clock }: GraphDeps,
    access: MailAccess,
    options: { urgent?: boolean; background?: boolean },
  ) {
    const { graph } = access.settings
    this.#mailbox = new MailboxPath(access.settings)
    this.expectedInbox = graph?.user.includes('@') ? graph.inbox : undefined
    this.#root = new URL(root)
    this.#rest = client.mailbox(access, options)
    this.#clock = clock
    this.#email = access.email.toLowerCase()
    this.#opener = mailboxOpener(access)
  }

  /** Whether the mailbox is that of the token's user. */
  get isOwnMailbox(): boolean {
    return this.#mailbox.isOwn
  }

  /** Whether the token belongs to an application, and not to a person. */
  get isApplication(): boolean {
    return this.#opener === 'application'
  }

  /** `/me` or `/users/{id}`. */
  get mailboxPath(): string {
    return this.#mailbox.path
  }

  /**
   * Whether a message has to name its sender: Exchange would write the user of the token into a message in another mailbox, and the
   * mailbox into one from an alias or from somebody else.
   */
  needsSender(email: string): boolean {
    return !this.isOwnMailbox || email.toLowerCase() !== this.#email
  }

  /** False for a national cloud, which has fewer actions. */
  get isWorldwide(): boolean {
    return !isNationalCloud(this.#root.hostname)
  }

  /**
   * Turns a link from a response into a path below the root. Refuses another host, because it would receive the token, and another
   * mailbox, because the token of a person may open it.
   */
  resolvePath(link: string, doing: string): string {
    const url = URL.canParse(link, this.#root.href) ? new URL(link, this.#root) : undefined
    if (url === undefined) throw new ProviderError('unavailable', `${doing}: Graph returned an invalid link`)
    if (url.origin !== this.#root.origin) {
      throw new ProviderError('unavailable', `${doing}: Graph returned a link to another host (${url.host})`)
    }
    if (this.#mailbox.isLeftBy(url.pathname)) {
      throw new ProviderError('unavailable', `${doing}: Graph returned a link to another mailbox`)
    }
    const prefix = this.#root.pathname.replace(/\/+$/, '')
    const path = url.pathname + url.search
    return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : url.origin + path
  }

  /** `path` is below the root, or comes from `resolvePath`. */
  get<T>(path: string, { prefer, isEventual = false, ...rest }: GraphRequest, read: (body: unknown) => T): Promise<T> {
    const headers = { ...preferHeader(prefer), ...(isEventual && { consistencylevel: 'eventual' }) }
    return this.#rest.json({ method: 'GET', path: this.#mailbox.resolve(path), headers, ...rest }, read)
  }

  page(path: string, request: GraphRequest): Promise<Page> {
    return this.get(path, request, parsePage)
  }

  open(path: string, { doing, signal }: Pick<GraphRequest, 'doing' | 'signal'>): Promise<RestStream> {
    return this.#rest.open({ method: 'GET', path: this.#mailbox.resolve(path), headers: preferHeader(), doing, signal })
  }

  send(method: 'POST' | 'PATCH' | 'DELETE', path: string, { prefer, ifMatch, ...change }: GraphChange): Promise<Json> {
    const headers = {
      ...preferHeader(prefer),
      ...(typeof change.body === 'string' && { 'content-type': 'text/plain' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    }
    // The response repeats the message, of which only short values are used.
    return this.#rest.json({ method, path: this.#mailbox.resolve(path), headers, ...CHANGE_LIMITS, ...change }, object)
  }

  /** Sends bytes to an address below the root's origin that authorises by itself. */
  async put(url: URL, headers: Record<string, string>, body: Buffer, change: Omit<GraphChange, 'body'>): Promise<Json> {
    const request = { method: 'PUT' as const, path: url.href, headers, body, withoutToken: true, ...change }
    return this.#rest.json(request, (value) => object(value))
  }

  /** Whether a link leads to the configured Graph, which the operator trusts. */
  isOwn(url: URL): boolean {
    return url.origin === this.#root.origin
  }

  toError(response: RestResponse, doing: string): ProviderError {
    return graphError(response, doing, this.#clock.now(), { opener: this.#opener })
  }

  /**
   * Sends many requests in few and returns the body or the error of each. Throttled items are sent again. `isolates`: see `BatchOptions`.
   */
  async batch<Item extends BatchItem>(
    items: readonly Item[],
    { isolates = false, ...options }: GraphBatch,
  ): Promise<Map<Item, BatchResult>> {
    const { doing, signal } = options
    return inBatches<Item, Json>(items, {
      size: BATCH_SIZE,
      doing,
      isolates,
      retry: this.#rest.retry,
      signal,
      send: async (batch) => {
        const requests = batch.map(({ method = 'GET', path, query, prefer, body }, index) => ({
          id: String(index),
          method,
          url: withQuery(this.#mailbox.resolve(path), query),
          headers: { ...preferHeader(prefer), ...(body !== undefined && { 'content-type': 'application/json' }) },
          ...(body !== undefined && { body }),
        }))
        const slots = Math.min(PARTS_AT_ONCE, requests.length)
        const request = { maxBytes: MAX_BATCH_BYTES, ...options, slots, body: { requests }, headers: preferHeader() }
        return this.#rest.json({ method: 'POST', path: '/$batch', ...request }, (body) =>
          this.#batchResults(batch, body, doing),
        )
      },
    })
  }

  #batchResults<Item extends BatchItem>(batch: readonly Item[], body: unknown, doing: string): Map<Item, BatchResult> {
    const results = new Map<Item, BatchResult>()
    for (const response of list(object(body).responses).map(object)) {
      const item = batch[Number(text(response.id) ?? Number.NaN)]
      if (item === undefined) continue
      const status = typeof response.status === 'number' ? response.status : 500
      const isSuccess = status >= 200 && status < 300
      results.set(item, isSuccess ? object(response.body) : this.#itemError(item, { status, response, doing }))
    }
    return results
  }

  #itemError(
    { method, path }: BatchItem,
    { status, response, doing }: { status: number; response: Json; doing: string },
  ): ProviderError {
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(object(response.headers))) {
      if (typeof value === 'string' || typeof value === 'number') headers[name.toLowerCase()] = String(value)
    }
    const request = { method: method ?? 'GET', path, opener: this.#opener }
    const error = graphError({ status, headers, body: response.body }, doing, this.#clock.now(), request)
    // The token was accepted for the batch request. If it really expired, the next complete request renews it.
    if (error.kind !== 'auth_expired') return error
    return new ProviderError('unavailable', `${doing}: one item of the batch was refused (401)`, { cause: error })
  }
}

export type BatchResult = Json | ProviderError

/** The body of a batch item. Throws its error. */
export function requireBody(result: BatchResult | undefined): Json {
  if (result instanceof ProviderError) throw result
  return result ?? {}
}

/** The same for a collection. */
export function requirePage(result: BatchResult | undefined, doing: string): Page {
  const body = requireBody(result)
  try {
    return parsePage(body)
  } catch (error) {
    rethrowProgrammingError(error)
    throw new ProviderError('unavailable', `${doing}: the response could not be read`)
  }
}

export function segment(id: string): string {
  return encodeURIComponent(id)
}

export function messagePath(id: string): string {
  return `/me/messages/${segment(id)}`
}

function parsePage(body: unknown): Page {
  const { value, '@odata.nextLink': next, '@odata.deltaLink': delta } = object(body)
  if (!Array.isArray(value)) throw new UnexpectedResponse('the response is not a collection')
  return { items: value.map(object), nextLink: text(next), deltaLink: text(delta) }
}

function preferHeader(more: readonly string[] = []): Record<string, string> {
  return { prefer: [IMMUTABLE_IDS, ...more].join(', ') }
}

function withQuery(path: string, query: Record<string, string | number> = {}): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return pairs.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`
}
