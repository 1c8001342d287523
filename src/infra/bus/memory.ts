import type { Log } from '../log/index.ts'
import type { Bus } from './bus.ts'
import { isCarried, listeners } from './listeners.ts'

/** The bus of a single process; with the file store nobody else is there to hear. */
export function memoryBus({ log }: { log: Log }): Bus {
  const local = listeners(log)
  return {
    provider: 'memory',
    publish(topic, payload = '') {
      if (isCarried(topic, payload, log)) local.deliver(topic, payload)
    },
    subscribe: local.subscribe,
    ping: async () => {},
    close: async () => local.clear(),
  }
}
