import type { MailboxObject } from 'imapflow'

/** The system flags that this service reads or sets, as RFC 9051 writes them. */
const SYSTEM_FLAGS = ['\\Seen', '\\Flagged', '\\Deleted', '\\Draft', '\\Answered'] as const

/** Flags and attributes ignore case (RFC 9051, section 2.3.2). `flag` is in the case of the RFC, as most servers write it. */
export function hasFlag(flags: ReadonlySet<string> | undefined, flag: string): boolean {
  if (flags === undefined || flags.has(flag)) return flags !== undefined
  const lower = flag.toLowerCase()
  for (const candidate of flags) if (candidate.length === flag.length && candidate.toLowerCase() === lower) return true
  return false
}

/** The same flags, where system flags have the case of the RFC. */
export function canonicalFlags(flags: ReadonlySet<string>): Set<string> {
  const canonical = new Map<string, string>(SYSTEM_FLAGS.map((flag) => [flag.toLowerCase(), flag]))
  return new Set([...flags].map((flag) => canonical.get(flag.toLowerCase()) ?? flag))
}

/** imapflow compares with case which flags a folder keeps, and leaves out the others without a word. */
export function acceptFlagsInAnyCase(box: MailboxObject): MailboxObject {
  if (box.permanentFlags !== undefined) box.permanentFlags = canonicalFlags(box.permanentFlags)
  return box
}
