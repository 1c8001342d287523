import { Agent } from 'undici'
import { type Outbound, OutboundError } from '../../src/infra/http/outbound-contract.ts'
import { type AddressGuard, GuardError } from '../../src/infra/net/index.ts'

export const loopbackGuard: AddressGuard = {
  async check({ host, port }) {
    if (host === '127.0.0.1' || host === 'localhost') return { host, port, address: '127.0.0.1', family: 4 }
    if (/^\d/.test(host)) throw new GuardError('refused', `${host} is refused; see PRIVATE_TARGETS`)
    throw new GuardError('unresolved', 'no')
  },
  allowsPlain: () => true,
}

export function interimOutbound(): Outbound {
  const agent = new Agent({ connect: { rejectUnauthorized: false } })
  return {
    async send({ method, url, headers, body, timeoutMs, maxResponseBytes = 65536, signal }) {
      const limit = AbortSignal.timeout(timeoutMs)
      const parsed = new URL(url)
      try {
        const answer = await agent.request({
          origin: parsed.origin,
          path: parsed.pathname + parsed.search,
          method,
          headers,
          body: body ?? null,
          signal: signal ? AbortSignal.any([signal, limit]) : limit,
        })
        const data = Buffer.from(await answer.body.arrayBuffer())
        return {
          status: answer.statusCode,
          headers: answer.headers,
          body: data.subarray(0, maxResponseBytes),
          truncated: data.length > maxResponseBytes,
        }
      } catch (error) {
        if (signal?.aborted) throw error
        throw new OutboundError(limit.aborted ? 'timeout' : 'reset', limit.aborted ? 'timed out' : 'reset', {
          cause: error,
        })
      }
    },
    close: () => agent.destroy(),
  }
}
