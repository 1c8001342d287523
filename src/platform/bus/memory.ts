import type { Log } from '../log/index.ts'
import type { Bus } from './bus.ts'
import { isSendable, listeners } from './listeners.ts'

/** The bus of a single process. The file store has no other replicas. */
export function memoryBus({ log }: { log: Log }): Bus {
  const local = listeners(log)
  return {
    provider: 'memory',
    publish(topic, payload = '') {
      if (isSendable(topic, payload, log)) local.deliver(topic, payload)
    },
    subscribe: local.subscribe,
    reportInvalid: local.reportInvalid,
    ping: async () => {},
    close: async () => local.clear(),
  }
}
