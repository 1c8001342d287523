import { type EventCatalogue, holdStamping } from '../../../events/index.ts'
import type { Db, Tx } from '../../../infra/db/index.ts'
import type { AddressGuard } from '../../../infra/net/index.ts'
import type { Queue } from '../../../infra/queue/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import { AppError, type ErrorDetail, invalid } from '../../../lib/errors.ts'
import type { Ids } from '../../../lib/ids.ts'
import { type Page, type PageQuery, pageOfAll } from '../../../lib/page.ts'
import type { Sealer } from '../../../lib/seal.ts'
import { generateSigningSecret, signingKey } from '../../../lib/signature.ts'
import { isoTime, isoTimeOrNull } from '../../../lib/time.ts'
import { DELIVER_QUEUE } from '../deliveries/fan-out.ts'
import { CLOSED, circuitView } from '../sending/circuit.ts'
import { cancelForEndpoint } from '../sending/claims-store.ts'
import type { CreateBody, EndpointView, UpdateBody } from './api.ts'
import { customHeaders, masked } from './custom-headers.ts'
import { type EndpointRow, endpointContext, openEndpoint, rotated, type SigningSecret } from './endpoint.ts'
import { endpointStore } from './store.ts'
import { DEFAULT_EVENT_TYPES, isSubscription } from './subscriptions.ts'
import { checkEndpointUrl } from './url.ts'

export interface EndpointDeps {
  db: Db
  clock: Clock
  ids: Ids
  sealer: Sealer
  guard: AddressGuard
  queue: Queue
  catalogue: EventCatalogue
}

/** What the API does with endpoints. Checks that leave the process come first; what they answer runs in a transaction. */
export interface Endpoints {
  list(query: PageQuery): Promise<Page<EndpointView>>
  get(id: string): Promise<EndpointView>
  /** Throws validation_failed; its second half conflict, when the id is taken. */
  create(body: CreateBody): Promise<(tx: Tx) => Promise<EndpointView>>
  update(id: string, body: UpdateBody): Promise<EndpointView>
  /** Its waiting deliveries are cancelled; their history stays. */
  delete(id: string): Promise<void>
}

/** Thousands may wait for an endpoint that failed for long. */
const CANCELLED_PER_TRANSACTION = 200

const DEFAULTS = { retryCount: 3, retryDelayMs: 1000, retryStrategy: 'fixed', timeoutMs: 30_000 } as const

