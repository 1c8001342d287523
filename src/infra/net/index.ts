/**
 * What may be connected to. Every address that came from outside (bodies, forms, mail, discovery) passes the guard;
 * addresses from settings are the operator's and do not.
 */
export {
  type AddressGuard,
  addressGuard,
  allowsFormPort,
  type CheckedTarget,
  type ConnectTarget,
  FORM_PORTS,
  type GuardDeps,
  GuardError,
} from './address-guard.ts'
export { type Resolve, type Resolved, resolver } from './dns.ts'
export {} from './host-name.ts'
export { type DnsRecords, dnsRecords } from './records.ts'
