import { silentLog } from '../../../src/platform/log/index.ts'
import { addressGuard, type DnsRecords } from '../../../src/platform/net/index.ts'
import { outbound } from '../../../src/platform/outbound/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import { carddavProvider } from '../../../src/providers/carddav/index.ts'

/** The provider with the real HTTP client and address guard, as `testCaldav`. */
export function testCarddav({
  hosts = {},
  records = {},
  ca,
  port,
}: {
  hosts?: Record<string, string>
  records?: Partial<DnsRecords>
  ca?: string
  port?: number
} = {}) {
  const guard = addressGuard({
    privateTargets: 'loopback',
    clock: systemClock,
    async resolve(host) {
      const address = hosts[host]
      if (address === undefined) throw new Error('NXDOMAIN')
      return { addresses: [address], ttlMs: 60_000 }
    },
  })
  const http = outbound({ guard, ...(ca !== undefined && { ca }) })
  const none = async () => []
  const provider = carddavProvider({
    outbound: {
      send: (request) => http.send({ ...request, url: withPort(request.url, port) }),
      close: () => http.close(),
    },
    records: { mx: none, srv: none, txt: none, ...records },
    clock: systemClock,
    log: silentLog,
  })
  return { provider, close: () => http.close() }
}

function withPort(text: string, port: number | undefined): string {
  const url = new URL(text)
  if (port !== undefined && url.protocol === 'https:' && url.port === '') url.port = String(port)
  return url.href
}
