import { randomUUID } from 'node:crypto'
import { silentLog } from '../../../src/platform/log/index.ts'
import { addressGuard, type DnsRecords } from '../../../src/platform/net/index.ts'
import { outbound } from '../../../src/platform/outbound/index.ts'
import { systemClock } from '../../../src/platform/time/clock.ts'
import { caldavProvider } from '../../../src/providers/caldav/index.ts'
import type { MailAccess } from '../../../src/providers/contract/index.ts'

/**
 * The provider with the real HTTP client and address guard. `hosts` are the addresses of names; no other name resolves. Requests to
 * port 443 go to `port`, because a test cannot listen there.
 */
export function testCaldav({
  hosts = {},
  records = {},
  ca,
  port,
  maxEvents,
  verifyMs,
}: {
  hosts?: Record<string, string>
  records?: Partial<DnsRecords>
  ca?: string
  port?: number
  maxEvents?: number
  verifyMs?: number
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
  const provider = caldavProvider({
    outbound: {
      send: (request) => http.send({ ...request, url: withPort(request.url, port) }),
      close: () => http.close(),
    },
    records: { mx: none, srv: none, txt: none, ...records },
    clock: systemClock,
    log: silentLog,
    ...(maxEvents !== undefined && { maxEvents }),
    ...(verifyMs !== undefined && { verifyMs }),
  })
  return {
    provider,
    async close() {
      await provider.close()
      await http.close()
    },
  }
}

function withPort(text: string, port: number | undefined): string {
  const url = new URL(text)
  if (port !== undefined && url.protocol === 'https:' && url.port === '') url.port = String(port)
  return url.href
}

/** Access to a server whose URL the user entered. */
export function caldavAccess(url: string, user: string, password: string): MailAccess {
  return {
    accountId: `acc_${randomUUID()}`,
    email: user,
    settings: { caldav: { url, username: user } },
    secrets: { password },
  }
}
