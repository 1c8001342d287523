import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * `never`: link-local, metadata services, and what is nobody's address; no setting opens these. `private`: every other
 * address of IANA's special-purpose registries, the anycast services of the network included, and what is assigned to no one.
 */
export type AddressClass = 'public' | 'loopback' | 'private' | 'never'

/** Metadata services outside the link-local networks: Alibaba, Azure, Oracle, AWS, Google, Scaleway. */
const METADATA = [
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:42::42/128',
].map((network) => ipaddr.parseCIDR(network))

/** What IANA assigns to anyone; the rest of the space is special or unassigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** NAT64: the translator of an IPv6-only network, in front of the IPv4 address in its last 32 bits. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** The same inside one network, whose prefix may be longer: any of RFC 6052's places may hold the IPv4 address. */
const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b:1::/48')
const LOCAL_NAT64_PLACES = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
]
const LINK_LOCAL_4 = ipaddr.IPv4.parseCIDR('169.254.0.0/16')
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16')
const NEVER = new Set(['linkLocal', 'multicast', 'broadcast', 'unspecified'])

export function classOf(address: Address): AddressClass {
  if (isWithin(address, METADATA)) return 'never'
  return address instanceof ipaddr.IPv4 ? classOf4(address) : classOf6(address)
}

export function isWithin(address: Address, networks: readonly (readonly [Address, number])[]): boolean {
  return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))
}

function classOf4(address: ipaddr.IPv4): AddressClass {
  const range = address.range()
  if (range === 'unicast') return 'public'
  if (range === 'loopback') return 'loopback'
  return NEVER.has(range) ? 'never' : 'private'
}

function classOf6(address: ipaddr.IPv6): AddressClass {
  const range = address.range()
  if (range === 'loopback') return 'loopback'
  if (NEVER.has(range)) return 'never'
  if (address.match(LOCAL_NAT64)) return mayBeTranslatedToNever(address) ? 'never' : 'private'
  const inner = embedded(address)
  const innerClass = inner === undefined ? 'public' : classOf(inner)
  if (innerClass === 'never') return 'never'
  if (range === 'ipv4Mapped') return innerClass
  const isGlobal = (range === 'unicast' && address.match(GLOBAL_UNICAST)) || address.match(NAT64)
  return isGlobal && innerClass === 'public' ? 'public' : 'private'
}

/** Only link-local and metadata are looked for: read at the wrong place, a harmless address can be anything. */
function mayBeTranslatedToNever(address: ipaddr.IPv6): boolean {
  const bytes = address.toByteArray()
  return LOCAL_NAT64_PLACES.some((place) => {
    const inner = new ipaddr.IPv4(place.map((at) => bytes[at] ?? 0))
    return isWithin(inner, [...METADATA, LINK_LOCAL_4])
  })
}

/** The IPv4 address that packets to this one may end up at. */
function embedded(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const bytes = address.toByteArray()
  if (address.match(SIX_TO_FOUR)) return new ipaddr.IPv4(bytes.slice(2, 6))
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0)
  const isTranslated = ['ipv4Mapped', 'rfc6052', 'rfc6145'].includes(address.range())
  // ISATAP: …:0:5efe:<IPv4> below any prefix; the universal bit may be set.
  const isIsatap = ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  return isCompatible || isTranslated || isIsatap ? new ipaddr.IPv4(bytes.slice(12)) : undefined
}
