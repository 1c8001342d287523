import type { Bus } from '../../../src/platform/bus/index.ts'
import { listeners } from '../../../src/platform/bus/listeners.ts'
import { silentLog } from '../../../src/platform/log/index.ts'
import type { SimulatedTime } from './simulated-time.ts'

const LATENCY_MS = 1

/** One server that sends every hint to every other process after a moment. */
export class SimulatedBus {
  readonly #time: SimulatedTime
  readonly #connections = new Map<Bus, { deliver(topic: string, payload: string): void; isAlive(): boolean }>()
  #published = 0
  #delivered = 0

  constructor(time: SimulatedTime) {
    this.#time = time
  }

  /** The numbers of hints since the last call. */
  takeCounts(): { published: number; delivered: number } {
    const counts = { published: this.#published, delivered: this.#delivered }
    this.#published = this.#delivered = 0
    return counts
  }

  connect(isAlive: () => boolean): Bus {
    const local = listeners(silentLog)
    const bus: Bus = {
      provider: 'redis',
      publish: (topic, payload = '') => {
        this.#published += 1
        local.deliver(topic, payload)
        this.#time.start(() => this.#send(bus, topic, payload), LATENCY_MS)
      },
      subscribe: local.subscribe,
      ping: async () => {},
      close: async () => void this.#connections.delete(bus),
    }
    this.#connections.set(bus, { deliver: (topic, payload) => local.deliver(topic, payload), isAlive })
    return bus
  }

  #send(sender: Bus, topic: string, payload: string): void {
    for (const [bus, connection] of this.#connections) {
      if (!connection.isAlive()) this.#connections.delete(bus)
      else if (bus !== sender) {
        this.#delivered += 1
        connection.deliver(topic, payload)
      }
    }
  }
}
