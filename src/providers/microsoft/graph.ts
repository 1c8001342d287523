import type { Clock } from '../../lib/clock.ts'
import { type MailAccess, ProviderError } from '../contract/index.ts'
import { inBatches, type RestClient, type RestMailbox, type RestStream } from '../rest/index.ts'
import { graphFailure } from './errors.ts'
import { type Json, list, object, type Page, page, text } from './json.ts'

export interface GraphDeps {
  /** With the version: `https://graph.microsoft.com/v1.0`. */
  root: string
  client: RestClient
  clock: Clock
}

/** Graph takes no more in one request. */
const BATCH_SIZE = 20
const BATCH_BYTES = 32 * 1024 * 1024

/** Ids that stay when a message is moved within its mailbox. Every request says so, or the ids would differ from the stored ones. */
const IMMUTABLE_IDS = 'IdType="ImmutableId"'

export interface GraphQuery {
  query?: Record<string, string | number | undefined>
  /** Beside immutable ids. */
  prefer?: string[]
  doing: string
  maxBytes?: number
  signal?: AbortSignal | undefined
}

/** One request of a batch: a GET of `path`, with its query. */
export interface BatchItem {
  path: string
  query?: Record<string, string | number>
  prefer?: string[]
}

/** One mailbox at Graph: every request in one form. Rejects with `ProviderError`, or the signal's reason. */
export class Graph {
  readonly #root: URL
  readonly #rest: RestMailbox
  readonly #clock: Clock

  constructor({ root, client, clock }: GraphDeps, access: MailAccess, options: { urgent: boolean }) {
    this.#root = new URL(root)
    this.#rest = client.mailbox(access, options)
    this.#clock = clock
  }

  /** A link of an answer as a path below the root. One that points elsewhere is refused: the token would go there. */
  pathOf(link: string, doing: string): string {
    const url = URL.canParse(link, this.#root.href) ? new URL(link, this.#root) : undefined
    if (url === undefined) throw new ProviderError('unavailable', `${doing}: Graph gave an address that is none`)
    if (url.origin !== this.#root.origin) {
      throw new ProviderError('unavailable', `${doing}: Graph pointed to another host (${url.host})`)
    }
    const prefix = this.#root.pathname.replace(/\/+$/, '')
    const path = url.pathname + url.search
    return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : url.origin + path
  }

  /** `path` below the API's root, or a link Graph gave. */
  get<T>(path: string, { prefer, ...rest }: GraphQuery, read: (body: unknown) => T): Promise<T> {
    return this.#rest.json({ method: 'GET', path, headers: preferring(prefer), ...rest }, read)
  }

  page(path: string, query: GraphQuery): Promise<Page> {
    return this.get(path, query, page)
  }

  open(path: string, { doing }: { doing: string }): Promise<RestStream> {
    return this.#rest.open({ method: 'GET', path, headers: preferring(), doing })
  }

  send(method: 'POST' | 'PATCH' | 'DELETE', path: string, sent: { body?: Json; doing: string }): Promise<Json> {
    return this.#rest.json({ method, path, headers: preferring(), ...sent }, object)
  }

  /**
   * Many reads in few requests. What became of each: the body of its answer, or the error. Graph works on four parts at once; one
   * that is refused because others are under way is asked again.
   */
  async batch<Item extends BatchItem>(
    items: readonly Item[],
    { doing, signal }: { doing: string; signal?: AbortSignal | undefined },
  ): Promise<Map<Item, Json | ProviderError>> {
    return inBatches<Item, Json>(items, {
      ...{ size: BATCH_SIZE, doing, signal },
      send: async (sent) => {
        const requests = sent.map(({ path, query, prefer }, index) => ({
          ...{ id: String(index), method: 'GET', url: withQuery(path, query), headers: preferring(prefer) },
        }))
        const request = { doing, signal, body: { requests }, headers: preferring(), maxBytes: BATCH_BYTES }
        return this.#rest.json({ method: 'POST', path: '/$batch', ...request }, (body) =>
          this.#answers(sent, body, doing),
        )
      },
    })
  }

  #answers<Item>(sent: readonly Item[], body: unknown, doing: string): Map<Item, Json | ProviderError> {
    const answers = new Map<Item, Json | ProviderError>()
    for (const entry of list(object(body).responses).map(object)) {
      const item = sent[Number(text(entry.id) ?? Number.NaN)]
      if (item === undefined) continue
      const status = typeof entry.status === 'number' ? entry.status : 500
      const isGood = status >= 200 && status < 300
      answers.set(item, isGood ? object(entry.body) : this.#failure(status, entry, doing))
    }
    return answers
  }

  #failure(status: number, entry: Json, doing: string): ProviderError {
    const failure = graphFailure(partOf(status, entry), doing, this.#clock.now())
    // The token was good for the batch: whether it is refused is for the next whole request to say, which can renew it.
    if (failure.kind !== 'auth_expired') return failure
    return new ProviderError('unavailable', `${doing}: a part of it was answered as from a stranger`, {
      cause: failure,
    })
  }
}

type Outcome = Json | ProviderError | undefined

/** What became of one item of a batch, where nothing may be missing. */
export function answered(outcome: Outcome): Json {
  if (outcome instanceof ProviderError) throw outcome
  return outcome ?? {}
}

/** The same for a collection. */
export function answeredPage(outcome: Outcome, doing: string): Page {
  const body = answered(outcome)
  try {
    return page(body)
  } catch {
    throw new ProviderError('unavailable', `${doing}: the answer could not be read`)
  }
}

export function segment(id: string): string {
  return encodeURIComponent(id)
}

function preferring(more: readonly string[] = []): Record<string, string> {
  return { prefer: [IMMUTABLE_IDS, ...more].join(', ') }
}

function withQuery(path: string, query: Record<string, string | number> = {}): string {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return pairs.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`
}

function partOf(status: number, entry: Json) {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(object(entry.headers))) {
    if (typeof value === 'string' || typeof value === 'number') headers[name.toLowerCase()] = String(value)
  }
  return { status, headers, body: entry.body }
}
