import type { Sealer } from '../../../platform/crypto/seal.ts'
import { generateSigningSecret } from '../../../platform/crypto/signature.ts'
import type { Db, Tx } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { type Page, type PageQuery, pageOfAll } from '../../../platform/formats/pagination.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { AddressGuard } from '../../../platform/net/index.ts'
import { maskedHeaders, validHeaders, validSecret, validUrl } from '../../../platform/outbound/index.ts'
import type { Queue } from '../../../platform/queue/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { isoTime, isoTimeOrNull } from '../../../platform/time/time.ts'
import { type EventCatalogue, holdStamping } from '../../index.ts'
import { CLOSED, circuitView } from '../sending/circuit.ts'
import { DELIVER_QUEUE } from '../sending/endpoint-worker.ts'
import { cancelForEndpoint } from '../sending/leases.ts'
import { type CreateBody, DEFAULT_SETTINGS, type EndpointView, type UpdateBody } from './api.ts'
import { type EndpointRow, endpointContext, openEndpoint } from './endpoint.ts'
import { rotateSecrets, type SigningSecret } from './signing-secrets.ts'
import { endpointStore } from './store.ts'
import { DEFAULT_EVENT_TYPES, validEventTypes } from './subscriptions.ts'

interface EndpointDeps {
  db: Db
  clock: Clock
  ids: Ids
  sealer: Sealer
  guard: AddressGuard
  queue: Queue
  catalogue: EventCatalogue
}

/** Runs in the transaction of the change. */
type InTransaction = (tx: Tx) => Promise<void>

/** Webhook endpoints as the API manages them. Network checks run before the transaction. */
export interface Endpoints {
  list(query: PageQuery): Promise<Page<EndpointView>>
  get(id: string): Promise<EndpointView>
  /** Throws validation_failed. The returned function inserts the endpoint; it throws conflict when the id is taken. */
  create(body: CreateBody): Promise<(tx: Tx) => Promise<EndpointView>>
  update(id: string, body: UpdateBody, also?: InTransaction): Promise<EndpointView>
  /** Cancels the endpoint's waiting deliveries; the delivery history remains. */
  delete(id: string, also?: InTransaction): Promise<void>
}

/** Thousands may wait for an endpoint that failed for long. */
const CANCELLED_PER_TRANSACTION = 200

export function endpoints(deps: EndpointDeps): Endpoints {
  const { db, clock, ids, sealer, guard, queue, catalogue } = deps
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
      const url = await validUrl(body.url, guard, 'body.url')
      const generated = body.secret === undefined ? generateSigningSecret() : undefined
      const secret = validSecret(generated ?? body.secret ?? null, 'body.secret')
      const id = body.id ?? ids('whe')
      const nowMs = clock.now()
      const row: EndpointRow = {
        id,
        url,
        secrets: sealedSecrets(id, rotateSecrets([], secret, nowMs)),
        eventTypes: JSON.stringify(validEventTypes(body.eventTypes ?? DEFAULT_EVENT_TYPES, catalogue)),
        headers: sealedHeaders(id, validHeaders(body.headers ?? {}, 'body.headers')),
        isActive: Number(body.isActive ?? DEFAULT_SETTINGS.isActive),
        retryCount: Math.floor(body.retryCount ?? DEFAULT_SETTINGS.retryCount),
        retryDelayMs: Math.round(body.retryDelayMs ?? DEFAULT_SETTINGS.retryDelayMs),
        retryStrategy: body.retryStrategy ?? DEFAULT_SETTINGS.retryStrategy,
        timeoutMs: Math.round(body.timeoutMs ?? DEFAULT_SETTINGS.timeoutMs),
        lastDeliveryAt: null,
        ...CLOSED,
        createdAt: nowMs,
        updatedAt: nowMs,
      }
      return async (tx) => {
        if (!(await endpointStore(tx).insert(row))) {
          throw new AppError('conflict', { message: `A webhook endpoint with the id "${id}" already exists.` })
        }
        return { ...endpointView(row, sealer), ...(generated !== undefined && { secret: generated }) }
      }
    },

    async update(id, body, also) {
      await endpointStore(db.read).get(id)
      const url = body.url === undefined ? undefined : await validUrl(body.url, guard, 'body.url')
      const secret = body.secret === undefined ? undefined : validSecret(body.secret, 'body.secret')
      const eventTypes =
        body.eventTypes === undefined ? undefined : JSON.stringify(validEventTypes(body.eventTypes, catalogue))
      return db.transaction(async (tx) => {
        const store = endpointStore(tx)
        const current = openEndpoint(await store.lock(id, db.dialect), sealer)
        const nowMs = clock.now()
        const { retryCount, retryDelayMs, retryStrategy, timeoutMs } = body
        const changed = await store.update(
          id,
          dropUndefined({
            url,
            eventTypes,
            retryCount: retryCount === undefined ? undefined : Math.floor(retryCount),
            retryDelayMs: retryDelayMs === undefined ? undefined : Math.round(retryDelayMs),
            retryStrategy,
            timeoutMs: timeoutMs === undefined ? undefined : Math.round(timeoutMs),
            secrets:
              secret === undefined ? undefined : sealedSecrets(id, rotateSecrets(current.secrets, secret, nowMs)),
            headers:
              body.headers === undefined
                ? undefined
                : sealedHeaders(id, validHeaders(body.headers ?? {}, 'body.headers', current.headers)),
            isActive: body.isActive === undefined ? undefined : Number(body.isActive),
            // The change may be the fix, so the circuit starts over.
            ...CLOSED,
            // Never the same twice: workers know by it which settings they have.
            updatedAt: Math.max(nowMs, current.row.updatedAt + 1),
          }),
        )
        // Deliveries that waited, for activation or for a later time, are evaluated under the new settings.
        if (changed.isActive === 1) await queue.addIn(tx, DELIVER_QUEUE, [id])
        await also?.(tx)
        return endpointView(changed, sealer)
      })
    },

    async delete(id, also) {
      await endpointStore(db.read).get(id)
      const cancel = (tx: Tx) => cancelForEndpoint(tx, id, CANCELLED_PER_TRANSACTION)
      // A crash in this loop leaves cancelled deliveries of an existing endpoint. The caller got no success, and can recover them.
      while ((await db.transaction(cancel)) === CANCELLED_PER_TRANSACTION);
      await db.transaction(async (tx) => {
        // Waits for a running fan-out, so the deliveries it makes for this endpoint are cancelled too.
        await holdStamping(tx, db.dialect)
        // Lock order: deliveries before the endpoint, as when results are recorded.
        while ((await cancel(tx)) === CANCELLED_PER_TRANSACTION);
        await endpointStore(tx).delete(id)
        await also?.(tx)
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
    headers: maskedHeaders(Object.keys(headers)),
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

/** Drops undefined members. */
function dropUndefined<T extends object>(changes: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}
