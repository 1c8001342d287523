/** Where something is asked to connect. */
export interface ConnectTarget {
  host: string
  port: number
}

/** An address that was checked; connect to `address` and keep `host` as the TLS server name. */
export interface CheckedTarget extends ConnectTarget {
  address: string
  family: 4 | 6
}

/**
 * Resolves a host that came from outside, checks every answer, and pins one. Throws `GuardError` when any answer may
 * not be reached (the message names PRIVATE_TARGETS), or when the name does not resolve.
 */
export interface AddressGuard {
  check(target: ConnectTarget): Promise<CheckedTarget>
  /** True when plain http may be used to this address: only what PRIVATE_TARGETS covers. */
  allowsPlain(checked: CheckedTarget): boolean
}

export class GuardError extends Error {
  override name = 'GuardError'
  readonly reason: 'refused' | 'unresolved'
  constructor(reason: 'refused' | 'unresolved', message: string) {
    super(message)
    this.reason = reason
  }
}
