/** The addresses of users as administrators change them. The fakes know a mailbox by the address that it had first. */
export class Addresses {
  readonly #changed = new Map<string, string>()

  /** The user, known by the first address, has this address from now on. The old one is free for somebody else. */
  rename(user: string, address: string): void {
    this.#changed.set(user, address)
  }

  of(user: string): string {
    return this.#changed.get(user) ?? user
  }

  /** The user who has this address, if it is not a first address that somebody gave up. */
  userAt(address: string): string | undefined {
    const renamed = [...this.#changed].find(([, current]) => current === address)?.[0]
    return renamed ?? (this.#changed.has(address) ? undefined : address)
  }
}
