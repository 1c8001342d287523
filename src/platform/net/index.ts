/**
 * Decides which addresses the service may connect to. Every address from outside (request bodies, forms, messages, discovery)
 * passes the guard. Addresses from settings belong to the operator and do not.
 */
export {
  type AddressGuard,
  addressGuard,
  type CheckedTarget,
  type ConnectTarget,
  type GuardDeps,
  GuardError,
  serviceGuard,
} from './address-guard.ts'
export { type DnsRecords, dnsRecords, type Resolve, type Resolved, resolver } from './dns.ts'
export { inspectTls, type TlsReport, type TlsTarget } from './inspect-tls.ts'
export { buildConnector, Pool } from './pool.ts'