export function endpoints(deps: EndpointDeps): Endpoints {
  const { db, clock, ids, sealer, guard, queue } = deps
  const seal = (id: string, value: unknown) => sealer.seal(JSON.stringify(value), endpointContext(id))
  const sealedSecrets = (id: string, secrets: SigningSecret[]) => (secrets.length === 0 ? null : seal(id, secrets))
  const sealedHeaders = (id: string, headers: Record<string, string>) =>
    Object.keys(headers).length === 0 ? null : seal(id, headers)

  return {
    async list(query) {
      const rows = await endpointStore(db.read).list()
      const page = pageOfAll(rows, query, ['webhooks/endpoints'], (row) => row.id)
      return { ...page, items: page.items.map((row) => endpointView(row, sealer)) }
    },

    async get(id) {
      return endpointView(await endpointStore(db.read).get(id), sealer)
    },

    async create(body) {
      const url = await checkEndpointUrl(body.url, guard)
      const generated = body.secret === undefined ? generateSigningSecret() : undefined
      const secret = checkedSecret(generated ?? body.secret ?? null)
      const id = body.id ?? ids('whe')
      const nowMs = clock.now()
      const row: EndpointRow = {
        id,
        url,
        secrets: sealedSecrets(id, rotated([], secret, nowMs)),
        eventTypes: JSON.stringify(checkedTypes(body.eventTypes ?? DEFAULT_EVENT_TYPES, deps.catalogue)),
        headers: sealedHeaders(id, customHeaders(body.headers ?? {})),
        isActive: body.isActive === false ? 0 : 1,
        retryCount: body.retryCount ?? DEFAULTS.retryCount,
        retryDelayMs: body.retryDelayMs ?? DEFAULTS.retryDelayMs,
        retryStrategy: body.retryStrategy ?? DEFAULTS.retryStrategy,
        timeoutMs: body.timeoutMs ?? DEFAULTS.timeoutMs,
        lastDeliveryAt: null,
        ...CLOSED,
        createdAt: nowMs,
        updatedAt: nowMs,
      }
      return async (tx) => {
        if (!(await endpointStore(tx).insert(row))) {
          throw new AppError('conflict', { message: `There is a webhook endpoint with the id "${id}" already.` })
        }
        return { ...endpointView(row, sealer), ...(generated !== undefined && { secret: generated }) }
      }
    },

    async update(id, body) {
      await endpointStore(db.read).get(id)
      const url = body.url === undefined ? undefined : await checkEndpointUrl(body.url, guard)
      const secret = body.secret === undefined ? undefined : checkedSecret(body.secret)
      const eventTypes =
        body.eventTypes === undefined ? undefined : JSON.stringify(checkedTypes(body.eventTypes, deps.catalogue))
      return db.transaction(async (tx) => {
        const store = endpointStore(tx)
        const known = openEndpoint(await store.lock(id, db.dialect), sealer)
        const nowMs = clock.now()
        const { retryCount, retryDelayMs, retryStrategy, timeoutMs } = body
        const changed = await store.update(
          id,
          given({
            url,
            eventTypes,
            retryCount,
            retryDelayMs,
            retryStrategy,
            timeoutMs,
            secrets: secret === undefined ? undefined : sealedSecrets(id, rotated(known.secrets, secret, nowMs)),
            headers:
              body.headers === undefined
                ? undefined
                : sealedHeaders(id, customHeaders(body.headers ?? {}, known.headers)),
            isActive: body.isActive === undefined ? undefined : Number(body.isActive),
            // What was changed may be what was wrong.
            ...CLOSED,
            updatedAt: nowMs,
          }),
        )
        // What waited while it was inactive, or for a later time, is looked at under the new settings.
        if (changed.isActive === 1) await queue.addIn(tx, DELIVER_QUEUE, [id])
        return endpointView(changed, sealer)
      })
    },

    async delete(id) {
      await endpointStore(db.read).get(id)
      const cancel = (tx: Tx) => cancelForEndpoint(tx, id, CANCELLED_PER_TRANSACTION)
      // A crash here leaves cancelled deliveries of an endpoint that exists: the caller has no success, and recovery finds them.
      while ((await db.transaction(cancel)) === CANCELLED_PER_TRANSACTION);
      await db.transaction(async (tx) => {
        // A fan-out that has the endpoint in hand ends first, so that what it makes is cancelled too.
        await holdStamping(tx, db.dialect)
        // In the order in which results are written, deliveries before the endpoint: no two wait for each other.
        while ((await cancel(tx)) === CANCELLED_PER_TRANSACTION);
        await endpointStore(tx).delete(id)
      })
    },
  }
}

function endpointView(row: EndpointRow, sealer: Sealer): EndpointView {
  const { headers } = openEndpoint(row, sealer)
  return {
    id: row.id,
    url: row.url,
    hasSecret: row.secrets !== null,
    eventTypes: JSON.parse(row.eventTypes),
    headers: masked(Object.keys(headers)),
    isActive: row.isActive === 1,
    retryCount: row.retryCount,
    retryDelayMs: row.retryDelayMs,
    retryStrategy: row.retryStrategy,
    timeoutMs: row.timeoutMs,
    lastDeliveryAt: isoTimeOrNull(row.lastDeliveryAt),
    circuit: circuitView(row),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

/** Without the members that were not given. */
function given<T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

function checkedTypes(types: readonly string[], catalogue: EventCatalogue): string[] {
  const faults: ErrorDetail[] = types.flatMap((type, index) =>
    isSubscription(type, catalogue) ? [] : [{ path: `body.eventTypes.${index}`, message: 'is not an event type' }],
  )
  if (faults.length > 0) throw new AppError('validation_failed', { details: faults })
  return [...new Set(types)]
}

/** `whsec_…` has to be base64 as the verifying libraries read it: padded, without line breaks. */
function checkedSecret(secret: string | null): string | null {
  if (secret === null) return null
  const key = signingKey(secret)
  const base64 = key.toString('base64')
  if (secret.startsWith('whsec_') && (key.length === 0 || `whsec_${base64}` !== secret)) {
    throw invalid('body.secret', 'must be base64 after "whsec_"; or give any other text')
  }
  return secret
}
