/** What may be connected to. Every address that came from outside passes the guard. */
export { type AddressGuard, type CheckedTarget, type ConnectTarget, GuardError } from './address-guard.ts'
