import { Resolver } from 'node:dns/promises'
import { withTimeout } from '../../lib/abort.ts'

export interface ServiceRecord {
  host: string
  port: number
}

/** What DNS says of a domain beside its addresses. Nothing there is an empty list; trouble, and no answer in time, rejects. */
export interface DnsRecords {
  /** The hosts that take its mail, of the best preference only. */
  mx(domain: string): Promise<string[]>
  /** Where a service (`_imaps._tcp.example.com`) is, best first (RFC 2782). */
  srv(name: string): Promise<ServiceRecord[]>
}

export function dnsRecords(options: { timeoutMs: number; servers?: string[] }): DnsRecords {
  const dns = new Resolver({ timeout: options.timeoutMs, tries: 1 })
  if (options.servers !== undefined) dns.setServers(options.servers)

  async function ask<T>(name: string, question: Promise<T[]>): Promise<T[]> {
    const late = () => new Error(`${name} was not answered in time`)
    try {
      return await withTimeout(question, options.timeoutMs, late)
    } catch (error) {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOTFOUND' || error.code === 'ENODATA'))
        return []
      throw error
    }
  }

  return {
    async mx(domain) {
      const records = await ask(domain, dns.resolveMx(domain))
      const best = Math.min(...records.map((record) => record.priority))
      return records.filter((record) => record.priority === best).map((record) => record.exchange.toLowerCase())
    },
    async srv(name) {
      const records = await ask(name, dns.resolveSrv(name))
      const sorted = records.sort((left, right) => left.priority - right.priority || right.weight - left.weight)
      // One record with the target "." says that there is no such service; c-ares shows it as an empty name.
      return sorted
        .filter((record) => record.name !== '')
        .map(({ name: host, port }) => ({ host: host.toLowerCase(), port }))
    },
  }
}
