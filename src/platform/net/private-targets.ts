import ipaddr from 'ipaddr.js'
import { classifyAddress, isWithin } from './address-classes.ts'
import { hostName } from './host-name.ts'

/** The addresses that PRIVATE_TARGETS allows. */
interface PrivateTargets {
  /** True when the setting covers this address of this host. The caller rejects `never` addresses first. */
  covers(host: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean
}

/** Parses `none`, `loopback`, `all`, or a list of these words, hosts, `*.example.com`, addresses and networks. */
export function privateTargets(setting: string): PrivateTargets {
  const items = setting.split(',').map((item) => item.trim().toLowerCase())
  const words = new Set(items)
  const rest = items.filter((item) => !['', 'none', 'loopback', 'all'].includes(item))
  const networks = rest.map(parseNetwork).filter((network) => network !== undefined)
  const names = rest.filter((item) => parseNetwork(item) === undefined)
  const hosts = new Set(names.map((name) => hostName(name) ?? name))
  const suffixes = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1).replace(/\.$/, ''))
  return {
    covers(host, address) {
      const kind = classifyAddress(address)
      if (words.has('all') && kind !== 'public') return true
      if (words.has('loopback') && kind === 'loopback') return true
      return isWithin(address, networks) || hosts.has(host) || suffixes.some((suffix) => host.endsWith(suffix))
    },
  }
}

function parseNetwork(item: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  if (ipaddr.isValidCIDR(item)) return ipaddr.parseCIDR(item)
  const host = hostName(item)
  if (host === undefined || !ipaddr.isValid(host)) return undefined
  const address = ipaddr.process(host)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
