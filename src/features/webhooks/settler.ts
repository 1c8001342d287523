import type { Recorder } from '../../events/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { Log } from '../../infra/log/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Attempted, settle } from './settle.ts'

/** Results wait this long for others, so that many become one transaction. */
const WITHIN_MS = 20
const AT_ONCE = 64

/** Collects what came of attempts and writes it in batches, one transaction at a time. */
export class Settler {
  readonly #deps: { db: Db; clock: Clock; log: Log; recorder: Recorder }
  readonly #lease: string
  readonly #onSettled: (ids: string[]) => void
  readonly #onBroken: () => void
  readonly #onFailure: (error: unknown) => void
  #finished: Attempted[] = []
  #writing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(
    deps: { db: Db; clock: Clock; log: Log; recorder: Recorder },
    lease: string,
    on: { settled: (ids: string[]) => void; broken: () => void; failure: (error: unknown) => void },
  ) {
    this.#deps = deps
    this.#lease = lease
    this.#onSettled = on.settled
    this.#onBroken = on.broken
    this.#onFailure = on.failure
  }

  add(attempted: Attempted): void {
    this.#finished.push(attempted)
    if (this.#finished.length >= AT_ONCE) void this.flush()
    else this.#timer ??= setTimeout(() => void this.flush(), WITHIN_MS)
  }

  /** Resolves when everything added so far is written, or could not be (see `failure`). */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #write(): Promise<void> {
    while (this.#finished.length > 0) {
      const batch = this.#finished.splice(0, AT_ONCE)
      try {
        await this.#settle(batch)
      } catch (error) {
        // The attempts are forgotten; their deliveries are freed and sent again, with the same ids.
        this.#onFailure(error)
      }
    }
  }

  async #settle(batch: Attempted[]): Promise<void> {
    const { db, clock, log } = this.#deps
    const { failed, switched } = await db.transaction((tx) => settle(tx, this.#deps, this.#lease, batch, clock.now()))
    this.#onSettled(batch.map(({ delivery }) => delivery.id))
    for (const { endpoint, state } of switched) {
      if (state !== 'closed') this.#onBroken()
      const metadata = { endpointId: endpoint.id, circuit: state }
      if (state === 'closed') log.info('A webhook endpoint works again.', { operation: 'webhooks.circuit', metadata })
      else
        log.warn('A webhook endpoint keeps failing; its deliveries wait.', { operation: 'webhooks.circuit', metadata })
    }
    for (const { delivery, endpoint, outcome } of failed) {
      log.warn('A webhook delivery failed for good.', {
        operation: 'webhooks.deliver',
        accountId: delivery.accountId ?? undefined,
        metadata: {
          deliveryId: delivery.id,
          endpointId: endpoint.id,
          eventType: delivery.eventType,
          attempts: delivery.attempt + 1,
          kind: outcome.error?.kind,
          status: outcome.responseStatus,
        },
      })
    }
  }
}
