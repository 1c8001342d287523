import { lookup, Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { sleep, withTimeout } from '../concurrency/abort.ts'
import { errorCode } from '../errors/describe-error.ts'
import { addToGroup } from '../group-by.ts'

/** The addresses of a name; never empty. */
export interface Resolved {
  addresses: string[]
  ttlMs: number
}

export type Resolve = (host: string) => Promise<Resolved>

const MAX_TTL_MS = 60_000
const MIN_TTL_MS = 1000
const LOCAL_TTL_MS = 10_000
const MAX_LOOKUPS = 2
/** A response has room for thousands of records. No name needs more than these, the best first. */
const MAX_RECORDS = 50
const HOSTS_FILE =
  process.platform === 'win32' ? `${String.raw`C:\Windows`}\\System32\\drivers\\etc\\hosts` : '/etc/hosts'

/**
 * Resolves with c-ares, because `getaddrinfo` blocks one of libuv's four threads while a name server is silent: a few dead names
 * would block all file access. Reads the hosts file first. Names unknown to DNS go to `getaddrinfo`, for search domains and mDNS.
 * Rejects when a name has no address or the timeout expires.
 */
export function resolver(options: { timeoutMs: number; servers?: string[]; hostsFile?: string }): Resolve {
  const dns = new Resolver({ timeout: options.timeoutMs / 2, tries: 2 })
  if (options.servers !== undefined) dns.setServers(options.servers)
  let lookups = 0

  async function overDns(host: string): Promise<Resolved> {
    const answers = await Promise.allSettled([dns.resolve4(host, { ttl: true }), dns.resolve6(host, { ttl: true })])
    const records = answers.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (records.length === 0) {
      const failed = answers.find((result) => result.status === 'rejected' && !isAbsent(result.reason))
      throw failed?.status === 'rejected' ? failed.reason : new Absent(`${host} has no address`)
    }
    const ttlMs = Math.min(...records.map((record) => record.ttl * 1000), MAX_TTL_MS)
    const addresses = answers.flatMap((result) =>
      result.status === 'fulfilled' ? result.value.slice(0, MAX_RECORDS) : [],
    )
    return { addresses: addresses.map(({ address }) => address), ttlMs: Math.max(ttlMs, MIN_TTL_MS) }
  }

  async function overSystem(host: string): Promise<Resolved> {
    while (lookups >= MAX_LOOKUPS) await sleep(10)
    lookups += 1
    try {
      const found = await lookup(host, { all: true })
      return { addresses: found.map(({ address }) => address), ttlMs: LOCAL_TTL_MS }
    } finally {
      lookups -= 1
    }
  }

  async function resolve(host: string): Promise<Resolved> {
    const addresses = (await readHosts(options.hostsFile ?? HOSTS_FILE)).get(host) ?? []
    if (addresses.length > 0) return { addresses, ttlMs: LOCAL_TTL_MS }
    if (host === 'localhost' || host.endsWith('.localhost')) {
      return { addresses: ['127.0.0.1', '::1'], ttlMs: LOCAL_TTL_MS }
    }
    try {
      return await overDns(host)
    } catch (error) {
      if (!(error instanceof Absent)) throw error
      return overSystem(host)
    }
  }

  return (host) => withTimeout(resolve(host), options.timeoutMs, () => new Error(`${host} did not resolve in time`))
}

class Absent extends Error {}

function isAbsent(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(errorCode(error))
}

async function readHosts(file: string): Promise<Map<string, string[]>> {
  const byName = new Map<string, string[]>()
  const text = await readFile(file, 'utf8').catch(() => '')
  for (const line of text.split('\n')) {
    const [address, ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/)
    if (address === undefined) continue
    for (const name of names) addToGroup(byName, name, address)
  }
  return byName
}

interface ServiceRecord {
  host: string
  port: number
}

/** MX, SRV and TXT records. Missing records are an empty list; a DNS failure or timeout rejects. */
export interface DnsRecords {
  /** The mail hosts with the best preference. */
  mx(domain: string): Promise<string[]>
  /** The hosts of a service such as `_imaps._tcp.example.com`, best first (RFC 2782). */
  srv(name: string): Promise<ServiceRecord[]>
  /** The texts of a name, each with its strings joined. */
  txt(name: string): Promise<string[]>
}

export function dnsRecords(options: { timeoutMs: number; servers?: string[] }): DnsRecords {
  const dns = new Resolver({ timeout: options.timeoutMs, tries: 1 })
  if (options.servers !== undefined) dns.setServers(options.servers)

  async function queryRecords<T>(name: string, query: Promise<T[]>): Promise<T[]> {
    const timedOut = () => new Error(`The DNS query for ${name} timed out.`)
    try {
      return await withTimeout(query, options.timeoutMs, timedOut)
    } catch (error) {
      if (isAbsent(error)) return []
      throw error
    }
  }

  return {
    async mx(domain) {
      const records = await queryRecords(domain, dns.resolveMx(domain))
      const best = Math.min(...records.map((record) => record.priority))
      return records
        .filter((record) => record.priority === best)
        .slice(0, MAX_RECORDS)
        .map((record) => record.exchange.toLowerCase())
    },
    async txt(name) {
      const records = await queryRecords(name, dns.resolveTxt(name))
      return records.slice(0, MAX_RECORDS).map((strings) => strings.join(''))
    },
    async srv(name) {
      const records = await queryRecords(name, dns.resolveSrv(name))
      const sorted = records.sort((left, right) => left.priority - right.priority || right.weight - left.weight)
      // The target "." means that the service does not exist; c-ares returns it as an empty name.
      return sorted
        .filter((record) => record.name !== '')
        .slice(0, MAX_RECORDS)
        .map(({ name: host, port }) => ({ host: host.toLowerCase(), port }))
    },
  }
}
